package saturation

import (
	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// Notes on answers that become shorter as load grows.
var (
	noteShortened = note.Kind{Code: "saturation.shortened", Args: []string{"offered", "share", "completed"}} // share of the length of lone answers; completed is complete answers
	noteComplete  = note.Kind{Code: "saturation.complete-to", Args: []string{"rate", "above", "share"}}
)

// shortens reports whether answers were shorter than alone by more than the tolerance.
func shortens(st *rundir.Stage) bool {
	return st.Shortened.Known() && st.Shortened.Value()*tolerated < 1
}

// complete returns a stage as its work is: what it completed counts in answers of the length that lone ones have. A stage whose answers are shorter than the
// tolerance asked for more than the server does.
func complete(st *rundir.Stage) *rundir.Stage {
	if st == nil || !shortens(st) {
		return st
	}
	whole := *st
	share := st.Shortened.Value() // of answers that count as failed, too
	if asked := st.AskedTokens; asked.Known() {
		share = max(share, min(1, st.OutputTokens.Mean.Value()/asked.Value()))
	}
	for _, p := range []*rundir.Progress{&whole.Progress, &whole.Traits.Behind} {
		for _, n := range []*rundir.Number{&p.Rate, &p.Low, &p.High} {
			if n.Known() {
				*n = rundir.Exactly(n.Value() * share)
			}
		}
	}
	if st.Rate.Known() && st.Verdict != rundir.Saturated {
		whole.Verdict = rundir.Shedding
	}
	return &whole
}

// Complete returns what a stage completed, in answers of the length that lone ones have.
func Complete(st *rundir.Stage) rundir.Progress { return complete(st).Progress }

// completeTo returns a caution with the rate up to which answers are as long as alone; none where all are.
func (f *finder) completeTo() (n note.Note) {
	below := 0.0
	for _, st := range f.all {
		if shortens(st) {
			return noteComplete.New(below, offered(st), st.Shortened.Value())
		}
		below = max(below, offered(st))
	}
	return n
}
