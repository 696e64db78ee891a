package saturation

import (
	"math"
	"testing"
	"time"

	"llmsweep/sweep/rundir"
)

// floorStage is a synchronous stage of requests that take a second.
func floorStage() rundir.Stage {
	st := holdAt(1, 1, rundir.Closed)
	st.Role, st.Rate, st.Latency.Mean = rundir.Synchronous, rundir.Number{}, rundir.Exactly(1)
	return st
}

// requests gives a stage a number of requests.
func requests(st rundir.Stage, n int) rundir.Stage {
	st.Requests.OK = n
	return st
}

// The rate that is held next follows from the holds so far. Holds have 1500 requests, of which the next hold tells a
// difference of 2 x 0.75 / sqrt(1500) = 3.9 %.
func TestNextHold(t *testing.T) {
	grid := saturated(20, 9)
	grid.Role = rundir.Grid
	for name, tt := range map[string]struct {
		guess  float64 // what the throughput stage completed
		search []float64
		holds  []rundir.Stage
		want   float64
		longer bool
	}{
		"first: 0.97 of the throughput":          {10, nil, nil, 9.7, false},
		"first: 0.75 deviations of 306 requests": {1, nil, nil, 1 - 0.75/math.Sqrt(306), false},
		"first: 0.75 deviations of 600 requests": {3, nil, nil, 3 * (1 - 0.75/math.Sqrt(600)), false},

		"kept: 10 % more":                      {10, nil, []rundir.Stage{stable(9.7)}, 1.1 * 9.7, false},
		"kept twice: 20 % more":                {10, nil, []rundir.Stage{stable(9.7), stable(10.67)}, 1.2 * 10.67, false},
		"kept, few requests: what they tell":   {10, nil, []rundir.Stage{requests(stable(9.7), 100)}, 1.15 * 9.7, false},
		"kept, the search grew to its end":     {10, []float64{100, 106}, []rundir.Stage{stable(9.7)}, 2 * 9.7, false},
		"kept, the search did not grow":        {10, []float64{100, 104}, []rundir.Stage{stable(9.7)}, 1.1 * 9.7, false},
		"undecided, clearly less was served":   {10, nil, []rundir.Stage{undecided(9.7, 8)}, 0.97 * 8, false},
		"undecided, far less was served":       {10, nil, []rundir.Stage{undecided(9.7, 5)}, 9.7 / 1.5, false},
		"undecided, nearly as much was served": {10, nil, []rundir.Stage{undecided(9.7, 9.3)}, 1.1 * 9.7, false},
		"failed: 0.97 of what was served":      {10, nil, []rundir.Stage{saturated(9.7, 8)}, 0.97 * 8, false},
		"failed, far less was served":          {10, nil, []rundir.Stage{saturated(9.7, 5)}, 9.7 / 1.5, false},
		"failed twice: twice what a hold tells": {10, nil, []rundir.Stage{saturated(9.7, 9.65), saturated(9.3, 9.25)},
			9.3 * (1 - 3/math.Sqrt(1500)), false},
		"failed, then undecided": {10, nil, []rundir.Stage{saturated(9.7, 9.65), undecided(9, 9)}, 0.94 * 9, false},

		"a wide bracket":   {10, nil, []rundir.Stage{stable(9), saturated(11, 10)}, 1.1 * 9, false},
		"from below":       {10, nil, []rundir.Stage{saturated(11, 10), stable(9)}, 1.1 * 9, true},
		"a narrow bracket": {10, nil, []rundir.Stage{stable(9), saturated(11, 9.8)}, 0, false},
		"as good as narrow": { // 1.01 x 1.02 x 9.84 is 1.149 times 0.98 x 9
			10, nil, []rundir.Stage{stable(9), saturated(11, 9.84)}, 0, false,
		},
		"rates more than 2.25 times apart": {10, nil, []rundir.Stage{stable(4), saturated(10, 9)}, math.Sqrt(40), false},
		"overload costs throughput":        {10, nil, []rundir.Stage{stable(9), saturated(12, 8)}, 9, false},
		"one that did not decide": {
			10, nil, []rundir.Stage{stable(9), saturated(11, 10), undecided(9.9, 9.8)}, 0, false,
		},
		"one that did not decide, five holds ago": {
			10, nil, []rundir.Stage{stable(9), saturated(11, 10), undecided(9.9, 9.8), stable(9), stable(9), stable(9),
				stable(9)}, 9.9, true,
		},
		"a failure 200 s ago": {10, nil, []rundir.Stage{saturated(10, 9.9), grid, stable(9.3)}, 10, true},
		"a failure 100 s ago": {10, nil, []rundir.Stage{saturated(10, 9.9), stable(9.3)}, 0, false},
	} {
		run := runOf(append([]rundir.Stage{floorStage(), throughput(tt.guess)}, tt.holds...)...)
		for _, output := range tt.search {
			run.Search = append(run.Search, rundir.SearchStep{Output: rundir.Exactly(output)})
		}
		rate, longer := NextHold(run)
		if math.Abs(rate-tt.want) > 1e-9*max(1, tt.want) || longer != tt.longer {
			t.Errorf("%s: %v, longer %v; want %v, %v", name, rate, longer, tt.want, tt.longer)
		}
	}
}

// A hold lasts for three pauses, and for three times from one to the next where pauses take much of the time.
func TestMinHoldTime(t *testing.T) {
	for seconds, want := range map[float64]time.Duration{1: 3600 * time.Millisecond, 10: 360 * time.Second} {
		if got := MinHoldTime(runOf(withPause(stable(5), seconds))); got.Round(time.Millisecond) != want {
			t.Errorf("pauses of %v s: %v, want %v", seconds, got, want)
		}
	}
}
