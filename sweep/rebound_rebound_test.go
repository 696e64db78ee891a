package sweep

import (
	"errors"
	"iter"
	"testing"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/rundir"
)

// answered yields a record a second, whose latency is that of the second in which it was due; 0 stands for no answer.
func answered(latency ...float64) iter.Seq2[*rundir.Record, error] {
	return func(yield func(*rundir.Record, error) bool) {
		for i, l := range latency {
			r := &rundir.Record{Due: rundir.Exactly(float64(i)), Sent: rundir.Exactly(float64(i)), End: rundir.Exactly(float64(i) + l), Status: string(client.StatusOK)}
			if l == 0 {
				r.Status = string(client.StatusIncomplete)
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// reboundPhases returns n latencies of each value.
func reboundPhases(n int, values ...float64) (all []float64) {
	for _, v := range values {
		for range n {
			all = append(all, v)
		}
	}
	return all
}

func TestFind(t *testing.T) {
	t.Parallel()
	const quick = 1
	for name, c := range map[string]struct {
		latency []float64
		want    ReboundOutcome
	}{
		"back after ten seconds":       {append(reboundPhases(30, 5), append(reboundPhases(10, 5), reboundPhases(50, 0.5)...)...), ReboundOutcome{true, true, 10 * time.Second}},
		"at once":                      {append(reboundPhases(30, 5), reboundPhases(60, 0.5)...), ReboundOutcome{true, true, 0}},
		"never":                        {reboundPhases(30, 5, 5, 5), ReboundOutcome{Collapsed: true}},
		"no answer is not quick":       {append(reboundPhases(30, 5), reboundPhases(60, 0)...), ReboundOutcome{Collapsed: true}},
		"quick for a while only":       {append(reboundPhases(30, 5), append(reboundPhases(10, 5), append(reboundPhases(10, 0.5), reboundPhases(40, 5)...)...)...), ReboundOutcome{Collapsed: true}},
		"a slow one among many":        {append(reboundPhases(30, 5), append(reboundPhases(29, 0.5), append([]float64{3}, reboundPhases(30, 0.5)...)...)...), ReboundOutcome{true, true, 0}},
		"the overload did no harm":     {reboundPhases(90, 0.5), ReboundOutcome{Back: true}},
		"too few requests say nothing": {reboundPhases(1, 5, 5, 5, 5, 5), ReboundOutcome{}},
	} {
		falls := 30 * time.Second
		if len(c.latency) < 30 {
			falls = 3 * time.Second
		}
		got, err := FindRebound(answered(c.latency...), falls, 90*time.Second, quick)
		if got != c.want || err != nil {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, c.want)
		}
	}
	broken := errors.New("the disk is gone")
	if _, err := FindRebound(func(yield func(*rundir.Record, error) bool) { yield(nil, broken) }, 1, 2, quick); !errors.Is(err, broken) {
		t.Errorf("an error of reading is %v", err)
	}
}

// The rate falls once, and the same seed repeats the arrivals.
func TestLoad(t *testing.T) {
	t.Parallel()
	l := ReboundLoad{Poisson: arrival.Poisson{Rate: 10}, Overload: 50, Falls: 20 * time.Second}
	count := func(seed uint64) (n [3]int) {
		s := l.Schedule(seed, l.Name())
		for last := time.Duration(0); last < time.Minute; n[last/(20*time.Second)]++ {
			due, ok := s.Next()
			if !ok || due < last {
				t.Fatalf("%v after %v, %v", due, last, ok)
			}
			if last = due; last >= time.Minute {
				break
			}
		}
		return n
	}
	n := count(1)
	if n != count(1) || n == count(2) {
		t.Error("the seed does not decide")
	}
	if n[0] < 850 || n[0] > 1150 || n[1] < 150 || n[1] > 250 || n[2] < 150 || n[2] > 250 {
		t.Errorf("%v arrivals, want 1000, 200, 200", n)
	}
	if l.Name() != "rebound@10.00" || l.MeanRate() != 10 {
		t.Errorf("%s, %v", l.Name(), l.MeanRate())
	}
}
