package saturation

import (
	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// noteBelowLone says that the server completed more with one request at a time than the saturation rate is.
var noteBelowLone = note.Kind{Code: "saturation.below-lone", Args: []string{"completed", "rate"}}

// moreAlone is how much more than the saturation rate the floor must complete for the note: less is within what stages of one server differ by
// (rhythm).
const moreAlone = 1.03

// wellKnown is the relative standard error up to which what a stable stage completed is itself the answer, where it is more: little above the
// rhythm, which is the least. By chance a stage of few requests may complete a fifth more than the server can.
const wellKnown = 0.025

// include widens an answer so that it does not contradict what stages at an arrival rate completed. The server got as much done without a
// backlog that grew, so that its interval must hold it; and a stable stage that is known well is itself proof of the
// rate.
func (f *finder) include(s *rundir.Saturation) {
	if f.changed || f.cached.share > 0 || s.Limit == rundir.LimitRate {
		return // more than the server takes: it was another server, a cache answered, or a limit's burst was used up
	}
	for _, st := range f.open {
		p := st.Progress
		if !p.Rate.Known() || p.Batches < leastBatches {
			continue
		}
		switch {
		case st.Verdict == rundir.Stable:
			if standardError(p) <= wellKnown*p.Rate.Value() {
				s.Rate = rundir.Max(s.Rate, p.Rate)
			}
			s.High = rundir.Max(s.High, p.Rate)
		case st.Verdict == rundir.Undecided && !s.Overload.Known():
			s.High = rundir.Max(s.High, p.Rate)
		}
	}
}

// belowLone returns a note where the floor completed more than the saturation rate: requests at once slow each other down, so that one at a time
// is not the least that the server does.
func belowLone(stages []rundir.Stage, s *rundir.Saturation) (n note.Note) {
	for i := range stages {
		st := &stages[i]
		if st.Role == rundir.Floor && Usable(st) && st.Progress.Rate.Known() && st.Progress.Rate.Value() > moreAlone*s.Rate.Value() {
			return noteBelowLone.New(st.Progress.Rate.Value(), s.Rate.Value())
		}
	}
	return n
}
