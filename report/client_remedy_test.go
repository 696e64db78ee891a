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

// TestClientRemedyOnce: an output that says that the client was too slow in some rows says once what helps, and none
// where nothing was wrong.
func TestClientRemedyOnce(t *testing.T) {
	in := invalidRuns(t)
	run, setups := in[0].Run, setup.Load(in)
	c, err := compare.Of(setups, true)
	if err != nil {
		t.Fatal(err)
	}
	all, err := choose.Of(setups, choose.Options{Terms: parseTerms(t, "ttft:mean<200ms"),
		Demand: choose.Demand{Amount: 1}, AnyWorkload: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lang.All() {
		written := func(write func(b *bytes.Buffer) error) string {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			return summaryTag.ReplaceAllString(b.String(), "")
		}
		style := table.Style{Lang: l, All: true}
		for name, text := range map[string]string{
			"document": renderDocument(t, in, nil, l),
			"console":  renderRun(t, "console", run, l), "markdown": renderRun(t, "markdown", run, l),
			"compare": written(func(b *bytes.Buffer) error { return table.WriteSections(b, "console", c.Report(1), style) }),
			"choose": written(func(b *bytes.Buffer) error {
				return table.WriteSections(b, "console", choose.Sections(all, 1), style)
			}),
			"page": written(func(b *bytes.Buffer) error { return page.Run(b, run, "", page.WriteOptions{Lang: l}) }),
		} {
			text = strings.ToLower(strings.Join(strings.Fields(text), " "))
			cause, helps := strings.ToLower(findings.Phrase(run.Stages[2].Invalid, l)),
				strings.ToLower(findings.ClientRemedy.In(l))
			if n := strings.Count(text, helps); n != 1 || !strings.Contains(text, cause) {
				t.Errorf("%s, %s: what helps stands %d times, and the cause %q: %v", name, l, n, cause,
					strings.Contains(text, cause))
			}
		}
		if text := renderDocument(t, in[1:], nil, l); strings.Contains(text, findings.ClientRemedy.In(l)) {
			t.Errorf("%s: advice without need", l)
		}
	}
}
