package saturation

import (
	"math"
	"strconv"
	"testing"
	"time"

	"llmsweep/client"
	"llmsweep/client/note"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/rundir"
)

// The stages of a run, each a hundred seconds after the one before.
func runOf(stages ...rundir.Stage) *rundir.Run {
	run := &rundir.Run{Plan: rundir.Plan{Kind: rundir.KindSweep, StageTime: 30}, State: rundir.Complete}
	for i, st := range stages {
		st.Started = 100 * float64(i)
		st.Ended = st.Started + 100
		run.Stages = append(run.Stages, st)
	}
	return run
}

// holdAt returns a hold at a rate of which some was completed.
func holdAt(rate, done float64, verdict rundir.Verdict) rundir.Stage {
	f := rundir.Exactly
	st := rundir.Stage{
		Name: rundir.HoldPrefix + arrival.RateName(rate), Role: rundir.Hold, State: rundir.Complete, Rate: f(rate),
		Verdict: verdict, Window: 150,
		Requests: rundir.Requests{OK: 1500}, Rates: rundir.Rates{Offered: f(rate)},
		Progress: rundir.Progress{Rate: f(done), Low: f(0.99 * done), High: f(1.01 * done), Batches: 12},
		Drift:    drift(rate/done-1.01, rate/done-1, rate/done-0.99),
	}
	return st
}

func drift(low, value, high float64) rundir.Drift {
	return rundir.Drift{Value: rundir.Exactly(value), Low: rundir.Exactly(low), High: rundir.Exactly(high)}
}

func stable(rate float64) rundir.Stage          { return holdAt(rate, rate, rundir.Stable) }
func saturated(rate, done float64) rundir.Stage { return holdAt(rate, done, rundir.Saturated) }
func undecided(rate, done float64) rundir.Stage { return holdAt(rate, done, rundir.Undecided) }

// shedding returns a hold in which a share was refused.
func shedding(rate, share float64) rundir.Stage {
	return withRefusals(holdAt(rate, rate*(1-share), rundir.Shedding), share)
}

func withRefusals(st rundir.Stage, share float64) rundir.Stage {
	st.Refused = rundir.Exactly(share)
	return st
}

func withFailures(st rundir.Stage, failed int) rundir.Stage {
	st.Requests.OK, st.Requests.Error = st.Requests.OK-failed, failed
	return st
}

func withGrowth(st rundir.Stage, backlog, waits rundir.Drift) rundir.Stage {
	st.Drift, st.Traits.Waits = backlog, waits
	return st
}

// slowReplica returns a hold in which the waits of a part of the requests grew.
func slowReplica(rate, growth float64) rundir.Stage {
	st := saturated(rate, 0.98*rate)
	return withGrowth(st, st.Drift, drift(0.9*growth, growth, 1.1*growth))
}

// usedBurst returns a hold that failed, and completed less once it was behind.
func usedBurst(rate, done, behind float64) rundir.Stage {
	st := saturated(rate, done)
	f := rundir.Exactly
	st.Traits.Behind = rundir.Progress{Rate: f(behind), Low: f(0.99 * behind), High: f(1.01 * behind)}
	return st
}

// withPause returns a stage in which the server paused once for some seconds.
func withPause(st rundir.Stage, seconds float64) rundir.Stage {
	st.Traits.Pauses = rundir.Pauses{Count: 1, Longest: rundir.Exactly(seconds), Total: rundir.Exactly(seconds)}
	return st
}

// throughput returns the throughput stage.
func throughput(done float64) rundir.Stage {
	st := holdAt(1, done, rundir.Closed)
	st.Name, st.Role, st.Rate, st.MaxConcurrency, st.Window = "throughput", rundir.Throughput, rundir.Number{}, 64, 30
	return st
}

