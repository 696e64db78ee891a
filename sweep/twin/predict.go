package twin

import (
	"math"
	"math/rand/v2"
	"slices"

	"llmsweep/client/sim"
	"llmsweep/sweep/stats"

	"gonum.org/v1/gonum/stat/distuv"
)

// Interval is a number with a 95 % interval.
type Interval struct{ Value, Low, High float64 }

// Saturation predicts the highest rate that the server sustains of requests of mean lengths, whose spread is their coefficient of variation.
// The interval has in it what the fit does not know of the costs and the limits, and how far predictions of left-out stages were off.
func (t *Twin) Saturation(w sim.Workload, spread float64) Interval {
	c := t.Config()
	c.Jitter = 0
	value := sim.TruthOf(c, w, spread, 0).Capacity
	plain := sim.CapacityOf(c, w).RequestsPerSecond
	if value == 0 || plain == 0 {
		return Interval{}
	}
	var logs []float64
	for _, d := range t.Draws {
		if k := sim.CapacityOf(t.with(t.Step.WithValues(d)), w).RequestsPerSecond; k > 0 {
			logs = append(logs, math.Log(k/plain))
		}
	}
	variance := square(t.modelError())
	for _, l := range logs {
		variance += l * l / float64(len(logs))
	}
	width := t.deviations() * math.Sqrt(variance)
	out := Interval{value, value * math.Exp(-width), value * math.Exp(width)}
	for _, other := range t.otherLimits() {
		k := sim.CapacityOf(other, w).RequestsPerSecond / plain * value
		out.Low, out.High = min(out.Low, k), max(out.High, k)
	}
	return out
}

// otherLimits returns the twin with the bounds of those limits that are not known exactly.
func (t *Twin) otherLimits() []sim.MachineConfig {
	var all []sim.MachineConfig
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

// modelError is the standard deviation of the relative error of a prediction that draws do not show: that of stages which were left out.
func (t *Twin) modelError() float64 {
	off := max(leastError, t.StageError)
	if t.Check != nil {
		off = max(off, t.Check.Error/2)
	}
	return off
}

// deviations is how many standard deviations a 95 % interval has on each side: more where they were estimated from a few stages.
func (t *Twin) deviations() float64 {
	const upper = 0.975
	if t.Stages == 0 || t.StageError <= leastError {
		return stats.Z95
	}
	return distuv.StudentsT{Mu: 0, Sigma: 1, Nu: float64(t.Stages)}.Quantile(upper)
}

func square(v float64) float64 { return v * v }

// Answer is a twin's prediction of the saturation rate at lengths of prompts and answers, in requests per second.
type Answer struct {
	Name         string  `json:"name,omitempty"` // of a mixed load, whose lengths below are means
	Prompt       int     `json:"prompt_tokens"`
	Output       int     `json:"output_tokens"`
	Rate         float64 `json:"saturation_rate,omitempty"`
	Low          float64 `json:"low,omitempty"`
	High         float64 `json:"high,omitempty"`
	Extrapolated bool    `json:"extrapolated,omitempty"` // beyond the lengths that were measured
	Refused      string  `json:"refused,omitempty"`      // why there is no prediction
	// Latencies are those of a load that the server surely sustains.
	Latencies *Latencies `json:"latencies,omitempty"`
}

// Why a twin does not predict.
const (
	RefusedLength = "one-length" // all lengths were equal, so that the costs of another cannot be known
	RefusedFar    = "too-far"    // more than twice the longest that was measured
	RefusedWide   = "not-known"  // the interval is so wide that it is no prediction
	RefusedHolds  = "too-long"   // the server cannot hold such a request
)

// widest is how many times the low end of an interval its high end may be for the number to be a prediction.
const widest = 4

// with sets the prediction, or refuses it where the server cannot hold the request, or nearly nothing is known.
func (a Answer) with(rate, low, high float64) Answer {
	switch {
	case rate == 0:
		a.Refused = RefusedHolds
	case !(high <= widest*low):
		a.Refused = RefusedWide
	default:
		a.Rate, a.Low, a.High = rate, low, high
	}
	return a
}

// beyond reports whether a length is outside a measured range, by more than a few tokens that a chat template adds.
func beyond(seen [2]int, n int) bool {
	const template = 1.1
	return float64(n)*template < float64(seen[0]) || float64(n) > template*float64(seen[1])
}

// OneLength reports whether all prompts that were measured are about equally long, so that their costs cannot be told from others.
func (t *Twin) OneLength() bool {
	const varied = 1.5 // the longest over the shortest
	return float64(t.Seen.Prompt[1]) < varied*float64(t.Seen.Prompt[0])
}

// refuses returns why the twin does not predict such requests; empty where it does.
func (t *Twin) refuses(prompt, output int) string {
	const far = 2 // how far beyond the longest is too far
	switch p := t.Seen.Prompt; {
	case p[1] == 0:
		return ""
	case t.OneLength() && beyond(p, prompt):
		return RefusedLength
	case prompt > far*p[1] || output > far*far*t.Seen.Output[1]:
		return RefusedFar
	}
	return ""
}

// Passed reports whether a twin passed its held-out check, or had none.
func (t *Twin) Passed() bool { return t.Check == nil || t.Check.Passed }

// Refuses returns why the twin does not predict requests of such lengths; empty where it does.
func (t *Twin) Refuses(prompt, output int) string { return t.refuses(prompt, output) }

// Beyond reports whether lengths are outside of those that were measured.
func (t *Twin) Beyond(prompt, output int) bool {
	return t.Seen.Prompt[1] > 0 && (beyond(t.Seen.Prompt, prompt) || beyond(t.Seen.Output, output))
}

// Sample draws a server that the measurement does not exclude: costs that explain the steps as well, the errors that the held-out check found,
// and the limits that are not known exactly.
func (t *Twin) Sample(rng *rand.Rand) sim.MachineConfig {
	s := t.Step
	if len(t.Draws) > 0 {
		s = s.WithValues(t.Draws[rng.IntN(len(t.Draws))])
	}
	v, _ := s.Values()
	factor := math.Exp(t.modelError() * rng.NormFloat64())
	for i := range v {
		v[i] *= factor
	}
	c := t.with(s.WithValues(v))
	if kv, ok := t.Intervals["kv_tokens"]; ok {
		c.KVTokens = int(kv[0] + rng.Float64()*(kv[1]-kv[0]))
	}
	if slices.Contains(t.Unknown, "step_tokens") && rng.IntN(2) == 0 {
		c.MaxBatchedTokens *= 4
	}
	return c
}

// Number is a number of a twin.
type Number struct {
	Key   string
	Value float64
}

// Numbers returns the numbers in the order of the file.
func (t *Twin) Numbers() []Number {
	values, keys := t.Step.Values()
	var all []Number
	for i, k := range keys {
		if k != "step.read.experts_ms" || values[i] > 0 {
			all = append(all, Number{k, values[i]})
		}
	}
	return append(all, Number{"slots", float64(t.Slots)}, Number{"step_tokens", float64(t.StepTokens)}, Number{"kv_tokens", float64(t.KVTokens)},
		Number{"latency_ms", t.LatencyMS}, Number{"jitter", t.Jitter})
}
