package main

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write examples/document")

// publishedTables is the published document, as it lies in the repository.
const publishedTables = "report/published/testdata/guidellm-tables.md"

// inCopy goes to an empty directory with a copy of a file of the repository at its place.
func inCopy(t *testing.T, file string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../..", file))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestCompareCommand(t *testing.T) {
	inCopy(t, publishedTables)
	code, out, errs := llmsweep("compare", publishedTables)
	if code != exitDone || !strings.Contains(out, "1.90 x") || !strings.Contains(out, publishedTables+":57") {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	code, out, _ = llmsweep("compare", publishedTables, "--format", "json")
	var c struct {
		Setups []struct{ Name string }
	}
	if err := json.Unmarshal([]byte(out), &c); err != nil || code != exitDone || len(c.Setups) != 13 {
		t.Errorf("exit %d, %v, %d setups", code, err, len(c.Setups))
	}
	code, _, errs = llmsweep("compare", publishedTables, "--fail-if", "tokens_per_s<-5%")
	if code != exitFailed || !strings.Contains(errs, "Qwen2-14B-Instruct, 1 x L20 48GB, vLLM is -31.3 %") {
		t.Errorf("exit %d: %s", code, errs)
	}
	if code, _, errs = llmsweep("compare", publishedTables, "--fail-if", "tokens_per_s<-50%"); code != exitDone {
		t.Errorf("exit %d: %s", code, errs)
	}
	if code, _, errs = llmsweep("compare", publishedTables, "--fail-if", "errors>1%"); code != exitFailed || !strings.Contains(errs, "cannot be judged") {
		t.Errorf("what nobody measured passes: exit %d: %s", code, errs)
	}
}

func TestChooseCommand(t *testing.T) {
	inCopy(t, publishedTables)
	if err := os.WriteFile("prices.yaml", []byte("L20: 1.2\nA100: 1.5\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	wish := []string{"choose", publishedTables, "--only", "model=Qwen2-7B", "--slo", "itl:mean<50ms", "--slo", "ttft:mean<200ms", "--demand", "20rps"}
	for prices, want := range map[string]string{
		"--price L20=1.2,A100=3.6":                      "Cheapest: Qwen2-7B-Instruct, 2 x L20 48GB, SGLang, 2 replicas, 4 GPUs: 4.80 an hour",
		"--prices prices.yaml":                          "Cheapest: Qwen2-7B-Instruct, 1 x A100 80GB, vLLM, 3 replicas, 3 GPUs: 4.50 an hour",
		"--prices prices.yaml --price A100=3.6":         "Cheapest: Qwen2-7B-Instruct, 2 x L20 48GB, SGLang",
		"--prices prices.yaml --only engine=sglang":     "Cheapest: Qwen2-7B-Instruct, 2 x L20 48GB, SGLang",
		"--prices prices.yaml --max-gpus 2":             "None of the configurations meets it",
		"--prices prices.yaml --only quant=GPTQ":        "GPTQ-Int4, 1 x A100 80GB",
		"--prices prices.yaml --lang zh --only gpu=L20": "费用最低：Qwen2-7B-Instruct, 2 x L20 48GB, SGLang",
	} {
		code, out, errs := llmsweep(append(wish, strings.Fields(prices)...)...)
		if code != exitDone || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d, no %q\n%s%s", prices, code, want, out, errs)
		}
	}
}

func TestCompareAndChooseRefuse(t *testing.T) {
	inCopy(t, publishedTables)
	if err := os.WriteFile("own.md", []byte("# mine\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, says string }{
		{"compare nowhere", "nowhere"},
		{"compare .", "run directory"},
		{"compare own.md", "own.md"},
		{"compare " + publishedTables + " --fail-if speed<-5%", "tokens_per_s"},
		{"choose " + publishedTables + " --demand 20rps", "--slo"},
		{"choose " + publishedTables + " --slo itl:mean<50ms", "--demand"},
		{"choose " + publishedTables + " --slo itl:mean<50 --demand 20rps", "500ms"},
		{"choose " + publishedTables + " --slo itl:mean<50ms --demand 20", "20rps"},
		{"choose " + publishedTables + " --slo itl:mean<50ms --demand 20rps --price L20", "L20=1.2"},
		{"choose " + publishedTables + " --slo itl:mean<50ms --demand 20rps --prices none.yaml", "none.yaml"},
		{"choose " + publishedTables + " --slo itl:mean<50ms --demand 20rps --only model=Llama", "model=Llama"},
		{"choose " + publishedTables + " --slo itl:mean<50ms --demand 20rps --headroom 1", "--headroom"},
		{"report " + publishedTables + " --document", "-o"},
		{"report " + publishedTables + " --document -o own.md", "own.md"},
		{"report", "run directory"},
		{"report --document -o new.md", "run directories"},
		{"report nowhere --document -o new.md", "nowhere"},
		{"sim --predict --only Llama", "Qwen2-7B"},
		{"sim --predict --prompt-tokens 0", "--prompt-tokens"},
	} {
		code, out, errs := llmsweep(strings.Fields(c.args)...)
		if code != exitUsage || !strings.Contains(errs, c.says) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: exit %d, not one line with %q\n%s%s", c.args, code, c.says, out, errs)
		}
	}
	if b, err := os.ReadFile("own.md"); err != nil || string(b) != "# mine\n" {
		t.Errorf("somebody's own document became %q", b)
	}
}

// The documents in examples are what their command writes today.
func TestExampleDocuments(t *testing.T) {
	examples, err := filepath.Abs("../../examples/document")
	if err != nil {
		t.Fatal(err)
	}
	inCopy(t, publishedTables)
	for _, lang := range []string{"en", "zh"} {
		dir := "examples/document/" + lang
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		args := []string{"report", publishedTables, "--document", "--lang", lang, "-o", dir + "/report.md", "--slo", "itl:mean<50ms", "--slo",
			"ttft:mean<200ms", "--demand", "20rps", "--price", "L20=1.2,A100=3.6"}
		if code, out, errs := llmsweep(args...); code != exitDone {
			t.Fatalf("exit %d\n%s%s", code, out, errs)
		}
		files, err := os.ReadDir(dir)
		if err != nil || len(files) != 9 {
			t.Fatalf("%d files, %v", len(files), err)
		}
		for _, f := range files {
			sameAs(t, filepath.Join(examples, lang, f.Name()), filepath.Join(dir, f.Name()))
		}
	}
}

// sameAs holds a file against a committed one, which -update writes.
func sameAs(t *testing.T, committed, written string) {
	t.Helper()
	got, err := os.ReadFile(written)
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.MkdirAll(filepath.Dir(committed), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(committed, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(committed)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-committed +written), go test ./cmd/llmsweep -run Example -update writes it:\n%s", filepath.Base(committed), diff)
	}
}

// A run of our own is added to a document; what was written in it by hand stays, its choice is made again, and a run whose
// directory is gone lives on by its table.
func TestRunIsAddedToDocument(t *testing.T) {
	inCopy(t, publishedTables)
	must := func(args ...string) {
		t.Helper()
		if code, out, errs := llmsweep(args...); code != exitDone {
			t.Fatalf("%v: exit %d\n%s%s", args, code, out, errs)
		}
	}
	must("report", publishedTables, "--document", "-o", "report.md", "--slo", "itl:mean<50ms", "--demand", "20rps", "--price", "L20=1.2,A100=3.6")
	b, err := os.ReadFile("report.md")
	if err != nil {
		t.Fatal(err)
	}
	hand := "Rack 7 hummed through all of it.\n"
	if err := os.WriteFile("report.md", []byte(strings.Replace(string(b), "## Details\n", "## Details\n\n"+hand, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	must("import", publishedTables, "--out", "imported")
	dirs, err := filepath.Glob("imported/*SGLang*")
	if err != nil || len(dirs) != 1 {
		t.Fatalf("%v, %v", dirs, err)
	}
	relabel(t, filepath.Join(dirs[0], "run.json"))
	must("report", dirs[0], "--document", "-o", "report.md")
	if err := os.RemoveAll("report"); err != nil { // the published document is gone
		t.Fatal(err)
	}
	if err := os.RemoveAll("imported"); err != nil {
		t.Fatal(err)
	}
	must("report", "--document", "-o", "report.md")              // nothing new
	must("report", "--document", "-o", "report.md", "report.md") // nor is what it says itself
	if b, err = os.ReadFile("report.md"); err != nil {
		t.Fatal(err)
	}
	for text, times := range map[string]int{hand: 1, "H20 96GB": -1, "<!-- llmsweep:choice": 1, "## Details": 1, "<!-- llmsweep:run ": 14} {
		if n := strings.Count(string(b), text); n != times && (times >= 0 || n == 0) {
			t.Errorf("%q is there %d times", text, n)
		}
	}
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
