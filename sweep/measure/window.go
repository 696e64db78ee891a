package measure

import (
	"time"

	"llmsweep/sweep/rundir"
)

// Window is the part of a stage that is measured, as offsets from the stage's start. An instant at its end belongs to
// it; one at its start does not, except at the stage's own start.
type Window struct{ From, To time.Duration }

// WindowOf returns the window of a stage that has been summarized.
func WindowOf(st *rundir.Stage) Window {
	return Window{rundir.Duration(st.WindowFrom), rundir.Duration(st.WindowFrom + st.Window)}
}

// Holds reports whether an instant, in seconds from the stage's start, lies in the window. Instants are compared to the
// nanosecond, in which records.jsonl has them. NaN does not lie in it.
func (w Window) Holds(t float64) bool { return t >= 0 && w.HoldsAt(rundir.Duration(t)) }

// HoldsAt reports whether an instant lies in the window.
func (w Window) HoldsAt(at time.Duration) bool {
	return (at > w.From || at == 0 && w.From == 0) && at <= w.To
}

// Length returns the window's length in seconds.
func (w Window) Length() float64 { return (w.To - w.From).Seconds() }

// overlap returns seconds.
func (w Window) overlap(from, to float64) float64 {
	return max(0, min(w.To.Seconds(), to)-max(w.From.Seconds(), from))
}
