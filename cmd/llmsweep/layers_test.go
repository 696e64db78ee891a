package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestImportsGoOneWay parses every file of the module: client imports nothing above it, sweep only client, and report only sweep and client.
func TestImportsGoOneWay(t *testing.T) {
	layers := []string{"client", "sweep", "report", "cmd"}
	seen := map[string]int{}
	for rank, layer := range layers {
		err := filepath.WalkDir(filepath.Join("..", "..", layer), func(path string, _ fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			for _, i := range file.Imports {
				ours, ok := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), "llmsweep/")
				if !ok {
					continue
				}
				top, _, _ := strings.Cut(ours, "/")
				seen[layer]++
				if !slices.Contains(layers[:rank+1], top) {
					t.Errorf("%s imports %s", path, ours)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, layer := range layers {
		if seen[layer] < 20 {
			t.Errorf("only %d imports seen in %s", seen[layer], layer)
		}
	}
}

// TestStagesKnowNoWings: what holds a stage and what measures it knows nothing of checks of answers, simulated copies and several processes.
func TestStagesKnowNoWings(t *testing.T) {
	wings := []string{"fidelity", "grade", "perplexity", "twin", "cluster"}
	for _, pkg := range []string{"llmsweep/sweep/load", "llmsweep/sweep/measure"} {
		needed := imports(t, pkg, map[string]bool{})
		if len(needed) < 5 {
			t.Errorf("%s imports only %d packages of ours", pkg, len(needed))
		}
		for path := range needed {
			for _, wing := range wings {
				if slices.Contains(strings.Split(path, "/"), wing) {
					t.Errorf("%s needs %s", pkg, path)
				}
			}
		}
	}
}

// imports returns the packages of ours that a package needs, tests left out.
func imports(t *testing.T, pkg string, needed map[string]bool) map[string]bool {
	t.Helper()
	ours, err := os.ReadDir(filepath.Join("..", "..", strings.TrimPrefix(pkg, "llmsweep/")))
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range ours {
		if filepath.Ext(entry.Name()) != ".go" || strings.HasSuffix(entry.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", strings.TrimPrefix(pkg, "llmsweep/"), entry.Name()), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range file.Imports {
			if path := strings.Trim(i.Path.Value, `"`); strings.HasPrefix(path, "llmsweep/") && !needed[path] {
				needed[path] = true
				imports(t, path, needed)
			}
		}
	}
	return needed
}

// TestASweepIsEmbeddedWithFewImports: a program that sweeps the simulator needs at most three packages of ours.
func TestASweepIsEmbeddedWithFewImports(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", "examples", "program", "main.go"), nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var ours []string
	for _, i := range file.Imports {
		if strings.HasPrefix(i.Path.Value, `"llmsweep/`) {
			ours = append(ours, i.Path.Value)
		}
	}
	if len(ours) == 0 || len(ours) > 3 {
		t.Errorf("examples/program imports %v", ours)
	}
}
