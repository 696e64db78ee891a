package report_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"llmsweep/client/note"
	"llmsweep/report/choose"
	"llmsweep/report/compare"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/page"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/slo"
)

// invalidRuns are two real sweeps of which one has two rows in which the client was too slow.
func invalidRuns(t *testing.T) []setup.Input {
	t.Helper()
	var all []setup.Input
	for i, dir := range []string{"../examples/real/vllm-edge", "../examples/real/vllm-cpu"} {
		run, err := saturation.Reopen(dir)
		if err != nil {
			t.Fatal(err)
		}
		run.Labels.Model, run.Labels.GPU, run.Labels.GPUs = "model", []string{"A100", "L20"}[i], 1
		if i == 0 {
			run.Stages[2].Invalid = note.Note{Code: "client.sent-late", Args: map[string]any{"lag_p99": 0.08}}
			run.Stages[3].Invalid = note.Note{Code: "client.no-cpu-left", Args: map[string]any{"cpu": 0.97, "gc_share": 0.1}}
		}
		all = append(all, setup.Input{Path: dir, Run: run})
	}
	return all
}

// summaryTag is the beginning of a sentence that stands again when it is unfolded.
var summaryTag = regexp.MustCompile(`<summary>.*?</summary>`)

// TestClientRemedyOnce: an output that says that the client was too slow in some rows says once what
// helps.
func TestClientRemedyOnce(t *testing.T) {
	in := invalidRuns(t)
	run := in[0].Run
	setups := setup.Load(in)
	for _, l := range lang.All() {
		texts := map[string]string{"document": renderDocument(t, in, nil, l)}
		for _, format := range []string{"console", "markdown"} {
			texts[format] = renderRun(t, format, run, l)
		}
		c, err := compare.Of(setups, true)
		if err != nil {
			t.Fatal(err)
		}
		terms, err := slo.ParseAll([]string{"ttft:mean<200ms"})
		if err != nil {
			t.Fatal(err)
		}
		all, err := choose.Of(setups, choose.Options{Terms: terms, Demand: choose.Demand{Amount: 1}, AnyWorkload: true})
		if err != nil {
			t.Fatal(err)
		}
		for name, sections := range map[string][]table.Section{"compare": c.Report(1), "choose": choose.Sections(all, 1)} {
			var b bytes.Buffer
			if err := table.WriteSections(&b, "console", sections, table.Style{Lang: l, All: true}); err != nil {
				t.Fatal(err)
			}
			texts[name] = b.String()
		}
		var b bytes.Buffer
		if err := page.Run(&b, run, "", page.WriteOptions{Lang: l}); err != nil {
			t.Fatal(err)
		}
		texts["page"] = summaryTag.ReplaceAllString(b.String(), "")
		for name, text := range texts {
			text, cause := strings.ToLower(strings.Join(strings.Fields(text), " ")),
				strings.ToLower(findings.Phrase(run.Stages[2].Invalid, l))
			if n := strings.Count(text, strings.ToLower(findings.ClientRemedy.In(l))); n != 1 || !strings.Contains(text, cause) {
				t.Errorf("%s, %s: what helps stands %d times, and the cause %q %d times", name, l, n, cause,
					strings.Count(text, cause))
			}
		}
	}
	for _, l := range lang.All() { // nothing is advised where nothing was wrong
		if text := renderDocument(t, in[1:], nil, l); strings.Contains(text, findings.ClientRemedy.In(l)) {
			t.Errorf("%s: advice without need", l)
		}
	}
}