// The answer is the bracket of the holds, whatever other stages show. A server that completes 10 requests per second in
// the throughput stage has these holds, one after the other.
func TestFind(t *testing.T) {
	grid, late, none := saturated(5, 2), saturated(6, 3), rundir.Drift{}
	grid.Role, late.Invalid = rundir.Grid, note.Text.New("the client sent late")
	const backlog, waits, refused, undone = "saturation.backlog-grew", "saturation.waits-grew", "saturation.refused",
		"saturation.undone"
	type stages = []rundir.Stage
	for _, c := range []struct {
		name            string
		holds           stages
		rate, low, high float64 // 0: none
		kind            rundir.AnswerKind
		reason          string
	}{
		{"stable and saturated", stages{stable(9.7), saturated(10.7, 10)}, 10, 9.506, 10.302, rundir.Saturates, backlog},
		{"other stages", stages{grid, late, stable(9.7), saturated(10.7, 10)}, 10, 9.506, 10.302, rundir.Saturates, backlog},
		{"none saturated", stages{stable(9.7)}, 0, 9.506, 0, rundir.AtLeast, ""},
		{"none stable", stages{saturated(9.7, 6)}, 0, 0, 6.181, rundir.AtMost, backlog},
		{"wide bracket", stages{saturated(9.7, 9), stable(5)}, 0, 4.9, 9.272, rundir.Between, backlog},
		{"almost all completed", stages{stable(9.7), saturated(10, 9.95)}, 9.95, 9.506, 10.1, rundir.Saturates, backlog},

		// what the lower end excludes
		{"backlog may grow", stages{withGrowth(stable(9.7), drift(-0.01, 0, 0.04), none)}, 0, 9.312, 0, rundir.AtLeast, ""},
		{"waits may grow", stages{withGrowth(stable(9.7), drift(-0.01, 0, 0.01), drift(-0.01, 0, 0.04))}, 0, 9.312, 0,
			rundir.AtLeast, ""},
		{"longest waits grow", stages{withGrowth(stable(9.7), drift(-0.01, 0, 0.01), drift(-0.01, 0.05, 0.04))}, 0, 9.215, 0,
			rundir.AtLeast, ""},
		{"few refused", stages{withRefusals(stable(9.7), 0.004)}, 0, 9.467, 0, rundir.AtLeast, ""},
		{"few refused, less completed", stages{
			withGrowth(withRefusals(holdAt(9.7, 9.3, rundir.Stable), 0.03), drift(-0.01, 0, 0.01), none)}, 0, 9.207, 0,
			rundir.AtLeast, ""},
		{"undecided", stages{undecided(9.7, 9.65), saturated(10.7, 10)}, 10, 9.506, 10.302, rundir.Saturates, backlog},
		{"undecided, grew less than one rate differs", stages{
			withGrowth(undecided(9.7, 9.65), drift(0.009, 0.012, 0.015), none), saturated(10.7, 10)}, 10, 9.506, 10.302,
			rundir.Saturates, backlog},
		{"undecided, grew", stages{undecided(9.7, 9.5), saturated(10.7, 10)}, 0, 0, 10.302, rundir.AtMost, backlog},
		{"undecided above one that failed", stages{saturated(9.7, 9.6), undecided(12, 12)}, 0, 0, 9.797, rundir.AtMost,
			backlog},

		// why a hold failed
		{"waits of a part grow", stages{stable(10), slowReplica(11, 0.09)}, 10.01, 9.8, 11.106, rundir.Saturates, waits},
		{"waits grow as the backlog", stages{stable(9.7), withGrowth(saturated(10.7, 10), drift(0.06, 0.07, 0.08),
			drift(0.06, 0.09, 0.12))}, 10, 9.506, 10.302, rundir.Saturates, backlog},
		{"waits show overload", stages{stable(10), slowReplica(11, 0.3)}, 10.4, 9.8, 11, rundir.Saturates, waits},
		{"refused", stages{stable(9), shedding(10, 0.08)}, 9.2, 8.82, 9.977, rundir.Accepts, refused},
		{"overload costs throughput", stages{stable(8), saturated(9, 5), stable(8)}, 8.42, 7.84, 9, rundir.Sustains, backlog},
		{"failures, stable when repeated", stages{withFailures(undecided(9.7, 9.7), 90), stable(9.7)}, 0, 9.506, 0,
			rundir.AtLeast, ""},
		{"failures twice", stages{stable(8), withFailures(undecided(9.7, 9.1), 90), withFailures(undecided(9.7, 9.1), 90)},
			9.1, 7.84, 9.375, rundir.Saturates, undone},
		{"failures within the tolerance", stages{
			withFailures(undecided(9.7, 9.7), 60), withFailures(undecided(9.7, 9.7), 60)}, 0, 9.118, 0, rundir.AtLeast, ""},

		// holds that contradict each other: the later one counts
		{"saturated later", stages{stable(9.7), saturated(9.7, 7), stable(7)}, 7, 6.86, 7.211, rundir.Saturates, backlog},
		{"saturated near two stable", stages{stable(9.6), stable(9.7), saturated(9.7, 9.5)}, 0, 0, 9.787, rundir.AtMost,
			backlog},
		{"undecided before the change", stages{undecided(6, 6), stable(9.7), saturated(9.7, 7)}, 0, 0, 7.211, rundir.AtMost,
			backlog},
		{"stable later", stages{saturated(9.7, 9), stable(9.8), saturated(10.7, 10.2)}, 10.2, 9.604, 10.508, rundir.Saturates,
			backlog},
		{"stable later, just below", stages{saturated(9.7, 9.6), stable(9.6)}, 0, 9.408, 0, rundir.AtLeast, ""},
		{"stable later, near one of two saturated", stages{saturated(10.7, 10), saturated(9.75, 9), stable(9.7)}, 10, 9.506,
			10.302, rundir.Saturates, backlog},
		{"stable twice", stages{stable(9.7), stable(9.6)}, 0, 9.408, 0, rundir.AtLeast, ""},
		{"saturated above the bracket", stages{stable(9.7), saturated(10.7, 10), saturated(12, 10.5)}, 10, 9.506, 10.302,
			rundir.Saturates, backlog},

		// servers that pause, or save up
		{"between two pauses", stages{withPause(throughput(10), 60), stable(9.7), saturated(10.7, 10)}, 0, 0, 10.302,
			rundir.AtMost, backlog},
		{"short pauses", stages{withPause(throughput(10), 20), stable(9.7), saturated(10.7, 10)}, 10, 8.93, 10.302,
			rundir.Saturates, backlog},
		{"burst used", stages{usedBurst(9, 8, 5), stable(6)}, 0, 4.95, 9, rundir.Between, backlog},
		{"burst gone", stages{usedBurst(8, 5.5, 5), stable(6)}, 6.94, 5.88, 8, rundir.Sustains, backlog},
	} {
		if c.holds[0].Role != rundir.Throughput {
			c.holds = append(stages{throughput(10)}, c.holds...)
		}
		run := runOf(c.holds...)
		WriteAnswer(run, nil)
		s := run.Saturation
		near := func(n rundir.Number, want float64) bool {
			return want == 0 && !n.Known() || n.Known() && math.Abs(n.Value()-want) < 0.001
		}
		low := s.Low
		if s.Rate.Bound() {
			low = rundir.Exactly(s.Rate.Value())
		}
		if !near(s.Rate, c.rate) || !near(low, c.low) || !near(s.High, c.high) {
			t.Errorf("%s: %.3f (%.3f-%.3f), want %v (%v-%v)", c.name, s.Rate.Value(), low.Value(), s.High.Value(), c.rate,
				c.low, c.high)
		}
		if run.Answer.Kind != c.kind || s.Reason.Code != c.reason {
			t.Errorf("%s: %s, %s; want %s, %s", c.name, run.Answer.Kind, s.Reason.Code, c.kind, c.reason)
		}
	}
}

