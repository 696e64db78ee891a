package perplexity

import (
	"math"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// sums are the sums of windows that are paired with those of another run, or not.
type sums struct{ nll, tokens, bytes []float64 }

func add(scores []rundir.WindowScore) (s sums) {
	for _, w := range scores {
		s.nll = append(s.nll, w.NLL.Value())
		s.tokens = append(s.tokens, float64(w.Tokens))
		s.bytes = append(s.bytes, float64(w.Bytes))
	}
	return s
}

// ratio returns the ratio of two sums over windows, and how far each window moves it, times the number of windows: the linearization of a ratio.
func ratio(of, by []float64) (r float64, moves []float64) {
	r = stats.Mean(of) / stats.Mean(by)
	mean := stats.Mean(by)
	for i := range of {
		moves = append(moves, (of[i]-r*by[i])/mean)
	}
	return r, moves
}

// quantile is that of a two-sided interval of 95 %.
const quantile = 0.975

// half returns half of the width of a 95 % interval of an estimate that windows move so far; NaN where they are too few.
func half(moves []float64) float64 {
	n, neff := float64(len(moves)), stats.EffectiveN(moves)
	if neff < 2 {
		return math.NaN()
	}
	sum := 0.0
	for _, m := range moves {
		sum += m * m
	}
	return stats.StudentQuantile(quantile, neff-1) * math.Sqrt(sum/(n-1)/neff)
}

// estimate returns a value with its interval, scaled by f, which grows.
func estimate(n int, value, half float64, f func(float64) float64) rundir.Estimate {
	return rundir.Estimate{N: n, Mean: rundir.Exactly(f(value)), Low: rundir.Exactly(f(value - half)), High: rundir.Exactly(f(value + half))}
}

func identity(v float64) float64 { return v }
func bits(nats float64) float64  { return nats / math.Ln2 }

// summarize writes what the windows of a run show into p.
func summarize(p *rundir.Perplexity) {
	p.Windows, p.Tokens, p.Scored = len(p.Scores), 0, 0
	for _, w := range p.Scores {
		p.Tokens, p.Scored = p.Tokens+w.Tokens, p.Scored+w.Bytes
	}
	if p.Windows == 0 {
		return
	}
	s := add(p.Scores)
	nll, moves := ratio(s.nll, s.tokens)
	h := half(moves)
	p.NLL, p.Perplexity = estimate(p.Windows, nll, h, identity), estimate(p.Windows, nll, h, math.Exp)
	perByte, moves := ratio(s.nll, s.bytes)
	p.BitsPerByte = estimate(p.Windows, perByte, half(moves), bits)
}
