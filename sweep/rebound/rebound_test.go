package rebound

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

// phases returns n latencies of each value.
func phases(n int, values ...float64) (all []float64) {
	for _, v := range values {
		for range n {
			all = append(all, v)
		}
	}
	return all
}

func TestFind(t *testing.T) {
	const quick = 1
	for name, c := range map[string]struct {
		latency []float64
		want    Outcome
	}{
		"back after ten seconds":       {append(phases(30, 5), append(phases(10, 5), phases(50, 0.5)...)...), Outcome{true, true, 10 * time.Second}},
		"at once":                      {append(phases(30, 5), phases(60, 0.5)...), Outcome{true, true, 0}},
		"never":                        {phases(30, 5, 5, 5), Outcome{Collapsed: true}},
		"no answer is not quick":       {append(phases(30, 5), phases(60, 0)...), Outcome{Collapsed: true}},
		"quick for a while only":       {append(phases(30, 5), append(phases(10, 5), append(phases(10, 0.5), phases(40, 5)...)...)...), Outcome{Collapsed: true}},
		"a slow one among many":        {append(phases(30, 5), append(phases(29, 0.5), append([]float64{3}, phases(30, 0.5)...)...)...), Outcome{true, true, 0}},
		"the overload did no harm":     {phases(90, 0.5), Outcome{Back: true}},
		"too few requests say nothing": {phases(1, 5, 5, 5, 5, 5), Outcome{}},
	} {
		falls := 30 * time.Second
		if len(c.latency) < 30 {
			falls = 3 * time.Second
		}
		got, err := Find(answered(c.latency...), falls, 90*time.Second, quick)
		if got != c.want || err != nil {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, c.want)
		}
	}
	broken := errors.New("the disk is gone")
	if _, err := Find(func(yield func(*rundir.Record, error) bool) { yield(nil, broken) }, 1, 2, quick); !errors.Is(err, broken) {
		t.Errorf("an error of reading is %v", err)
	}
}

// The rate falls once, and the same seed repeats the arrivals.
func TestLoad(t *testing.T) {
	l := Load{Poisson: arrival.Poisson{Rate: 10}, Overload: 50, Falls: 20 * time.Second}
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
