package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"llmsweep/client/redact"
	"llmsweep/report/inputs"
)

// publishedTables is a published document, by its place in the repository.
const publishedTables = "report/published/testdata/guidellm-tables.md"

// publishedPart returns the first setups of the published document.
func publishedPart(t testing.TB, setups int) string {
	t.Helper()
	parts := strings.SplitAfterN(contentOf(t, "../../"+publishedTables), "\n- **", setups+2)
	return strings.TrimSuffix(strings.Join(parts[:setups+1], ""), "- **")
}

// TestExampleDocuments writes the documents in examples again, and compares them with the committed ones. Documents
// name files as the command line does, so a process of its own runs in the directory.
func TestExampleDocuments(t *testing.T) {
	notInShort(t)
	t.Parallel()
	root := t.TempDir()
	if err := os.CopyFS(filepath.Join(root, filepath.Dir(publishedTables)),
		os.DirFS("../../"+filepath.Dir(publishedTables))); err != nil {
		t.Fatal(err)
	}
	for _, lang := range []string{"en", "zh"} {
		dir := "examples/document/" + lang
		p := process(t, root, "report", publishedTables, "--document", "--lang", lang, "-o", dir+"/report.md", "--slo",
			"itl:mean<50ms", "--slo", "ttft:mean<200ms", "--demand", "20rps", "--price", "L20=1.2,A100=3.6")
		noError(t, p.Wait())
		files, err := os.ReadDir(filepath.Join(root, dir))
		if err != nil || len(files) != 10 { // the page among them
			t.Fatalf("%d files, %v", len(files), err)
		}
		for _, f := range files {
			if f.Name() != "report.html" { // tested in its own package, and large
				golden(t, filepath.Join("../..", dir, f.Name()), contentOf(t, filepath.Join(root, dir, f.Name())))
			}
		}
	}
}

// TestDocumentsTellNothingOfTheMachine: a document of results elsewhere names them without their directories, and
// --source in place of the files.
func TestDocumentsTellNothingOfTheMachine(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		for _, dir := range []string{"secret-place", "site"} {
			noError(t, os.Mkdir(w.path(dir), 0o755))
		}
		published := w.write("secret-place/tables.md", publishedPart(t, 2))
		prices := w.write("secret-prices.yaml", "L20: 1.2\n")
		w.must("import", published, "--out", w.path("imported"))
		doc := w.path("site/comparison.md")
		write := func(args ...string) string {
			t.Helper()
			w.must(append([]string{"report", "--document", "-o", doc}, args...)...)
			text := contentOf(t, doc)
			for _, path := range []string{w.path(""), "../", "imported", "secret"} {
				if i := strings.Index(text, path); i >= 0 {
					t.Errorf("%s: ...%s...", path, text[max(0, i-60):min(len(text), i+60)])
				}
			}
			return text
		}
		for what, from := range map[string]string{"document": published, "run directories": w.path("imported")} {
			os.RemoveAll(doc)
			named := write(from, "--slo", "itl:mean<50ms", "--demand", "20rps", "--prices", prices)
			if n := strings.Count(named, "- Source: tables.md:"); n != 2 {
				t.Errorf("%s: %d sources are named", what, n)
			}
			const url = "https://example.org/benchmarks"
			if n := strings.Count(write(from, "--source", url), "- Source: "+url+" (line "); n != 2 {
				t.Errorf("%s: %d sources are the address", what, n)
			}
		}
	})
}

// TestNamesAndAddresses makes directory names of labels, and removes credentials from what may be a URL.
func TestNamesAndAddresses(t *testing.T) {
	var now strings.Builder
	for line := range strings.Lines(contentOf(t, "testdata/names.txt")) {
		kind, rest, _ := strings.Cut(line, " ")
		quoted, err := strconv.QuotedPrefix(rest)
		noError(t, err)
		in, _ := strconv.Unquote(quoted)
		out := map[string]func(string) string{"name": inputs.SafeName, "address": redact.WithoutCredentials}[kind](in)
		fmt.Fprintf(&now, "%s %s: %q\n", kind, quoted, out)
	}
	golden(t, "testdata/names.txt", now.String())
}
