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

func TestNoEscapesUnlessColored(t *testing.T) {
	runs := []rundir.Run{sweptRun(), failedRun(), interruptedRun()}
	for _, format := range Formats() {
		if out := render(t, format, runs, Options{}); strings.Contains(out, "\x1b") {
			t.Errorf("%s has escape sequences", format)
		}
	}
	if !strings.Contains(render(t, "console", runs, Options{Color: true}), "\x1b[32mheld 3 min\x1b[0m") {
		t.Error("not coloured")
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
		whole := render(t, "markdown", []rundir.Run{run},
			Options{Lang: lang.English, SixColumn: published.SixColumnOptions{Tokens: c.units}})
		rows := regexp.MustCompile(`(?m)^\| asynchronous@\d+\.\d\d req/sec \| \d+\.\d\d req/sec \| .* tokens/sec`).FindAllString(whole, -1)
		if c.units == "" && len(rows) != 11 {
			t.Errorf("%d rows with the two holds:\n%s", len(rows), whole)
		}
		if en := "- **" + c.model + "**, **" + strconv.Itoa(c.gpus) +
			"** x **L20 48GB**, **vLLM**, prompt_tokens=512, generated_tokens=128\n"; !strings.Contains(whole, en) {
			t.Errorf("no %q in\n%s", en, whole)
		}
	}
}

func TestCSV(t *testing.T) {
	run := sweptRun()
	run.Labels.Model = "a \"model\", with\nall of it"
	records, err := csv.NewReader(strings.NewReader(render(t, "csv", []rundir.Run{run, failedRun()}, Options{}))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if want := 1 + len(run.Stages) + len(failedRun().Stages); len(records) != want {
		t.Fatalf("%d records, want %d", len(records), want)
	}
	column := map[string]int{}
	for i, name := range records[0] {
		if _, twice := column[name]; twice {
			t.Errorf("column %s twice", name)
		}
		column[name] = i
	}
	for _, c := range []struct {
		record int
		name   string
		want   string
	}{
		{1, "labels_model", strings.ReplaceAll(run.Labels.Model, "\n", " ")},
		{1, "rate", ""},
		{1, "latency_s_mean", "1.96"},
		{10, "name", "asynchronous@8.98"},
		{10, "latency_s_mean", ""},
		{10, "latency_s_over", "mean=58.3 max=58.3 p95=58.3 p99=58.3 p999=58.3"},
		{10, "latency_s_unsupported", "p99 p999"},
		{14, "rates_completed", "0"},
		{14, "latency_s_mean", ""},
		{14, "errors", "http_5xx=20 timeout=4"},
	} {
		if got := records[c.record][column[c.name]]; got != c.want {
			t.Errorf("record %d, %s: %q, want %q", c.record, c.name, got, c.want)
		}
	}
}

// TestCSVNamesAreKeys: the columns are named by the keys of run.json.
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
		records, err := csv.NewReader(strings.NewReader(render(t, "csv", published.Join(doc).Runs, Options{}))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, record := range records[1:] {
			for i, cell := range record {
				if column := records[0][i]; cell == "0" && !slices.Contains(zeros, column) || strings.HasPrefix(cell, "0001-") {
					t.Errorf("%s: %s of %s is %s", name, column, record[slices.Index(records[0], "name")], cell)
				}
			}
		}
	}
}

func TestCSVNamesAreKeys(t *testing.T) {
	b, err := json.Marshal(promisedRun())
	if err != nil {
		t.Fatal(err)
	}
	var run map[string]any
	if err := json.Unmarshal(b, &run); err != nil {
		t.Fatal(err)
	}
	keys := map[string]bool{}
	var flatten func(prefix string, m map[string]any)
	flatten = func(prefix string, m map[string]any) {
		for k, v := range m {
			keys[prefix+k] = true
			if inner, ok := v.(map[string]any); ok {
				flatten(prefix+k+"_", inner)
			}
		}
	}
	flatten("", run)
	for _, s := range run["stages"].([]any) {
		flatten("", s.(map[string]any))
	}
	mine := regexp.MustCompile(`^(stage_state|errors|labels_price|labels_quant|workload_dataset|max_concurrency|repeat|requests_resent|cached_tokens|goodput_unknown|goodput_tokens_per_s|client_cpu_fraction|invalid|warnings|queued_s_.*|first_answer_s_.*|output_tokens_(p50|p90|at_limit)|chunk_gap_s_.*|whole_run_.*|server_.*|sessions_(hits|good)|.*_over|.*_unsupported)$`)
	for _, c := range csvColumns() {
		if !keys[c.ID] && !mine.MatchString(c.ID) {
			t.Errorf("%s is no key of run.json", c.ID)
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

func TestStageLine(t *testing.T) {
	run := interruptedRun()
	for i, want := range []string{
		"synchronous               -    0.51   95.6 ms  98.7 ms?   101 ms?   21.0 ms    1.96 s    65.4     1.0",
		"throughput                -    7.20    11.6 s    13.7 s   15.4 s?    135 ms    22.6 s     922     160 client too slow",
		"asynchronous@1.57      1.56    1.56    104 ms    134 ms   158 ms?   26.0 ms    2.26 s     200     3.5",
	} {
		if got := strings.TrimRight(findings.StageLine(&run.Stages[i], lang.English), " "); got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	if got := findings.StageHeading(lang.English); !strings.Contains(got, "offered") {
		t.Errorf("%q", got)
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
