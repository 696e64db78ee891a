package sweep

import (
	"strings"
	"testing"
	"time"

	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// follower is told of a sweep as someone who waits for it is.
type follower struct {
	experiment.NoObserver
	began  time.Time
	index  int
	left   time.Duration // at most; negative before something is known
	before load.Snapshot

	draining, arriving int           // snapshots of a stage that drains while requests end, and those with output
	ended              time.Duration // the longest time for which nothing was said to be left
	zero               time.Time     // since when nothing is
	late, told         int           // snapshots past the planned time of an open window, and those that tell until when
	planned            time.Duration
}

func (f *follower) StageBegins(s *rundir.Stage, planned time.Duration) {
	if !strings.HasPrefix(s.Name, rundir.SearchPrefix) {
		f.index++
	}
	f.before, f.planned = load.Snapshot{}, planned
}

func (f *follower) Left(_, high time.Duration) { f.left = high }

func (f *follower) Progress(s load.Snapshot) {
	switch {
	case f.left != 0:
		f.zero = time.Time{}
	case f.zero.IsZero():
		f.zero = time.Now()
	default:
		f.ended = max(f.ended, time.Since(f.zero))
	}
	if s.Phase == load.PhaseDraining && f.before.Phase == load.PhaseDraining && s.Done > f.before.Done {
		f.draining++
		if s.TokensPS > 0 {
			f.arriving++
		}
	}
	if s.Phase == load.PhaseMeasuring && s.Elapsed > f.planned {
		f.late++
		if s.Until >= s.Elapsed-time.Second {
			f.told++
		}
	}
	f.before = s
}

// TestProgressMoves follows a sweep: while a stage drains, its output is that of the requests that end; time is left
// until the end; a stage that goes on says until when.
func TestProgressMoves(t *testing.T) {
	t.Parallel()
	forEach(t, habitTrials(t, "", simtest.SampleSize(2, 20)), func(t *testing.T, k *trial) {
		f := follower{began: time.Now(), left: -1}
		simtest.Beside(t, k.Server, func(t *testing.T, d load.Doer) {
			c := k.config(d, k.Seed)
			c.Observer = &f
			if err := Sweep(t.Context(), c, &rundir.Run{}); err != nil {
				t.Fatal(err)
			}
		})
		if f.draining == 0 || f.arriving < f.draining {
			t.Errorf("%d of %d snapshots have an output while requests end in a stage that drains", f.arriving, f.draining)
		}
		const brief = 3 * time.Second
		if f.ended > brief {
			t.Errorf("for %v nothing was left", f.ended)
		}
		const last = 3 // at the tick at which a stage ends, there is nothing to say
		if f.told < f.late-last {
			t.Errorf("%d of %d snapshots past the planned time say until when the stage goes on", f.told, f.late)
		}
		t.Logf("draining %d, late %d", f.draining, f.late)
	})
}
