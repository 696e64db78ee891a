package report_test

import (
	"bytes"
	"fmt"
	"html"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"llmsweep/client/testkit"
	"llmsweep/report"
	"llmsweep/report/choose"
	"llmsweep/report/document"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/slo"
)

// drawSetups draws sweeps of servers with GPUs of their own, in the order of a document, of which the SLO is that of
// the first.
func drawSetups(t *rapid.T, most int) ([]setup.Input, []slo.Term) {
	var all []setup.Input
	var terms []slo.Term
	for i := range rapid.IntRange(1, most).Draw(t, "setups") {
		run, own := report.DrawRun(t)
		if i == 0 {
			terms = own
		}
		run.Labels = rundir.Labels{Model: "Qwen2-7B-Instruct", Engine: "vLLM", GPU: []string{"A100", "H100", "L20"}[i],
			GPUs: 1}
		run.Plan.SLO = slo.Strings(terms)
		saturation.WriteAnswer(run, terms)
		all = append(all, setup.Input{Path: fmt.Sprintf("run%d", i), Run: run})
	}
	return all, terms
}

// renderDocument returns the document of setups.
func renderDocument(t interface{ Fatal(...any) }, in []setup.Input, terms []slo.Term, l lang.Lang) string {
	o := document.Options{Lang: l, Base: "report", From: func(path string) string { return path }, AnyWorkload: true}
	if len(terms) > 0 {
		o.Choice = &choose.Options{Terms: terms, Demand: choose.Demand{Amount: 20}, Prices: choose.Prices{"L20": 1.2,
			"A100": 3.6, "H100": 6}, Headroom: 0.2, AnyWorkload: true}
	}
	out := testkit.Must(document.Write(setup.Load(in), o))
	return string(out.Document)
}

// ranges are the ranges of numbers in the sentences of comparisons and choices.
var ranges = regexp.MustCompile(`(?:between|95 %:|在|95 % 区间：) ?` + number + `(?:-| and | 与 )` + number + `|` + number +
	` (?:to|到) ` + number + ` x|\(` + number + ` (?:to|到) ` + number + ` tok/s by`)

// badRanges returns the ranges of a text that end before they begin.
func badRanges(text string) (wrong []string) {
	for _, m := range ranges.FindAllStringSubmatch(text, -1) {
		ends := slices.DeleteFunc(m[1:], func(s string) bool { return s == "" })
		if w := (printedAnswer{"low": strings.ReplaceAll(ends[0], ",", ""), "high": strings.ReplaceAll(ends[1], ",",
			"")}).checkOrder(); len(w) > 0 {
			wrong = append(wrong, m[0])
		}
	}
	return wrong
}

// exampleRuns are the directories of runs among the examples.
func exampleRuns(t *testing.T) []string {
	dirs, err := filepath.Glob("../examples/*/*/" + rundir.RunFile)
	if err != nil || len(dirs) == 0 {
		t.Fatal(err, dirs)
	}
	for i := range dirs {
		dirs[i] = filepath.Dir(dirs[i])
	}
	return dirs
}

var htmlTag = regexp.MustCompile(`<[^>]*>`)

// renderRun returns a run in a format of package report, with lines as long as they are.
func renderRun(t interface{ Fatal(...any) }, format string, run *rundir.Run, l lang.Lang) string {
	var b bytes.Buffer
	if err := report.Render(&b, format, []rundir.Run{*run}, report.Options{Lang: l}); err != nil {
		t.Fatal(err)
	}
	return html.UnescapeString(b.String()) // of XML
}
