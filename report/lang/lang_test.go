package lang

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPhrases checks that both languages of each phrase in package report and beneath it exist and take the same
// arguments.
func TestPhrases(t *testing.T) {
	n := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok || len(call.Args) != 2 || !isSay(call.Fun) {
				return true
			}
			n++
			en, zh := text(call.Args[0]), text(call.Args[1])
			if en == "" || zh == "" && en != " " { // sentences in Chinese follow each other without a space
				t.Errorf("%s: %q, %q: a language is missing", path, en, zh)
			}
			if a, b := arguments(en), arguments(zh); !slices.Equal(a, b) {
				t.Errorf("%s: %q takes %v, %q takes %v", path, en, a, zh, b)
			}
			return true
		})
		return nil
	})
	if err != nil || n < 300 {
		t.Fatalf("%d phrases found, %v", n, err)
	}
}

// isSay reports whether a function is Say.
func isSay(f ast.Expr) bool {
	switch f := f.(type) {
	case *ast.Ident:
		return f.Name == "Say"
	case *ast.SelectorExpr:
		x, ok := f.X.(*ast.Ident)
		return ok && x.Name == "lang" && f.Sel.Name == "Say"
	}
	return false
}

// text returns a string literal's value, empty for anything else.
func text(e ast.Expr) string {
	lit, ok := e.(*ast.BasicLit)
	if !ok {
		return ""
	}
	s, _ := strconv.Unquote(lit.Value)
	return s
}

// arguments returns the numbers of the arguments that a format uses.
func arguments(format string) []int {
	var used []int
	for _, m := range regexp.MustCompile(`%(?:\[(\d+)\])?(\.\d+)?([a-z%])`).FindAllStringSubmatch(format, -1) {
		n, _ := strconv.Atoi(m[1])
		if m[3] == "%" {
			continue
		}
		if n == 0 {
			n = len(used) + 1
		}
		used = append(used, n)
	}
	slices.Sort(used)
	return slices.Compact(used)
}
