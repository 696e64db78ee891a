package workload

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	"llmsweep/sweep/rundir"
)

// maxTokens is more than any model's context.
const maxTokens = 100_000_000

// maxThink is longer than any run.
const maxThink = 24 * time.Hour

// ParseLengths parses a number of tokens or turns, or a distribution of them: "512", "mean=512,std=100,min=64,max=2048"
// (normal), "uniform:64-2048", "exp:512" or "lognormal:mean=512,std=300,max=4096". Drawn numbers are cut at min and
// max.
func ParseLengths(s string) (rundir.Lengths, error) {
	number := func(text string) (float64, bool) {
		v, err := strconv.ParseFloat(text, 64)
		return v, err == nil && v >= 0 && v <= maxTokens
	}
	l, ok := parseDistribution(s, number)
	whole := strings.ContainsAny(s, "=:") || l.Mean == math.Trunc(l.Mean)
	if !ok || l.Mean < 1 || !whole || l.Shape == rundir.ShapeUniform && l.Min < 1 {
		return rundir.Lengths{}, fmt.Errorf(
			"%q is not a length: use a number (512), or mean=512,std=100,min=64,max=2048, uniform:64-2048, exp:512, "+
				"lognormal:mean=512,std=300", s)
	}
	if l.Shape == rundir.ShapeExponential {
		l.Min = max(l.Min, 1)
	}
	return l, nil
}

// ParseThink parses a think time in the forms of [ParseLengths]: "2s", "exp:2s", "uniform:1s-5s" or
// "lognormal:mean=8s,std=6s,max=30s".
func ParseThink(s string) (Think, error) {
	duration := func(text string) (float64, bool) {
		d, err := time.ParseDuration(text)
		return float64(d) / float64(time.Millisecond), err == nil && d >= 0 && d <= maxThink
	}
	l, ok := parseDistribution(s, duration)
	if !ok {
		return Think{}, fmt.Errorf(
			"%q is not a think time: use a duration (2s), or exp:2s, uniform:1s-5s, lognormal:mean=8s,std=6s,max=30s, up to %v",
			s, maxThink)
	}
	return Think{l}, nil
}

func parseDistribution(s string, number func(string) (float64, bool)) (l rundir.Lengths, ok bool) {
	shape, rest, named := strings.Cut(s, ":")
	shape = strings.TrimSpace(shape)
	switch {
	case !named:
		rest = s
	case shape == rundir.ShapeUniform:
		from, to, _ := strings.Cut(rest, "-")
		low, lowOK := number(strings.TrimSpace(from))
		high, highOK := number(strings.TrimSpace(to))
		l = rundir.Lengths{Mean: (math.Trunc(low) + math.Trunc(high)) / 2, Min: int(low), Max: int(high), Shape: shape}
		return l, lowOK && highOK && low <= high && high >= 1
	case shape == rundir.ShapeExponential, shape == rundir.ShapeLognormal:
		l.Shape = shape
	default:
		return l, false
	}
	if mean, ok := number(strings.TrimSpace(rest)); ok {
		l.Mean = mean
		return l, l.Shape != rundir.ShapeLognormal
	}
	for _, part := range strings.Split(rest, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		v, ok := number(value)
		if !ok {
			return l, false
		}
		switch key {
		case "mean":
			l.Mean = v
		case "std":
			l.Std = v
		case "min":
			l.Min = int(v)
		case "max":
			l.Max = int(v)
		default:
			return l, false
		}
	}
	consistent := (l.Max == 0 || l.Max >= l.Min && float64(l.Max) >= l.Mean) && float64(l.Min) <= l.Mean
	return l, consistent && (l.Shape != rundir.ShapeLognormal || l.Std > 0 && l.Mean > 0) &&
		(l.Shape != rundir.ShapeExponential || l.Std == 0)
}

// Draw draws one length: a whole number, at least 1.
func Draw(l rundir.Lengths, rng *rand.Rand) int { return max(int(math.Round(draw(l, rng))), 1) }

func draw(l rundir.Lengths, rng *rand.Rand) float64 {
	v := l.Mean
	switch {
	case l.Shape == rundir.ShapeUniform:
		v = float64(l.Min + rng.IntN(l.Max-l.Min+1))
	case l.Shape == rundir.ShapeExponential:
		v = float64(l.Min) + (l.Mean-float64(l.Min))*rng.ExpFloat64()
	case l.Shape == rundir.ShapeLognormal:
		// ln has the variance ln(1+(std/mean)^2), and half of it below ln(mean) its mean.
		variance := math.Log1p(l.Std * l.Std / (l.Mean * l.Mean))
		v = math.Exp(math.Log(l.Mean) - variance/2 + math.Sqrt(variance)*rng.NormFloat64())
	case l.Std > 0:
		v += l.Std * rng.NormFloat64()
	}
	if l.Max > 0 {
		v = min(v, float64(l.Max))
	}
	return max(v, float64(l.Min))
}
