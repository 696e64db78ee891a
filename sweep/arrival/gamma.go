package arrival

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"llmsweep/sweep/rundir"
)

const (
	minShape = 0.001 // below, gamma arrivals are one burst
	maxShape = 1e6   // above, they are constant to the nanosecond
)

// Gamma has independent gamma-distributed gaps of mean 1/Rate, with a coefficient of variation of 1/sqrt(shape).
type Gamma = Rated[Shape]

// Shape is that of gamma-distributed gaps: below 1 they come in bursts and lulls, above 1 more evenly; 1 is Poisson.
// vllm bench serve calls it burstiness: its gaps are Gamma(shape, 1/(rate*shape)) too.
type Shape float64

// String returns the kind and the shape: "gamma:0.5".
func (s Shape) String() string { return fmt.Sprintf("gamma:%v", float64(s)) }

func (s Shape) validate() error {
	if !(s >= minShape && s <= maxShape) {
		return fmt.Errorf("the shape of gamma arrivals must be between %v and %v, not %v", minShape, maxShape, float64(s))
	}
	return nil
}

func (s Shape) schedule(rate float64, rng *rand.Rand) Schedule {
	shape := float64(s)
	return &gamma{scale: 1 / (rate * shape), shape: shape, rng: rng}
}

func readGamma(value string) (openLoad, bool) {
	n, err := strconv.ParseFloat(value, 64)
	return Gamma{Gaps: Shape(n)}, err == nil && Shape(n).validate() == nil
}

type gamma struct {
	scale, shape float64 // seconds; none
	at           float64
	rng          *rand.Rand
}

func (g *gamma) Next() (time.Duration, bool) {
	g.at += g.scale * drawGamma(g.shape, g.rng)
	return rundir.Duration(g.at), true
}

// drawGamma draws from Gamma(shape, 1) by Marsaglia and Tsang, "A simple method for generating gamma variables", ACM
// TOMS 26 (2000): a transformed normal variable, sometimes rejected. Shapes below 1 follow their section 6:
// Gamma(shape+1) U^(1/shape).
func drawGamma(shape float64, rng *rand.Rand) float64 {
	if shape < 1 {
		return drawGamma(shape+1, rng) * math.Pow(1-rng.Float64(), 1/shape) // 1-U lies in (0, 1]
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + c*x
		if v <= 0 {
			continue
		}
		v *= v * v
		u := 1 - rng.Float64()
		if math.Log(u) < x*x/2+d*(1-v+math.Log(v)) {
			return d * v
		}
	}
}
