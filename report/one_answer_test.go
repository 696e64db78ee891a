package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"llmsweep/client/note"
	"llmsweep/client/testkit"
	"llmsweep/report"
	"llmsweep/report/choose"
	"llmsweep/report/compare"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/page"
	"llmsweep/report/published"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/slo"
)

// reporter is what the checks of one answer fail by.
type reporter interface {
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// TestOneAnswerEverywhere: console, Markdown, document, page, index, compare and choose tell the same rate, interval,
// SLO rate and latency at 80 % of many sweeps, and these are in order.
func TestOneAnswerEverywhere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		in, terms := drawSetups(t, 3)
		compareTexts(t, in, terms)
		compareComparisons(t, in, terms)
	})
}

// TestOneAnswerOfRealRuns is the same of the runs among the examples.
func TestOneAnswerOfRealRuns(t *testing.T) {
	t.Parallel()
	for _, dir := range exampleRuns(t) {
		run := testkit.Must(saturation.Reopen(dir))
		a := saturation.AnswerOf(run)
		if a == nil {
			continue
		}
		for _, w := range report.CheckOrder(a) {
			t.Errorf("%s: %s", dir, w)
		}
		if in := []setup.Input{{Path: dir, Run: run}}; a.Rate.Known() {
			compareTexts(t, in, nil)
			compareComparisons(t, in, nil)
		}
	}
}

