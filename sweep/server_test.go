package sweep

import (
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
