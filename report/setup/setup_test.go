package setup

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// quick is a run whose lone requests complete more than its arrival rates ask for.
func quick() *rundir.Run {
	stage := func(name string, rate, done float64) rundir.Stage {
		s := rundir.Stage{
			Name: name, Role: rundir.Grid, State: rundir.Complete, Verdict: rundir.Stable, Window: 60,
			Requests:   rundir.Requests{Due: 100, OK: 100},
			Rates:      rundir.Rates{Completed: rundir.Exactly(done)},
			TokensPerS: rundir.TokenRates{Output: rundir.Exactly(32 * done)},
			TTFT:       rundir.Dist{N: 100, Mean: rundir.Exactly(0.01 * done)},
		}
		if rate > 0 {
			s.Rate, s.Rates.Offered = rundir.Exactly(rate), rundir.Exactly(rate)
		} else {
			s.Role, s.MaxConcurrency, s.Verdict, s.Kind = rundir.Synchronous, 1, rundir.Closed, "synchronous"
		}
		return s
	}
	return &rundir.Run{
		State: rundir.Complete,
		Stages: []rundir.Stage{stage("synchronous", 0, 16), stage("poisson@4.00", 4, 4), stage("poisson@8.00", 8, 8),
			stage("poisson@12.00", 12, 12)},
		Saturation: &rundir.Saturation{Rate: rundir.Exactly(13)},
	}
}

func loadRun(path string, run *rundir.Run) Setup { return Load([]Input{{Path: path, Run: run}})[0] }

