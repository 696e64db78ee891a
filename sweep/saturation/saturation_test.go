package saturation

import (
	"math"
	"testing"

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

// stageAt is a hold at a rate, in which some were done.
func stageAt(rate, done float64, verdict rundir.Verdict) rundir.Stage {
	f := rundir.Exactly
	st := rundir.Stage{
		Name: rundir.HoldPrefix + arrival.RateName(rate), Role: rundir.Hold, State: rundir.Complete, Rate: f(rate),
		Verdict: verdict, Window: 150,
		Requests: rundir.Requests{OK: 1500}, Rates: rundir.Rates{Offered: f(rate)},
		Progress: rundir.Progress{Rate: f(done), Low: f(0.99 * done), High: f(1.01 * done), Batches: 12},
		Drift:    rundir.Drift{Value: f(rate/done - 1), Low: f(rate/done - 1.01), High: f(rate/done - 0.99)},
	}
	return st
}

func kept(rate float64) rundir.Stage         { return stageAt(rate, rate, rundir.Stable) }
func failed(rate, done float64) rundir.Stage { return stageAt(rate, done, rundir.Saturated) }

// refusing is a hold in which a share was refused.
func refusing(rate, share float64) rundir.Stage {
	st := stageAt(rate, rate*(1-share), rundir.Shedding)
	st.Refused = rundir.Exactly(share)
	return st
}

// partly is a hold in which the waits of a part of the requests grew.
func partly(rate, growth float64) rundir.Stage {
	st := failed(rate, 0.98*rate)
	st.Traits.Waits = rundir.Drift{Value: rundir.Exactly(growth), Low: rundir.Exactly(0.9 * growth),
		High: rundir.Exactly(1.1 * growth)}
	return st
}

// savings is a hold that failed, and completed less once it was behind.
func savings(rate, done, behind float64) rundir.Stage {
	st := failed(rate, done)
	f := rundir.Exactly
	st.Traits.Behind = rundir.Progress{Rate: f(behind), Low: f(0.99 * behind), High: f(1.01 * behind)}
	return st
}

// paused is a stage in which the server paused once for some seconds.
func paused(st rundir.Stage, seconds float64) rundir.Stage {
	st.Traits.Pauses = rundir.Pauses{Count: 1, Longest: rundir.Exactly(seconds), Total: rundir.Exactly(seconds)}
	return st
}

// ceiling is the throughput stage.
func ceiling(done float64) rundir.Stage {
	st := stageAt(1, done, rundir.Closed)
	st.Name, st.Role, st.Rate, st.MaxConcurrency, st.Window = "throughput", rundir.Ceiling, rundir.Number{}, 64, 30
	return st
}

// The answer is the bracket of the holds, whatever other stages show.
func TestFind(t *testing.T) {
	grid := failed(5, 2)
	grid.Role = rundir.Grid
	late := failed(6, 3)
	late.Invalid = note.Text.New("the client sent late")
	for name, c := range map[string]struct {
		stages          []rundir.Stage
		rate, low, high float64 // 0: none
		kind            rundir.AnswerKind
		reason          string
	}{
		"kept and failed": {[]rundir.Stage{ceiling(10), kept(9.7), failed(10.7, 10)}, 10, 9.5, 10.3,
			rundir.Saturates, "saturation.backlog-grew"},
		"others are no evidence": {[]rundir.Stage{ceiling(10), grid, late, kept(9.7), failed(10.7, 10)}, 10, 9.5, 10.3,
			rundir.Saturates, "saturation.backlog-grew"},
		"nothing failed": {[]rundir.Stage{ceiling(10), kept(9.7)}, 0, 9.5, 0, rundir.AtLeast, ""},
		"nothing was kept": {[]rundir.Stage{ceiling(10), failed(9.7, 6)}, 0, 0, 6.2, rundir.AtMost,
			"saturation.backlog-grew"},
		"a wide bracket": {[]rundir.Stage{ceiling(10), failed(9.7, 9), kept(5)}, 0, 4.9, 9.3, rundir.Between,
			"saturation.backlog-grew"},
		"overload costs throughput": {[]rundir.Stage{ceiling(10), kept(8), failed(9, 5), kept(8)}, 8.4, 7.8, 9,
			rundir.Sustains, "saturation.backlog-grew"},
		"a part waits longer": {[]rundir.Stage{ceiling(20), kept(10), partly(11, 0.09)}, 10, 9.8, 11.1,
			rundir.Saturates, "saturation.waits-grew"},
		"requests are refused": {[]rundir.Stage{ceiling(10), kept(9), refusing(10, 0.08)}, 9.2, 8.8, 10,
			rundir.Accepts, "saturation.refused"},
		"the later failure counts": {[]rundir.Stage{ceiling(10), kept(9.7), failed(9.7, 7), kept(7)}, 7, 6.8, 7.3,
			rundir.Saturates, "saturation.backlog-grew"},
		"the later kept rate counts": {[]rundir.Stage{ceiling(10), failed(9.7, 9), kept(9.8), failed(10.7, 10.2)}, 10.2,
			9.6, 10.6, rundir.Saturates, "saturation.backlog-grew"},
		"what did not decide is a low": {[]rundir.Stage{ceiling(10), stageAt(9.7, 9.65, rundir.Undecided), failed(10.7, 10)},
			10, 9.5, 10.3, rundir.Saturates, "saturation.backlog-grew"},
		"what grew a little is none": {[]rundir.Stage{ceiling(10), stageAt(9.7, 9.5, rundir.Undecided), failed(10.7, 10)},
			0, 0, 10.3, rundir.AtMost, "saturation.backlog-grew"},
		"nor is a time between pauses": {[]rundir.Stage{paused(ceiling(10), 60), kept(9.7), failed(10.7, 10)}, 0, 0, 10.3,
			rundir.AtMost, "saturation.backlog-grew"},
		"short pauses widen it": {[]rundir.Stage{paused(ceiling(10), 20), kept(9.7), failed(10.7, 10)}, 10, 9.07, 10.3,
			rundir.Saturates, "saturation.backlog-grew"},
		"what was saved up is used": {[]rundir.Stage{ceiling(10), savings(9, 8, 5), kept(6)}, 0, 4.95, 9, rundir.Between,
			"saturation.backlog-grew"},
		"what was saved up is gone": {[]rundir.Stage{ceiling(10), savings(8, 5.5, 5), kept(6)}, 6.94, 5.88, 8,
			rundir.Sustains, "saturation.backlog-grew"},
	} {
		run := runOf(c.stages...)
		WriteAnswer(run, nil)
		s := run.Saturation
		near := func(n rundir.Number, want float64) bool {
			return want == 0 && !n.Known() || n.Known() && math.Abs(n.Value()/want-1) < 0.02
		}
		low := s.Low
		if s.Rate.Bound() {
			low = rundir.Exactly(s.Rate.Value())
		}
		if !near(s.Rate, c.rate) || !near(low, c.low) || !near(s.High, c.high) {
			t.Errorf("%s: %v (%v-%v), want %v (%v-%v)", name, s.Rate.Value(), low.Value(), s.High.Value(), c.rate, c.low, c.high)
		}
		if run.Answer.Kind != c.kind || s.Reason.Code != c.reason {
			t.Errorf("%s: %s, %s; want %s, %s", name, run.Answer.Kind, s.Reason.Code, c.kind, c.reason)
		}
	}
}

// A server that changed is named with both times, and the answer is that of the later holds.
func TestAServerThatChangedIsNamed(t *testing.T) {
	run := runOf(ceiling(10), kept(9.7), failed(9.7, 7), kept(7))
	WriteAnswer(run, nil)
	if c := run.Answer.Cautions; len(c) != 1 || !c[0].Is(noteChanged) || c[0].Args["at"] != 100.0 ||
		c[0].Args["later_at"] != 200.0 {
		t.Errorf("%v", c)
	}
}

// Without a hold there is no answer: what the throughput completed is a guess, and no bound.
func TestAGuessIsNoAnswer(t *testing.T) {
	floor := ceiling(1)
	floor.Role, floor.MaxConcurrency, floor.Latency.Mean = rundir.Floor, 1, rundir.Exactly(1)
	run := runOf(floor, ceiling(10))
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
	f := rundir.Exactly
	for name, c := range map[string]struct {
		s    *rundir.Server
		want string
	}{
		"nothing known": {nil, ""},
		"preemptions": {&rundir.Server{Running: f(40), RunningMax: f(50), Waiting: f(0), KVUsageMax: f(0.9),
			Preemptions: f(3)}, rundir.LimitKV},
		"a full cache": {&rundir.Server{Running: f(40), RunningMax: f(50), Waiting: f(9), KVUsageMax: f(0.98),
			Preemptions: f(0)}, rundir.LimitKV},
		"as many as ever": {&rundir.Server{Running: f(255), RunningMax: f(256), Waiting: f(30), KVUsageMax: f(0.6),
			Preemptions: f(0)}, rundir.LimitSlots},
		"all run, none waits": {&rundir.Server{Running: f(90), RunningMax: f(140), Waiting: f(0), KVUsageMax: f(0.3),
			Preemptions: f(0)}, rundir.LimitCompute},
		"no word of a KV cache": {&rundir.Server{Running: f(4), RunningMax: f(4), Waiting: f(12)}, rundir.LimitSlots},
		"none ever runs": {&rundir.Server{Running: f(0), RunningMax: f(0), Waiting: f(711), KVUsageMax: f(0),
			Preemptions: f(0)}, ""},
	} {
		if got := ranOut(c.s); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
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
		loop := ceiling(8)
		loop.Concurrency.Mean, loop.TokensPerS.Output = f(c.inFlight), f(c.output)
		high := failed(9, 8.3)
		high.TokensPerS.Output = f(1043)
		high.Server = &rundir.Server{Running: f(256), RunningMax: f(256), Waiting: f(76), KVUsageMax: f(0.6),
			Preemptions: f(0)}
		s := Find(runOf(loop, kept(8), high))
		if s.Limit != c.limit || s.LimitFlat != c.flat {
			t.Errorf("%v in flight with %v tok/s: %q, %q", c.inFlight, c.output, s.Limit, s.LimitFlat)
		}
	}
}

// TestAShortRowHidesNoLoad: a row that piled up below a rate that was held was too short; the load to run is read
// without it.
func TestAShortRowHidesNoLoad(t *testing.T) {
	lone := rundir.Stage{Name: "synchronous", Role: rundir.Floor, Kind: "synchronous", State: rundir.Complete}
	rows := runOf(lone, ceiling(10), kept(9.7), failed(10.7, 10), kept(5), failed(7, 0.3))
	for i := range rows.Stages {
		rows.Stages[i].Latency.Mean, rows.Stages[i].TTFT.Mean = rundir.Exactly(1), rundir.Exactly(0.1)
	}
	rows.Stages[len(rows.Stages)-1].Role, rows.Stages[len(rows.Stages)-2].Role = rundir.Grid, rundir.Grid
	WriteAnswer(rows, nil)
	if c := rows.Answer.Comfortable; c == nil || c.Stages[1] != rows.Stages[2].Name {
		t.Errorf("%+v", c)
	}
}
