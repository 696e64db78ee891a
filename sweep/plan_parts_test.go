package sweep

import (
	"math"
	"strconv"
	"testing"
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
)

// step returns a step of the search that took whole waves; an error of 0 is absent.
func step(level int, output, latency, err float64) rundir.SearchStep {
	s := rundir.SearchStep{Name: rundir.SearchPrefix + strconv.Itoa(level), Output: rundir.Exactly(output),
		Latency: rundir.Exactly(latency)}
	if err > 0 {
		s.Error = rundir.Exactly(err)
	}
	return s
}

// planOf returns the plan of a server that does 1 request of 100 tokens per second alone, and with a ceiling 40 of them
// with 80 in flight.
func planOf(budget time.Duration, ceiling bool, steps ...rundir.SearchStep) *plan {
	c := Defaults()
	c.Budget = budget
	f := rundir.Exactly
	one := rundir.Stage{Name: "synchronous", Role: rundir.Synchronous, State: rundir.Complete, MaxConcurrency: 1,
		Progress: rundir.Progress{Rate: f(1)}, Requests: rundir.Requests{OK: 10}}
	one.Latency.Mean, one.TokensPerS.Output = f(1), f(100)
	run := &rundir.Run{Stages: []rundir.Stage{one}, Search: steps}
	if ceiling {
		full := rundir.Stage{Name: "throughput", Role: rundir.Throughput, State: rundir.Complete, MaxConcurrency: 80,
			Progress: rundir.Progress{Rate: f(40)}, Requests: rundir.Requests{OK: 100}}
		full.Latency.Mean = f(2)
		run.Stages = append(run.Stages, full)
	}
	return c.plan(run, budget)
}

// The search goes up by what two steps tell that more will bring, and ends with the fastest number in flight.
func TestSearchSteps(t *testing.T) {
	late := step(4, 90, 1, 0.01)
	late.Invalid = note.Text.New("the client was late")
	for name, c := range map[string]struct {
		steps []rundir.SearchStep
		level int
		done  bool
	}{
		"first":          {nil, 4, false},
		"far from full":  {[]rundir.SearchStep{step(4, 390, 1, 0.01)}, 16, false},
		"nearly full":    {[]rundir.SearchStep{step(4, 200, 2, 0.01)}, 8, false},
		"flat":           {[]rundir.SearchStep{step(4, 390, 1, 0.01), step(16, 392, 4, 0.01)}, 4, true},
		"flat, not sure": {[]rundir.SearchStep{step(4, 390, 1, 0.2), step(16, 392, 4, 0.2)}, 32, false},
		"flat twice": {[]rundir.SearchStep{step(4, 390, 1, 0.2), step(16, 392, 4, 0.2), step(32, 391, 8, 0.2)}, 4,
			true},
		"too slow":                {[]rundir.SearchStep{step(4, 390, 61, 0.01)}, 4, true},
		"no faster than alone":    {[]rundir.SearchStep{step(4, 90, 4, 0.01)}, 2, true},
		"the client was late":     {[]rundir.SearchStep{step(2, 190, 1, 0.01), late}, 8, false},
		"it was late twice":       {[]rundir.SearchStep{step(2, 190, 1, 0.2), late, late}, 2, true},
		"as many as allowed":      {[]rundir.SearchStep{step(300, 9000, 1, 0.01)}, 512, false},
		"as many as allowed: end": {[]rundir.SearchStep{step(300, 9000, 1, 0.01), step(512, 15000, 1, 0.01)}, 512, true},
	} {
		p := planOf(10*time.Minute, false, c.steps...)
		if got := p.search(&p.run.Stages[0]); got != (search{c.level, c.done}) {
			t.Errorf("%s: %+v, want %d, %v", name, got, c.level, c.done)
		}
	}
}

