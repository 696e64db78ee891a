package lang

import (
	"testing"

	"llmsweep/sweep/rundir"
)

// A number of a damaged file has no hundreds of digits.
func TestHugeNumbers(t *testing.T) {
	for _, print := range []Printer{Short, Rate, Tenths, Fixed(2)} {
		if s := Number(rundir.Exactly(1e308), print); s != "1.00e+308" {
			t.Errorf("%q", s)
		}
	}
}
