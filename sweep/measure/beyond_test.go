package measure

import (
	"testing"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// Where none of 600 values is beyond a limit, nor near it, all of them count, also where a busy queue makes small
// bursts far below it: they show that fewer than 1 % are beyond. Where the bursts come near the limit, they tell how
// values beyond it would cluster.
func TestBurstsFarBelowALimitDoNotCount(t *testing.T) {
	terms, err := slo.ParseAll([]string{"ttft:p99<500ms"})
	if err != nil {
		t.Fatal(err)
	}
	for burst, all := range map[float64]bool{0.2: true, 0.24: true, 0.26: false, 0.49: false} {
		b := exceedances{term: terms[0]}
		for i := range 600 {
			v := 0.05 + float64(i%7)/1000
			if i%100 < 5 {
				v = burst
			}
			b.total++
			b.sample = append(b.sample, dueValue{due: float64(i), value: v})
		}
		if n := b.effective(); (n == 600) != all {
			t.Errorf("bursts of %v s: %v independent values", burst, n)
		}
		r := b.result(&rundir.Stage{})
		if kept := r.High.Value() < 0.01; kept != all {
			t.Errorf("bursts of %v s: at most %v are beyond", burst, r.High.Value())
		}
	}
}
