package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tidwall/gjson"
	"pgregory.net/rapid"

	"llmsweep/client/note"
	"llmsweep/client/testkit"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// anyText is what people and servers put into labels and messages.
func anyText() *rapid.Generator[string] {
	return rapid.StringOf(rapid.SampledFrom([]rune("ab1 |`*_[]<>&\\~#\"',\n\r\t\x1b\u2028\u202e通义千问（，é\u0301👍👨\u200d👩～…")))
}

func render(t interface{ Fatal(...any) }, format string, runs []rundir.Run, o Options) string {
	var b bytes.Buffer
	if err := Render(&b, format, runs, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestUnknownFormatAndLanguage(t *testing.T) {
	for _, c := range []struct {
		format string
		lang   lang.Lang
		want   string
	}{
		{"pdf", lang.English, `no format "pdf": there are console, markdown, csv, json, stress, serving, llm-d, verdict`},
		{"csv", lang.English, "there is no run to render"},
		{"csv", "fr", `no language "fr": there are en and zh`},
	} {
		err := Render(&bytes.Buffer{}, c.format, nil, Options{Lang: c.lang})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s in %s: %v, want %s", c.format, c.lang, err, c.want)
		}
	}
}

// TestConsoleFits: a terminal of 80 columns is enough for everything but what others wrote.
func TestConsoleFits(t *testing.T) {
	for _, l := range lang.All() {
		for _, width := range []int{80, 100, 120, 140} {
			for _, run := range []rundir.Run{sweptRun(), failedRun(), interruptedRun(), singleRun(), simulatedRun(),
				promisedRun(), judgedRun()} {
				for line := range strings.Lines(render(t, "console", []rundir.Run{run}, Options{Lang: l, Width: width})) {
					if n := table.Width(strings.TrimSuffix(line, "\n")); n > width {
						t.Errorf("%d columns in %d: %s", n, width, line)
					}
				}
			}
		}
	}
}

// TestMarkdownKeepsItsCells: whatever labels and messages hold, each table keeps its columns and each line its kind.
func TestMarkdownKeepsItsCells(t *testing.T) {
	cells := regexp.MustCompile(`(?:^|[^\\])(?:\\\\)*\|`)
	rapid.Check(t, func(t *rapid.T) {
		text := anyText().Draw(t, "text")
		run := interruptedRun()
		run.Labels = rundir.Labels{Model: text, GPU: text, GPUs: 1, Engine: text, Quant: text}
		run.Warnings, run.Failure, run.Target.URL = []note.Note{note.Text.New(text)}, note.Text.New(text), text
		run.Stages[1].Name, run.Stages[1].Invalid = "x"+text, note.Text.New(text)
		run.Stages[3].Examples["reset"] = text
		columns := 0
		for line := range strings.Lines(render(t, "markdown", []rundir.Run{run}, Options{})) {
			line = strings.TrimSuffix(line, "\n")
			if strings.ContainsAny(line, "\r\t\x1b") || strings.Contains(line, "<") {
				t.Fatalf("not escaped: %q", line)
			}
			switch {
			case !strings.HasPrefix(line, "|"):
				columns = 0
				if line != "" && !strings.HasPrefix(line, "- ") && !strings.HasPrefix(line, "#") {
					t.Fatalf("neither table, list nor heading: %q", line)
				}
			case columns == 0:
				if columns = len(cells.FindAllString(line, -1)) - 1; columns != 6 && columns != 7 && columns != 15 {
					t.Fatalf("%d columns: %s", columns, line)
				}
			default:
				if n := len(cells.FindAllString(line, -1)) - 1; n != columns {
					t.Fatalf("%d cells in a table of %d columns: %s", n, columns, line)
				}
			}
		}
	})
}

// TestPublishedTable: the six columns are those of the published document to the letter, but for the figures.
func TestPublishedTable(t *testing.T) {
	figures := regexp.MustCompile(`\d[\d,.]*`)
	for _, c := range []struct {
		file, model, units string
		gpus               int
	}{{"published.md", "Qwen2-14B-Instruct", "", 1}, {"published-second.md", "Qwen2-7B-Instruct", "tokens/second", 2}} {
		b, err := os.ReadFile(filepath.Join("testdata", c.file))
		if err != nil {
			t.Fatal(err)
		}
		run := sweptRun()
		run.Labels.Model, run.Labels.GPUs = c.model, c.gpus
		for i := range run.Stages { // the document has no bounds
			run.Stages[i].Latency.Mean = rundir.Exactly(run.Stages[i].Latency.Mean.Value())
			run.Stages[i].TTFT.Mean = rundir.Exactly(run.Stages[i].TTFT.Mean.Value())
		}
		o := Options{Lang: lang.Chinese, OnlyTable: true, SixColumn: published.SixColumnOptions{OnlyGrid: true,
			Tokens: c.units}}
		got := strings.TrimSpace(render(t, "markdown", []rundir.Run{run}, o))
		want := strings.TrimSpace(string(b))
		if diff := cmp.Diff(figures.ReplaceAllString(want, "#"), figures.ReplaceAllString(got, "#")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.file, diff)
		}
		whole := render(t, "markdown", []rundir.Run{run}, Options{SixColumn: published.SixColumnOptions{Tokens: c.units}})
		if en := "- **" + c.model + "**, **" + strconv.Itoa(c.gpus) +
			"** x **L20 48GB**, **vLLM**, prompt_tokens=512, generated_tokens=128\n"; !strings.Contains(whole, en) {
			t.Errorf("no %q in\n%s", en, whole)
		}
	}
}

