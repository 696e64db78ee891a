package sweep

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// A sweep that is paused, killed later, and continued, ends with the table that it would have had, and the note of its pause. Neither part
// charges its budget for the pause. Where the kill comes in the stage before which the pause was, the pause is no part
// of the times of the resumed run, and controls after it are as long as without it.
func TestAPausedSweepGoesOn(t *testing.T) {
	t.Parallel()
	const pause = 10 * time.Minute
	for name, budget := range map[string]time.Duration{"plain": 0, "budget": 2 * time.Minute} {
		changed := func(pauses bool) func(*Config) {
			calls := 0
			return func(c *Config) {
				c.Budget = budget
				c.Pause = func(context.Context) time.Duration {
					if calls++; calls != 2 || !pauses {
						return 0
					}
					time.Sleep(pause)
					return pause
				}
			}
		}
		want, disk, began := whole(t, changed(true))
		for _, stage := range []int{1, 3} {
			cut := want.Stages[stage]
			t.Run(name+", "+cut.Name, func(t *testing.T) {
				path := t.TempDir()
				disk.Killed(t, disk.Until(began.Add(time.Duration((cut.Started+cut.Window/2)*float64(time.Second)))), path)
				synctest.Test(t, func(t *testing.T) {
					time.Sleep(time.Hour)
					got := resumed(t, path, changed(false))
					if diff := sameTable(want, got); diff != "" && stage > 1 {
						t.Errorf("-whole +resumed\n%s", diff)
					}
					if got.State != rundir.Complete || got.Saturation.Rate != want.Saturation.Rate {
						t.Errorf("%s, saturates at %v, want %v", got.State, got.Saturation.Rate, want.Saturation.Rate)
					}
					noted := func(n note.Note) bool {
						return n.Code == "run.paused" && n.Args["time"] == pause.Seconds() && n.Args["stage"] == want.Stages[1].Name
					}
					if !slices.ContainsFunc(got.Warnings, noted) {
						t.Errorf("the pause is not noted: %v", got.Warnings)
					}
				})
			})
		}
	}
}
