package sweep

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Packages import only what is listed before them, in the order that the package comment tells.
func TestImportsGoDownwards(t *testing.T) {
	t.Parallel()
	const module = "llmsweep/"
	layers := []string{
		"sweep/stats", "sweep/rundir", "sweep/rundir/store", "sweep/sample", "sweep/arrival", "sweep/slo", "sweep/load", "sweep/measure",
		"sweep/experiment", "sweep/saturation", "sweep", "sweep/pair",
	}
	for rank, name := range layers {
		files, err := filepath.Glob(filepath.Join("..", filepath.FromSlash(name), "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s has %d files, %v", name, len(files), err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range parsed.Imports {
				ours, ok := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), module)
				if ok && !strings.HasPrefix(ours, "client") && !slices.Contains(layers[:rank], ours) {
					t.Errorf("%s imports %s", file, ours)
				}
			}
		}
	}
}
