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
		for status, width := range map[string]func() int{"": nil, "\r": func() int { return 1000 }} {
			var out strings.Builder
			view, failed := progress.New(&out, lang.English, width), map[string]int{evil: 3}
			view.Note("run of " + evil)
			observer := view.Observe(3)
			stage := rundir.Stage{Name: evil, Kind: evil, State: rundir.Complete, Errors: failed,
				Examples: map[string]string{evil: evil}}
			observer.StageBegins(&stage, time.Second)
			observer.Progress(load.Snapshot{Phase: load.PhaseMeasuring, Elapsed: time.Second, Failed: 3, Errors: failed})
			observer.StageEnds(&stage)
			observer.Note(note.Note{Code: evil})
			view.Note("at the end of it all")
			view.Close()
			if err := visible(erased.ReplaceAllString(out.String(), "")); err != nil ||
				!containsAll(out.String(), "at the end of it all", status) {
				t.Errorf("%s: %v: %q", name, err, out.String())
			}
		}
	}
}
