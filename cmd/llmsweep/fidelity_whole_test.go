package main

import (
	"fmt"
	"math"
	"testing"

	simserver "llmsweep/client/sim/server"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// asked measures a short load with canaries on a server with habits, and returns the run.
func (w *world) asked(seed int, set string, requests string, habits ...string) *rundir.Run {
	w.t.Helper()
	url, stop := w.server(w.differing(simserver.Options{}, habits...))
	defer stop()
	w.must("run", url, "--concurrency", "8", "--requests", requests, "--prompt-tokens", "4", "--output-tokens", "1", "--warmup", "1", "--no-selftest", "--plain",
		"--seed", fmt.Sprint(seed), "--fidelity", "--canaries", set, "--out", w.path("run"), "--force")
	return open(w.t, w.path("run"))
}

// tinyCanaries writes n canaries with answers of eight tokens, and returns the path.
func tinyCanaries(w *world, n int) string {
	text := ""
	for i := range n {
		text += fmt.Sprintf("{\"prompt\":\"canary %d\",\"tokens\":8}\n", i)
	}
	return w.write("tiny.jsonl", text)
}

// TestIdenticalServersAreCalledAlike runs loads on servers whose answers do not depend on load: half of them always give the same answers, half draw
// some at random. At most 5 % may be called different.
func TestIdenticalServersAreCalledAlike(t *testing.T) {
	identicalRuns := simtest.Size(2, 100)
	virtually(t, func(t *testing.T, w *world) {
		set, wrong := tinyCanaries(w, 30), 0
		for i := range identicalRuns {
			habits := []string{"samples:20%"}
			if i%2 == 0 {
				habits = []string{"rounds:30%"}
			}
			if v := w.asked(i, set, "700", habits...).Fidelity.Verdict; v != rundir.FidelitySame && v != rundir.Undecided {
				wrong++
			}
		}
		simtest.Claim(t, "whole runs on servers whose answers do not depend on load: called different", "at most 5 %", "%d of %d", wrong, identicalRuns)
		if n := float64(identicalRuns); float64(wrong) > 0.05*n+2*math.Sqrt(0.05*0.95*n) {
			t.Errorf("%d of %d identical servers are called different", wrong, identicalRuns)
		}
	})
}
