package published_test

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"llmsweep/client/testkit"
	"llmsweep/report"
	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/sweep/rundir"
)

// TestPrintedAsPublished: what was read is printed again byte for byte, but for what stands beneath.
func TestPrintedAsPublished(t *testing.T) {
	for name, format := range map[string]string{"stress-tables.txt": "stress", "serving-blocks.txt": "serving"} {
		doc, text := readFile(t, name)
		for _, run := range doc.Runs {
			want := text[run.Source.Line-1:]
			got := strings.Split(rendered(t, format, run, report.Options{}), "\n")
			if strings.HasPrefix(got[0], "Test completed") {
				got = got[1:]
			}
			n := slices.IndexFunc(got, regexp.MustCompile("^$|^  P99|^  Too few|^  The text").MatchString)
			if diff := cmp.Diff(want[:n], got[:n]); diff != "" || n < 24 {
				t.Errorf("%s:%d, %d lines (-want +got):\n%s", name, run.Source.Line, n, diff)
			}
		}
	}
}

// readFile returns what a document is read as, and its lines.
func readFile(t *testing.T, name string) (*published.Document, []string) {
	t.Helper()
	text := testkit.Must(os.ReadFile(filepath.Join("testdata", name)))
	doc := testkit.Must(published.ParseText(name, bytes.NewReader(text)))
	return doc, strings.Split(string(text), "\n")
}

