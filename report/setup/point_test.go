package setup

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"llmsweep/sweep/rundir"
)

// A latency at a load between two rows is never outside of what the two rows measured, however steeply it rises or
// falls; outside of the rows there is none.
func TestLatencyBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := &rundir.Run{State: rundir.Complete}
		rate := 0.0
		for i := range rapid.IntRange(2, 7).Draw(t, "rows") {
			rate += rapid.Float64Range(0.01, 10).Draw(t, "step")
			ttft := rapid.Float64Range(0.001, 30).Draw(t, "TTFT")
			run.Stages = append(run.Stages, rundir.Stage{
				Name: fmt.Sprint(i), Role: rundir.Grid, State: rundir.Complete, Verdict: rundir.Stable, Window: 60,
				Requests: rundir.Requests{Due: 500, OK: 500},
				Rate:     rundir.Exactly(rate), Rates: rundir.Rates{Offered: rundir.Exactly(rate), Completed: rundir.Exactly(rate)},
				TTFT: rundir.Dist{N: 500, Mean: rundir.Exactly(ttft)},
			})
		}
		s := Load([]Input{{Path: "run", Run: run}})[0]
		at := rapid.Float64Range(0, 1.2*rate).Draw(t, "at")
		p, ok := s.PointAtRate(at)
		if inside := at >= s.Rows[0].Top && at <= s.Rows[len(s.Rows)-1].Top; ok != inside {
			t.Fatalf("at %v of %v to %v: %v", at, s.Rows[0].Top, s.Rows[len(s.Rows)-1].Top, ok)
		}
		if !ok {
			return
		}
		low, high := p.Low.Stage.TTFT.Mean.Value(), p.High.Stage.TTFT.Mean.Value()
		const rounding = 1e-9
		if v := p.Latency(TTFT).Number.Value(); v < min(low, high)*(1-rounding) || v > max(low, high)*(1+rounding) {
			t.Errorf("%v at %v between rows with %v and %v", v, at, low, high)
		}
	})
}
