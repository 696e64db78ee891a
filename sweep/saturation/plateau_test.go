package saturation

import (
	"testing"

	"llmsweep/sweep/rundir"
)

// A saturated stage that completed less once it was far behind had used up a burst, unless its requests vary so much that chance explains it. Nor is a plateau known
// better than one of its stages then.
func TestChanceExplainsALull(t *testing.T) {
	stage := func(varies float64) *rundir.Stage {
		st := row(12, 10, rundir.Saturated)
		st.TPOT = rundir.Dist{N: 800, Mean: rundir.Exactly(0.1), Std: rundir.Exactly(varies * 0.1)}
		st.Traits.Behind = rundir.Progress{Rate: rundir.Exactly(9.5), Low: rundir.Exactly(9.4), High: rundir.Exactly(9.6), Batches: 12}
		return &st
	}
	for varies, want := range map[float64]float64{0: 9.5, 0.2: 9.5, 1: 10} {
		if got := behind(stage(varies)).Rate.Value(); got != want {
			t.Errorf("requests that vary by %v: %v req/s far behind, want %v", varies, got, want)
		}
	}
	for varies, least := range map[float64]float64{0.2: 0.2, 1: 0.69} {
		_, low, high := plateau([]*rundir.Stage{stage(varies), stage(varies), stage(varies)})
		if half := (high.Value() - low.Value()) / 2; half < least || half > least+0.05 {
			t.Errorf("requests that vary by %v: a plateau to within %.3f req/s, want %.2f", varies, half, least)
		}
	}
}

// A time in which nothing was completed is a pause, and no speed: an answer from it was no number, and a stage at that rate sent requests without end.
func TestAPauseIsNoSpeed(t *testing.T) {
	st := row(13.7, 9, rundir.Saturated)
	st.Traits.Behind = rundir.Progress{Rate: rundir.Exactly(0), Low: rundir.Exactly(0), High: rundir.Exactly(0), Batches: 12}
	if got := behind(&st).Rate.Value(); got != 9 {
		t.Errorf("%v req/s once it was far behind, want the 9 of the whole stage", got)
	}
	if rate, low, high := plateau([]*rundir.Stage{&st}); !(rate.Value() > 0) || !(low.Value() <= high.Value()) {
		t.Errorf("a plateau of %v (%v-%v)", rate.Value(), low.Value(), high.Value())
	}
}
