package report

import (
	"math"
	"slices"
	"strings"
	"testing"

	"llmsweep/client/note"
	"llmsweep/report/draw"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// "Offered" is what arrived: on the axis it is never the planned rate, which names the stage.
func TestOfferedRateOnAxis(t *testing.T) {
	run := sweptRun()
	for i := range run.Stages { // chance makes a difference of some per cent
		run.Stages[i].Rates.Offered = rundir.Exactly(run.Stages[i].Rate.Value() * (1 + 0.04*math.Pow(-1, float64(i))))
	}
	spots := draw.OutputByRate(&run).Panels[0].Series[0].Points
	for i := range run.Stages {
		s := &run.Stages[i]
		if s.Rate.Known() && !slices.ContainsFunc(spots, func(p draw.Point) bool {
			return p.X == s.Rates.Offered.Value() && p.Y == s.TokensPerS.Output.Value()
		}) {
			t.Errorf("%s is not drawn at the %v req/s that it was offered: %v", s.Name, s.Rates.Offered.Value(), spots)
		}
	}
}

// A stage whose server froze is not said to meet an SLO, and the sentence gives the reason.
func TestFrozenStageMissesSLO(t *testing.T) {
	run := sweptRun()
	s := run.Stages[1]
	s.FrozenSince = rundir.Exactly(4.35)
	s.Goodput = &rundir.Goodput{
		Rate: rundir.Exactly(3.5), Share: rundir.Exactly(0.9), Verdict: "broken",
		Terms: []rundir.TermResult{{Term: "ttft:p90<500ms", Verdict: "broken", Value: rundir.Exactly(0.026)}},
	}
	run.Plan.Kind, run.SLO, run.Saturation, run.Stages = "run", nil, nil, []rundir.Stage{s}
	said := strings.Join(findings.Answer(&run, lang.English), "\n")
	if !strings.Contains(said, "throughput misses ttft:p90<500ms: the server stopped answering after 4.35 s") {
		t.Error(said)
	}
}

// TestNotesOfOtherVersions: a run of another version has notes whose rules this one does not have. Reports say nothing
// of them.
func TestNotesOfOtherVersions(t *testing.T) {
	gone := func(code string) note.Note { return note.Note{Code: code, Args: map[string]any{"rate": 7.5}} }
	run := sweptRun()
	run.Warnings = append(run.Warnings, gone("saturation.gone"), gone("saturation.gone-too"))
	run.Stages[4].Warnings = append(run.Stages[4].Warnings, gone("edge.gone"), gone("edge.gone-too"))
	run.Saturation.Reason, run.Saturation.Cautions = gone("saturation.gone"), []note.Note{gone("saturation.gone-too")}
	for _, format := range []string{"console", "markdown", "stress"} {
		for _, l := range lang.All() {
			text := render(t, format, []rundir.Run{run}, Options{Lang: l})
			if strings.Contains(text, ".gone") || strings.Contains(text, "rate=7.5") {
				t.Errorf("%s in %s prints a note without words:\n%s", format, l, text)
			}
		}
	}
}

// A run over an API that is spoken no more, with a note that nobody writes any more, opens and names them.
func TestRunsOfRemovedAPIs(t *testing.T) {
	run, err := store.Open("testdata/native")
	if err != nil {
		t.Fatal(err)
	}
	run.Target.Notes = append(run.Target.Notes, note.Note{Code: "probe.native-api",
		Args: map[string]any{"engine": "llama.cpp", "api": "llamacpp"}})
	for _, l := range lang.All() {
		if text := render(t, "markdown", []rundir.Run{*run}, Options{Lang: l}); !strings.Contains(text, "llamacpp") {
			t.Errorf("%s:\n%s", l, text)
		}
	}
}
