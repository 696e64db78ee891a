package sweep

import (
	"math"
	"slices"
	"testing"
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// alikeTurns yields sessions of turns that are all alike.
type alikeTurns struct {
	simtest.Fixed
	turns int
	pause time.Duration
}

func (s alikeTurns) Next() (load.Session, bool) {
	one, _ := s.Fixed.Next()
	all := load.Session{Invent: func(int) string { return "answer" }}
	for i := range s.turns {
		turn := one.Turns[0]
		if i > 0 {
			turn.Think = s.pause
		}
		all.Turns = append(all.Turns, turn)
	}
	return all, true
}

// talking returns a run of such sessions.
func (s alikeTurns) run() *rundir.Run {
	c := &rundir.Conversation{Turns: rundir.Lengths{Mean: float64(s.turns)}, Pause: s.pause.Seconds()}
	return &rundir.Run{Workload: rundir.Workload{Conversation: c}}
}

// A sweep of conversations plans in turns: its saturation rate is the capacity in turns per second, and a planned rate
// is offered in turns.
func TestSweepOfConversationsCountsTurns(t *testing.T) {
	t.Parallel()
	w := alikeTurns{simtest.SameInAll(64, 16), 8, time.Second}
	server, run := simtest.Slowed(simtest.Preset(t, "demo"), 4), w.run()
	simtest.Beside(t, server, func(t *testing.T, d load.Doer) {
		if err := Sweep(t.Context(), experimentWith(d, w), run); err != nil {
			t.Fatal(err)
		}
	})
	truth, s := w.Capacity(server).RequestsPerSecond, run.Saturation
	if s == nil {
		t.Fatal("no saturation")
	}
	t.Logf("capacity %.3f turns/s, found %.3f (%.3f-%.3f)", truth, s.Rate.Value(), s.Low.Value(), s.High.Value())
	if s.Low.Value() > truth || s.High.Value() < truth {
		t.Errorf("the interval %v-%v does not hold the capacity %v", s.Low, s.High, truth)
	}
	for _, st := range run.Stages {
		if asked := st.Rate.Value(); st.Rate.Known() && asked < 0.9*truth {
			noise := 4 * math.Sqrt(asked*float64(w.turns)/st.Window)
			if offered := st.Rates.Offered.Value(); math.Abs(offered-asked) > noise {
				t.Errorf("%s offered %.2f turns/s, %.2f more or less is chance", st.Name, offered, noise)
			}
		}
	}
}

// The sessions of a closed loop are at all turns from the beginning.
func TestSessionsOfAClosedLoopAreNotInStep(t *testing.T) {
	t.Parallel()
	w := alikeTurns{simtest.SameInAll(64, 16), 8, time.Second}
	for _, whole := range []int{0, 32} {
		simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
			c := experimentWith(d, w)
			x, err := experiment.Begin(c.Config, w.run(), rundir.Plan{})
			if err != nil {
				t.Fatal(err)
			}
			s := x.Closed("concurrent@32", rundir.Single, 32)
			s.Sessions = whole
			s.MinTime, s.MaxTime = 15*time.Second, 15*time.Second // a session takes about 8 s
			st, err := x.Measure(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.ContainsFunc(st.Warnings, func(n note.Note) bool { return n.Code == "stage.few-sessions" }) {
				t.Errorf("nothing says that the row holds few sessions: %v", st.Warnings)
			}
			records, err := collect(c.Log, "concurrent@32")
			if err != nil {
				t.Fatal(err)
			}
			first, turns := map[int]int{}, map[int]bool{}
			for _, r := range records {
				if at, ok := first[int(r.Seq)]; r.Seq < 32 && (!ok || r.Turn < at) {
					first[int(r.Seq)] = r.Turn
				}
			}
			for _, turn := range first {
				turns[turn] = true
			}
			if whole == 0 && len(turns) < 6 || whole > 0 && len(turns) != 1 {
				t.Errorf("%d sessions to count: the first ones begin at %d different turns", whole, len(turns))
			}
		})
	}
}
