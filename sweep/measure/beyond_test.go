package measure

import (
	"testing"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// burstsOf is 600 values without one beyond a limit of 0.5, of which those at some places are larger than the others.
func burstsOf(larger float64, at func(i int) bool) exceedances {
	b := exceedances{term: slo.Term{Metric: slo.TTFT, Stat: "p99", Limit: 0.5}, total: 600}
	for i := range 600 {
		v := 0.05 + float64(i%7)/1000
		if at(i) {
			v = larger
		}
		b.sample = append(b.sample, dueValue{due: float64(i), value: v})
	}
	return b
}

// Where none of 600 values is beyond a limit, nor near it, all of them count, also where a busy queue makes small
// bursts far below it: they show that fewer than 1 % are beyond. Where ten come near the limit, they tell how values
// beyond it would cluster.
func TestBurstsFarBelowALimitDoNotCount(t *testing.T) {
	all := func(larger float64, n int) bool { // n values in bursts of five
		b := burstsOf(larger, func(i int) bool { return i%100 < 5 && i/100*5+i%100 < n })
		worth := b.effective()
		if kept := b.result(&rundir.Stage{}).High.Value() < 0.01; kept != (worth == 600) {
			t.Errorf("%v of 600 are independent: fewer than 1 %% are beyond: %v", worth, kept)
		}
		return worth == 600
	}
	bounds{
		"half of the limit": {all(0.249, 30), all(0.251, 30)},
		"ten values":        {all(0.49, 9), all(0.49, 10)},
	}.check(t)
}
