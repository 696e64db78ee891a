package report

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"llmsweep/client/note"
	"llmsweep/client/testkit"
	"llmsweep/report/audit"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// sampleNote returns a note of a kind, each argument of which is x: every format takes a number or text.
func sampleNote(k note.Kind) note.Note {
	n := note.Note{Code: k.Code, Args: map[string]any{}}
	for _, name := range k.Args {
		switch name {
		case "why", "what", "excess", "first", "same":
			n.Args[name] = []note.Note{note.Text.New("x")}
		default:
			n.Args[name] = 2.0
		}
	}
	return n
}

// English words that may stand in a Chinese text: units, names and keys that are the same in every language.
var (
	englishNames = regexp.MustCompile(`llmsweep sweep URL|--[a-z-]+|\b[a-z_]+_[a-z_]+\b|[a-z]+[@:.][a-z0-9.<>%]+|https?://\S+|\bllmsweep\b|` +
		`llmsweep help [a-z]+|openai api|native api|max_token 512 with|no think mode|no think|the server ignores min_tokens|(before|after) saturation|old +new|Total Test Duration|Benchmark duration|P99 Response Time|Theoretical Max Throughput|Max Tokens|` +
		`\b(req|tok|tokens?|ms|sec|KB|MB|tokens/sec|req/sec|tok/s|req/s|rps|TTFT|TPOT|ITL|SLO|KV|GPU|CPU|CPUs|API|JSONL?|CSV|p\d+|vLLM|SGLang|lmdeploy|Ollama|Triton|` +
		`Qwen[\w.-]*|L20|A100|AWQ|GPTQ-Int\d|chat|completions|synchronous|throughput|asynchronous|linux|amd64|go|GB|Instruct|prompt|messages|conversations|usage)\b`)
	englishRun = regexp.MustCompile(`[A-Za-z]{3,}[ ,]+[A-Za-z]{2,}`)
)

// checkChinese fails on runs of English words. The six-column table and other fixed formats have English headings.
func checkChinese(t *testing.T, what, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "| Benchmark | Requests per Second") {
			continue
		}
		left := englishNames.ReplaceAllString(line, "|")
		if found := englishRun.FindString(left); found != "" {
			t.Errorf("%s: %q in %s", what, found, line)
		}
	}
}

// TestChineseIsWhole checks whole Chinese reports with every note, all findings and rules of the audit, and what compare
// and choose wrote.
func TestChineseIsWhole(t *testing.T) {
	full, found := sweptRun(), audit.Report{File: "f", Results: 1, Rows: 1}
	var b bytes.Buffer
	for _, k := range testkit.Kinds(t) {
		n := sampleNote(k.Kind)
		if _, ok := findings.Words()[k.Code]; ok {
			full.Warnings = append(full.Warnings, n)
		}
		if _, ok := audit.Words()[k.Code]; ok {
			f := audit.Finding{File: "f", Row: "r", Rule: "rule", Code: n.Code, Args: n.Args}
			found.Findings = append(found.Findings, f)
		}
		r := published.Remark{Note: n}
		if _, ok := published.Words()[k.Code]; ok && k.Code != "published.read-from" { // which is no remark
			b.WriteString(r.In(lang.Chinese) + "\n")
		}
	}
	err := errors.Join(audit.Text(&b, []audit.Report{found}, lang.Chinese, true), audit.TextRules(&b, lang.Chinese),
		table.WriteSections(&b, "console", Selftest(fullSelftest()), table.Style{Lang: lang.Chinese}))
	if err != nil {
		t.Fatal(err)
	}
	checkChinese(t, "audit and self-test", strings.ReplaceAll(b.String(), "connection refused", ""))
	runs := []rundir.Run{full, promisedRun(), judgedRun(), singleRun(), simulatedRun(), blankRun()}
	for _, run := range []rundir.Run{failedRun(), interruptedRun()} { // their notes and errors are in the words of others
		run.Warnings, run.Failure = nil, full.Warnings[0]
		for i := range run.Stages {
			run.Stages[i].Warnings, run.Stages[i].Examples = nil, nil
			if !run.Stages[i].Invalid.IsZero() {
				run.Stages[i].Invalid = full.Warnings[0]
			}
		}
		runs = append(runs, run)
	}
	for i := range runs {
		if s := runs[i].Saturation; s != nil {
			s.Reason = note.Note{}
		}
		for _, format := range []string{"console", "markdown"} {
			checkChinese(t, format, render(t, format, runs[i:i+1], Options{Lang: lang.Chinese, Dir: "d"}))
		}
	}
	files, err := filepath.Glob("*/testdata/*.zh.*")
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(path, "progress") { // its views have names of the test in them
			checkChinese(t, path, string(text))
		}
	}
}
