package load_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/simtest"
)

// until closes the window of a stage at a time, and keeps what it is told.
type until struct {
	at   time.Duration
	work []load.Work
}

func (*until) Due(int)                             {}
func (*until) FirstToken(time.Duration)            {}
func (*until) Ended(*rundir.Record, int)           {}
func (*until) Closed(time.Duration)                {}
func (*until) Recent() load.Snapshot               { return load.Snapshot{} }
func (u *until) Tick(_ time.Duration, w load.Work) { u.work = append(u.work, w) }
func (u *until) Decide(now time.Duration) load.Decision {
	if now >= u.at {
		return load.Close
	}
	return load.Continue
}

// chained runs a chained stage for a time, and returns what it was told too.
func chained(
	t *testing.T, s load.Stage, d time.Duration, log load.Log, before *load.Rest,
) (*load.Outcome, []load.Work) {
	t.Helper()
	s.Source, s.Tick, s.Chained, s.Drain = simtest.SameInAll(1, 10), 500*time.Millisecond, true, time.Hour
	m := &until{at: d}
	out, err := load.Run(t.Context(), s, load.Environment{Doer: simtest.TenTokens{}, Log: log, Monitor: m,
		Progress: func(load.Snapshot) {}, Before: before})
	if err != nil {
		t.Fatal(err)
	}
	return out, m.work
}

// dues returns when the requests of a stage were due, in seconds and ascending.
func dues(log *store.Memory, stage string) (all []float64) {
	for r := range log.Records(stage) {
		all = append(all, r.Due.Value())
	}
	slices.Sort(all)
	return all
}

// A closed loop that begins on four requests of another, which end after 4.75, 5.75, 6.75 and 7.75 s, fills a place
// when fewer are in flight than it is wide. An open loop after it begins at once. What is in flight and owed goes on.
func TestChainedStages(t *testing.T) {
	for width, c := range map[int]struct {
		dues []float64
		owed float64 // when the stage after it has begun, with those of its own first request
	}{
		2: {[]float64{6.75, 7.75}, 27}, 4: {[]float64{4.75, 5.75, 6.75, 7.75}, 40},
		6: {[]float64{0, 0, 4.75, 5.75, 6.75, 7.75}, 42},
	} {
		synctest.Test(t, func(t *testing.T) {
			log := &store.Memory{}
			one, _ := chained(t, load.Stage{Name: "one", Limit: 4,
				Opening: []time.Duration{250 * time.Millisecond, 1250 * time.Millisecond, 2250 * time.Millisecond,
					3250 * time.Millisecond}}, 5250*time.Millisecond, log, nil)
			if one.Rest.HasEnded() || one.InFlight.Now() != 4 {
				t.Fatalf("%d in flight, all ended: %v", one.InFlight.Now(), one.Rest.HasEnded())
			}
			two, work := chained(t, load.Stage{Name: "two", Limit: width}, 9*time.Second, log, one.Rest)
			if first, owed := two.InFlight.Mean(0, 4*time.Second), 40-14+10*float64(max(0, width-4)); first !=
				float64(max(4, width)) || two.InFlight.Peak(0, 9*time.Second) != max(4, width) || work[0].Owed != owed {
				t.Errorf("%d wide: begins with %v in flight, peak %d, and %v tokens owed, want %v", width, first,
					two.InFlight.Peak(0, 9*time.Second), work[0].Owed, owed)
			}
			if !one.Rest.HasEnded() || two.Rest.HasEnded() {
				t.Errorf("ended: %v and %v", one.Rest.HasEnded(), two.Rest.HasEnded())
			}
			three, work := chained(t, load.Stage{Name: "three", Schedule: arrival.Constant{Rate: 1}.Schedule(1, "")},
				3*time.Second, log, two.Rest)
			if got := three.InFlight.Mean(0, 500*time.Millisecond); got != float64(width)+1 || work[0].Owed != c.owed {
				t.Errorf("open: begins with %v in flight, %v tokens owed, want %v", got, work[0].Owed, c.owed)
			}
			two.Rest.Cancel()
			<-two.Rest.Ended
			if three.Rest.HasEnded() {
				t.Error("cancelled with those of the stage before")
			}
			three.Rest.Cancel()
			<-three.Rest.Ended
			cancelled := 0
			for r := range log.Records("two") {
				if r.Incomplete() {
					cancelled++
				}
			}
			if cancelled != min(width, 4) {
				t.Errorf("%d wide: %d requests were cancelled", width, cancelled)
			}
			four, work := chained(t, load.Stage{Name: "four", Limit: 1}, 500*time.Millisecond, log, three.Rest)
			if four.InFlight.Now() != 1 || work[0].Owed != 10 {
				t.Errorf("after all were cancelled: %d in flight, %v tokens owed", four.InFlight.Now(), work[0].Owed)
			}
			four.Rest.Cancel()
			<-four.Rest.Ended
			if got := dues(log, "two"); !slices.Equal(got, c.dues) {
				t.Errorf("%d wide: due at %v, want %v", width, got, c.dues)
			}
			if got := dues(log, "three"); !slices.Equal(got[:3], []float64{0, 1, 2}) {
				t.Errorf("open: due at %v", got)
			}
		})
	}
}
