package main

import (
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"llmsweep/client/sim"
	simserver "llmsweep/client/sim/server"
	"llmsweep/sweep/simtest"
)

// TestReplicas sweeps two simulated servers: they saturate at twice the capacity of one, and get the same number of
// requests.
func TestReplicas(t *testing.T) {
	notInShort(t)
	virtually(t, func(t *testing.T, w *world) {
		w.must(quick("sweep", w.slow(), w.slow())...)
		run := open(t, w.path("llmsweep-run"))
		capacity := 2 * sim.CapacityOf(simtest.Slowed(simtest.Preset(t, "demo"), 5), sim.Workload{PromptTokens: 64,
			OutputTokens: 8}).RequestsPerSecond
		if off := run.Saturation.Rate.Value()/capacity - 1; math.Abs(off) > 0.1 {
			t.Errorf("saturates at %v of %v", run.Saturation.Rate.Value(), capacity)
		}
		if len(run.Target.Replicas) != 2 {
			t.Fatalf("replicas %+v", run.Target.Replicas)
		}
		for _, s := range run.Stages {
			if len(s.Replicas) != 2 {
				t.Fatalf("%s has %d replicas", s.Name, len(s.Replicas))
			}
			a, b := s.Replicas[0], s.Replicas[1]
			if sum := a.Requests.Due + b.Requests.Due; sum != s.Requests.Due ||
				math.Abs(float64(a.Requests.Due-b.Requests.Due)) > 1 {
				t.Errorf("%s: %d and %d requests of %d", s.Name, a.Requests.Due, b.Requests.Due, s.Requests.Due)
			}
			if sum := a.Completed.Value() + b.Completed.Value(); math.Abs(sum/s.Rates.Completed.Value()-1) > 1e-9 {
				t.Errorf("%s: %v completed, %v in all", s.Name, sum, s.Rates.Completed.Value())
			}
			if len(s.Warnings) > 0 && strings.HasPrefix(s.Warnings[0].Code, "replica.") {
				t.Errorf("%s: %v", s.Name, s.Warnings)
			}
		}
		out, _ := w.must("report", w.path("llmsweep-run"), "--all")
		for _, want := range []string{"TTFT p99, by replica", "replica 2"} {
			if !strings.Contains(out, want) {
				t.Errorf("%q is not shown", want)
			}
		}
	})
}

// TestUnlikeReplicas measures two servers of which the second answers later, and refuses every fourth request: both are
// said of it.
func TestUnlikeReplicas(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		good, _ := w.server(w.simulated(simserver.Options{}))
		late := w.simulated(simserver.Options{})
		var posts atomic.Int64
		bad, _ := w.server(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost {
				if n := posts.Add(1); n > 60 && n%4 == 0 {
					http.Error(rw, "out of memory", http.StatusInternalServerError)
					return
				}
				time.Sleep(200 * time.Millisecond)
			}
			late.ServeHTTP(rw, r)
		}))
		_, errs := w.must(brief("run", good, bad, "--concurrency", "4", "--requests", "400")...)
		run := open(t, w.path("llmsweep-run"))
		codes := map[string]any{}
		for _, n := range run.Stages[0].Warnings {
			codes[n.Code] = n.Args["replica"]
		}
		if codes["replica.slow"] != 2.0 || codes["replica.fails"] != 2.0 {
			t.Errorf("warnings %v\n%s", run.Stages[0].Warnings, errs)
		}
	})
}
