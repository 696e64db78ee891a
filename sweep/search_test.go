package sweep

import (
	"math"
	"slices"
	"testing"
	"time"

	"llmsweep/client/sim"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/slo"
)

// skipWithRaces skips a test of many sweeps where the race detector makes them ten times slower: others run the same
// code.
func skipWithRaces(t *testing.T) {
	t.Helper()
	if simtest.RaceDetector {
		t.Skip("many sweeps, which the race detector makes ten times slower")
	}
}

// What a search for an SLO got wrong in the product of others: a bound that is overstepped, a best point that is one of
// several or failed, and figures of one point under the name of another.
func TestSearch(t *testing.T) {
	skipWithRaces(t)
	t.Parallel()
	search := func(change func(c *Config)) *rundir.Run {
		return sweepServer(t, demo(t), demoWork, func(c *Config) {
			c.Points, c.StageTime, c.StageMax = 3, 10*time.Second, 30*time.Second
			c.SLO = simtest.Terms("ttft:p90<300ms", "latency:p90<5s")
			change(c)
		})
	}
	run := search(func(*Config) {})
	checkBestPoint(t, run)
	most := 0.5 * run.SLO.Rate.Value()
	for name, c := range map[string]struct {
		change func(*Config)
		rate   float64
		width  int
	}{
		"--max-rps":         {func(c *Config) { c.Caps = load.NewCaps(most, 0) }, most, 1 << 20},
		"--max-concurrency": {func(c *Config) { c.MaxConcurrency = 6 }, 1e9, 6},
	} {
		run := search(c.change)
		for i := range run.Stages {
			if st := &run.Stages[i]; st.Rate.Or(0) > c.rate || st.MaxConcurrency > c.width ||
				!st.Rate.Known() && st.Concurrency.Peak > c.width {
				t.Errorf("%s: %s asks for %v req/s, %d in flight, had %d", name, st.Name, st.Rate, st.MaxConcurrency,
					st.Concurrency.Peak)
			}
		}
		for _, step := range run.Search {
			if step.Level() > c.width {
				t.Errorf("%s: %s", name, step.Name)
			}
		}
		if r := run.SLO.Rate.Or(run.SLO.Low.Or(0)); r > c.rate*1.01 {
			t.Errorf("%s: meets the SLO up to %.2f req/s", name, r)
		}
	}
}

// checkBestPoint checks that the rate is one, that it is proven by one stage that was held as long as others and met
// all terms, and that what is said of that stage is what its row has.
func checkBestPoint(t *testing.T, run *rundir.Run) {
	t.Helper()
	i := slices.IndexFunc(run.Stages, func(st rundir.Stage) bool { return st.Name == run.SLO.ProofStage })
	if i < 0 {
		t.Fatalf("no stage proves %.2f req/s (%v to %v)", run.SLO.Rate.Value(), run.SLO.Low, run.SLO.High)
	}
	proof := &run.Stages[i]
	if verdict, _ := slo.Judge(proof, simtest.Terms(run.SLO.Terms...)); verdict != rundir.Met ||
		proof.Rate.Value() < 0.95*run.SLO.Low.Value() || proof.Rate.Value() > 1.03*run.SLO.Rate.Value() {
		t.Errorf("%s (%v) proves %.2f req/s (%v to %v)", proof.Name, verdict, run.SLO.Rate.Value(), run.SLO.Low, run.SLO.High)
	}
	for j := range run.Stages {
		st := &run.Stages[j]
		if st.Role == rundir.Hold && proof.Elapsed < 0.8*min(st.Elapsed, 60) {
			t.Errorf("the proof took %.0f s, %s %.0f s", proof.Elapsed, st.Name, st.Elapsed)
		}
		if n := float64(st.Requests.Error); (st == proof || st.Name == run.SLO.KeptStage) &&
			n > 0.05*float64(st.Requests.OK) {
			t.Errorf("%s is a best point although %.0f of its requests failed", st.Name, n)
		}
	}
	// The same figures in the answer as in the saturation's and the SLO's own.
	a := saturation.AnswerOf(run)
	if a.Promise.Rate != run.SLO.Rate || a.Promise.Low != run.SLO.Low || a.Rate != run.Saturation.Rate ||
		run.SLO.Rate.Value() > run.Saturation.High.Value() {
		t.Errorf("%+v, %+v, %+v", a, run.SLO, run.Saturation)
	}
}

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
// requests begin and end. Truth is the computed capacity with as many slots as the loop has places, and for mixed
// lengths on a real server the rate of a run that is four times as long.
func TestClosedLoopsByNumber(t *testing.T) {
	t.Parallel()
	mean := simtest.SameInAll(512, 64)
	slow, slower := simtest.Preset(t, "plain8"), simtest.Preset(t, "plain8")
	slow.Plain.FirstToken, slower.Plain.FirstToken = 100*time.Millisecond, 600*time.Millisecond
	for _, server := range []sim.MachineConfig{slow, slower, simtest.Preset(t, "Qwen2-7B/L20/fp16")} {
		for _, places := range []int{4, 64, 512}[:simtest.SampleSize(1, 3)] {
			if server.MaxNumSeqs = places; !server.IsPlain() {
				server.MaxBatchedTokens = max(2048, places)
			}
			for _, c := range []struct {
				times        int
				spread, most float64 // over two waves of mixed lengths the prompts are still in step
			}{{4, 0, 0.02}, {10, 0, 0.02}, {4, 0.4, 0.06}, {10, 0.4, 0.02}} {
				truth := mean.Capacity(server)
				tokens, requests := truth.OutputTokensPerSecond, truth.RequestsPerSecond
				if !server.IsPlain() { // a full loop of equal requests stays in step
					long := closedLoop(t, server, &evenLengths{Fixed: mean, spread: c.spread}, places, 40*places)
					tokens, requests = long.TokensPerS.Output.Value(), long.Rates.Completed.Value()
				}
				st := closedLoop(t, server, &evenLengths{Fixed: mean, spread: c.spread}, places, c.times*places)
				output, done := st.TokensPerS.Output.Value()/tokens-1, st.Rates.Completed.Value()/requests-1
				if st.WholeRun == nil || math.Abs(output) > c.most || math.Abs(done) > c.most {
					t.Errorf("TTFT %v, %d places, %+v: tok/s is %+.3f off, req/s %+.3f, %v", truth.SyncTTFT, places, c, output, done,
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
