package sweep

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/slo"
)

// hurried is a short sweep of plain8 within a budget, of which little is known.
func hurried(t *testing.T, seed uint64) *rundir.Run {
	server := simtest.Preset(t, "plain8")
	server.Seed = seed
	run := &rundir.Run{}
	simtest.Beside(t, server, func(t *testing.T, d load.Doer) {
		c := experimentWith(d, simtest.SameInAll(256, 64))
		c.Points, c.StageTime, c.Budget, c.MaxConcurrency, c.Seed = 3, 10*time.Second, 90*time.Second, 32, seed
		var err error
		if c.SLO, err = slo.ParseAll([]string{"ttft:p95<500ms"}); err != nil {
			t.Fatal(err)
		}
		if err := Sweep(t.Context(), c, run); err != nil {
			t.Fatal(err)
		}
	})
	return run
}

// TestAHurriedSweepPromisesLittle: however little a short sweep shows, the rate within the SLO and its interval do not
// lie above what the server takes, and a rate known to within more than 20 % is not called one.
func TestAHurriedSweepPromisesLittle(t *testing.T) {
	t.Parallel()
	ranges := 0
	for seed := range uint64(simtest.SampleSize(3, 40)) {
		run := hurried(t, seed+1)
		s, limit := run.SLO, run.Saturation
		if limit == nil || !limit.High.Known() {
			continue
		}
		if s.High.Known() {
			ranges++
		}
		if s.Rate.Value() > limit.High.Value() || s.High.Value() > limit.High.Value() {
			t.Errorf("seed %d: within the SLO up to %v (%v-%v), saturated at %v (%v-%v)", seed+1, s.Rate, s.Low, s.High,
				limit.Rate, limit.Low, limit.High)
		}
		const widest = 0.2
		if half := (s.High.Value() - s.Low.Value()) / 2; s.Rate.Known() && half > widest*s.Rate.Value() {
			t.Errorf("seed %d: %v req/s are known to within %v only", seed+1, s.Rate.Value(), half)
		}
	}
	if ranges == 0 {
		t.Error("no sweep showed an interval")
	}
}

// TestNoRequestWasDue: a run that ends before its first request is due has not failed on the server's side.
func TestNoRequestWasDue(t *testing.T) {
	t.Parallel()
	simtest.Beside(t, simtest.Preset(t, "plain8"), func(t *testing.T, d load.Doer) {
		run := &rundir.Run{}
		stage := experiment.NewStage(arrival.Poisson{Rate: 0.001}, 0, 5*time.Second)
		if err := Run(t.Context(), experimentWith(d, simtest.SameInAll(64, 8)), []experiment.Stage{stage}, run); err != nil {
			t.Fatal(err)
		}
		if run.State != rundir.Failed || run.Failure.Code != "run.nothing-due" {
			t.Errorf("%s: %v", run.State, run.Failure)
		}
	})
}

// TestRecordsOfAResumedRunAreUnlike: the warm-up and the lone requests of a run that goes on are numbered on, twice
// too.
func TestRecordsOfAResumedRunAreUnlike(t *testing.T) {
	t.Parallel()
	want, disk, began := whole(t, nil)
	path := t.TempDir()
	disk.Killed(t, disk.Until(began.Add(want.Ended.Sub(want.Started)/2)), path)
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Hour) // later than the first part
		resumed(t, path, nil)
	})
	seen := map[string]int{}
	for r, err := range store.Records(path) {
		if err != nil {
			t.Fatal(err)
		}
		seen[fmt.Sprint(r.Stage, r.Seq)]++
	}
	for name, n := range seen {
		if n > 1 {
			t.Errorf("%d records of %s", n, name)
		}
	}
}
