package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"llmsweep/client/note"
	"llmsweep/report/lang"
	"llmsweep/report/progress"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// erased matches what takes a status line away.
var erased = regexp.MustCompile(`\r +\r`)

// TestHostileNamesOnTheTerminal shows a run in which every text of the server's is hostile on a terminal, and in lines.
// The terminal is sent no control character, but for those that take a status line away.
func TestHostileNamesOnTheTerminal(t *testing.T) {
	for name, evil := range hostileTexts(t) {
		for what, width := range map[string]func() int{"lines": nil, "terminal": func() int { return 1000 }} {
			var out strings.Builder
			view := progress.New(&out, lang.English, width)
			view.Note("run of " + evil)
			observer := view.Observe(3)
			stage := rundir.Stage{Name: evil, Kind: evil, State: rundir.Complete, Errors: map[string]int{evil: 3},
				Examples: map[string]string{evil: evil}}
			observer.StageBegins(&stage, time.Second)
			observer.Progress(load.Snapshot{Phase: load.PhaseMeasuring, Elapsed: time.Second, InFlight: 1, Failed: 3,
				Errors: map[string]int{evil: 3}, TTFT: -1, ITL: -1})
			observer.StageEnds(&stage)
			observer.Note(note.Note{Code: evil})
			view.Note("at the end of it all")
			view.Close()
			err := visible(erased.ReplaceAllString(out.String(), ""))
			if got := out.String(); err != nil || !strings.Contains(got, "at the end of it all") ||
				strings.Contains(got, "\r") != (what == "terminal") {
				t.Errorf("%s, %s: %v: %q", name, what, err, got)
			}
		}
	}
}
