package saturation

import (
	"math"
	"testing"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// quick returns a stage as a quick hold.
func quick(st rundir.Stage) rundir.Stage {
	st.Name = rundir.QuickPrefix + st.Name[len(rundir.HoldPrefix):]
	return st
}

// Quick holds count only where no long one decides, and only on the side of it that is open. What they served is no
// bound. A pair that contradicts itself tells of a server that does more when it is less full.
func TestQuickHolds(t *testing.T) {
	type stages = []rundir.Stage
	low, high := quick(withGrowth(stable(9.3), drift(-0.03, -0.01, 0.01), rundir.Drift{})), quick(saturated(10.7, 9))
	pairLow, pairHigh := 9.3*(1-rateTolerance-0.01), 10.7*(1+rateTolerance/2)
	falls := quick(withGrowth(stable(9.3), drift(-0.5, -0.4, -0.3), rundir.Drift{}))
	for name, c := range map[string]struct {
		holds           stages
		rate, low, high float64
	}{
		"a pair":              {stages{low, high}, math.Sqrt(pairLow * pairHigh), pairLow, pairHigh},
		"a pair and two":      {stages{low, high, stable(8), saturated(8.6, 8.4)}, 8.4, 0.98 * 8, 1.01 * 8.6},
		"failed below a pair": {stages{low, high, saturated(8.6, 8.4)}, 0, 0, 1.01 * 8.6},
		"failed, then a pair": {stages{saturated(8.6, 8.4), low, high}, 0, 0, 1.01 * 8.6},
		"kept beyond a pair":  {stages{low, high, stable(12)}, 0, 0.98 * 12, 0},
		"kept below a pair":   {stages{low, high, stable(9)}, math.Sqrt(0.98 * 9 * pairHigh), 0.98 * 9, pairHigh},
		"it contradicts itself": {stages{falls, quick(saturated(9.6, 9))}, math.Sqrt(0.98 * 9.3 * 9.6 * 1.01),
			0.98 * 9.3, 9.6 * 1.01},
	} {
		s := Find(runOf(append(stages{floorStage(), throughput(10)}, c.holds...)...))
		near := func(got rundir.Number, want float64) bool {
			return math.Abs(got.Or(0)-want) < 0.01*want || got.Or(0) == want
		}
		rate := s.Rate
		if rate.Bound() {
			s.Low, rate = rundir.Exactly(rate.Value()), rundir.Number{}
		}
		if !near(rate, c.rate) || !near(s.Low, c.low) || !near(s.High, c.high) {
			t.Errorf("%s: %v between %v and %v; want %v between %v and %v", name, rate, s.Low, s.High, c.rate, c.low, c.high)
		}
	}
}

// The stage that tells the latencies at the recommended rate is the nearest probe that is not overloaded.
func TestOperating(t *testing.T) {
	probe := func(rate float64, change func(st *rundir.Stage)) rundir.Stage {
		st := stable(rate)
		st.Role = rundir.Probe
		change(&st)
		return st
	}
	as := func(*rundir.Stage) {}
	for name, c := range map[string]struct {
		stage rundir.Stage
		want  float64 // its rate, beside a probe of 7.3; 0 for that
	}{
		"nearer":      {probe(8.1, as), 8.1},
		"running":     {probe(8.1, func(st *rundir.Stage) { st.State = rundir.Running }), 8.1},
		"further":     {probe(7.25, as), 0},
		"beyond":      {probe(8.4, as), 0},
		"a hold":      {stable(8), 0},
		"invalid":     {probe(8, func(st *rundir.Stage) { st.Invalid = note.Text.New("late") }), 0},
		"interrupted": {probe(8, func(st *rundir.Stage) { st.State = rundir.Interrupted }), 0},
		"overloaded":  {probe(8, func(st *rundir.Stage) { st.Verdict = rundir.Saturated }), 0},
	} {
		for i, stages := range [][]rundir.Stage{{probe(7.3, as), c.stage}, {c.stage, probe(7.3, as)}} {
			want := c.want
			if want == 0 {
				want = 7.3
			}
			if st := Operating(stages, 8); st == nil || st.Rate.Value() != want {
				t.Errorf("%s, order %d: %+v, want the probe at %v", name, i, st, want)
			}
		}
	}
	if st := Operating([]rundir.Stage{probe(7.1, as)}, 8); st != nil {
		t.Errorf("the probe at %v is taken for 8", st.Rate)
	}
}

// Where the throughput stage completed nothing, the fastest step of the search tells a rate, but not while that stage
// runs.
func TestThroughputRateOfTheSearch(t *testing.T) {
	floor, none := floorStage(), throughput(0)
	floor.TokensPerS.Output, none.Progress = rundir.Exactly(100), rundir.Progress{}
	running := none
	running.State = rundir.Running
	for name, c := range map[string]struct {
		stages []rundir.Stage
		want   float64
	}{
		"completed nothing": {[]rundir.Stage{floor, none}, 9},
		"completed some":    {[]rundir.Stage{floor, throughput(7)}, 7},
		"runs":              {[]rundir.Stage{floor, running}, 0},
		"not yet begun":     {[]rundir.Stage{floor}, 0},
	} {
		run := runOf(c.stages...)
		for _, output := range []float64{300, 900, 850} {
			run.Search = append(run.Search, rundir.SearchStep{Output: rundir.Exactly(output)})
		}
		if got := ThroughputRate(run).Or(0); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A rate that failed far below what the server does at full load is held once more when that is a while ago, and not a
// third time.
func TestAFailureOfThePastIsHeldOnceMore(t *testing.T) {
	grid := stable(20)
	grid.Role = rundir.Grid
	for name, c := range map[string]struct {
		full  float64
		holds []rundir.Stage
		want  float64
	}{
		"a while ago": {10, []rundir.Stage{saturated(6, 5.9), stable(5.8)}, 6},
		"the latest":  {10, []rundir.Stage{stable(5.8), saturated(6, 5.9)}, 0},
		"twice":       {10, []rundir.Stage{saturated(6, 5.9), stable(5.8), saturated(6, 5.9), stable(5.8)}, 0},
		"no faster":   {6.8, []rundir.Stage{saturated(6, 5.9), stable(5.8)}, 0},
	} {
		run := runOf(append([]rundir.Stage{floorStage(), throughput(c.full)}, c.holds...)...)
		if got, _ := NextHold(run); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	recent := runOf(floorStage(), throughput(10), saturated(6, 5.9), stable(5.8))
	recent.Stages[3].Ended = recent.Stages[2].Ended + staleAfter/2 - 1
	if got, _ := NextHold(recent); got != 0 {
		t.Errorf("just now: %v", got)
	}
}
