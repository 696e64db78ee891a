package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"llmsweep/client/redact"
	"llmsweep/report/inputs"
	"llmsweep/sweep/rundir"
)

// publishedTables is a published document, by its place in the repository.
const publishedTables = "report/published/testdata/guidellm-tables.md"

// copyPublished copies the published document to the same place in a world, and returns its path.
func copyPublished(t *testing.T, w *world) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../..", publishedTables))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(w.path(publishedTables)), 0o755); err != nil {
		t.Fatal(err)
	}
	return w.write(publishedTables, string(b))
}

// TestExampleDocuments writes the documents in examples again, and compares them with the committed ones. Documents
// name files as the command line does, so a process of its own runs in the directory.
func TestExampleDocuments(t *testing.T) {
	notInShort(t)
	t.Parallel()
	program, err := exec.LookPath("llmsweep") // by testscript.Main
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	b, err := os.ReadFile(filepath.Join("../..", publishedTables))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(root, filepath.Dir(publishedTables)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, publishedTables), b, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, lang := range []string{"en", "zh"} {
		dir := "examples/document/" + lang
		p := exec.Command(program, "report", publishedTables, "--document", "--lang", lang, "-o", dir+"/report.md", "--slo",
			"itl:mean<50ms", "--slo",
			"ttft:mean<200ms", "--demand", "20rps", "--price", "L20=1.2,A100=3.6")
		p.Dir = root
		if out, err := p.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		files, err := os.ReadDir(filepath.Join(root, dir))
		if err != nil || len(files) != 10 { // the page among them
			t.Fatalf("%d files, %v", len(files), err)
		}
		for _, f := range files {
			b, err := os.ReadFile(filepath.Join(root, dir, f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			if f.Name() == "report.html" { // tested in its own package, and large
				continue
			}
			golden(t, filepath.Join("../..", dir, f.Name()), string(b))
		}
	}
}

// TestAddToDocument adds a run to a document: text that people wrote stays, the choice is made again, and a run whose
// directory is gone keeps its table.
func TestAddToDocument(t *testing.T) {
	notInShort(t)
	virtually(t, func(t *testing.T, w *world) {
		published, doc := copyPublished(t, w), w.path("report.md")
		w.must("report", published, "--document", "-o", doc, "--slo", "itl:mean<50ms", "--demand", "20rps", "--price",
			"L20=1.2,A100=3.6")
		b, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		hand := "Rack 7 ran hot during all of it.\n"
		w.write("report.md", strings.Replace(string(b), "## Details\n", "## Details\n\n"+hand, 1))
		w.must("import", published, "--out", w.path("imported"))
		dirs, err := filepath.Glob(w.path("imported/*SGLang*"))
		if err != nil || len(dirs) != 1 {
			t.Fatalf("%v, %v", dirs, err)
		}
		relabel(t, filepath.Join(dirs[0], rundir.RunFile))
		w.must("report", dirs[0], "--document", "-o", doc)
		for _, gone := range []string{"report", "imported"} {
			if err := os.RemoveAll(w.path(gone)); err != nil {
				t.Fatal(err)
			}
		}
		w.must("report", "--document", "-o", doc)      // nothing new
		w.must("report", "--document", "-o", doc, doc) // its own tables are not new results
		if b, err = os.ReadFile(doc); err != nil {
			t.Fatal(err)
		}
		for text, times := range map[string]int{hand: 1, "H20 96GB": -1, "<!-- llmsweep:choice": 1, "## Details": 1,
			"<!-- llmsweep:run ": 14} {
			if n := strings.Count(string(b), text); n != times && (times >= 0 || n == 0) {
				t.Errorf("%q is there %d times", text, n)
			}
		}
	})
}

// TestDocumentsTellNothingOfTheMachine: a document of results elsewhere names them without their directories, also in
// its comments, and --source in place of the files; written again it says the same.
func TestDocumentsTellNothingOfTheMachine(t *testing.T) {
	notInShort(t)
	virtually(t, func(t *testing.T, w *world) {
		published, prices := copyPublished(t, w), w.write("secret-prices.yaml", "L20: 1.2\n")
		if !filepath.IsAbs(published) {
			t.Fatal(published)
		}
		w.must("import", published, "--out", w.path("imported"))
		doc := w.path("site/comparison.md")
		if err := os.MkdirAll(filepath.Dir(doc), 0o755); err != nil {
			t.Fatal(err)
		}
		write := func(args ...string) string {
			t.Helper()
			w.must(append([]string{"report", "--document", "-o", doc}, args...)...)
			b, err := os.ReadFile(doc)
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{w.path(""), filepath.Dir(published), "../", "testdata", "secret"} {
				if i := strings.Index(string(b), path); i >= 0 {
					t.Errorf("%s: ...%s...", path, string(b)[max(0, i-60):min(len(b), i+60)])
				}
			}
			return string(b)
		}
		for what, from := range map[string]string{"document": published, "run directories": w.path("imported")} {
			if err := os.RemoveAll(doc); err != nil {
				t.Fatal(err)
			}
			named := write(from, "--slo", "itl:mean<50ms", "--demand", "20rps", "--prices", prices)
			if n := strings.Count(named, "- Source: guidellm-tables.md:"); n != 13 {
				t.Errorf("%s: %d sources are named", what, n)
			}
			if again := write(from); again != named {
				t.Errorf("%s: written again, it changed", what)
			}
			const url = "https://example.org/benchmarks"
			for _, args := range [][]string{{from, "--source", url}, {from}} {
				if n := strings.Count(write(args...), "- Source: "+url+" (line "); n != 13 {
					t.Errorf("%s: %q: %d sources are the address", what, args[1:], n)
				}
			}
		}
	})
}

// relabel makes an imported run one that was measured here, on other hardware.
func relabel(t *testing.T, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var run map[string]any
	if err := json.Unmarshal(b, &run); err != nil {
		t.Fatal(err)
	}
	delete(run, "source")
	run["labels"].(map[string]any)["gpu"] = "H20 96GB"
	if b, err = json.Marshal(run); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestSafeName makes directory names of labels.
func TestSafeName(t *testing.T) {
	for in, want := range map[string]string{
		"Qwen2-7B-Instruct 1xL20 48GB": "Qwen2-7B-Instruct-1xL20-48GB", "../../etc/passwd": "etc-passwd", "": "result",
		"...":      "result",
		"通义千问|2.5": "通义千问-2.5", "a\x00b\nc": "a-b-c", `C:\..\con`: "C-..-con", "con": "_con", "NUL.txt": "_NUL.txt",
		"console": "console",
	} {
		if got := inputs.SafeName(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestWithoutCredentials removes credentials from URLs, and leaves other texts alone.
func TestWithoutCredentials(t *testing.T) {
	for in, want := range map[string]string{
		"http://me:pw@host:8000/v1?key=s":  "http://[redacted]@host:8000/v1?[redacted]",
		"me:pw@host:8000":                  "[redacted]@host:8000",
		"host:8000/v1?key=s":               "host:8000/v1?[redacted]",
		"http://host:8000":                 "http://host:8000",
		"What is it? Tell me=now.":         "What is it? Tell me=now.",
		"ttft@80>10%":                      "ttft@80>10%",
		"ttft:p99<500ms":                   "ttft:p99<500ms",
		"trace:mooncake.jsonl":             "trace:mooncake.jsonl",
		"https://token@api.example.com/v1": "https://[redacted]@api.example.com/v1",
		"http://me:p@ss:w@host:8000":       "http://[redacted]@host:8000",
		"me:p@ss@host:8000":                "[redacted]@host:8000",
		"token@host:8000/v1":               "[redacted]@host:8000/v1",
		"token@10.0.0.7:8000":              "[redacted]@10.0.0.7:8000",
		"host:8000/v1?s":                   "host:8000/v1?[redacted]",
		"poisson@1.57":                     "poisson@1.57",
		"itl@4rps>1%":                      "itl@4rps>1%",
	} {
		if got := redact.WithoutCredentials(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
