package main

import (
	"fmt"
	"math"
	"os"
	"testing"

	simserver "llmsweep/client/sim/server"
	"llmsweep/sweep/fidelity"
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

// told prints a count now and then in a long test, so that one that is cut tells something.
func told(i int, what string, n int) {
	const every = 5
	if simtest.Full() && (i+1)%every == 0 {
		fmt.Fprintf(os.Stderr, "%s: %d of %d\n", what, n, i+1)
	}
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
	identicalRuns := simtest.SampleSize(2, 1000)
	virtually(t, func(t *testing.T, w *world) {
		set, wrong := tinyCanaries(w, 20), 0
		for i := range identicalRuns {
			habits := []string{"samples:20%"}
			if i%2 == 0 {
				habits = []string{"rounds:30%"}
			}
			if v := w.asked(i, set, "400", habits...).Fidelity.Verdict; v != rundir.FidelitySame && v != rundir.FidelityUndecided {
				wrong++
			}
			told(i, "called different", wrong)
		}
		simtest.Claim(t, "whole runs on servers whose answers do not depend on load: called different", "at most 5 %", "%d of %d", wrong, identicalRuns)
		if n := float64(identicalRuns); float64(wrong) > 0.05*n+2*math.Sqrt(0.05*0.95*n) {
			t.Errorf("%d of %d identical servers are called different", wrong, identicalRuns)
		}
	})
}

// TestChangedAnswersAreFound changes answers under load, and asks as many canaries as that is said to take.
func TestChangedAnswersAreFound(t *testing.T) {
	if !simtest.Full() {
		t.Skip("takes minutes; TestAnswersUnderLoad shows that changed answers are found")
	}
	for share, runs := range map[string]int{"5%": 30, "1%": 50} {
		t.Run(share, func(t *testing.T) {
			virtually(t, func(t *testing.T, w *world) {
				const hypotheses = 2 // of a single stage: that answers differ, and that they are changed
				needed := fidelity.Needed(map[string]float64{"5%": 0.05, "1%": 0.01}[share], hypotheses)
				set, found := tinyCanaries(w, needed), 0
				for i := range runs {
					if w.asked(i, set, fmt.Sprint(20*needed), "confuses:"+share).Fidelity.Verdict == rundir.FidelityDiffers {
						found++
					}
					told(i, share+" changed: found", found)
				}
				simtest.Claim(t, "whole runs with "+share+" of the answers changed under load: found", "at least 80 %", "%d of %d, with %d canaries", found, runs, needed)
				if n := float64(runs); float64(found) < 0.8*n-2*math.Sqrt(0.8*0.2*n) {
					t.Errorf("%s: found in %d of %d runs", share, found, runs)
				}
			})
		})
	}
}

// TestCanariesLeaveSweepsAsTheyAre compares the saturation rates and TTFT of sweeps with and without canaries.
func TestCanariesLeaveSweepsAsTheyAre(t *testing.T) {
	if !simtest.Full() {
		t.Skip("takes minutes; TestCanariesChangeNoMetric compares one run")
	}
	const sweepPairs = 20
	virtually(t, func(t *testing.T, w *world) {
		set := tinyCanaries(w, 20)
		var rates, ttft, apart int
		for i := range sweepPairs {
			var sat [2]*rundir.Saturation
			var floor [2][2]float64
			for j, more := range [][]string{nil, {"--fidelity", "--canaries", set, "--canary-share", "2%"}} {
				url, stop := w.server(w.differing(simserver.Options{}))
				w.must(append(quick("sweep", url, "--seed", fmt.Sprint(100*i+j), "--out", w.path("swept"), "--force"), more...)...)
				stop()
				run := open(t, w.path("swept"))
				sat[j] = run.Saturation
				for k := range run.Stages {
					if run.Stages[k].Role == rundir.Floor {
						floor[j] = run.Stages[k].TTFT.CI["mean"]
					}
				}
			}
			if sat[0] == nil || sat[1] == nil || !sat[0].Low.Known() || !sat[1].Low.Known() {
				apart++
				continue
			}
			if sat[0].Low.Value() > sat[1].High.Value() || sat[1].Low.Value() > sat[0].High.Value() {
				rates++
			}
			if floor[0][0] > floor[1][1] || floor[1][0] > floor[0][1] {
				ttft++
			}
			told(i, "TTFT apart", ttft)
			told(i, "saturation apart", rates)
		}
		simtest.Claim(t, "sweeps with and without canaries: intervals of the saturation rate, of TTFT alone, that do not overlap", "at most 1 in 10",
			"%d and %d of %d (%d without an interval)", rates, ttft, sweepPairs, apart)
		if most := sweepPairs / 10; rates > most || ttft > most {
			t.Errorf("of %d pairs, %d saturation rates and %d TTFTs differ", sweepPairs, rates, ttft)
		}
	})
}
