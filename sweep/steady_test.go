package sweep

import (
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
func closedLoop(t *testing.T, server sim.MachineConfig, w load.Source, places, requests int) *rundir.Stage {
	t.Helper()
	stage := experiment.NewStage(arrival.Closed{Concurrency: places}, requests, 0)
	return &runStages(t, server, w, func(*Config) {}, stage).Stages[0]
}

// evenLengths is a workload of mixed lengths, of which any stretch has nearly the same mean: a run of few requests then
// shows the bias of its window and not the luck of its draw.
type evenLengths struct {
	simtest.Fixed         // mean lengths
	spread        float64 // from 1-spread to 1+spread of them
	n             int
}

func (e *evenLengths) Next() (load.Session, bool) {
	e.n++
	length := func(mean int, ratio float64) int { // Weyl's sequence
		_, u := math.Modf(float64(e.n) * ratio)
		return int(math.Round(float64(mean) * (1 + e.spread*(2*u-1))))
	}
	return simtest.SameInAll(length(e.Prompt, math.Sqrt2), length(e.Output, math.Phi)).Next()
}

// Closed loops of a number of requests print the rates that the server holds while the loop is full, whichever way its
// requests begin and end. Truth is the computed capacity with as many slots as the loop has places.
func TestClosedLoopsByNumber(t *testing.T) {
	t.Parallel()
	mean, server := simtest.SameInAll(512, 64), simtest.Preset(t, "plain8")
	for _, first := range []time.Duration{100 * time.Millisecond, 600 * time.Millisecond} {
		for _, places := range []int{4, 64, 512}[:simtest.SampleSize(1, 3)] {
			server.MaxNumSeqs, server.Plain = places, sim.Plain{FirstToken: first, PerToken: 10 * time.Millisecond}
			truth := mean.Capacity(server)
			for _, c := range []struct {
				times        int
				spread, most float64 // over two waves of mixed lengths the prompts are still in step
			}{{4, 0, 0.02}, {10, 0, 0.02}, {4, 0.4, 0.06}, {10, 0.4, 0.02}} {
				st := closedLoop(t, server, &evenLengths{Fixed: mean, spread: c.spread}, places, c.times*places)
				output, done := st.TokensPerS.Output.Value()/truth.OutputTokensPerSecond-1,
					st.Rates.Completed.Value()/truth.RequestsPerSecond-1
				if st.WholeRun == nil || math.Abs(output) > c.most || math.Abs(done) > c.most {
					t.Errorf("TTFT %v, %d places, %+v: tok/s is %+.3f off, req/s %+.3f, %v", first, places, c, output, done,
						st.Warnings)
				}
			}
		}
	}
}

// A closed loop that is never full, or has less than two waves after the first, says so and gives the figures of the
// whole run. One request at a time is full all the time.
func TestClosedLoopsWithoutSteadyPart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		places, requests int
		code             string
	}{{8, 16, "stage.few-waves"}, {8, 4, "stage.never-full"}, {1, 5, ""}, {8, 32, ""}} {
		st := closedLoop(t, simtest.Preset(t, "plain8"), simtest.SameInAll(64, 32), c.places, c.requests)
		all, steady := st.OfWholeRun(), c.requests == 32
		if st.Whole == steady || (st.WholeRun != nil) != steady || all.Requests.OK != c.requests ||
			all.Concurrency.Peak != min(c.places, c.requests) || len(st.Warnings) > 0 != (c.code != "") ||
			c.code != "" && !hasNote(st, c.code) || steady != (st.Requests.OK < c.requests && st.WindowFrom > 0) {
			t.Errorf("%+v: whole %v, %+v of %+v, %v", c, st.Whole, st.Requests, all.Requests, st.Warnings)
		}
	}
}