// Paths from the root are shown by their names: what is above is of the machine on which they were read. Two of one
// name are told apart.
func TestNames(t *testing.T) {
	found := []Input{{Path: "/home/somebody/runs/l20"}, {Path: "/tmp/a/same"}, {Path: "/tmp/b/same"}, {Path: "near"}}
	for i := range found {
		found[i].Run = &rundir.Run{}
	}
	found[0].Run.Source = &rundir.Source{File: "/work/results.md"}
	name := Names(found)
	for path, want := range map[string]string{
		"near": "near", "runs/l20": "runs/l20", "../l20": "../l20", "": "",
		"/home/somebody/runs/l20": "l20", "/home/somebody/runs/l20/": "l20", "/work/results.md": "results.md",
		"/tmp/a/same": "a/same", "/tmp/b/same": "b/same",
	} {
		if got := name(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
	got := joinPlaces(joinPlaces("results.md:3", "results.md:12"), "other.md:4")
	if got != "results.md:3, 12, other.md:4" {
		t.Error(got)
	}
}

// A run that is labelled as people name quantized models is understood as the same of a document.
func TestQuantizationIsApartFromTheModel(t *testing.T) {
	for _, c := range []struct{ model, quant, wantModel, wantQuant string }{
		{"Qwen2-7B-Instruct-GPTQ-Int4", "GPTQ-Int4", "Qwen2-7B-Instruct", "GPTQ-Int4"},
		{"Qwen2-7B-Instruct-GPTQ-Int4", "", "Qwen2-7B-Instruct", "GPTQ-Int4"},
		{"", "GPTQ-Int4", "Qwen2-7B-Instruct", "GPTQ-Int4"},
		{"Qwen2-7B-Instruct", "GPTQ-Int4", "Qwen2-7B-Instruct", "GPTQ-Int4"},
		{"Qwen2-7B-Instruct", "", "Qwen2-7B-Instruct", ""},
		{"Qwen2-7B-Instruct-AWQ", "FP8", "Qwen2-7B-Instruct-AWQ", "FP8"}, // of a KV cache, say
	} {
		got := Labels(&rundir.Run{Labels: rundir.Labels{Model: c.model, Quant: c.quant},
			Target: rundir.Target{Model: "Qwen2-7B-Instruct-GPTQ-Int4"}})
		if got.Model != c.wantModel || got.Quant != c.wantQuant {
			t.Errorf("%s, %s: %s, %s", c.model, c.quant, got.Model, got.Quant)
		}
	}
}

// Beside a closed loop with its start and end in it, as benchmarks of engines print them, ours counts with its own in
// it.
func TestWholeRunsAreComparedWithWholeRuns(t *testing.T) {
	loop := func(whole bool, steady, all float64) Input {
		st := rundir.Stage{
			Name: "concurrent@8", Kind: "concurrent", State: rundir.Complete, Role: rundir.Single, MaxConcurrency: 8,
			Whole: whole, Requests: rundir.Requests{Due: 80, OK: 80}, Rates: rundir.Rates{Completed: rundir.Exactly(steady)},
		}
		if !whole {
			st.WholeRun = &rundir.WholeRun{Requests: st.Requests, Rates: rundir.Rates{Completed: rundir.Exactly(all)}}
		}
		return Input{Run: &rundir.Run{Stages: []rundir.Stage{st}}}
	}
	for want, other := range map[float64]Input{10: loop(false, 10, 8), 8: loop(true, 8, 0)} {
		own := loop(false, 10, 8)
		got := Load([]Input{own, other})[0].Rows[0].Served
		if got != want || own.Run.Stages[0].WholeRun == nil {
			t.Errorf("%v req/s, want %v; the run is %+v", got, want, own.Run.Stages[0])
		}
	}
}

// Nothing is interpolated to a stage of which fewer than a tenth of the requests ended, nor to one without a window.
func TestUnrepresentativeRows(t *testing.T) {
	for _, c := range []struct {
		ended  int
		window float64
		rate   float64 // at which TTFT passes 60 ms
	}{{100, 60, 6}, {11, 60, 6}, {9, 60, 4}, {100, 0, 4}} {
		run := quick()
		run.Stages[0].TTFT.Mean = rundir.Exactly(0.01)
		st := &run.Stages[2]
		st.Requests, st.Window = rundir.Requests{Due: 100, Sent: 100, OK: c.ended, Incomplete: 100 - c.ended}, c.window
		s := loadRun("quick", run)
		if _, ok := s.PointAtRate(6); ok != (c.rate == 6) {
			t.Errorf("%+v: a point between 4 and 8 req/s: %v", c, ok)
		}
		l, refusal := s.RateLimit([]slo.Term{{Metric: slo.TTFT, Stat: slo.Mean, Limit: 0.06}})
		if refusal != nil || l.Rate != c.rate || l.LimitingTerm == nil {
			t.Errorf("%+v: up to %v req/s (%v)", c, l.Rate, refusal)
		}
	}
}

// Repeats are judged by the slowest, the one that fails most, and no percentile that one of them does not support. A
// time that one lacks is a lower bound.
func TestWorstFigures(t *testing.T) {
	stage := func(rate, p90, p95 float64, failed int) *rundir.Stage {
		return &rundir.Stage{
			Requests: rundir.Requests{OK: 100 - failed, Error: failed}, Rates: rundir.Rates{Completed: rundir.Exactly(rate)},
			Latency: rundir.Dist{P90: rundir.Exactly(p90), P95: rundir.Exactly(p95)},
		}
	}
	one, other := stage(3, 2, 5, 7), stage(2, 4, 4, 1)
	one.Latency.Unsupported = []string{"p99"}
	one.TTFT.P95 = rundir.Exactly(1)
	w := worstFigures([]*rundir.Stage{one, other})
	if d := &w.Latency; w.Rates.Completed.Value() != 2 || d.P90.Value() != 4 || d.P95.Value() != 5 ||
		d.Supported("p99") || !d.Supported("p95") || w.Requests.Error != 7 || w.TTFT.P95 != rundir.Over(1) ||
		!w.TTFT.P90.IsZero() {
		t.Errorf("%+v", w)
	}
}

// A server that answers lone requests faster than the lowest arrival rate asks has values at shares of its saturation
// rate all the same; beyond the last row nothing is known.
func TestSynchronousRowHidesNoArrivals(t *testing.T) {
	s := loadRun("quick", quick())
	p, ok := s.PointAtShare(0.5)
	if !ok || p.Low.Stage.Name != "poisson@4.00" || p.High.Stage.Name != "poisson@8.00" {
		t.Fatalf("at 6.5 req/s: %v, %+v", ok, p)
	}
	if v := p.Latency(TTFT).Number.Value(); v < 0.04 || v > 0.08 {
		t.Errorf("TTFT there: %v", v)
	}
	if _, ok := s.PointAtShare(0.95); ok {
		t.Error("beyond the last row")
	}
}

// Where a latency may be more than twice as long as it must be, its course between the rows is not known.
func TestSteepLatency(t *testing.T) {
	for longest, steep := range map[float64]bool{2.9: false, 3.2: true} { // in the middle, from 1 to 1.95 and 2.1
		run := quick()
		run.Stages = run.Stages[1:3]
		run.Stages[0].TTFT.Mean, run.Stages[1].TTFT.Mean = rundir.Exactly(1), rundir.Exactly(longest)
		s := loadRun("quick", run)
		p, ok := s.PointAtRate(6)
		if v := p.Latency(TTFT); !ok || v.Steep != steep {
			t.Errorf("between 1 and %v: %+v", longest, v)
		}
	}
}

// A latency at a load between two rows is never outside of what the two rows measured, however steeply it rises or
// falls; outside of the rows there is none.
func TestLatencyBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := &rundir.Run{State: rundir.Complete}
		rate := 0.0
		for i := range rapid.IntRange(2, 7).Draw(t, "rows") {
			rate += rapid.Float64Range(0.01, 10).Draw(t, "step")
			st := quick().Stages[1]
			st.Name, st.Rate = fmt.Sprint(i), rundir.Exactly(rate)
			st.Rates = rundir.Rates{Offered: st.Rate, Completed: st.Rate}
			st.TTFT.Mean = rundir.Exactly(rapid.Float64Range(0.001, 30).Draw(t, "TTFT"))
			run.Stages = append(run.Stages, st)
		}
		s := loadRun("run", run)
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
