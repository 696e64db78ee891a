package lang

import (
	"bufio"
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"llmsweep/report/golden"
)

// literal returns the value of a string literal, or of several that are added.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(e.Value)
		return s, err == nil
	case *ast.BinaryExpr:
		a, ok1 := literal(e.X)
		b, ok2 := literal(e.Y)
		return a + b, ok1 && ok2
	}
	return "", false
}

// notForPeople are directories whose errors are mistakes of a programmer, and never printed.
func notForPeople(path string) bool {
	return strings.HasSuffix(path, "_test.go") || strings.Contains(path, "schematest") || strings.HasSuffix(path, "report/lang/sentence.go")
}

// complaintFormats returns the formats of all errors that the source makes, and where.
func complaintFormats(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, root := range []string{"cmd", "report", "sweep", "client"} {
		err := filepath.WalkDir(filepath.Join("../..", root), func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || notForPeople(filepath.ToSlash(path)) {
				return err
			}
			set := token.NewFileSet()
			file, err := parser.ParseFile(set, path, nil, 0)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || len(call.Args) == 0 {
					return true
				}
				f, ok := call.Fun.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				x, ok := f.X.(*ast.Ident)
				if !ok || x.Name+"."+f.Sel.Name != "fmt.Errorf" && x.Name+"."+f.Sel.Name != "errors.New" {
					return true
				}
				if text, ok := literal(call.Args[0]); ok {
					if x.Name == "errors" {
						text = strings.ReplaceAll(text, "%", "%%")
					}
					found[text] = set.Position(call.Pos()).String()
				}
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(found) < 250 {
		t.Fatalf("only %d formats found", len(found))
	}
	return found
}

// TestErrorsHaveWords checks that each format of an error in the source has Chinese words.
func TestErrorsHaveWords(t *testing.T) {
	have := map[string]bool{}
	for _, c := range catalogue() {
		have[c[0]] = true
	}
	letters := regexp.MustCompile(`[A-Za-z]`)
	for format, where := range complaintFormats(t) {
		if !have[format] && letters.MatchString(verb.ReplaceAllString(format, "")) {
			t.Errorf("%s: the error %q has no Chinese; add it to the catalogue in report/lang/complaint", where, format)
		}
	}
}

// TestCatalogue checks that both languages of an entry have the same placeholders.
func TestCatalogue(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range catalogue() {
		count := func(s string) (n int) {
			for _, m := range verb.FindAllStringSubmatch(s, -1) {
				if m[2] != "%" {
					n++
				}
			}
			return n
		}
		if count(c[0]) != count(c[1]) {
			t.Errorf("%q has other placeholders than %q", c[0], c[1])
		}
		if seen[c[0]] {
			t.Errorf("%q is there twice", c[0])
		}
		seen[c[0]] = true
	}
}

// english matches three English words in a row outside quotes.
var english = regexp.MustCompile(`(?:\b[a-z]{2,}\b ){2,}[a-z]{2,}`)

// TestErrorsInChinese translates the errors of all commands that the tests of the command line make. The golden file is to be read.
func TestErrorsInChinese(t *testing.T) {
	b, err := os.ReadFile("../../cmd/llmsweep/testdata/errors.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	n := 0
	for in := bufio.NewScanner(bytes.NewReader(b)); in.Scan(); {
		_, text, ok := strings.Cut(in.Text(), ": llmsweep: ")
		if !ok {
			continue
		}
		n++
		said := ChineseError(text)
		out.WriteString(said + "\n")
		if m := english.FindString(regexp.MustCompile(`llmsweep sweep sim: 不|vllm bench serve|sequence end|FromReader.*|page not found`).ReplaceAllString(said, "")); m != "" {
			t.Errorf("%s\nin Chinese: %s\nhas English: %s", text, said, m)
		}
	}
	if n < 80 {
		t.Fatalf("only %d errors", n)
	}
	golden.Check(t, "errors.zh.txt", []byte(out.String()))
}

// TestChinese tests how texts are matched.
func TestChinese(t *testing.T) {
	for english, want := range map[string]string{
		"is empty": "为空",
		"--header: \"a b\" is not a header name; want letters, digits and dashes": "--header：\"a b\" 不是请求头名称；应由字母、数字和短横线组成",
		"a.yaml:2: \"many\" is not a whole number":                                "a.yaml:2：\"many\" 不是整数",
		"a shared prefix must have 1 to 9 tokens, not 12":                         "共享前缀的长度必须在 1 到 9 个 token 之间，而不是 12",
		"model overloaded, try again":                                             "model overloaded, try again",
		"the SLO is missed: ttft:p99<20ms is missed in asynchronous@3.00":         "不满足 SLO：asynchronous@3.00 不满足 ttft:p99<20ms",
		"": "",
	} {
		if got := ChineseError(english); got != want {
			t.Errorf("%s: %s, want %s", english, got, want)
		}
	}
}