// A server that changed is named with both times, and the answer is that of the later holds.
func TestAServerThatChangedIsNamed(t *testing.T) {
	run := runOf(throughput(10), stable(9.7), saturated(9.7, 7), stable(7))
	WriteAnswer(run, nil)
	if c := run.Answer.Cautions; len(c) != 1 || !c[0].Is(noteChanged) || c[0].Args["at"] != 100.0 ||
		c[0].Args["later_at"] != 200.0 {
		t.Errorf("%v", c)
	}
}

// Without a hold there is no answer: what the throughput completed is a guess, and no bound.
func TestAGuessIsNoAnswer(t *testing.T) {
	floor := throughput(1)
	floor.Role, floor.MaxConcurrency, floor.Latency.Mean = rundir.Synchronous, 1, rundir.Exactly(1)
	run := runOf(floor, throughput(10))
	WriteAnswer(run, nil)
	if a := run.Answer; a.Kind != rundir.Unanswerable || a.Guess.Value() != 10 || a.Low.Known() || a.High.Known() ||
		run.Saturation != nil {
		t.Errorf("%+v", a)
	}
	if n := run.Warnings; len(n) != 1 || !n[0].Is(noteNone) || run.Answer.Needed.Known() {
		t.Errorf("%v, needed %v", n, run.Answer.Needed)
	}
	run.Plan.Budget = 100
	if WriteAnswer(run, nil); !(run.Answer.Needed.Value() > 200) {
		t.Errorf("of a budget of 100 s: %v", run.Answer.Needed)
	}
}

