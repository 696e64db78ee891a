package main

import (
	"go/parser"
	"go/token"
	"io/fs"
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