// What more in flight can bring follows from how the latency grew: to 2 s with 80 here, 1.25 % for each more.
func TestMore(t *testing.T) {
	waits := func(level int) rundir.SearchStep {
		s := step(level, 4000, 2, 0.01)
		s.Waited = true
		return s
	}
	for name, c := range map[string]struct {
		steps []rundir.SearchStep
		want  float64
	}{
		"the floor and the ceiling":     {nil, 2*79/80.0 - 1},
		"twice as many, 1 % more":       {[]rundir.SearchStep{step(160, 0, 160/40.4, 0.01)}, 1/(2/1.06-1) - 1},
		"twice as many, a first moment": {[]rundir.SearchStep{step(160, 0, 160/40.4, 0)}, 2*79/80.0 - 1},
		"places for fewer":              {[]rundir.SearchStep{waits(80)}, 0},
		"places for less than twice":    {[]rundir.SearchStep{waits(160)}, leastGain - 1},
	} {
		if got := planOf(10*time.Minute, true, c.steps...).more(); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if !locates(0) || !locates(0.25) || locates(0.5) {
		t.Error("a pair locates a rate to within a fifth")
	}
}

// A quick pair holds a rate below the ceiling, which is chained, and one beyond what more in flight bring.
func TestQuickPair(t *testing.T) {
	p := planOf(10*time.Minute, true, step(160, 0, 160/40.4, 0.01))
	low, ok := p.quickPair()
	if rate := low.Load.MeanRate(); !ok || rate != (1-pairStep)*40 || !low.Chained || low.Wave != 2*time.Second {
		t.Errorf("first %v, chained %v, wave %v", rate, low.Chained, low.Wave)
	}
	hold := func(rate float64) rundir.Stage {
		return rundir.Stage{Name: rundir.QuickPrefix, Role: rundir.Hold, Rate: rundir.Exactly(rate)}
	}
	p.run.Stages = append(p.run.Stages, hold(37.2))
	high, ok := p.quickPair()
	if want := (1 + pairStep) * (1 + p.more()) * 40; !ok || high.Load.MeanRate() != want || high.Chained {
		t.Errorf("second %v, chained %v; want %v", high.Load.MeanRate(), high.Chained, want)
	}
	p.run.Stages = append(p.run.Stages, hold(45))
	if _, ok := p.quickPair(); ok {
		t.Error("a third")
	}
	if _, ok := planOf(0, true).quickPair(); ok {
		t.Error("one without a budget")
	}
	p = planOf(10*time.Minute, true) // more may bring 98 %
	p.run.Stages = append(p.run.Stages, hold(37.2))
	if _, ok := p.quickPair(); ok {
		t.Error("one that locates nothing")
	}
}

// Latencies between those that were measured are interpolated, and not extrapolated.
func TestLatencyAt(t *testing.T) {
	p := planOf(10*time.Minute, true, step(20, 0, 1.25, 0), step(160, 0, 4, 0.01)) // 16 per second; and beyond the ceiling
	for rate, want := range map[float64]float64{0.5: 1, 1: 1, 8.5: 1.125, 16: 1.25, 28: 1.625, 40: 2, 99: 2} {
		if got := p.latencyAt(rate).Seconds(); math.Abs(got-want) > 1e-6 {
			t.Errorf("at %v: %v s, want %v", rate, got, want)
		}
	}
}

// Rows share the time that is left, each by what it needs; holds leave them a fifth of a budget at most.
func TestRowsShareTheTime(t *testing.T) {
	for _, budget := range []time.Duration{time.Minute, 2 * time.Minute, time.Hour} {
		p := planOf(budget, true)
		var took, needs time.Duration
		for range p.Points {
			s, ok := p.nextRow()
			if !ok {
				t.Fatal("a rate has no row")
			}
			rate := s.Load.MeanRate()
			window := s.MinTime - s.From
			full, enough := p.rowNeeds(rate), budget == time.Hour
			if window > full || enough && (window != full || s.From != p.latencyAt(rate)) {
				t.Errorf("budget %v, %v: window %v of %v, from %v", budget, rate, window, full, s.From)
			}
			needs += p.latencyAt(rate) + p.rowNeeds(rate)
			took += s.MinTime
			p.left -= s.MinTime
			st := rundir.Stage{Name: s.Name, Role: s.Role, Rate: rundir.Exactly(rate)}
			p.run.Stages = append(p.run.Stages, st)
		}
		if _, ok := p.nextRow(); ok || took > budget {
			t.Errorf("budget %v: rows took %v, another: %v", budget, took, ok)
		}
		if got, want := planOf(budget, true).reserve(), min(needs, budget/5); got != want {
			t.Errorf("budget %v: %v are reserved, want %v", budget, got, want)
		}
	}
	if planOf(0, true).reserve() != 0 {
		t.Error("time is reserved without a budget")
	}
	p := planOf(0, true)
	enough := rundir.Duration(float64(experiment.RequestsFor(0.9)) / p.rates()[0]) // for a p90
	if got := p.rowNeeds(p.rates()[0]); got != min(p.StageTime/2, enough) || got <= p.StageTime/4 {
		t.Errorf("the slowest row needs %v", got)
	}
	if got := p.rowNeeds(p.rates()[6]); got != p.StageTime/4 {
		t.Errorf("the fastest row needs %v", got)
	}
	if got := p.rowNeeds(32); got != rundir.Duration(operatingRequests/32.0) {
		t.Errorf("the recommended rate needs %v", got)
	}
}
