package twin

import (
	"math"
	"slices"
	"time"

	"llmsweep/client/sim"
	"llmsweep/sweep/seconds"
)

// Check is how well a twin predicts stages that it was not fitted to.
type Check struct {
	Error  float64    `yaml:"error"` // of output rates and median gaps: root of the mean square of the relative errors
	Passed bool       `yaml:"passed"`
	Rows   []CheckRow `yaml:"rows,omitempty"`
}

// CheckRow is a stage that was left out of the fit, predicted and measured.
type CheckRow struct {
	Stage     string  `yaml:"stage"`
	Predicted Metrics `yaml:"predicted,flow"`
	Measured  Metrics `yaml:"measured,flow"`
}

// Metrics are what a stage comes down to. A metric without values is 0.
type Metrics struct {
	Output  float64 `yaml:"output_tokens_per_s"`
	TTFT50  float64 `yaml:"ttft_p50_ms"`
	TTFT99  float64 `yaml:"ttft_p99_ms"`
	Gap50   float64 `yaml:"itl_p50_ms"`
	Gap99   float64 `yaml:"itl_p99_ms"`
	GapMean float64 `yaml:"itl_mean_ms"`
}

// Numbers returns the metrics in the order in which they are shown.
func (m *Metrics) Numbers() []float64 {
	return []float64{m.Output, m.TTFT50, m.TTFT99, m.Gap50, m.Gap99, m.GapMean}
}

// The largest relative errors with which a twin passes its check. Percentiles are shown and not judged, but for the median of gaps:
// a tail of a short stage is uncertain by itself.
const (
	passRate = 0.10 // of output tokens per second, and of the mean gap
	passTTFT = 0.30 // of the median time to the first token, if the difference is more than passTTFTMS
	// passTTFTMS is a difference that a network and a scheduler of an operating system make.
	passTTFTMS = 5.0
)

// leftOut chooses the stages that the check leaves out: every second one of those with arrivals at a rate, and the second widest closed
// loop. What is left must still show the server alone and full.
func leftOut(data []stageData) []int {
	var out, loops []int
	open := 0
	for i, d := range data {
		if d.Rate > 0 {
			if open++; open%2 == 1 {
				out = append(out, i)
			}
			continue
		}
		loops = append(loops, i)
	}
	slices.SortStableFunc(loops, func(a, b int) int { return data[b].Width - data[a].Width })
	const enough = 4
	if len(loops) >= enough {
		for _, i := range loops[1:] {
			if data[i].Width < data[loops[0]].Width {
				out = append(out, i)
				break
			}
		}
	}
	return out
}

// check fits a twin to a part of the stages and predicts the rest. It is nil where there are too few.
func check(data []stageData) *Check {
	const least = 3
	out := leftOut(data)
	var rest []stageData
	for i, d := range data {
		if !slices.Contains(out, i) {
			rest = append(rest, d)
		}
	}
	if len(rest) < least || len(out) == 0 {
		return nil
	}
	t, err := fit(rest)
	if err != nil {
		return nil
	}
	c := &Check{Passed: true}
	var errs []float64
	for _, i := range out {
		row := CheckRow{Stage: data[i].Name, Measured: data[i].measured(), Predicted: t.predict(&data[i])}
		p, m := row.Predicted, row.Measured
		if m.Output > 0 && m.GapMean > 0 {
			errs = append(errs, p.Output/m.Output-1, p.GapMean/m.GapMean-1)
		}
		c.Rows = append(c.Rows, row)
		if off := math.Abs(p.TTFT50 - m.TTFT50); off > passTTFTMS && off > passTTFT*m.TTFT50 {
			c.Passed = false
		}
	}
	sum := 0.0
	for _, e := range errs {
		sum += e * e
		if math.Abs(e) > passRate {
			c.Passed = false
		}
	}
	c.Error = round(math.Sqrt(sum / math.Max(1, float64(len(errs)))))
	return c
}

// window returns the part of a stage that is compared, and the end of its load.
func (d *stageData) window() (from, to float64) {
	from, to = d.From, d.From+d.Window
	if d.Window > 0 {
		return from, to
	}
	return 0, d.all[len(d.all)-1].sent
}

// measured returns the metrics of a stage's window.
func (d *stageData) measured() Metrics {
	from, to := d.window()
	g := gather{from: from, to: to}
	for _, q := range d.all {
		if len(q.tokens) > 0 {
			g.first(q.sent, q.tokens[0])
		}
		for i, at := range q.tokens {
			if i > 0 {
				g.gap(at, at-q.tokens[i-1])
			}
			g.token(at)
		}
	}
	return g.metrics()
}

// predict runs the twin through a stage: the same arrivals and lengths, or the same lengths in the same closed loop.
func (t *Twin) predict(d *stageData) Metrics {
	from, to := d.window()
	g := gather{from: from, to: to}
	s, err := sim.NewSimulation(t.Config())
	if err != nil {
		return Metrics{}
	}
	next := 0
	var add func(at time.Duration)
	add = func(at time.Duration) {
		if next == len(d.all) {
			return
		}
		q := &d.all[next]
		next++
		before := 0.0
		j := s.Add(at, sim.Request{PromptTokens: max(1, q.prompt), OutputTokens: max(1, q.output)}, func(j *sim.Job, n int, now time.Duration) {
			v := now.Seconds()
			if n == 1 {
				g.first(j.Arrived.Seconds(), v)
			} else {
				g.gap(v, v-before)
			}
			g.token(v)
			before = v
			if j.Ended && d.Width > 0 {
				add(now)
			}
		})
		if j.Refused && d.Width > 0 {
			add(at)
		}
	}
	first := len(d.all)
	if d.Width > 0 {
		first = min(first, d.Width)
	}
	for i := range first {
		add(seconds.Duration(d.all[i].sent))
	}
	s.Until(seconds.Duration(to))
	return g.metrics()
}

// gather collects what happens in a window.
type gather struct {
	from, to    float64
	tokens      int
	ttfts, gaps []float64
}

func (g *gather) in(at float64) bool { return at >= g.from && at < g.to }

func (g *gather) token(at float64) {
	if g.in(at) {
		g.tokens++
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
		return round(v[int(q*float64(len(v)-1))] / milli)
	}
	slices.Sort(g.ttfts)
	slices.Sort(g.gaps)
	mean := 0.0
	for _, v := range g.gaps {
		mean += v / float64(len(g.gaps))
	}
	return Metrics{
		Output: round(float64(g.tokens) / (g.to - g.from)),
		TTFT50: at(g.ttfts, 0.5), TTFT99: at(g.ttfts, 0.99), Gap50: at(g.gaps, 0.5), Gap99: at(g.gaps, 0.99), GapMean: round(mean / milli),
	}
}
