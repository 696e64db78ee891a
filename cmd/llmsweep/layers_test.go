package main

import (
	"go/build"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// folders are the layers of the module: each imports itself and what is before it.
var folders = []string{"client", "sweep", "report", "cmd"}

// stages are the packages that measure: each imports, of sweep, what is before it. The package comment of sweep tells
// this order.
var stages = []string{
	"sweep/stats", "sweep/rundir", "sweep/rundir/store", "sweep/sample", "sweep/arrival", "sweep/slo", "sweep/load",
	"sweep/grade", "sweep/measure",
	"sweep/experiment", "sweep/saturation", "sweep", "sweep/pair",
}

// alone are packages with all that they import of ours. The simulator shares no code with the client that it tests,
// except what reads the texts of users.
var alone = map[string][]string{
	"client/note": nil, "client/input": {"client/api"}, "sweep/stats": nil,
	"client/sim": nil, "client/sim/server": {"client/sim"},
}

// TestImports: packages import in one direction. What measures is all in stages: it knows nothing of several processes.
func TestImports(t *testing.T) {
	all := importsOfAll(t)
	imports := func(pkg string) []string {
		found, ok := all[pkg]
		if !ok {
			t.Errorf("there is no package %s: name the packages of this test anew", pkg)
		}
		return found
	}
	for pkg, found := range all {
		layer := slices.Index(folders, top(pkg))
		for _, i := range found {
			if slices.Index(folders, top(i)) > layer {
				t.Errorf("%s imports %s", pkg, i)
			}
		}
	}
	for n, pkg := range stages {
		for _, i := range imports(pkg) {
			if top(i) == "sweep" && !slices.Contains(stages[:n], i) {
				t.Errorf("%s imports %s", pkg, i)
			}
		}
	}
	for pkg, want := range alone {
		if got := imports(pkg); !slices.Equal(got, want) {
			t.Errorf("%s imports %v, want %v", pkg, got, want)
		}
	}
}

// top returns the layer of a package.
func top(pkg string) string {
	folder, _, _ := strings.Cut(pkg, "/")
	return folder
}

// importsOfAll returns what each package imports of ours, sorted, tests left out. Names are without the module's.
func importsOfAll(t *testing.T) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for _, folder := range folders {
		noError(t, filepath.WalkDir("../../"+folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !d.IsDir() {
				return err
			}
			if pkg, err := build.ImportDir(path, 0); err == nil {
				all[filepath.ToSlash(strings.TrimPrefix(path, "../../"))] = ours(pkg.Imports)
			}
			return nil
		}))
	}
	return all
}

// ours returns the packages of the module, without its name.
func ours(imports []string) (all []string) {
	for _, i := range imports {
		if name, ok := strings.CutPrefix(i, "llmsweep/"); ok {
			all = append(all, name)
		}
	}
	return all
}
