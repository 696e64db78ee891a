package sweep

import (
	"fmt"
	"math"
	"testing"
	"time"

	"llmsweep/client/sim"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// closedLoop measures a closed loop of a number of requests, in virtual time.
func closedLoop(t *testing.T, server sim.MachineConfig, work load.Source, places, requests int) (st rundir.Stage) {
	t.Helper()
	simtest.Beside(t, server, func(t *testing.T, d load.Doer) {
		st = oneStage(t, experimentWith(d, work), func(*experiment.Experiment) experiment.Stage {
			return experiment.NewStage(arrival.Closed{Concurrency: places}, requests, 0)
		})
	})
	return st
}

// evenly is a workload of mixed lengths, of which any stretch has nearly the same mean: a run of few requests then
// shows the bias of its window and not the luck of its draw.
type evenly struct {
	simtest.Fixed         // mean lengths
	spread        float64 // from 1-spread to 1+spread of them
	n             int
}

func (e *evenly) Next() (load.Session, bool) {
	e.n++
	length := func(mean int, ratio float64) int { // Weyl's sequence
		_, u := math.Modf(float64(e.n) * ratio)
		return int(math.Round(float64(mean) * (1 + e.spread*(2*u-1))))
	}
	return simtest.SameInAll(length(e.Prompt, math.Sqrt2), length(e.Output, math.Phi)).Next()
}

// Closed loops of a number of requests print the rates that the server holds while the loop is full, whichever way its
// requests begin and end. The whole run does not: its start and end are in it. Truth is the server's computed capacity
// with as many slots as the loop has places, and for mixed lengths on a real server the rate of a run that is four
// times as long as the longest.
func TestClosedLoopsByNumber(t *testing.T) {
	t.Parallel()
	const prompt, output = 512, 64
	plain := func(first time.Duration) sim.MachineConfig {
		c := simtest.Preset(t, "plain8")
		c.Plain = sim.Plain{FirstToken: first, PerToken: 10 * time.Millisecond}
		return c
	}
	for _, server := range []struct {
		name string
		sim.MachineConfig
	}{{"plain, TTFT 100 ms", plain(100 * time.Millisecond)}, {"plain, TTFT 600 ms", plain(600 * time.Millisecond)},
		{"Qwen2-7B/L20/fp16", simtest.Preset(t, "Qwen2-7B/L20/fp16")}} {
		for _, places := range []int{4, 64, 512}[:simtest.SampleSize(2, 3)] {
			for _, spread := range []float64{0, 0.4} {
				c := server.MachineConfig
				c.MaxNumSeqs = places
				if !c.IsPlain() {
					c.MaxBatchedTokens = max(2048, places)
				}
				work := func() *evenly { return &evenly{Fixed: simtest.SameInAll(prompt, output), spread: spread} }
				truth := simtest.SameInAll(prompt, output).Capacity(c)
				tokens, requests := truth.OutputTokensPerSecond, truth.RequestsPerSecond
				if spread > 0 && !c.IsPlain() {
					long := closedLoop(t, c, work(), places, 40*places)
					tokens, requests = long.TokensPerS.Output.Value(), long.Rates.Completed.Value()
				}
				for _, times := range []int{4, 10} {
					st := closedLoop(t, c, work(), places, times*places)
					name := fmt.Sprintf("%s, %d places, %dx, spread %v", server.name, places, times, spread)
					if st.WholeRun == nil {
						t.Errorf("%s: no steady window, %v", name, st.Warnings)
						continue
					}
					off := func(n rundir.Number, truth float64) float64 { return 100 * (n.Value()/truth - 1) }
					output, done := off(st.TokensPerS.Output, tokens), off(st.Rates.Completed, requests)
					t.Logf("%-52s tok/s %+5.1f %%, whole run %+5.1f %%; req/s %+5.1f %%, whole run %+5.1f %%", name,
						output, off(st.WholeRun.TokensPerS.Output, tokens), done, off(st.WholeRun.Rates.Completed, requests))
					// Over two waves of mixed lengths the prompts are still in step, and where they take half of the
					// time tokens are not.
					most := 2.0
					if times == 4 && spread > 0 {
						most = 6
					}
					if math.Abs(output) > most || math.Abs(done) > most {
						t.Errorf("%s: tok/s is %+.1f %% off, req/s %+.1f %%", name, output, done)
					}
				}
			}
		}
	}
}

// A closed loop that is never full, or has less than two waves after the first, says so and gives the figures of the
// whole run. One request at a time is full all the time.
func TestClosedLoopsWithoutSteadyPart(t *testing.T) {
	t.Parallel()
	plain := simtest.Preset(t, "plain8")
	for _, c := range []struct {
		places, requests int
		code             string
	}{{8, 16, "stage.few-waves"}, {8, 4, "stage.never-full"}, {1, 5, ""}} {
		st := closedLoop(t, plain, simtest.SameInAll(64, 32), c.places, c.requests)
		if !st.Whole || st.WholeRun != nil || st.Requests.OK != c.requests || len(st.Warnings) > 0 != (c.code != "") ||
			c.code != "" && !hasNote(&st, c.code) {
			t.Errorf("%d places, %d requests: whole %v, %+v, %v", c.places, c.requests, st.Whole, st.Requests, st.Warnings)
		}
	}
	st := closedLoop(t, plain, simtest.SameInAll(64, 32), 8, 32)
	if all := st.WholeRun; st.Whole || all == nil || all.Requests.OK != 32 || st.Requests.OK >= 32 ||
		st.WindowFrom <= 0 || len(st.Warnings) > 0 {
		t.Errorf("four waves: whole %v, %+v, %v", st.Whole, st.Requests, st.Warnings)
	}
}
