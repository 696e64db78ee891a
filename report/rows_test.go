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
