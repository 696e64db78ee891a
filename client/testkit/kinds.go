package testkit

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"llmsweep/client/note"
)

// Kind is a kind of note that the source declares.
type Kind struct {
	note.Kind
	Where string // file and line
}

// Kinds returns the kinds of notes in the program's source.
func Kinds(t *testing.T) (kinds []Kind) {
	t.Helper()
	root := Must(root())
	for _, dir := range []string{"client", "sweep", "report", "cmd"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if spec, ok := n.(*ast.ValueSpec); ok {
					for _, v := range spec.Values {
						if k, ok := kindOf(v); ok {
							kinds = append(kinds, Kind{k, files.Position(v.Pos()).String()})
						}
					}
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(kinds) < 200 {
		t.Fatalf("only %d kinds of notes found", len(kinds))
	}
	return slices.DeleteFunc(kinds, func(k Kind) bool { return k.Code == note.Text.Code }) // it has words of its own
}

// root is the directory of go.mod.
func root() (string, error) {
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		dir = filepath.Dir(dir)
	}
	return "", fmt.Errorf("no go.mod above: %v", err)
}

func kindOf(e ast.Expr) (k note.Kind, ok bool) {
	lit, ok := e.(*ast.CompositeLit)
	if !ok {
		return k, false
	}
	sel, ok := lit.Type.(*ast.SelectorExpr)
	if !ok || sel.Sel.Name != "Kind" {
		return k, false
	}
	if x, ok := sel.X.(*ast.Ident); !ok || x.Name != "note" {
		return k, false
	}
	for i, e := range lit.Elts {
		name := []string{"Code", "Args"}[min(i, 1)]
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			name, e = kv.Key.(*ast.Ident).Name, kv.Value
		}
		if name == "Code" {
			k.Code = literal(e)
		} else if args, ok := e.(*ast.CompositeLit); ok {
			for _, a := range args.Elts {
				k.Args = append(k.Args, literal(a))
			}
		}
	}
	return k, true
}

func literal(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok {
		return ""
	}
	s, _ := strconv.Unquote(lit.Value)
	return s
}
