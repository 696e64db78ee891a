package main

import (
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	simserver "llmsweep/client/sim/server"
)

// TestReplicas measures two servers of which the second answers later, and refuses every fourth request: they get the
// same number of requests, their rates add up, and what the second does is said of it.
func TestReplicas(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
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
		_, errs := w.must(brief("run", w.slow(), bad, "--concurrency", "4", "--requests", "400")...)
		run := open(t, w.path("llmsweep-run"))
		s := run.Stages[0]
		if len(run.Target.Replicas) != 2 || len(s.Replicas) != 2 {
			t.Fatalf("replicas %+v, %+v", run.Target.Replicas, s.Replicas)
		}
		a, b := s.Replicas[0], s.Replicas[1]
		if off := a.Requests.Due - b.Requests.Due; a.Requests.Due+b.Requests.Due != s.Requests.Due || off < -1 || off > 1 {
			t.Errorf("%d and %d requests of %d", a.Requests.Due, b.Requests.Due, s.Requests.Due)
		}
		if sum := a.Completed.Value() + b.Completed.Value(); math.Abs(sum/s.Rates.Completed.Value()-1) > 1e-9 {
			t.Errorf("%v completed, %v in all", sum, s.Rates.Completed.Value())
		}
		codes := map[string]any{}
		for _, n := range s.Warnings {
			codes[n.Code] = n.Args["replica"]
		}
		if codes["replica.slow"] != 2.0 || codes["replica.fails"] != 2.0 {
			t.Errorf("warnings %v\n%s", s.Warnings, errs)
		}
		if out, _ := w.must("report", w.path("llmsweep-run"), "--all"); !strings.Contains(out, "TTFT p99, by replica") {
			t.Error(out)
		}
	})
}
