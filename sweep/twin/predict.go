package twin

import (
	"math"
	"slices"

	"llmsweep/client/sim"
)

// Interval is a number with a 95 % interval.
type Interval struct{ Value, Low, High float64 }

// Saturation predicts the highest rate that the server sustains of requests of mean lengths, whose spread is their coefficient of variation.
// The interval has in it what the fit does not know of the costs and the limits, and how far predictions of left-out stages were off.
func (t *Twin) Saturation(w sim.Workload, spread float64) Interval {
	c := t.Config()
	c.Jitter = 0
	value := c.TruthOf(w, spread, 0).Capacity
	plain := c.Capacity(w).RequestsPerSecond
	if value == 0 || plain == 0 {
		return Interval{}
	}
	var logs []float64
	for _, d := range t.Draws {
		if k := t.with(t.Step.withNumbers(d)).Capacity(w).RequestsPerSecond; k > 0 {
			logs = append(logs, math.Log(k/plain))
		}
	}
	variance := square(t.modelError())
	for _, l := range logs {
		variance += l * l / float64(len(logs))
	}
	const normal = 1.96
	width := normal * math.Sqrt(variance)
	out := Interval{value, value * math.Exp(-width), value * math.Exp(width)}
	for _, other := range t.otherLimits() {
		k := other.Capacity(w).RequestsPerSecond / plain * value
		out.Low, out.High = min(out.Low, k), max(out.High, k)
	}
	return out
}

// otherLimits returns the twin with the bounds of those limits that are not known exactly.
func (t *Twin) otherLimits() []sim.Config {
	var all []sim.Config
	if kv, ok := t.Intervals["kv_tokens"]; ok {
		for _, v := range kv {
			c := t.Config()
			c.KVTokens = int(v)
			all = append(all, c)
		}
	}
	if slices.Contains(t.Unknown, "step_tokens") {
		c := t.Config()
		c.MaxBatchedTokens *= 4
		all = append(all, c)
	}
	return all
}

// leastError is the error of a model that was never found wrong.
const leastError = 0.01

// modelError is the standard deviation of the relative error of a prediction that draws do not show.
func (t *Twin) modelError() float64 {
	if t.Check == nil {
		return leastError
	}
	return max(leastError, t.Check.Error/2)
}

func square(v float64) float64 { return v * v }