// compareTexts compares what people read.
func compareTexts(t reporter, in []setup.Input, terms []slo.Term) {
	var index bytes.Buffer
	var inputs []page.Input
	for _, one := range in {
		inputs = append(inputs, page.Input{Run: one.Run, Path: one.Path})
	}
	if err := page.Runs(&index, inputs, page.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{} // by languages
	for _, l := range lang.All() {
		doc, said := renderDocument(t, in, terms, l), ""
		for _, w := range badRanges(doc) {
			t.Errorf("%s:\n%s", w, doc)
		}
		parts := strings.Split(doc, published.MarkMeasured)[1:]
		if i := len(parts) - 1; i >= 0 {
			parts[i], _, _ = strings.Cut(parts[i], "\n## ")
		}
		if len(parts) != len(in) {
			t.Fatal(len(parts), "parts of", len(in), "runs:", doc)
		}
		for i, one := range in {
			all := readAnswers(renderRun(t, "markdown", one.Run, l), l)
			want := fmt.Sprint(all)
			said += want + "\n"
			for name, text := range map[string]string{"console": renderRun(t, "console", one.Run, l), "document": parts[i]} {
				if got := fmt.Sprint(readAnswers(text, l)); got != want {
					t.Errorf("%s, %s: %s, in Markdown %s", name, l, got, want)
				}
			}
			for _, a := range all {
				for _, w := range a.checkOrder() {
					t.Errorf("%s:\n%s", w, parts[i])
				}
			}
		}
		if told[said] = true; len(told) > 1 {
			t.Errorf("languages differ: %v", told)
		}
	}
	for i, one := range in {
		all := readAnswers(renderRun(t, "markdown", one.Run, lang.English), lang.English)
		if len(all) == 0 || all[0]["rate"] == "" {
			continue
		}
		checkPage(t, one.Run, all[0])
		if row := indexCells(index.String(), i); !strings.Contains(row, "|"+all[0]["rate"]+"|") || all[0]["low"] != "" &&
			!strings.Contains(row, "|"+all[0]["low"]+" – "+all[0]["high"]+"|") {
			t.Errorf("index: %s, in Markdown %v", row, all[0])
		}
	}
}

var (
	largeNumber = regexp.MustCompile(`<p class="number"><strong>([^<]*)</strong>`)
	itsInterval = regexp.MustCompile(`<p class="interval"><span class="en"[^>]*>[^<]*?` + number + ` to ` + number)
	tableCell   = regexp.MustCompile(`<t[hd][^>]*>(.*?)</t[hd]>`)
)

// checkPage compares a page with an answer.
func checkPage(t reporter, run *rundir.Run, want printedAnswer) {
	var b bytes.Buffer
	if err := page.Run(&b, run, "", page.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	got := printedAnswer{}
	if m := largeNumber.FindStringSubmatch(b.String()); m != nil {
		got["rate"] = strings.ReplaceAll(m[1], ",", "")
	}
	if m := itsInterval.FindStringSubmatch(b.String()); m != nil {
		got["low"], got["high"] = m[1], m[2]
	}
	lines := readAnswers(html.UnescapeString(htmlTag.ReplaceAllString(b.String(), "\n")), lang.English)
	for key, v := range want {
		switch printed := got[key]; {
		case printed == v:
		case printed != "":
			t.Errorf("page: %s is %s, in Markdown %s", key, printed, v)
		case len(lines) == 0 || lines[0][key] != v:
			t.Errorf("page: %s is not %s: %v", key, v, lines)
		}
	}
}

// indexCells returns the cells of a row of an index.
func indexCells(index string, row int) string {
	_, rest, _ := strings.Cut(index, `data-run="`+strconv.Itoa(row)+`"`)
	rest, _, _ = strings.Cut(rest, "</tr>")
	text := "|"
	for _, m := range tableCell.FindAllStringSubmatch(rest, -1) {
		text += html.UnescapeString(htmlTag.ReplaceAllString(m[1], "")) + "|"
	}
	return text
}

func asJSON(t reporter, v any) string {
	b := testkit.Must(json.Marshal(v))
	return string(b)
}

// compareComparisons compares compare, which has the saturation rate and the latency at 80 % of it, and choose, which
// has the rate that meets the SLO.
func compareComparisons(t reporter, in []setup.Input, terms []slo.Term) {
	setups := setup.Load(append(in[:len(in):len(in)], in...)) // with itself, too
	c, err := compare.Of(setups, true)
	if err != nil && !compare.Incomparable(err) {
		t.Fatal(err)
	}
	for i := range in {
		a := saturation.AnswerOf(in[i].Run)
		if rate, ok := c.Setups[i].Get("saturation"); ok && a.Rate.Known() && (rate.Value != a.Rate || rate.Low != a.Low ||
			rate.High != a.High) {
			t.Errorf("compare: saturation %v (%v-%v), the answer is %s", rate.Value, rate.Low, rate.High, asJSON(t, a))
		}
		ttft, ok := c.Setups[i].Get("ttft@80")
		if feels := a.Comfortable; ok && feels != nil && !feels.BySLO && ttft.Value != feels.TTFTMean {
			t.Errorf("compare: TTFT at 80 %% %v, the answer is %s", ttft.Value, asJSON(t, a))
		}
	}
	if len(terms) == 0 {
		return
	}
	all, err := choose.Of(setups[:len(in)], choose.Options{Terms: terms, Demand: choose.Demand{Amount: 1},
		AnyWorkload: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range all[0].Ranked {
		for i := range in {
			if k.Labels.GPU != in[i].Run.Labels.GPU {
				continue
			}
			p := saturation.AnswerOf(in[i].Run).Promise
			if k.Rate != p.Rate.Or(p.Low.Value()) && k.Rate != p.Low.Value() || k.RateLow.Known() &&
				(k.RateLow != p.Low || k.RateHigh != p.High) {
				t.Errorf("choose: %v (%v-%v), the answer is %s", k.Rate, k.RateLow, k.RateHigh, asJSON(t, p))
			}
		}
	}
}

// TestClientRemedyOnce: an output with rows in which the client was too slow says once what helps, and others do not.
func TestClientRemedyOnce(t *testing.T) {
	var in []setup.Input
	for _, name := range []string{"vllm-edge", "vllm-cpu"} {
		run := testkit.Must(saturation.Reopen("../examples/real/" + name))
		run.Labels = rundir.Labels{Model: "model", GPU: name, GPUs: 1}
		in = append(in, setup.Input{Path: name, Run: run})
	}
	limited := in[0].Run
	limited.Stages[2].Invalid = note.Note{Code: "client.sent-late", Args: map[string]any{"lag_p99": 0.08}}
	limited.Stages[3].Invalid = note.Note{Code: "client.no-cpu-left", Args: map[string]any{"cpu": 0.97, "gc_share": 0.1}}
	var compared bytes.Buffer
	sections := testkit.Must(compare.Of(setup.Load(in), true)).Report(1)
	if err := table.WriteSections(&compared, "markdown", sections, table.Style{All: true}); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"document": renderDocument(t, in, nil, lang.English),
		"run": renderRun(t, "markdown", limited, lang.English), "comparison": compared.String()} {
		if n := strings.Count(text, findings.ClientRemedy.In(lang.English)); n != 1 {
			t.Errorf("%s: what helps stands %d times", name, n)
		}
	}
	if text := renderDocument(t, in[1:], nil, lang.English); strings.Contains(text, findings.ClientRemedy.In(lang.English)) {
		t.Error("advice without need")
	}
}
