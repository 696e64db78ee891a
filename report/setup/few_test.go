package setup

import (
	"testing"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// Nothing is interpolated to a stage of which fewer than a tenth of the requests ended, nor to one without a window.
func TestNothingIsDrawnToFewEnded(t *testing.T) {
	for name, spoil := range map[string]func(*rundir.Stage){
		"few ended": func(s *rundir.Stage) { s.Requests = rundir.Requests{Due: 100, Sent: 100, OK: 9, Incomplete: 91} },
		"no window": func(s *rundir.Stage) { s.Window = 0 },
		"":          func(*rundir.Stage) {},
	} {
		run := quick()
		run.Stages[0].TTFT.Mean = rundir.Exactly(0.01)
		spoil(&run.Stages[2])
		s := Load([]Input{{Path: "quick", Run: run}})[0]
		if _, ok := s.Serving(6); ok != (name == "") {
			t.Errorf("%q: a point between 4 and 8 req/s: %v", name, ok)
		}
		l, refusal := s.Within([]slo.Term{{Metric: slo.TTFT, Stat: slo.Mean, Limit: 0.06}})
		if want := map[bool]float64{true: 6, false: 4}[name == ""]; refusal != nil || l.Rate != want || l.Broken == nil {
			t.Errorf("%q: up to %v req/s, want %v (%v)", name, l.Rate, want, refusal)
		}
	}
}
