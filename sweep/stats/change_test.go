package stats

import (
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
)

type habit int

const (
	plain habit = iota
	heavy
	weekly
)

func series(rng *rand.Rand, n int, sigma float64, h habit) []float64 {
	y := make([]float64, n)
	phase := rng.Float64() * 7
	for i := range y {
		switch h {
		case plain:
			y[i] = sigma * rng.NormFloat64()
		case heavy: // Student's t with 3 degrees of freedom, whose standard deviation is sqrt(3)
			chi := 0.0
			for range 3 {
				z := rng.NormFloat64()
				chi += z * z
			}
			y[i] = sigma * rng.NormFloat64() / math.Sqrt(chi/3) / math.Sqrt(3)
		case weekly:
			y[i] = sigma * (math.Sqrt(0.5)*rng.NormFloat64() + math.Sin(2*math.Pi*(float64(i)+phase)/7))
		}
	}
	return y
}

func TestProto(t *testing.T) {
	N := 4000
	if v := os.Getenv("PN"); v != "" {
		N, _ = strconv.Atoi(v)
	}
	const nights = 120
	level := 0.01 / 40
	for h := plain; h <= weekly; h++ {
		for _, sigma := range []float64{0.03} {
			alarms, early := 0, 0
			for s := range N {
				rng := rand.New(rand.NewPCG(uint64(s), uint64(h)))
				for _, c := range Changes(series(rng, nights, sigma, h), level) {
					alarms++
					if c.Found < 30 {
						early++
					}
				}
			}
			t.Logf("habit %d: %.2f alarms per 100 nights of 40 series (%.2f early)", h, float64(alarms)/float64(N)*40/nights*100, float64(early)/float64(N)*40/30*100)
		}
		for _, sigma := range []float64{0.01, 0.015, 0.02, 0.03, 0.04, 0.05} {
			var step [3]int
			drift := 0
			M := N / 8
			for s := range M {
				rng := rand.New(rand.NewPCG(uint64(s)+1e6, uint64(h)))
				y := series(rng, nights, sigma, h)
				d := append([]float64(nil), y...)
				for i := 60; i < nights; i++ {
					y[i] += 0.05
					d[i] += 0.01 * float64(i-59) / 7
				}
				for _, c := range Changes(y, level) {
					for j, within := range []int{3, 7, 14} {
						if c.Found >= 60 && c.Found < 60+within {
							step[j]++
						}
					}
				}
				for _, c := range Changes(d, level) {
					if c.Found >= 60 && c.Found < 60+56 {
						drift++
						break
					}
				}
			}
			p := func(n int) float64 { return 100 * float64(n) / float64(M) }
			t.Logf("  sigma %.3f: step in 3: %.0f, 7: %.0f, 14: %.0f %%; drift in 8 weeks: %.0f %%", sigma, p(step[0]), p(step[1]), p(step[2]), p(drift))
		}
	}
}
