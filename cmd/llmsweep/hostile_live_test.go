package main

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"llmsweep/client/note"
	"llmsweep/report/lang"
	"llmsweep/report/progress"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// TestHostileNamesOnTheTerminal shows a run with hostile texts on a terminal, and in lines. The terminal is sent no control sequence that a harmless
// name does not cause.
func TestHostileNamesOnTheTerminal(t *testing.T) {
	base := liveOutputs(harmless)
	for name, evil := range hostileTexts() {
		if !everyHostileText && name != "everything" && name != "line breaks" {
			continue
		}
		for what, got := range liveOutputs(evil) {
			if !strings.Contains(ansi.Strip(got), "at the end of it all") {
				t.Errorf("%s, %s: it is not shown", name, what)
			}
			if err := obeyed(got, base[what]); err != nil {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
}

// liveOutputs returns what the view sends to a file and to a terminal during a run in which every text of the server's is evil.
func liveOutputs(evil string) map[string]string {
	all := map[string]string{}
	for what, width := range map[string]func() int{"lines": nil, "terminal": func() int { return 1000 }} {
		var out strings.Builder
		view := progress.New(&out, lang.English, width)
		view.Note("run of " + evil)
		observer := view.Observe(3)
		stage := rundir.Stage{Name: evil, Kind: evil, State: rundir.Complete, Errors: map[string]int{evil: 3}, Examples: map[string]string{evil: evil}}
		observer.StageBegins(&stage, time.Second)
		observer.Progress(load.Snapshot{Phase: load.PhaseMeasuring, Elapsed: time.Second, InFlight: 1, Failed: 3, Errors: map[string]int{evil: 3}, TTFT: -1, ITL: -1})
		observer.StageEnds(&stage)
		observer.Note(note.Note{Code: evil})
		view.Note(evil)
		view.Note("at the end of it all")
		view.Close()
		all[what] = out.String()
	}
	return all
}

// moves are the sequences that move the cursor, erase, insert, scroll, and style; which there are depends on the text and on what was redrawn.
const moves = "ABCDGHJKLMPSTXdfmr"

// numbers are the parameters of a sequence, which depend on where the text is.
var numbers = regexp.MustCompile(`[0-9;]+`)

// obeyed checks that a terminal is sent no kind of sequence that a harmless text does not cause, and no other control character.
func obeyed(got, harmless string) error {
	kinds := func(s string) map[string]bool {
		all, state := map[string]bool{}, byte(0)
		for len(s) > 0 {
			var seq string
			var n int
			seq, _, n, state = ansi.DecodeSequence(s, state, nil)
			s = s[n:]
			switch r := []rune(seq); {
			case strings.HasPrefix(seq, "\x1b["):
				if kind := numbers.ReplaceAllString(seq[2:], ""); !strings.ContainsAny(kind, moves) || len(kind) > 1 {
					all["CSI "+kind] = true
				}
			case len(r) > 0 && (r[0] < ' ' || r[0] >= 0x7f && r[0] < 0xa0):
				all[seq] = true
			}
		}
		return all
	}
	usual := kinds(harmless)
	for _, seq := range slices.Sorted(maps.Keys(kinds(got))) {
		if !usual[seq] {
			return errors.New("a terminal is sent " + strconv.Quote(seq))
		}
	}
	if strings.Contains(got, "\x1b[31;1m") {
		return errors.New("the server's own colour")
	}
	rest := strings.NewReplacer("\r", "", "\b", "", "\t", "").Replace(ansi.Strip(got))
	return visible(rest)
}
