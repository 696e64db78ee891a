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
)

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
