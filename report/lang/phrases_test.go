package lang_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode"
)

// phrase is a call of lang.Say in the source.
type phrase struct{ where, en, zh string }

// phrases returns all calls of lang.Say with two literals in the source.
func phrases(t *testing.T) []phrase {
	all, err := readPhrases()
	if err != nil || len(all) < 500 {
		t.Fatalf("%d phrases found: %v", len(all), err)
	}
	return all
}

var readPhrases = sync.OnceValues(func() (all []phrase, err error) {
	err = walk(func(path string, files *token.FileSet, file *ast.File) {
		ast.Inspect(file, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && len(call.Args) == 2 && isSay(call.Fun) {
				all = append(all, phrase{files.Position(call.Pos()).String(), text(call.Args[0]), text(call.Args[1])})
			}
			return true
		})
	}, nil, "../../report", "../../cmd")
	return all, err
})

// walk reads the Go files of a tree that are no tests, and its Chinese pages.
func walk(source func(path string, files *token.FileSet, file *ast.File), page func(path, text string),
	roots ...string) error {
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil || d.IsDir() || strings.HasSuffix(path, "_test.go"):
			case strings.HasSuffix(path, ".go"):
				files := token.NewFileSet()
				file, err := parser.ParseFile(files, path, nil, 0)
				if err != nil {
					return err
				}
				source(path, files, file)
			case page != nil && strings.HasSuffix(path, ".zh.md") && !strings.Contains(path, "testdata"):
				b, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				page(path, string(b))
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

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

// text returns a literal, or a sum of some; what is no literal counts as an argument.
func text(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		s, _ := strconv.Unquote(e.Value)
		return s
	case *ast.BinaryExpr:
		return text(e.X) + text(e.Y)
	}
	return "%s"
}

// typos are mistakes that typing or replacing leaves in Chinese text.
var typos = map[string]*regexp.Regexp{
	"a blank between two Chinese characters":      regexp.MustCompile(`\p{Han} +\p{Han}`),
	"an ASCII comma beside a Chinese character":   regexp.MustCompile(`\p{Han}[,;?!]|[,;] ?\p{Han}`),
	"a blank beside a full-width punctuation":     regexp.MustCompile(`[，。；：、（“] +[^ |]|[^ |>*#-] +[，。；：、（）”]`),
	"two full-width punctuation marks in a row":   regexp.MustCompile(`[，。；：、][，。；：、]`),
	"an ASCII full stop after Chinese characters": regexp.MustCompile(`\p{Han}\.(\s|$)`),
}

// repeated returns a Chinese character that occurs more than twice in a row, or a word of two or more that is there
// twice.
func repeated(s string) string {
	r := []rune(s)
	for i := range r {
		if !unicode.Is(unicode.Han, r[i]) {
			continue
		}
		if i+2 < len(r) && r[i] == r[i+1] && r[i] == r[i+2] {
			return string(r[i : i+3])
		}
		for n := 2; i+2*n <= len(r); n++ {
			if word := string(r[i : i+n]); word == string(r[i+n:i+2*n]) && hanWord.MatchString(word) {
				return word + word
			}
		}
	}
	return ""
}

var hanWord = regexp.MustCompile(`^\p{Han}+$`)

func checkTypos(t *testing.T, where, zh string) {
	t.Helper()
	if again := repeated(zh); again != "" {
		t.Errorf("%s: %s\n%s", where, again, zh)
	}
	for what, typo := range typos {
		if found := typo.FindString(zh); found != "" {
			t.Errorf("%s: %s: %q\n%s", where, what, found, zh)
		}
	}
}

var verb = regexp.MustCompile(`%(?:\[(\d+)\])?[-+#0]*\d*(?:\.\d+)?([a-z%])`)

// arguments returns the arguments that a format uses.
func arguments(format string) (used []int) {
	next := 1
	for _, m := range verb.FindAllStringSubmatch(format, -1) {
		if m[2] == "%" {
			continue
		}
		if m[1] != "" {
			next, _ = strconv.Atoi(m[1])
		}
		used = append(used, next)
		next++
	}
	slices.Sort(used)
	return slices.Compact(used)
}

// TestPhrases: each phrase of the source is told in both languages, with the same arguments and without typos.
func TestPhrases(t *testing.T) {
	for _, p := range phrases(t) {
		if p.en == "" || p.zh == "" && strings.TrimSpace(p.en) != "" { // in Chinese no space is between sentences
			t.Errorf("%s: a language is missing", p.where)
		}
		if a, b := arguments(p.en), arguments(p.zh); !slices.Equal(a, b) {
			t.Errorf("%s: the arguments differ: %v and %v\n%s\n%s", p.where, a, b, p.en, p.zh)
		} else if len(a) == 0 && strings.Contains(p.en+p.zh, "%%") {
			t.Errorf("%s: without arguments a phrase is no format: %%%% is printed as it stands\n%s\n%s", p.where, p.en, p.zh)
		}
		checkTypos(t, p.where, p.zh)
		if found := englishRun.FindString(englishNames.ReplaceAllString(p.zh, "|")); found != "" {
			t.Errorf("%s: English in Chinese: %q in %s", p.where, found, p.zh)
		}
		if comfort.MatchString(p.en + p.zh) {
			t.Errorf("%s: %s / %s", p.where, p.en, p.zh)
		}
	}
}

// English words that may stand in a Chinese text: commands, flags, places of arguments, names and units.
var (
	englishNames = regexp.MustCompile(`llmsweep \w+|--[a-z-]+|\{[^}]*\}|\b[a-z_]+_[a-z_]+\b|` +
		`DIR gpu|token id|chat completions|Max Tokens|Response Time|Theoretical Max Throughput`)
	englishRun = regexp.MustCompile(`[A-Za-z]{3,}[ ,]+[A-Za-z]{2,}`)
)

// comfort is a judgement: what is meant is 80 % of the saturation rate.
var comfort = regexp.MustCompile(`(?i)comfortabl|舒适`)

// TestPhrasesStandInWordsFiles checks that the phrases of a package are in its words.go, or in files named words_*.go;
// those of audit's rules are with their rules.
func TestPhrasesStandInWordsFiles(t *testing.T) {
	for _, p := range phrases(t) {
		file, _, _ := strings.Cut(filepath.ToSlash(p.where), ":")
		if base := filepath.Base(file); base != "words.go" && !strings.HasPrefix(base, "words_") &&
			file != "../../report/audit/rules.go" {
			t.Errorf("%s: %s", p.where, p.en)
		}
	}
}

// TestManual: the manual has no typos in Chinese, and calls no load comfortable.
func TestManual(t *testing.T) {
	files, err := filepath.Glob("../../cmd/llmsweep/manual/topics/*.md")
	if err != nil || len(files) < 8 {
		t.Fatal(err, files)
	}
	for _, file := range append(files, "../../README.md", "../../cmd/llmsweep/manual/README.zh.md") {
		b, err := os.ReadFile(file)
		if err != nil || comfort.Match(b) {
			t.Errorf("%s: %v, or it calls a load comfortable", file, err)
		}
		if filepath.Base(file) == "README.zh.md" {
			for i, line := range strings.Split(string(b), "\n") {
				checkTypos(t, file+":"+strconv.Itoa(i+1), line)
			}
		}
	}
}
