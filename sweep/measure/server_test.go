package measure

import (
	"math"
	"testing"
	"time"

	"llmsweep/sweep/load"
)

func TestServerLoadCountsInTheWindow(t *testing.T) {
	nan := math.NaN()
	look := func(second int, running, waiting, kv, preempted float64) load.Reading {
		return load.Reading{At: time.Duration(second) * time.Second, Gauges: load.Gauges{
			Running: running, Waiting: waiting, KVUsage: kv, Preemptions: preempted, PrefixQueries: nan, PrefixHits: nan,
		}}
	}
	gauges := []load.Reading{look(1, 99, 99, 1, 0), look(11, 8, 0, 0.5, 3), look(12, 10, 2, 0.75, 3), look(13, 9, 4, 0.7, 8), look(21, 99, 99, 1, 99)}
	s := serverLoad(gauges, Window{From: 10 * time.Second, To: 20 * time.Second})
	near(t, "running", s.Running, 9)
	near(t, "most running", s.RunningMax, 10)
	near(t, "waiting", s.Waiting, 2)
	near(t, "KV cache", s.KVUsageMax, 0.75)
	near(t, "preemptions", s.Preemptions, 5)
	if !s.PrefixHitRate.IsZero() {
		t.Errorf("a hit rate of %v, and the server told none", s.PrefixHitRate)
	}
	if got := serverLoad(gauges, Window{From: 30 * time.Second, To: 40 * time.Second}); got != nil {
		t.Errorf("gauges out of nothing: %+v", got)
	}
}
