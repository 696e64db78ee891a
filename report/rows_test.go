package report

import (
	"math"
	"slices"
	"strings"
	"testing"

	"llmsweep/client/note"
	"llmsweep/client/testkit"
	"llmsweep/report/draw"
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

// A run of another version may have notes whose rules this one does not have, of which reports say nothing, and an API
// that is spoken no more, which they name.
func TestRunsOfOtherVersions(t *testing.T) {
	gone := func(code string) note.Note { return note.Note{Code: code, Args: map[string]any{"rate": 7.5}} }
	run, old := sweptRun(), testkit.Must(store.Open("testdata/native"))
	run.Warnings = append(run.Warnings, gone("saturation.gone"), gone("saturation.gone-too"))
	run.Stages[4].Warnings = append(run.Stages[4].Warnings, gone("edge.gone"), gone("edge.gone-too"))
	run.Saturation.Reason, run.Saturation.Cautions = gone("saturation.gone"), []note.Note{gone("saturation.gone-too")}
	old.Target.Notes = append(old.Target.Notes, gone("probe.native-api"))
	for _, format := range []string{"console", "markdown", "stress"} {
		for _, l := range lang.All() {
			o := Options{Lang: l}
			text := render(t, format, []rundir.Run{run}, o) + render(t, format, []rundir.Run{*old}, o)
			if strings.Contains(text, ".gone") || strings.Contains(text, "rate=7.5") ||
				strings.Contains(text, "llamacpp") != (format == "markdown") {
				t.Errorf("%s in %s prints a note without words, or no API:\n%s", format, l, text)
			}
		}
	}
}

// A quick hold is evidence and no row: no format shows it, nor its figures. The row at the recommended rate stands among
// the grid.
func TestQuickHoldsAreNoRows(t *testing.T) {
	run := sweptRun()
	at := slices.IndexFunc(run.Stages, func(s rundir.Stage) bool { return s.Role == rundir.Grid && s.Verdict == rundir.Stable })
	probe, quick := run.Stages[at], run.Stages[at]
	probe.Name, probe.Role, probe.Rate = "asynchronous@3.33", rundir.Probe, rundir.Exactly(3.33)
	quick.Name, quick.Role, quick.Rates.Offered = rundir.QuickPrefix+"9.87", rundir.Hold, rundir.Exactly(9.8765)
	quick.Rates.Completed, quick.Warnings = rundir.Exactly(98765), []note.Note{note.Text.New("quick as can be")}
	run.Stages = append(run.Stages, probe, quick)
	run.Saturation.FailedStage, run.Answer = quick.Name, nil
	for _, format := range Formats() {
		text := render(t, format, []rundir.Run{run}, Options{All: true})
		if format == "json" { // it is run.json
			continue
		}
		for _, unwanted := range []string{"quick", "98765", "98,765"} {
			if strings.Contains(text, unwanted) {
				t.Errorf("%s has %s:\n%s", format, unwanted, text)
			}
		}
	}
	text := render(t, "console", []rundir.Run{run}, Options{})
	below, row, above := strings.Index(text, "synchronous "), strings.Index(text, "asynchronous@3.33"),
		strings.Index(text, "asynchronous@4.75")
	if !(0 < below && below < row && row < above) || strings.Contains(strings.Split(text[row:], "\n")[0], "held") {
		t.Errorf("the row at 3.33 req/s does not stand in the order of rates, or is a hold:\n%s", text)
	}
	if !strings.Contains(text, "at 9.88 req/s") {
		t.Errorf("the reason does not name what the quick hold shows:\n%s", text)
	}
}
