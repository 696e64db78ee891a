package setup

import (
	"testing"

	"llmsweep/sweep/rundir"
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
	if got := joinPlaces(joinPlaces("results.md:3", "results.md:12"),
		"other.md:4"); got != "results.md:3, 12, other.md:4" {
		t.Error(got)
	}
}

// TestQuantizationIsApartFromTheModel: a run that is labelled as people name such models is understood as the same of a
// document.
func TestQuantizationIsApartFromTheModel(t *testing.T) {
	of := rundir.Labels{Model: "Qwen2-7B-Instruct", Quant: "GPTQ-Int4"}
	for _, c := range []struct{ labelled, want rundir.Labels }{
		{rundir.Labels{Model: "Qwen2-7B-Instruct-GPTQ-Int4", Quant: "GPTQ-Int4"}, of},
		{rundir.Labels{Model: "Qwen2-7B-Instruct-GPTQ-Int4"}, of},
		{rundir.Labels{Quant: "GPTQ-Int4"}, of},
		{of, of},
		{rundir.Labels{Model: "Qwen2-7B-Instruct"}, rundir.Labels{Model: "Qwen2-7B-Instruct"}},
		// a KV cache, say
		{rundir.Labels{Model: "Qwen2-7B-Instruct-AWQ", Quant: "FP8"}, rundir.Labels{Model: "Qwen2-7B-Instruct-AWQ",
			Quant: "FP8"}},
	} {
		run := &rundir.Run{Labels: c.labelled, Target: rundir.Target{Model: "Qwen2-7B-Instruct-GPTQ-Int4"}}
		if got := Labels(run); got.Model != c.want.Model || got.Quant != c.want.Quant {
			t.Errorf("%+v: %s, %s", c.labelled, got.Model, got.Quant)
		}
	}
}

// Beside a closed loop with its start and end in it, as benchmarks of engines print them, ours counts with its own in
// it.
func TestWholeRunsAreComparedWithWholeRuns(t *testing.T) {
	loop := func(whole bool, steady, all float64) Input {
		st := rundir.Stage{
			Name: "concurrent@8", Kind: "concurrent", State: rundir.Complete, Role: rundir.Single, MaxConcurrency: 8,
			Whole:    whole,
			Requests: rundir.Requests{Due: 80, OK: 80}, Rates: rundir.Rates{Completed: rundir.Exactly(steady)},
		}
		if !whole {
			st.WholeRun = &rundir.WholeRun{Requests: st.Requests, Rates: rundir.Rates{Completed: rundir.Exactly(all)}}
		}
		return Input{Run: &rundir.Run{Stages: []rundir.Stage{st}}}
	}
	for _, c := range []struct {
		other Input
		want  float64
	}{{loop(false, 10, 8), 10}, {loop(true, 8, 0), 8}} {
		own := loop(false, 10, 8)
		if got := Load([]Input{own, c.other})[0].Rows[0].Served; got != c.want {
			t.Errorf("%v req/s beside %+v, want %v", got, c.other.Run.Stages[0], c.want)
		}
		if own.Run.Stages[0].WholeRun == nil {
			t.Error("the run was changed")
		}
	}
}