// TestCSV: cells that the golden file does not have.
func TestCSV(t *testing.T) {
	run := sweptRun()
	run.Labels.Model = "a \"model\", with\nall of it"
	for _, c := range []struct {
		record       int
		column, want string
	}{
		{1, "labels_model", `a "model", with all of it`}, {1, "rate", ""}, {10, "latency_s_mean", ""},
		{10, "latency_s_over", "mean=58.3 max=58.3 p95=58.3 p99=58.3 p999=58.3"}, {14, "rates_completed", "0"},
		{14, "latency_s_mean", ""}, {14, "errors", "http_5xx=20 timeout=4"},
	} {
		records := csvOf(t, []rundir.Run{run, failedRun()})
		if got := records[c.record][slices.Index(records[0], c.column)]; got != c.want || len(records) != 16 {
			t.Errorf("record %d of %d, %s: %q, want %q", c.record, len(records), c.column, got, c.want)
		}
	}
}

func csvOf(t *testing.T, runs []rundir.Run) [][]string {
	t.Helper()
	records, err := csv.NewReader(strings.NewReader(render(t, "csv", runs, Options{}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return records
}

// TestCSVOfImports: what a document does not say is empty, and a 0 that it says is 0.
func TestCSVOfImports(t *testing.T) {
	for name, zeros := range map[string][]string{
		"guidellm-tables.md": {"rates_completed", "tokens_per_s_output"}, "stress-tables.txt": {"requests_error",
			"started_s"}, "serving-blocks.txt": nil,
	} {
		doc, err := published.ParseFile("published/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		records := csvOf(t, published.Join(doc).Runs)
		for _, record := range records[1:] {
			for i, cell := range record {
				if column := records[0][i]; cell == "0" && !slices.Contains(zeros, column) || strings.HasPrefix(cell, "0001-") {
					t.Errorf("%s: %s of %s is %s", name, column, record[slices.Index(records[0], "name")], cell)
				}
			}
		}
	}
}

// TestCSVNamesAreKeys: the columns are named by the keys of run.json, or stand for several.
func TestCSVNamesAreKeys(t *testing.T) {
	b, err := json.Marshal(promisedRun())
	if err != nil {
		t.Fatal(err)
	}
	own := regexp.MustCompile(`^(stage_state|errors|labels_price|labels_quant|workload_dataset|max_concurrency|repeat|` +
		`requests_resent|cached_tokens|goodput_unknown|goodput_tokens_per_s|client_cpu_fraction|invalid|warnings|` +
		`queued_s_.*|first_answer_s_.*|output_tokens_(p50|p90|at_limit)|chunk_gap_s_.*|whole_run_.*|server_.*|` +
		`sessions_(hits|good)|.*_over|.*_unsupported)$`)
	keys := map[string]bool{}
	var walk func(prefix string, v gjson.Result)
	walk = func(prefix string, v gjson.Result) {
		v.ForEach(func(k, child gjson.Result) bool {
			keys[prefix+k.String()] = true
			if child.IsObject() {
				walk(prefix+k.String()+"_", child)
			}
			return true
		})
	}
	walk("", gjson.ParseBytes(b))
	for _, stage := range gjson.GetBytes(b, "stages").Array() {
		walk("", stage)
	}
	for _, c := range csvColumns() {
		if !keys[c.ID] && !own.MatchString(c.ID) {
			t.Errorf("%s is no key of the run above: add it there, or to the columns that are named otherwise", c.ID)
		}
	}
}

func TestJSON(t *testing.T) {
	for _, runs := range [][]rundir.Run{{sweptRun()}, {sweptRun(), failedRun()}} {
		out := []byte(render(t, "json", runs, Options{}))
		if len(runs) == 1 {
			out = slices.Concat([]byte("["), out, []byte("]"))
		}
		var again []rundir.Run
		if err := json.Unmarshal(out, &again); err != nil {
			t.Fatal(err)
		}
		figures := cmp.Comparer(func(a, b rundir.Number) bool {
			return a.Bound() == b.Bound() && (a.Value() == b.Value() || math.IsNaN(a.Value()) && math.IsNaN(b.Value()))
		})
		if diff := cmp.Diff(runs, again, figures); diff != "" {
			t.Errorf("read again (-want +got):\n%s", diff)
		}
	}
}

// TestPromises: what is said of an SLO, in each way that it can end.
func TestPromises(t *testing.T) {
	swept := func(s rundir.SLO) rundir.Run {
		run := promisedRun()
		s.Terms = run.SLO.Terms
		run.SLO = &s
		return run
	}
	var said strings.Builder
	for _, run := range []rundir.Run{
		promisedRun(),
		swept(rundir.SLO{Rate: rundir.Exactly(7.14), Limiting: rundir.LimitSaturation}),
		swept(rundir.SLO{Rate: rundir.Over(10.04)}),
		swept(rundir.SLO{BrokenStage: "synchronous", Limiting: "itl:p95<90ms"}),
		swept(rundir.SLO{Needs: 340, NeedsStage: "asynchronous@1.57", Limiting: "ttft:p99<200ms"}),
		judgedRun(),
	} {
		for _, l := range lang.All() {
			said.WriteString(strings.Join(findings.Answer(&run, l), "\n") + "\n")
		}
	}
	testkit.CheckGolden(t, "promises.txt", []byte(said.String()))
	judged := judgedRun()
	for _, format := range []string{"stress", "serving"} {
		if out := render(t, format, []rundir.Run{judged}, Options{}); !strings.Contains(out,
			"  Requests that met ttft:p99<130ms: 3.41 per second, 95.3 % of those due.\n") {
			t.Errorf("%s says nothing of goodput:\n%s", format, out)
		}
	}
}
