package sweep

import (
	"slices"
	"testing"
	"time"

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
			c.SLO = simtest.Terms(t, "ttft:p90<300ms", "latency:p90<5s")
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
	if verdict, _ := slo.Judge(proof, simtest.Terms(t, run.SLO.Terms...)); verdict != rundir.Met ||
		proof.Rate.Value() < 0.97*run.SLO.Low.Value() || proof.Rate.Value() > 1.03*run.SLO.Rate.Value() {
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
