package saturation

import "llmsweep/sweep/rundir"

// shortens reports whether answers were shorter than alone by more than the tolerance.
func shortens(st *rundir.Stage) bool {
	return st.Shortened.Known() && st.Shortened.Value()*(1+tolerance) < 1
}

// atFullLength counts what a stage completed in answers of the length that lone ones have. A stage whose answers are
// shorter than the tolerance asked for more than the server does.
func atFullLength(st *rundir.Stage) *rundir.Stage {
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