func rendered(t interface{ Fatal(...any) }, format string, run rundir.Run, o report.Options) string {
	var b bytes.Buffer
	if err := report.Render(&b, format, []rundir.Run{run}, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// layout is what one table of the documents has and the others have not: spaces, the rule beneath the heading, bold
// engines, one typing error and one missing unit.
var layout = regexp.MustCompile(`:?-{3,}:?| +|\*\*|ms|Taken|Token`)

// TestSixColumnsAsPublished: six-column tables are printed with their rows in order and each figure as it stands there.
func TestSixColumnsAsPublished(t *testing.T) {
	doc, text := readFile(t, "guidellm-tables.md")
	same := 0
	for _, run := range doc.Runs {
		var want []string
		for i, line := range text[run.Source.Line-1:] {
			if i > 0 && !strings.HasPrefix(line, "|") && len(want) > 2 {
				break
			}
			if strings.TrimSpace(line) != "" {
				want = append(want, line)
			}
		}
		printed := rendered(t, "markdown", run, report.Options{Lang: lang.Chinese, OnlyTable: true})
		got := strings.Split(strings.ReplaceAll(strings.TrimSpace(printed), "\n\n", "\n"), "\n")
		plain := func(lines []string) string { return layout.ReplaceAllString(strings.Join(lines, "\n"), "") }
		if diff := cmp.Diff(plain(want), plain(got)); diff != "" {
			t.Errorf("line %d (-want +got):\n%s", run.Source.Line, diff)
		}
		if slices.Equal(want, got) {
			same++
		}
	}
	if len(doc.Runs) != 13 || same < 6 {
		t.Errorf("%d of %d tables are the same byte for byte", same, len(doc.Runs))
	}
}

// figures are what a format prints of a stage, by key, in the order of neither.
func figures(s *rundir.Stage, format string) map[string]rundir.Number {
	m := map[string]rundir.Number{
		"rates.completed": s.Rates.Completed, "tokens_per_s.output": s.TokensPerS.Output, "latency_s.mean": s.Latency.Mean,
	}
	switch format {
	case "markdown":
		m["rate"], m["ttft_s.mean"], m["inter_token_s"] = s.Rate, s.TTFT.Mean, s.InterToken
		return m
	case "stress":
		for _, f := range s.Latency.Numbers() {
			if f.Name != "p999" {
				m["latency_s."+f.Name] = *f.Number
			}
		}
		m["output_tokens.mean"] = s.OutputTokens.Mean
		m["elapsed"] = rundir.Exactly(s.Elapsed)
		m["due"], m["error"], m["peak"] = count(s.Requests.Due), count(s.Requests.Error), count(s.Concurrency.Peak)
	case "serving":
		m["rate"], m["latency_s.p50"], m["concurrency"] = s.Rate, s.Latency.P50, s.Concurrency.Mean
		m["tokens_per_s.input"], m["tokens_per_s.total"] = s.TokensPerS.Input, s.TokensPerS.Total
		m["ttft_s.mean"], m["ttft_s.p50"], m["ttft_s.p99"] = s.TTFT.Mean, s.TTFT.P50, s.TTFT.P99
		m["tpot_s.mean"], m["tpot_s.p50"], m["tpot_s.p99"] = s.TPOT.Mean, s.TPOT.P50, s.TPOT.P99
		m["itl_s.mean"], m["itl_s.p50"], m["itl_s.p95"], m["itl_s.p99"], m["itl_s.max"] = s.ITL.Mean, s.ITL.P50, s.ITL.P95,
			s.ITL.P99, s.ITL.Max
		m["retokenized"], m["input"] = s.OutputTokens.Retokenized, s.PromptTokens.Total
	}
	m["asked"], m["ok"], m["window"], m["total"] = rundir.Number{}, count(s.Requests.OK), rundir.Exactly(s.Window),
		s.OutputTokens.Total
	if format == "stress" {
		m["asked"] = s.AskedTokens
	}
	if !s.Rate.Known() || format == "serving" {
		m["max_concurrency"] = count(s.MaxConcurrency)
	}
	return m
}

func count(n int) rundir.Number { return rundir.Exactly(float64(n)) }

// draw makes things up.
type draw struct {
	t *rapid.T
	n int
}

func (d *draw) int(low, high int) int {
	d.n++
	return rapid.IntRange(low, high).Draw(d.t, fmt.Sprint("n", d.n))
}

// hundredths is a number of two decimals and up to six digits before them, shifted to the left by some powers of ten.
func (d *draw) hundredths(shift int) float64 {
	n := d.int(1, int(math.Pow10(d.int(1, 8))))
	var v float64
	if _, err := fmt.Sscanf(fmt.Sprintf("%de%d", n, -2-shift), "%g", &v); err != nil {
		d.t.Fatal(err)
	}
	return v
}

// number is a number of two decimals, seldom a bound, seldom nothing.
func (d *draw) figure(shift int) rundir.Number {
	switch d.int(0, 9) {
	case 0:
		return rundir.Number{}
	case 1:
		return rundir.Over(d.hundredths(shift))
	}
	return rundir.Exactly(d.hundredths(shift))
}

func (d *draw) dist(shift int) rundir.Dist {
	dist := rundir.Dist{N: d.int(0, 1000)}
	for _, f := range dist.Numbers() {
		*f.Number = d.figure(shift)
	}
	return dist
}

// stage is a stage as it may have been measured, its numbers as fine as they are printed.
func (d *draw) stage(name, kind string, role rundir.Role) rundir.Stage {
	seconds := 3 // milliseconds are printed
	s := rundir.Stage{
		Name: name, Kind: kind, Role: role, State: rundir.Complete, Window: d.hundredths(0), Elapsed: d.hundredths(0),
		Whole:      d.int(0, 1) == 0,
		Rates:      rundir.Rates{Completed: d.figure(0)},
		TokensPerS: rundir.TokenRates{Output: d.figure(0), Input: d.figure(0), Total: d.figure(0)},
		TTFT:       d.dist(seconds), TPOT: d.dist(seconds), ITL: d.dist(seconds), InterToken: d.figure(seconds),
		Concurrency: rundir.Concurrency{Mean: d.figure(0), Peak: d.int(1, 1000)}, MaxConcurrency: d.int(1, 1000),
		AskedTokens: rundir.Exactly(float64(d.int(1, 9999))),
	}
	s.Requests = rundir.Requests{OK: d.int(0, 10000), Error: d.int(0, 100)}
	s.Requests.Due = s.Requests.OK + s.Requests.Error + d.int(1, 10)
	s.OutputTokens = rundir.TokenStats{N: s.Requests.OK, Mean: d.figure(0), Total: count(d.int(1, 1e9)),
		Retokenized: count(d.int(1, 1e9))}
	s.PromptTokens = rundir.TokenStats{Total: count(d.int(1, 1e9))}
	return s
}

// run is a sweep, or single stages.
func (d *draw) run(format string) (run rundir.Run) {
	models := []string{"Qwen2-7B-Instruct", "通义千问|2.5`7B`", "a <b> & c", "m*_[x](y)", "DeepSeek, R1"}
	run = rundir.Run{
		Schema: rundir.Schema, State: rundir.Complete, Started: time.Date(2026, 5, 4, 9, 30, 0, 0, time.UTC),
		Labels: rundir.Labels{
			Model: rapid.SampledFrom(models).Draw(d.t, "model"), GPU: "L20 48GB", GPUs: d.int(1, 8), Engine: "vLLM",
			Quant: rapid.SampledFrom([]string{"", "AWQ", "GPTQ-Int8"}).Draw(d.t, "quant"),
		},
		Target: rundir.Target{URL: "http://localhost:8000/v1", API: "chat"},
		Workload: rundir.Workload{PromptTokens: rundir.Lengths{Mean: float64(d.int(1, 99999))},
			OutputTokens: rundir.Lengths{Mean: float64(d.int(1, 99999))}},
	}
	run.Ended = run.Started.Add(time.Hour)
	if format != "markdown" {
		for i := range d.int(1, 3) {
			s := d.stage(fmt.Sprintf("concurrent@%d", i), "concurrent", rundir.Single)
			run.Stages = append(run.Stages, s)
		}
		return run
	}
	run.Stages = append(run.Stages, d.stage("synchronous", "synchronous", rundir.Synchronous))
	rate := 0.0
	for range d.int(0, 4) {
		rate += float64(d.int(1, 999)) / 100
		s := d.stage(fmt.Sprintf("asynchronous@%.2f", rate), "poisson", rundir.Grid)
		fmt.Sscanf(fmt.Sprintf("%.2f", rate), "%g", &rate)
		s.Rate = rundir.Exactly(rate)
		run.Stages = append(run.Stages, s)
	}
	if d.int(0, 1) == 0 {
		s := d.stage("asynchronous@12345.00", "poisson", rundir.Probe)
		s.Rate, s.Verdict = rundir.Exactly(12345), rundir.Saturated
		run.Stages = append(run.Stages, s)
	}
	run.Stages = append(run.Stages, d.stage("throughput", "throughput", rundir.Throughput))
	return run
}

// TestPrintThenImport: what is printed and read again has the same numbers, in all three formats and both languages.
func TestPrintThenImport(t *testing.T) {
	for _, format := range []string{"markdown", "stress", "serving"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) { roundTrip(t, format, rapid.SampledFrom(lang.All()).Draw(t, "language")) })
		})
	}
}

