package report

import (
	"strings"
	"testing"

	"llmsweep/client/note"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// TestNotesOfOtherVersions: a run of another version has notes whose rules this one does not have. Reports say nothing
// of them.
func TestNotesOfOtherVersions(t *testing.T) {
	gone := func(code string) note.Note { return note.Note{Code: code, Args: map[string]any{"rate": 7.5}} }
	run := sweptRun()
	run.Warnings = append(run.Warnings, gone("saturation.latest-alone"), gone("saturation.stable-above"))
	run.Stages[4].Warnings = append(run.Stages[4].Warnings, gone("edge.gone"), gone("edge.gone-too"))
	run.Saturation.Reason, run.Saturation.Cautions = gone("saturation.why"), []note.Note{gone("saturation.caution"),
		gone("saturation.caution-too")}
	for _, format := range []string{"console", "markdown", "stress"} {
		for _, l := range lang.All() {
			text := render(t, format, []rundir.Run{run}, Options{Lang: l})
			for _, code := range []string{"latest-alone", "stable-above", "edge.gone", "saturation.why", "saturation.caution",
				"rate=7.5"} {
				if strings.Contains(text, code) {
					t.Errorf("%s in %s prints %q", format, l, code)
				}
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
	for _, l := range []lang.Lang{lang.English, lang.Chinese} {
		var b strings.Builder
		if err := Markdown(&b, []rundir.Run{*run}, l); err != nil || !strings.Contains(b.String(), "llamacpp") {
			t.Errorf("%s: %v\n%s", l, err, b.String())
		}
	}
}
