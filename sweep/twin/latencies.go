package twin

import (
	"math"
	"slices"

	"llmsweep/sweep/stats"

	"gonum.org/v1/gonum/stat/distuv"
)

// Latencies are what a twin predicts of requests that arrive at random (Poisson) at a rate, with the ends of their 95 % intervals.
type Latencies struct {
	Rate      float64 `json:"rate"` // requests per second
	Predicted Metrics `json:"predicted"`
	Low       Metrics `json:"low"`
	High      Metrics `json:"high"`
}

// sustained is the share of the low end of a saturation rate at which latencies are predicted: the server keeps up with it surely.
const sustained = 0.8

// WithLatencies adds the latencies to an answer about a load. Where the saturation rate is refused there are none.
func (a Answer) WithLatencies(t *Twin, m Mixed) Answer {
	if a.Refused != "" || len(m.Lengths) == 0 {
		return a
	}
	const requests, opening = 1000, 5 // a fifth of them is not in the window
	rate := sustained * a.Low
	d := arrivals(m, rate, requests)
	d.From = d.Requests[requests/opening].Sent
	d.Window = d.Requests[requests-1].Sent - d.From
	l := &Latencies{Rate: rate, Predicted: d.Predicted(t)}
	l.Low, l.High = t.between(&d, l.Predicted)
	a.Latencies = l
	return a
}

// arrivals is a stage of requests that arrive at random.
func arrivals(m Mixed, rate float64, n int) (d LoadedStages) {
	rng := stats.Rand(1, "twin", "arrivals")
	d.Rate = rate
	at := 0.0
	for i := range n {
		at += rng.ExpFloat64() / rate
		l := m.Lengths[i%len(m.Lengths)]
		d.Requests = append(d.Requests, StageRequest{Sent: at, Prompt: l[0], Output: l[1]})
	}
	return d
}

// between returns the 95 % intervals of what the twin predicts of a stage. Other servers run through the same stage: those of the draws, one that
// is slower and one that is faster by as much as left-out stages were off, and those of other limits. An error of the costs is larger in the
// latencies: where answers take longer, more of them share a step. The errors of the held-out check are added to it.
func (t *Twin) between(d *LoadedStages, predicted Metrics) (low, high Metrics) {
	var drawn, bounds, limits []Metrics
	for i, v := range t.Draws {
		c := t.with(t.Step.WithValues(v))
		c.Seed = uint64(i) + 2 // the server's own chance is another too
		drawn = append(drawn, d.on(c))
	}
	for _, sign := range []float64{-1, 1} {
		bounds = append(bounds, d.on(t.with(t.slower(sign*t.deviations()*t.modelError()))))
	}
	for _, c := range t.otherLimits() {
		limits = append(limits, d.on(c))
	}
	lows, highs := low.values(), high.values()
	for k, v := range predicted.values() {
		if *v == 0 {
			continue
		}
		deviation := square(stats.Z95) * meanSquare(offs(drawn, k, *v))
		deviation += square(t.missed(k))
		apart := offs(bounds, k, *v)
		down, up := math.Sqrt(deviation+square(slices.Min(append(apart, 0)))), math.Sqrt(deviation+square(slices.Max(append(apart, 0))))
		other := append(offs(limits, k, *v), 0)
		*lows[k] = round(*v * math.Exp(min(-down, slices.Min(other))))
		*highs[k] = round(*v * math.Exp(max(up, slices.Max(other))))
	}
	return low, high
}

// slower returns the step with all costs larger by a logarithm.
func (t *Twin) slower(by float64) Step {
	v, _ := t.Step.Values()
	for i := range v {
		v[i] *= math.Exp(by)
	}
	return t.Step.WithValues(v)
}

// missed returns by how much predictions of a metric may be off by the errors of the held-out check, as a logarithm.
func (t *Twin) missed(metric int) float64 {
	if t.Check == nil {
		return 0
	}
	var all []float64
	for i := range t.Check.Rows {
		r := &t.Check.Rows[i]
		all = append(all, offs([]Metrics{r.Predicted}, metric, *r.Measured.values()[metric])...)
	}
	if len(all) == 0 {
		return 0
	}
	const upper = 0.975
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(len(all))}.Quantile(upper) * math.Sqrt(meanSquare(all))
}

// offs returns the logarithms of a metric over a value, of those that are known.
func offs(all []Metrics, metric int, value float64) (logs []float64) {
	for i := range all {
		if v := *all[i].values()[metric]; v > 0 && value > 0 {
			logs = append(logs, math.Log(v/value))
		}
	}
	return logs
}

func meanSquare(all []float64) (sum float64) {
	for _, v := range all {
		sum += v * v / float64(len(all))
	}
	return sum
}