func roundTrip(t *rapid.T, format string, l lang.Lang) {
	run := (&draw{t: t}).run(format)
	text := rendered(t, format, run, report.Options{Lang: l})
	doc := testkit.Must(published.ParseText("printed", strings.NewReader(text)))
	for _, r := range doc.Remarks {
		if r.Unread {
			t.Errorf("line %d: %s", r.Line, r.Text)
		}
	}
	var got []*rundir.Stage
	for i := range doc.Runs {
		for j := range doc.Runs[i].Stages {
			got = append(got, &doc.Runs[i].Stages[j])
		}
	}
	if len(got) != len(run.Stages) {
		t.Fatalf("%d stages printed, %d read:\n%s", len(run.Stages), len(got), text)
	}
	near := cmp.Comparer(func(a, b rundir.Number) bool {
		return a.IsZero() && b.IsZero() || a.Known() == b.Known() && a.Bound() == b.Bound() &&
			math.Abs(a.Value()-b.Value()) <= 1e-9*math.Abs(a.Value())
	})
	for i := range got {
		want := run.Stages[i]
		if diff := cmp.Diff(figures(&want, format), figures(got[i], format), near); diff != "" {
			t.Errorf("stage %d (-printed +read):\n%s\n%s", i, diff, text)
		}
		if format != "markdown" && want.Whole != got[i].Whole {
			t.Errorf("stage %d: whole %v was read as %v", i, want.Whole, got[i].Whole)
		}
	}
	if format == "markdown" {
		if diff := cmp.Diff(run.Labels, doc.Runs[0].Labels); diff != "" {
			t.Errorf("labels (-printed +read):\n%s\n%s", diff, text)
		}
		lengths := func(w rundir.Workload) [2]float64 { return [2]float64{w.PromptTokens.Mean, w.OutputTokens.Mean} }
		if lengths(run.Workload) != lengths(doc.Runs[0].Workload) {
			t.Errorf("lengths %v were read as %v", lengths(run.Workload), lengths(doc.Runs[0].Workload))
		}
	}
}
