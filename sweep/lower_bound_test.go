package sweep

import (
	"math"
	"testing"
	"time"

	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// A minute gives a guess, and no bound that is wrong.
func TestAMinuteGivesAGuess(t *testing.T) {
	t.Parallel()
	server, w := simtest.Preset(t, "Qwen2-7B/L20/fp16"), simtest.SameInAll(512, 128)
	simtest.Beside(t, server, func(t *testing.T, d load.Doer) {
		c, run := experimentWith(d, w), &rundir.Run{}
		c.Budget, c.Points = time.Minute, 3
		if err := Sweep(t.Context(), c, run); err != nil {
			t.Fatal(err)
		}
		truth, guess := w.Capacity(server).RequestsPerSecond, run.Answer.Guess
		if a := run.Answer; a.Kind != rundir.Unanswerable && !(a.Low.Or(0) <= truth && truth <= a.High.Or(math.Inf(1))) {
			t.Errorf("capacity %.2f, found %+v", truth, a)
		}
		if !guess.Known() || guess.Value() > 1.05*truth {
			t.Errorf("capacity %.2f, guess %v", truth, guess)
		}
	})
}
