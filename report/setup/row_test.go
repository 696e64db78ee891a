package setup

import (
	"testing"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// Nothing is interpolated to a stage of which fewer than a tenth of the requests ended, nor to one without a window.
func TestUnrepresentativeRows(t *testing.T) {
	for name, spoil := range map[string]func(*rundir.Stage){
		"few ended": func(s *rundir.Stage) { s.Requests = rundir.Requests{Due: 100, Sent: 100, OK: 9, Incomplete: 91} },
		"no window": func(s *rundir.Stage) { s.Window = 0 },
		"":          func(*rundir.Stage) {},
	} {
		run := quick()
		run.Stages[0].TTFT.Mean = rundir.Exactly(0.01)
		spoil(&run.Stages[2])
		s := Load([]Input{{Path: "quick", Run: run}})[0]
		if _, ok := s.PointAtRate(6); ok != (name == "") {
			t.Errorf("%q: a point between 4 and 8 req/s: %v", name, ok)
		}
		l, refusal := s.RateLimit([]slo.Term{{Metric: slo.TTFT, Stat: slo.Mean, Limit: 0.06}})
		if want := map[bool]float64{true: 6, false: 4}[name == ""]; refusal != nil || l.Rate != want ||
			l.LimitingTerm == nil {
			t.Errorf("%q: up to %v req/s, want %v (%v)", name, l.Rate, want, refusal)
		}
	}
}

// Repeats are judged by the slowest, the one that fails most, and no percentile that one of them does not support. A
// time that one lacks is a lower bound.
func TestWorstFigures(t *testing.T) {
	stage := func(rate, p90, p95 float64, failed int) *rundir.Stage {
		return &rundir.Stage{
			Requests: rundir.Requests{OK: 100 - failed, Error: failed}, Rates: rundir.Rates{Completed: rundir.Exactly(rate)},
			Latency: rundir.Dist{P90: rundir.Exactly(p90), P95: rundir.Exactly(p95)},
		}
	}
	one, other := stage(3, 2, 5, 7), stage(2, 4, 4, 1)
	one.Latency.Unsupported = []string{"p99"}
	one.TTFT.P95 = rundir.Exactly(1)
	w := worstFigures([]*rundir.Stage{one, other})
	if d := &w.Latency; w.Rates.Completed.Value() != 2 || d.P90.Value() != 4 || d.P95.Value() != 5 ||
		d.Supported("p99") || !d.Supported("p95") {
		t.Errorf("%+v", w)
	}
	if w.Requests.Error != 7 || w.TTFT.P95 != rundir.Over(1) || !w.TTFT.P90.IsZero() {
		t.Errorf("%+v, %+v", w.Requests, w.TTFT)
	}
}

// A server that answers lone requests faster than the lowest arrival rate asks has values at shares of its saturation
// rate all the same.
func TestSynchronousRowHidesNoArrivals(t *testing.T) {
	setups := Load([]Input{{Path: "quick", Run: quick()}})
	p, ok := setups[0].PointAtShare(0.5)
	if !ok || p.Low.Stage.Name != "poisson@4.00" || p.High.Stage.Name != "poisson@8.00" {
		t.Fatalf("at 6.5 req/s: %v, %+v", ok, p)
	}
	if v := p.Latency(TTFT).Number.Value(); v < 0.04 || v > 0.08 {
		t.Errorf("TTFT there: %v", v)
	}
	if _, ok := setups[0].PointAtShare(0.95); ok {
		t.Error("beyond the last row nothing is known")
	}
}
