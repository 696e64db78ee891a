package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"llmsweep/client/note"
	"llmsweep/client/testkit"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/published"
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
		{"pdf", lang.English, `no format "pdf": there are console, markdown, csv, json, stress, serving`},
		{"csv", lang.English, "there is no run to render"},
		{"csv", "fr", `no language "fr": there are en and zh`},
	} {
		err := Render(&bytes.Buffer{}, c.format, nil, Options{Lang: c.lang})
		if err == nil || err.Error() != c.want {
			t.Errorf("%s in %s: %v, want %s", c.format, c.lang, err, c.want)
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
	records := testkit.Must(csv.NewReader(strings.NewReader(render(t, "csv", runs, Options{}))).ReadAll())
	return records
}

// TestCSVOfImports: what a document does not say is empty, and a 0 that it says is 0.
func TestCSVOfImports(t *testing.T) {
	for name, zeros := range map[string][]string{
		"guidellm-tables.md": {"rates_completed", "tokens_per_s_output"}, "stress-tables.txt": {"requests_error",
			"started_s"}, "serving-blocks.txt": nil,
	} {
		doc := testkit.Must(published.ParseFile("published/testdata/" + name))
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
}
