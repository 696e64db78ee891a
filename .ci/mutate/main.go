// Command mutate shows whether tests notice a changed number. In each package it changes one number after another by a
// fifth: those of constants, which are thresholds of judgement, and factors of a thousand or sixty, which convert
// units. Each time it runs the tests of the package, and prints the numbers whose change no test noticed. The tree is
// not touched: the changed file is an overlay. Mutation testers for Go, such as gremlins, change operators and leave
// numbers alone.
//
//	cd .ci/mutate && go run . ../.. sweep/measure sweep/saturation
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// limit is the time that the tests of a package may take: a changed number may make them endless, which is noticed.
const limit = 5 * time.Minute

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: mutate ROOT PACKAGE...")
		os.Exit(2)
	}
	root, err := filepath.Abs(os.Args[1])
	if err == nil {
		err = mutate(root, os.Args[2:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func mutate(root string, packages []string) error {
	all, noticed := 0, 0
	for _, p := range packages {
		if ok, err := pass(root, p, ""); err != nil || !ok {
			return errors.Join(err, fmt.Errorf("the tests of %s fail as they are", p))
		}
		numbers, err := numbersIn(filepath.Join(root, p))
		if err != nil {
			return err
		}
		for _, n := range numbers {
			ok, err := n.survives(root, p)
			if err != nil {
				return err
			}
			if all++; !ok {
				noticed++
				continue
			}
			file, _ := filepath.Rel(root, n.file)
			fmt.Printf("%s:%d: %s: %s for %s is not noticed\n", file, n.line, n.name, n.changed(), n.text)
		}
		fmt.Printf("%s: %d of %d changed numbers were noticed so far\n", p, noticed, all)
	}
	return nil
}

// number is a literal in a file.
type number struct {
	file     string
	line     int
	from, to int // bytes of the file
	name     string
	text     string
}

// conversions are the factors that convert units.
var conversions = map[string]bool{"1000": true, "1e3": true, "1e6": true, "1e9": true, "60": true, "3600": true,
	"24": true}

func numbersIn(dir string) ([]number, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var all []number
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, file, nil, 0)
		if err != nil {
			return nil, err
		}
		add := func(name string, value ast.Expr) {
			lit, ok := value.(*ast.BasicLit)
			if b, binary := value.(*ast.BinaryExpr); binary { // 5 * time.Second, 16 << 20
				lit, ok = b.X.(*ast.BasicLit)
			}
			if ok && (lit.Kind == token.INT || lit.Kind == token.FLOAT) && lit.Value != "0" {
				at := set.Position(lit.Pos())
				all = append(all, number{file, at.Line, at.Offset, at.Offset + len(lit.Value), name, lit.Value})
			}
		}
		ast.Inspect(tree, func(node ast.Node) bool {
			switch v := node.(type) {
			case *ast.GenDecl:
				for _, s := range v.Specs {
					if value, ok := s.(*ast.ValueSpec); ok && v.Tok == token.CONST && len(value.Values) == len(value.Names) {
						for i, name := range value.Names {
							add(name.Name, value.Values[i])
						}
					}
				}
			case *ast.BinaryExpr:
				if lit, ok := v.Y.(*ast.BasicLit); ok && (v.Op == token.MUL || v.Op == token.QUO) && conversions[lit.Value] {
					add("a conversion", lit)
				}
			}
			return true
		})
	}
	return all, nil
}

// changed returns the number, a fifth larger.
func (n number) changed() string {
	if i, err := strconv.ParseInt(n.text, 0, 64); err == nil {
		return strconv.FormatInt(i+max(1, int64(math.Round(float64(i)/5))), 10)
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(n.text, "_", ""), 64)
	if err != nil {
		return n.text
	}
	return strconv.FormatFloat(1.2*f, 'g', -1, 64)
}

// survives reports whether the tests pass with the changed number.
func (n number) survives(root, p string) (bool, error) {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(dir)
	source, err := os.ReadFile(n.file)
	if err != nil {
		return false, err
	}
	file, overlay := filepath.Join(dir, filepath.Base(n.file)), filepath.Join(dir, "overlay.json")
	mutated := string(source[:n.from]) + n.changed() + string(source[n.to:])
	replace, err := json.Marshal(map[string]map[string]string{"Replace": {n.file: file}})
	err = errors.Join(err, os.WriteFile(file, []byte(mutated), 0o644), os.WriteFile(overlay, replace, 0o644))
	if err != nil {
		return false, err
	}
	return pass(root, p, overlay)
}

func pass(root, p, overlay string) (bool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	c := exec.CommandContext(ctx, "go", "test", "-failfast", "-overlay="+overlay, "./"+p)
	c.Dir = root
	var failed *exec.ExitError
	err := c.Run()
	if err != nil && !errors.As(err, &failed) && ctx.Err() == nil {
		return false, err
	}
	return err == nil, nil
}
