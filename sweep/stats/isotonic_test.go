package stats

import (
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestIsotonic(t *testing.T) {
	for _, c := range []struct{ y, w, want []float64 }{
		{nil, nil, nil},
		{[]float64{1, 2, 3}, nil, []float64{1, 2, 3}},
		{[]float64{1, 3, 2, 4}, nil, []float64{1, 2.5, 2.5, 4}},
		{[]float64{1, 3, 2, 4}, []float64{1, 1, 3, 1}, []float64{1, 2.25, 2.25, 4}},
		{[]float64{5, 4, 3, 2}, nil, []float64{3.5, 3.5, 3.5, 3.5}},
		{[]float64{1, 9, 4, 5, 20}, nil, []float64{1, 6, 6, 6, 20}},
	} {
		if diff := cmp.Diff(c.want, isotonic(c.y, c.w), cmpopts.EquateApprox(0, 1e-12), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("Isotonic(%v, %v) (-want +got):\n%s", c.y, c.w, diff)
		}
	}
}

// The result never falls and is the nearest such series, by the max-min formula: the maximum over starts of the minimum over ends
// of the mean between them.
func TestIsotonicIsTheNearest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		y := rapid.SliceOfN(rapid.Float64Range(-100, 100), 1, 20).Draw(t, "y")
		w := rapid.SliceOfN(rapid.Float64Range(0.1, 10), len(y), len(y)).Draw(t, "w")
		given := slices.Clone(y)
		got := isotonic(y, w)
		if !slices.Equal(y, given) {
			t.Fatal("it changed what it was given")
		}
		mean := func(from, to int) float64 {
			sum, weight := 0.0, 0.0
			for i := from; i <= to; i++ {
				sum, weight = sum+w[i]*y[i], weight+w[i]
			}
			return sum / weight
		}
		for k := range y {
			want := math.Inf(-1)
			for i := 0; i <= k; i++ {
				least := math.Inf(1)
				for j := k; j < len(y); j++ {
					least = min(least, mean(i, j))
				}
				want = max(want, least)
			}
			if math.Abs(got[k]-want) > 1e-9 {
				t.Fatalf("Isotonic(%v, %v)[%d] = %v, want %v", y, w, k, got[k], want)
			}
		}
	})
}
