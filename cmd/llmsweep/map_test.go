package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMap: what the package comment names for each kind of change is where it says.
func TestMap(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "main.go", nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Fatal(err)
	}
	_, places, found := strings.Cut(strings.Join(strings.Fields(file.Doc.Text()), " "), "Where a change goes:")
	entries := regexp.MustCompile(`(\w+) in ([\w/]+\.go)`).FindAllStringSubmatch(places, -1)
	if !found || len(entries) < 12 {
		t.Fatalf("the map has %d entries", len(entries))
	}
	for _, e := range entries {
		tree, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", e[2]), nil, 0)
		if err != nil {
			t.Error(err)
		} else if !declares(tree, e[1]) {
			t.Errorf("there is no %s in %s", e[1], e[2])
		}
	}
}

// declares reports whether a file declares a function, a method, a type or a variable.
func declares(file *ast.File, name string) (found bool) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch d := n.(type) {
		case *ast.FuncDecl:
			found = found || d.Name.Name == name
			return false
		case *ast.TypeSpec:
			found = found || d.Name.Name == name
		case *ast.ValueSpec:
			for _, v := range d.Names {
				found = found || v.Name == name
			}
		}
		return true
	})
	return found
}
