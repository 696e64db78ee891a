package sweep

import (
	"math"
	"testing"
	"time"

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

// run returns a run of such sessions.
func (s alikeTurns) run() *rundir.Run {
	c := &rundir.Conversation{Turns: rundir.Lengths{Mean: float64(s.turns)}, Pause: s.pause.Seconds()}
	return &rundir.Run{Workload: rundir.Workload{Conversation: c}}
}

// A sweep of conversations plans in turns: its saturation rate is the capacity in turns per second, and a planned rate
// is offered in turns.
func TestSweepOfConversationsCountsTurns(t *testing.T) {
	t.Parallel()
	w := alikeTurns{demoWork, 8, time.Second}
	run := w.run()
	simtest.Beside(t, demo(t), func(t *testing.T, d load.Doer) {
		if err := Sweep(t.Context(), experimentWith(d, w), run); err != nil {
			t.Fatal(err)
		}
	})
	truth, s := w.Capacity(demo(t)).RequestsPerSecond, run.Saturation
	const chance = 1.05 // a session has 8 turns
	if s == nil || s.Low.Value() > chance*truth || s.High.Value() < truth/chance {
		t.Fatalf("%+v is far from the capacity %v", s, truth)
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

// The sessions of a closed loop are at all turns from the beginning, except where they are counted. A row of few says
// so.
func TestSessionsOfAClosedLoopAreNotInStep(t *testing.T) {
	t.Parallel()
	w := alikeTurns{demoWork, 8, time.Second}
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
			records, err := collect(c.Log, s.Name)
			if err != nil {
				t.Fatal(err)
			}
			seen, turns := map[int]bool{}, map[int]bool{}
			for _, r := range records { // in the order of their ends
				if r.Seq < 32 && !seen[r.Seq] {
					seen[r.Seq], turns[r.Turn] = true, true
				}
			}
			if whole == 0 && len(turns) < 6 || whole > 0 && len(turns) != 1 || !hasNote(&st, "stage.few-sessions") {
				t.Errorf("%d sessions to count: the first begin at %d turns; %v", whole, len(turns), codes(st.Warnings))
			}
		})
	}
}