func TestWhatAServerRanOutOf(t *testing.T) {
	f, none := rundir.Exactly, math.NaN()
	for name, c := range map[string]struct {
		running, most, waiting, cache, preempted float64
		want                                     string
	}{
		"nothing known":         {none, none, none, none, none, ""},
		"preemptions":           {40, 50, 0, 0.9, 3, rundir.LimitKV},
		"a full cache":          {40, 50, 9, 0.98, 0, rundir.LimitKV},
		"as many as ever":       {255, 256, 30, 0.6, 0, rundir.LimitSlots},
		"all run, none waits":   {90, 140, 0, 0.3, 0, rundir.LimitCompute},
		"no word of a KV cache": {4, 4, 12, none, none, rundir.LimitSlots},
		"none ever runs":        {0, 0, 711, 0, 0, ""},
	} {
		s := &rundir.Server{Running: f(c.running), RunningMax: f(c.most), Waiting: f(c.waiting), KVUsageMax: f(c.cache),
			Preemptions: f(c.preempted)}
		if got := limitByGauges(s); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := limitByGauges(nil); got != "" {
		t.Errorf("no gauges: %q", got)
	}
}

// TestALargerBatchWouldNotHelp: where half as many requests in flight have as much output, the batch is not the limit.
func TestALargerBatchWouldNotHelp(t *testing.T) {
	f := rundir.Exactly
	for _, c := range []struct {
		inFlight, output float64
		limit, flat      string
	}{{128, 1050, rundir.LimitCompute, "throughput"}, {128, 800, rundir.LimitSlots, ""}, {200, 1050, rundir.LimitSlots,
		""}} {
		loop := throughput(8)
		loop.Concurrency.Mean, loop.TokensPerS.Output = f(c.inFlight), f(c.output)
		high := saturated(9, 8.3)
		high.TokensPerS.Output = f(1043)
		high.Server = &rundir.Server{Running: f(256), RunningMax: f(256), Waiting: f(76), KVUsageMax: f(0.6),
			Preemptions: f(0)}
		s := Find(runOf(loop, stable(8), high))
		if s.Limit != c.limit || s.LimitFlat != c.flat {
			t.Errorf("%v in flight with %v tok/s: %q, %q", c.inFlight, c.output, s.Limit, s.LimitFlat)
		}
	}
}

// TestAShortRowHidesNoLoad: a row that piled up below a rate that was held was too short; the load to run is read
// without it.
func TestAShortRowHidesNoLoad(t *testing.T) {
	lone := rundir.Stage{Name: "synchronous", Role: rundir.Synchronous, Kind: "synchronous", State: rundir.Complete}
	rows := runOf(lone, throughput(10), stable(9.7), saturated(10.7, 10), stable(5), saturated(7, 0.3))
	for i := range rows.Stages {
		rows.Stages[i].Latency.Mean, rows.Stages[i].TTFT.Mean = rundir.Exactly(1), rundir.Exactly(0.1)
	}
	rows.Stages[len(rows.Stages)-1].Role, rows.Stages[len(rows.Stages)-2].Role = rundir.Grid, rundir.Grid
	WriteAnswer(rows, nil)
	if c := rows.Answer.Comfortable; c == nil || c.Stages[1] != rows.Stages[2].Name {
		t.Errorf("%+v", c)
	}
}

// A fault that hits a part of the requests at every load is named; one that comes with the load is not.
func TestAFaultAtEveryLoad(t *testing.T) {
	stage := func(role rundir.Role, ok, failed int, class string) rundir.Stage {
		return rundir.Stage{Role: role, Requests: rundir.Requests{OK: ok, Error: failed},
			Errors: map[string]int{class: failed}}
	}
	const fault, closed = "http_5xx", string(client.ClassReset)
	alone, load := rundir.Synchronous, rundir.Grid
	for name, c := range map[string]struct {
		stages []rundir.Stage
		want   bool
	}{
		"every fifth": {[]rundir.Stage{stage(alone, 16, 4, fault), stage(load, 80, 20, fault)}, true},
		"under load":  {[]rundir.Stage{stage(alone, 20, 0, fault), stage(load, 80, 20, fault)}, false},
		"once":        {[]rundir.Stage{stage(alone, 18, 2, fault), stage(load, 100, 0, fault)}, false},
		"none":        {nil, false},
		// another note says so
		"connections that are closed": {[]rundir.Stage{stage(alone, 80, 20, closed), stage(load, 80, 20, closed)}, false},
	} {
		n := failsAlwaysNote(c.stages)
		if n.Is(FailsAlways) != c.want {
			t.Errorf("%s: %+v", name, n)
		}
		if class := n.String("class"); c.want && class != fault {
			t.Errorf("%s: class %q", name, class)
		}
	}
}

// Pauses are blamed on the server alone only where it has a machine of its own.
func TestPausesOfThisMachine(t *testing.T) {
	for url, here := range map[string]bool{"http://127.0.0.1:8000": true, "http://localhost:8000/v1": true,
		"http://[::1]:80": true, "http://gpu-1:8000": false, "": false} {
		run := &rundir.Run{Target: rundir.Target{URL: url}}
		if n := attributePauses(run, notePauses.New(5, 0.141, 60)); n.Is(notePausesHere) != here {
			t.Errorf("%s: %s", url, n.Code)
		}
	}
}

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

		"kept: 15 % more":                      {10, nil, []rundir.Stage{stable(9.7)}, 1.15 * 9.7, false},
		"kept twice: 30 % more":                {10, nil, []rundir.Stage{stable(9.7), stable(10.67)}, 1.3 * 10.67, false},
		"kept, few requests: what they tell":   {10, nil, []rundir.Stage{requests(stable(9.7), 100)}, 1.15 * 9.7, false},
		"kept, the search grew to its end":     {10, []float64{100, 115}, []rundir.Stage{stable(9.7)}, 2 * 9.7, false},
		"kept, the search did not grow":        {10, []float64{100, 104}, []rundir.Stage{stable(9.7)}, 1.15 * 9.7, false},
		"undecided, clearly less was served":   {10, nil, []rundir.Stage{undecided(9.7, 8)}, 0.97 * 8, false},
		"undecided, far less was served":       {10, nil, []rundir.Stage{undecided(9.7, 5)}, 9.7 / 1.5, false},
		"undecided, nearly as much was served": {10, nil, []rundir.Stage{undecided(9.7, 9.3)}, 1.15 * 9.7, false},
		"failed: 0.97 of what was served":      {10, nil, []rundir.Stage{saturated(9.7, 8)}, 0.97 * 8, false},
		"failed, far less was served":          {10, nil, []rundir.Stage{saturated(9.7, 5)}, 9.7 / 1.5, false},
		"failed twice: twice what a hold tells": {10, nil, []rundir.Stage{saturated(9.7, 9.65), saturated(9.3, 9.25)},
			9.3 * (1 - 3/math.Sqrt(1500)), false},
		"failed, then undecided": {10, nil, []rundir.Stage{saturated(9.7, 9.65), undecided(9, 9)}, 0.94 * 9, false},

		"a wide bracket":   {10, nil, []rundir.Stage{stable(9), saturated(11, 10)}, 1.15 * 9, false},
		"from below":       {10, nil, []rundir.Stage{saturated(11, 10), stable(9)}, 1.15 * 9, true},
		"a narrow bracket": {10, nil, []rundir.Stage{stable(9), saturated(11, 9.8)}, 0, false},
		"as good as narrow": { // 1.01 x 1.02 x 9.84 is 1.149 times 0.98 x 9
			10, nil, []rundir.Stage{stable(9), saturated(11, 9.84)}, 0, false,
		},
		"rates more than 2.25 times apart": {10, nil, []rundir.Stage{stable(4), saturated(10, 9)}, math.Sqrt(40), false},
		"overload costs throughput":        {10, nil, []rundir.Stage{stable(9), saturated(12, 8)}, 9, false},
		"one that did not decide": {
			10, nil, []rundir.Stage{stable(9), saturated(11, 10), undecided(10.35, 9.8)}, 0, false,
		},
		"one that did not decide, five holds ago": {
			10, nil, []rundir.Stage{stable(9), saturated(11, 10), undecided(10.35, 9.8), stable(9), stable(9), stable(9),
				stable(9)}, 10.35, true,
		},
		"a failure 200 s ago": {10, nil, []rundir.Stage{saturated(10, 9.9), grid, stable(9.3)}, 10, true},
		"a failure 100 s ago": {10, nil, []rundir.Stage{saturated(10, 9.9), stable(9.3)}, 0, false},
	} {
		run := runOf(append([]rundir.Stage{floorStage(), throughput(tt.guess)}, tt.holds...)...)
		for i, output := range tt.search {
			run.Search = append(run.Search, rundir.SearchStep{
				Name: rundir.SearchPrefix + strconv.Itoa(2<<i), Output: rundir.Exactly(output),
			})
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
