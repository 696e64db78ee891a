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
	left   time.Duration // at most
	before load.Snapshot

	draining, arriving int           // snapshots of a stage that drains while requests end, and those with output
	ended              time.Duration // the longest time for which nothing was said to be left
	zero               time.Time     // since when nothing is
	mosts              []int         // the highest number of stages that was told at each
	parts              []experiment.ForecastPart
	late, told         int // snapshots past the planned time of an open window, and those that tell why and until when
	planned            time.Duration
}

func (f *follower) Follows(left experiment.ForecastTodo, _ []string) {
	sure, more := left.Planned()
	f.mosts, f.parts = append(f.mosts, sure+more), append(f.parts, left.Part)
}

func (f *follower) StageBegins(s *rundir.Stage, planned time.Duration) {
	if !strings.HasPrefix(s.Name, SearchPrefix) {
		f.index++
	}
	f.mosts[len(f.mosts)-1] += f.index
	f.before, f.planned = load.Snapshot{}, planned
}

func (f *follower) Left(_, high time.Duration) { f.left = high }

func (f *follower) Progress(s load.Snapshot) {
	switch {
	case f.left > 0:
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
		if s.Awaits != "" && s.Until >= s.Elapsed-time.Second {
			f.told++
		}
	}
	f.before = s
}

// TestProgressMoves follows a sweep: while a stage drains, its output is that of the requests that end; time is left until the end; no number
// of stages grows unless a note says so; a stage that goes on says why, and until when.
func TestProgressMoves(t *testing.T) {
	t.Parallel()
	forEach(t, habitTrials(t, "", simtest.SampleSize(2, 20)), func(t *testing.T, k *trial) {
		f := follower{began: time.Now()}
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
		for i := 1; i < len(f.mosts); i++ {
			if f.parts[i] != experiment.PartEdge && f.mosts[i] > f.mosts[i-1] && f.parts[i] != experiment.PartControl {
				t.Errorf("stages at most, one after the other: %v, of %v", f.mosts, f.parts)
				break
			}
		}
		const last = 3 // at the tick at which a stage ends, there is nothing to say
		if f.told < f.late-last {
			t.Errorf("%d of %d snapshots past the planned time say why the stage goes on, and until when", f.told, f.late)
		}
		t.Logf("draining %d, late %d, stages at most %v, of %v", f.draining, f.late, f.mosts, f.parts)
	})
}
