package findings_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"llmsweep/client/note"
	"llmsweep/report/audit"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/published"
)

// declared is a kind of note as the source declares it.
type declared struct {
	note.Kind
	dir, name string // of the package, and of the variable
}

// declarations reads all kinds of notes out of the source, and by package what func Notes lists.
func declarations(t *testing.T) (kinds []declared, listed map[string]map[string]bool) {
	listed = map[string]map[string]bool{}
	for _, root := range []string{"../../client", "../../sweep", "..", "../../cmd"} {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			if err != nil {
				return err
			}
			dir := filepath.Dir(path)
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.ValueSpec:
					for i, v := range n.Values {
						if k, ok := kindOf(v); ok {
							kinds = append(kinds, declared{k, dir, n.Names[i].Name})
						}
					}
				case *ast.FuncDecl:
					if n.Name.Name == "Notes" && n.Recv == nil {
						listed[dir] = map[string]bool{}
						ast.Inspect(n.Body, func(n ast.Node) bool {
							if id, ok := n.(*ast.Ident); ok {
								listed[dir][id.Name] = true
							}
							return true
						})
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
	if len(kinds) < 50 {
		t.Fatalf("only %d kinds of notes found", len(kinds))
	}
	return kinds, listed
}

// kindOf returns the kind that a literal note.Kind{...} declares.
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

// TestEveryNoteHasWords checks each kind of note in the source: both languages, its own arguments, all of them.
func TestEveryNoteHasWords(t *testing.T) {
	kinds, _ := declarations(t)
	words := lang.Join(findings.Words(), audit.Words(), published.Words())
	for _, k := range kinds {
		if err := words.Check(k.Kind); err != nil {
			t.Errorf("%s: %v", k.dir, err)
		}
	}
}

// TestEveryNoteIsListed checks that func Notes of each package lists all kinds of notes that it declares.
func TestEveryNoteIsListed(t *testing.T) {
	kinds, listed := declarations(t)
	codes := map[string]bool{}
	for _, k := range kinds {
		if strings.HasSuffix(k.dir, "client/note") { // declares note.Text, which has words of its own
			continue
		}
		if !listed[k.dir][k.name] {
			t.Errorf("%s: Notes does not list %s", k.dir, k.name)
		}
		if codes[k.Code] {
			t.Errorf("%s: %s is declared twice", k.dir, k.Code)
		}
		codes[k.Code] = true
	}
}

func TestSentences(t *testing.T) {
	words := lang.Words{
		"optional": lang.Say("{n:count row rows}[ of {all}]", "{n} 行[，共 {all} 行]"),
		"repeat":   lang.Say("at {rate:rate} req/s[, repetition {repeat:times}]", "{rate:rate} req/s[，第 {repeat:times} 次]"),
		"either":   lang.Say("[because {error}|without a reason]", "[因为 {error}|没有原因]"),
		"nested":   lang.Say("{stage}: {why:note}", "{stage}：{why:note}"),
	}
	optional := note.Kind{Code: "optional", Args: []string{"n", "all"}}
	repeat := note.Kind{Code: "repeat", Args: []string{"rate", "repeat"}}
	either := note.Kind{Code: "either", Args: []string{"error"}}
	nested := note.Kind{Code: "nested", Args: []string{"stage", "why"}}
	for _, c := range []struct {
		n      note.Note
		en, zh string
	}{
		{optional.New(1, 3), "1 row of 3.", "1 行，共 3 行。"},
		{note.Note{Code: "optional", Args: map[string]any{"n": 1e6}}, "1000000 rows.", "1000000 行。"},
		{repeat.New(12.346, 1), "At 12.35 req/s.", "12.35 req/s。"},
		{repeat.New(12.346, 2), "At 12.35 req/s, repetition 2.", "12.35 req/s，第 2 次。"},
		{either.New("x"), "Because x.", "因为 x。"},
		{note.Note{Code: "either"}, "Without a reason.", "没有原因。"},
		{nested.New("poisson@1.00", []note.Note{note.Text.New("late"), optional.New(2, 3)}), "asynchronous@1.00: late, 2 rows of 3.", "asynchronous@1.00：late，2 行，共 3 行。"},
		{note.Text.New("was killed"), "was killed", "was killed"},
		{note.Note{Code: "new.code", Args: map[string]any{"b": 2.0, "a": "x"}}, "new.code a=x b=2.", "new.code a=x b=2。"},
	} {
		if got := words.Sentence(c.n, lang.English); got != c.en {
			t.Errorf("got  %s\nwant %s", got, c.en)
		}
		if got := words.Sentence(c.n, lang.Chinese); got != c.zh {
			t.Errorf("got  %s\nwant %s", got, c.zh)
		}
	}
}
