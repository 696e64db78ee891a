package sweep

import (
	"math"
	"testing"
	"time"

	"llmsweep/sweep/rundir"
)

func TestServerSideCountsInTheWindow(t *testing.T) {
	nan := math.NaN()
	look := func(second int, running, waiting, kv, preempted float64) gauged {
		return gauged{time.Duration(second) * time.Second, Gauges{running, waiting, kv, preempted, nan, nan}}
	}
	gauges := []gauged{look(1, 99, 99, 1, 0), look(11, 8, 0, 0.5, 3), look(12, 10, 2, 0.75, 3), look(13, 9, 4, 0.7, 8), look(21, 99, 99, 1, 99)}
	s := serverSide(gauges, span{10, 20})
	near(t, "running", s.Running, 9)
	near(t, "most running", s.RunningMax, 10)
	near(t, "waiting", s.Waiting, 2)
	near(t, "KV cache", s.KVUsageMax, 0.75)
	near(t, "preemptions", s.Preemptions, 5)
	if !s.PrefixHitRate.IsZero() {
		t.Errorf("a hit rate of %v, and nobody told", s.PrefixHitRate)
	}
	if got := serverSide(gauges, span{30, 40}); got != nil {
		t.Errorf("figures out of nothing: %+v", got)
	}
}

func TestWhatAServerRanOutOf(t *testing.T) {
	f := rundir.Exactly
	for name, c := range map[string]struct {
		s    *rundir.Server
		want string
	}{
		"nothing known":         {nil, ""},
		"preemptions":           {&rundir.Server{Running: f(40), RunningMax: f(50), Waiting: f(0), KVUsageMax: f(0.9), Preemptions: f(3)}, rundir.LimitKV},
		"a full cache":          {&rundir.Server{Running: f(40), RunningMax: f(50), Waiting: f(9), KVUsageMax: f(0.98), Preemptions: f(0)}, rundir.LimitKV},
		"as many as ever":       {&rundir.Server{Running: f(255), RunningMax: f(256), Waiting: f(30), KVUsageMax: f(0.6), Preemptions: f(0)}, rundir.LimitSlots},
		"all run, none waits":   {&rundir.Server{Running: f(90), RunningMax: f(140), Waiting: f(0), KVUsageMax: f(0.3), Preemptions: f(0)}, rundir.LimitCompute},
		"no word of a KV cache": {&rundir.Server{Running: f(4), RunningMax: f(4), Waiting: f(12)}, rundir.LimitSlots},
	} {
		if got := ranOut(c.s); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
