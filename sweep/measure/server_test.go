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
	gauges := []load.Reading{look(1, 99, 99, 1, 0), look(11, 8, 0, 0.5, 3), look(12, 10, 2, 0.75, 3),
		look(13, 9, 4, 0.7, 8), look(21, 99, 99, 1, 99)}
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

// The engine's own means are of what came in the window; a server that does not tell has none.
func TestTheEnginesOwnView(t *testing.T) {
	look := func(second int, steps, sum, n float64) load.Reading {
		return load.Reading{At: time.Duration(second) * time.Second, Gauges: load.Gauges{
			Steps: steps, TTFT: load.Tally{Sum: sum, Count: n}, Queue: load.Tally{Sum: sum / 10, Count: n},
			ITL:     load.Tally{Sum: 2 * sum, Count: 20 * n},
			Latency: load.Tally{Sum: 3 * sum, Count: n},
		}}
	}
	w := Window{From: 10 * time.Second, To: 20 * time.Second}
	s := serverLoad([]load.Reading{look(1, 0, 0, 0), look(11, 400, 2, 10), look(15, 500, 9, 50), look(19, 720, 17, 70),
		look(21, 9999, 999, 99)}, w)
	near(t, "steps/s", s.Steps, 40)
	near(t, "TTFT", s.TTFT, 0.25)
	near(t, "queue", s.Queue, 0.025)
	near(t, "ITL", s.ITL, 0.025)
	near(t, "latency", s.Latency, 0.75)
	again := serverLoad([]load.Reading{look(11, 400, 2, 10), look(19, 3, 0.1, 1)}, w)
	silent := serverLoad([]load.Reading{{At: w.From}, {At: w.To - 1}}, w)
	if !again.TTFT.IsZero() || !again.Steps.IsZero() || !silent.TTFT.IsZero() || !silent.Steps.IsZero() {
		t.Errorf("began again: %+v; tells nothing: %+v", again, silent)
	}
}
