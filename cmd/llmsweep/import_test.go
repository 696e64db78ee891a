package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"llmsweep/report/audit"
	"llmsweep/sweep/rundir"
)

// publishedFile copies a published document into the working directory.
func publishedFile(t *testing.T, name string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "report", "published", "testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestImport(t *testing.T) {
	publishedFile(t, "guidellm-tables.md")
	for range 2 { // the second time replaces the first
		code, out, errs := llmsweep("import", "guidellm-tables.md", "--out", "in", "--label", "engine=E,price=2.5")
		if code != exitDone || !strings.Contains(out, "13 results") || !strings.Contains(out, "line 90: Inter Token Latency 45.38 has no unit: read as ms") {
			t.Fatalf("%d %s\n%s", code, out, errs)
		}
	}
	dirs, err := os.ReadDir("in")
	if err != nil || len(dirs) != 13 {
		t.Fatalf("%d directories, %v", len(dirs), err)
	}
	run, err := rundir.Open("in/Qwen2-7B-Instruct-GPTQ-Int4-1xL20-48GB-E")
	if err != nil {
		t.Fatal(err)
	}
	want := rundir.Labels{Model: "Qwen2-7B-Instruct", Quant: "GPTQ-Int4", GPU: "L20 48GB", GPUs: 1, Engine: "E", Price: 2.5}
	if run.Labels != want || len(run.Stages) != 11 || run.Source.Line != 27 {
		t.Errorf("%+v, %d stages, line %d", run.Labels, len(run.Stages), run.Source.Line)
	}
	code, out, errs := llmsweep("report", "in/Qwen2-7B-Instruct-GPTQ-Int4-1xL20-48GB-E", "--format", "markdown", "--lang", "zh")
	if code != exitDone || !strings.Contains(out, "| asynchronous@7.42 req/sec | 7.19 req/sec | 4.11 sec | 98.44 ms | 31.27 ms | 919.72 tokens/sec |") {
		t.Errorf("%d %s\n%s", code, out, errs)
	}
}

func TestAudit(t *testing.T) {
	publishedFile(t, "serving-blocks.txt")
	code, out, errs := llmsweep("audit", "serving-blocks.txt")
	if code != exitFailed || errs != "" || !strings.Contains(out, "3 results, 3 rows: 4 findings, 1 doubt") {
		t.Fatalf("%d %s\n%s", code, out, errs)
	}
	if code, _, errs := llmsweep("import", "serving-blocks.txt", "--out", "in"); code != exitDone {
		t.Fatalf("%d %s", code, errs)
	}
	code, again, errs := llmsweep("audit", "in")
	if code != exitFailed || len(again) != len(out) {
		t.Errorf("imported: %d\n%s\nand the document: %s\n%s", code, again, out, errs)
	}
	code, list, errs := llmsweep("audit", "in", "--format", "json")
	var all []audit.Audited
	if err := json.Unmarshal([]byte(list), &all); err != nil || code != exitFailed || len(all) != 1 || len(all[0].Findings) != 5 {
		t.Errorf("%d %v: %s\n%s", code, err, list, errs)
	}
}

func TestAuditOfAMeasuredRun(t *testing.T) {
	t.Chdir(t.TempDir())
	if code, out, errs := llmsweep(append([]string{"sweep", "sim:", "--out", "run"}, hurried...)...); code != exitDone {
		t.Fatalf("%d %s\n%s", code, out, errs)
	}
	if code, out, errs := llmsweep("audit", "run"); code != exitDone || !strings.Contains(out, "nothing found") {
		t.Errorf("%d %s\n%s", code, out, errs)
	}
	records, err := os.OpenFile("run/records.jsonl", os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	records.WriteString(`{"stage":"synchronous","seq":9,"turn":0,"due":1,"sent":1,"first_token":0.5,"last_token":2,"end":2,"status":"ok"}` + "\n")
	records.Close()
	if code, out, errs := llmsweep("audit", "run"); code != exitFailed || !strings.Contains(out, "first token at 500.00 ms, sent at 1.00 s") {
		t.Errorf("%d %s\n%s", code, out, errs)
	}
}

func TestImportAndAuditSayWhatIsWrong(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("prose.md", []byte("nothing here\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("empty", 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"import", "prose.md"}, "llmsweep: prose.md: holds no six-column table, stress table, serving block or JSON result of GuideLLM, AIPerf, evalscope perf, InferenceX, SGLang bench_serving, vllm bench serve\n"},
		{[]string{"import", "none.md"}, "llmsweep: open none.md: no such file or directory\n"},
		{[]string{"import", "prose.md", "--label", "gpus=x"}, "llmsweep: --label gpus=x: not a number of GPUs\n"},
		{[]string{"audit", "prose.md"}, "llmsweep: prose.md: holds no six-column table, stress table, serving block or JSON result of GuideLLM, AIPerf, evalscope perf, InferenceX, SGLang bench_serving, vllm bench serve\n"},
		{[]string{"audit", "empty"}, "llmsweep: empty is no run directory and holds none; audit takes documents and run directories\n"},
		{[]string{"audit"}, "llmsweep: audit needs a document or a run directory; llmsweep audit --help has examples\n"},
	} {
		if code, _, errs := llmsweep(c.args...); code != exitUsage || errs != c.want {
			t.Errorf("%v: %d %s, want %s", c.args, code, errs, c.want)
		}
	}
	if code, out, errs := llmsweep("audit", "--rules"); code != exitDone || !strings.Contains(out, "Graham") || errs != "" {
		t.Errorf("%d %s\n%s", code, out, errs)
	}
}

func TestSafeName(t *testing.T) {
	for in, want := range map[string]string{
		"Qwen2-7B-Instruct 1xL20 48GB": "Qwen2-7B-Instruct-1xL20-48GB", "../../etc/passwd": "etc-passwd", "": "result", "...": "result",
		"通义千问|2.5": "通义千问-2.5", "a\x00b\nc": "a-b-c",
	} {
		if got := safeName(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
