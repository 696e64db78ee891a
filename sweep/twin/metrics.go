package twin

import (
	"slices"
	"time"

	"llmsweep/client/sim"
	"llmsweep/sweep/rundir"
)

// LoadedStages is a stage with its requests.
type LoadedStages struct {
	Stage
	Requests []StageRequest // in the order in which they were sent
}

// loadStages reads the requests of a stage from its records.
func loadStages(s Stage) LoadedStages { return LoadedStages{s, s.Requests()} }

// window returns the part of a stage that is compared, and the end of its load.
func (d *LoadedStages) window() (from, to float64) {
	from, to = d.From, d.From+d.Window
	if d.Window > 0 {
		return from, to
	}
	return 0, d.Requests[len(d.Requests)-1].Sent
}

// Measured returns the metrics of a stage's window.
func (d *LoadedStages) Measured() Metrics {
	from, to := d.window()
	g := gather{from: from, to: to}
	for _, q := range d.Requests {
		if len(q.Tokens) > 0 {
			g.first(q.Sent, q.Tokens[0])
		}
		for i, at := range q.Tokens {
			if i > 0 {
				g.gap(at, at-q.Tokens[i-1])
			}
			g.token(at)
		}
		if q.Whole {
			g.end(q.Gone)
		}
	}
	return g.metrics()
}

// Predicted runs a twin through a stage: the same arrivals and lengths, or the same lengths in the same closed loop.
func (d *LoadedStages) Predicted(t *Twin) Metrics { return d.on(t.Config()) }

// on runs a server through a stage.
func (d *LoadedStages) on(c sim.MachineConfig) Metrics {
	from, to := d.window()
	g := gather{from: from, to: to}
	s, err := sim.NewSimulation(c)
	if err != nil {
		return Metrics{}
	}
	next := 0
	var add func(at time.Duration)
	add = func(at time.Duration) {
		if next == len(d.Requests) {
			return
		}
		q := &d.Requests[next]
		next++
		before := 0.0
		j := s.Add(at, sim.Request{PromptTokens: max(1, q.Prompt), OutputTokens: max(1, q.Output)}, func(j *sim.Job, n int, now time.Duration) {
			v := now.Seconds()
			if n == 1 {
				g.first(j.Arrived.Seconds(), v)
			} else {
				g.gap(v, v-before)
			}
			g.token(v)
			before = v
			if !j.Ended {
				return
			}
			if g.end(v); d.Width > 0 {
				add(now)
			}
		})
		if j.Refused && d.Width > 0 {
			add(at)
		}
	}
	first := len(d.Requests)
	if d.Width > 0 {
		first = min(first, d.Width)
	}
	for i := range first {
		add(rundir.Duration(d.Requests[i].Sent))
	}
	s.Until(rundir.Duration(to))
	return g.metrics()
}

// gather collects what happens in a window.
type gather struct {
	from, to    float64
	tokens      int
	ended       int // requests
	ttfts, gaps []float64
}

func (g *gather) in(at float64) bool { return at >= g.from && at < g.to }

func (g *gather) token(at float64) {
	if g.in(at) {
		g.tokens++
	}
}

func (g *gather) end(at float64) {
	if g.in(at) {
		g.ended++
	}
}

func (g *gather) first(sent, at float64) {
	if g.in(sent) && g.in(at) {
		g.ttfts = append(g.ttfts, at-sent)
	}
}

func (g *gather) gap(at, length float64) {
	if g.in(at) {
		g.gaps = append(g.gaps, length)
	}
}

func (g *gather) metrics() Metrics {
	at := func(v []float64, q float64) float64 {
		if len(v) == 0 {
			return 0
		}
		return round(v[int(q*float64(len(v)-1))] * 1e3)
	}
	slices.Sort(g.ttfts)
	slices.Sort(g.gaps)
	mean := 0.0
	for _, v := range g.gaps {
		mean += v / float64(len(g.gaps))
	}
	return Metrics{
		Requests: round(float64(g.ended) / (g.to - g.from)), Output: round(float64(g.tokens) / (g.to - g.from)),
		TTFT50: at(g.ttfts, 0.5), TTFT99: at(g.ttfts, 0.99), Gap50: at(g.gaps, 0.5), Gap99: at(g.gaps, 0.99), GapMean: round(mean * 1e3),
	}
}
