package sweep

import (
	"fmt"
	"testing"
	"time"

	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// A sweep with no settings but its length finds the saturation rate of a simulated server.
func TestServerIsSweptWithDefaults(t *testing.T) {
	t.Parallel()
	truth := demoWork.Capacity(demo(t)).RequestsPerSecond
	simtest.Beside(t, demo(t), func(t *testing.T, d load.Doer) {
		run, err := Server(t.Context(), d, func(c *Config) {
			c.Waiter = nil // in virtual time
			c.Sources, c.Points, c.StageTime, c.StageMax = Words(64, 16, c.Seed), 4, 20*time.Second, 40*time.Second
		})
		if err != nil || run.State != rundir.Complete || run.Saturation == nil {
			t.Fatal(run.State, run.Failure, err)
		}
		if rate := run.Saturation.Rate.Value(); rate < 0.8*truth || rate > 1.2*truth {
			t.Errorf("the answer is %.1f requests per second, and the server's capacity is %.1f", rate, truth)
		}
	})
}

// No two prompts are alike, and a stage's are the same again.
func TestWordsDiffer(t *testing.T) {
	source, seen := Words(20, 5, 1), map[string]bool{}
	one, again := source("a"), source("a")
	for range 100 {
		s, _ := one.Next()
		same, _ := again.Next()
		text := s.Turns[0].User
		if seen[text] || text != same.Turns[0].User {
			t.Fatal(text)
		}
		seen[text] = true
	}
}

// A sweep of slower requests takes longer, and a budget is kept.
func TestOutlook(t *testing.T) {
	c := Defaults()
	quick, requests := c.Outlook(2 * time.Second)
	slow, _ := c.Outlook(20 * time.Second)
	if quick < 5*time.Minute || quick > 15*time.Minute || slow < 2*quick || requests < 1000 {
		t.Errorf("%v with %d requests, and %v where they are slow", quick, requests, slow)
	}
	c.Budget = 4 * time.Minute
	if takes, _ := c.Outlook(2 * time.Second); takes > c.Budget*11/10 || takes < c.Budget/2 {
		t.Errorf("%v of a budget of %v", takes, c.Budget)
	}
}

// Verdicts well below and well above capacity must be right, or honestly undecided.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	seeds := simtest.SampleSize(1, 200)
	servers := []struct {
		name string
		w    simtest.Fixed
	}{{"Qwen2-7B/L20/fp16", simtest.SameInAll(512, 128)}, {"Qwen2-7B/A100 80GB/int4", simtest.SameInAll(256, 64)},
		{"demo", demoWork}}
	for _, server := range servers[:simtest.SampleSize(1, len(servers))] {
		config := simtest.Preset(t, server.name)
		capacity := server.w.Capacity(config).RequestsPerSecond
		for _, share := range []float64{0.3, 0.5, 0.8, 0.9, 1.1, 1.2} {
			verdicts := map[rundir.Verdict]int{}
			for seed := range seeds {
				simtest.Beside(t, config, func(t *testing.T, d load.Doer) {
					c := experimentWith(d, server.w)
					c.Seed = uint64(seed)
					x := fresh(t, c)
					floor, err := x.Measure(t.Context(), x.Closed("synchronous", rundir.Synchronous, 1))
					if err != nil {
						t.Fatal(err)
					}
					p := &plan{Config: &c, run: x.Run(), syncLatency: rundir.Duration(floor.Latency.Mean.Value())}
					hold, _ := p.holdStage(share*capacity, rundir.Hold, 5*c.StageTime, false, holdShares[0])
					st, err := x.Measure(t.Context(), hold)
					if err != nil {
						t.Fatal(err)
					}
					verdicts[st.Verdict]++
				})
			}
			what, wrong := fmt.Sprintf("verdicts on %s at %.0f %% of its capacity", server.name, share*100), rundir.Stable
			simtest.Claim(t, what, "at most 5 % wrong", "%v of %d", verdicts, seeds)
			if share < 1 {
				wrong = rundir.Saturated
			}
			if verdicts[wrong]*20 > seeds {
				t.Errorf("%s: %v", what, verdicts)
			}
		}
	}
}
