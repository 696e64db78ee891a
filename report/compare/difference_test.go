package compare

import (
	"math"
	"testing"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// known is a figure with a standard error.
func known(key string, value, se float64) Figure {
	return Figure{Key: key, Value: rundir.Exactly(value), se: se}
}

// ranged is a figure between two values; above the first where the other is infinite.
func ranged(low, high float64) Figure {
	f := known(keyOutput, low, math.NaN())
	if f.Open = math.IsInf(high, 1); !f.Open {
		f.Most = rundir.Exactly(high)
	}
	return f
}

// The difference of two figures mirrors that of the same figures in the other order: ratios are inverse, differences of
// shares opposite, ends change places, and what is shown is the same. Its interval holds the ratio.
func TestDifferencesMirror(t *testing.T) {
	inf, none := math.Inf(1), math.NaN()
	mirror := map[string]string{atLeast: atMost, atMost: atLeast, between: between, "": ""}
	for _, c := range []struct {
		a, b  Figure
		bound string
		shown bool
	}{
		{known(keyOutput, 100, 1), known(keyOutput, 110, 1), "", true},
		{known(keyOutput, 100, 9), known(keyOutput, 110, 9), "", false},
		{known(keyOutput, 100, 0), known(keyOutput, 100, 0), "", false},
		{known(keyOutput, 100, none), known(keyOutput, 110, 1), "", false},
		{known("itl@80", 0.02, 0.0001), known("itl@80", 0.03, 0.0001), "", true},
		{known(KeyErrors, 0, 0.001), known(KeyErrors, 0.1, 0.01), "", true},
		{known(KeyErrors, 0, 0.001), known(KeyErrors, 0, 0.001), "", false},
		{known(slo.Accuracy, 0.8, 0.04), known(slo.Accuracy, 0.7, 0.04), "", false},
		{ranged(100, 120), ranged(110, 130), between, false},
		{ranged(100, 120), known(keyOutput, 150, 1), between, false},
		{known(keyOutput, 100, 1), ranged(150, inf), atLeast, false},
		{ranged(100, inf), known(keyOutput, 150, 1), atMost, false},
	} {
		there, back := differenceOf(c.a, c.b), differenceOf(c.b, c.a)
		if there.IsZero() || there.Bound != c.bound || back.Bound != mirror[c.bound] ||
			there.shown() != c.shown || back.shown() != c.shown || (there.Shown == nil) != (back.Shown == nil) {
			t.Errorf("%v, %v: %+v and back %+v", c.a.Value, c.b.Value, there, back)
		}
		mirrored := func(x, y rundir.Number) bool {
			if isShare(c.a.Key) {
				return math.Abs(x.Value()+y.Value()) < 1e-12
			}
			return math.Abs((1+x.Value())*(1+y.Value())-1) < 1e-12
		}
		if !mirrored(there.Ratio, back.Ratio) || there.Low.Known() &&
			(!mirrored(there.Low, back.High) || !mirrored(there.High, back.Low) ||
				there.Low.Value() > there.Ratio.Value() || there.High.Value() < there.Ratio.Value()) {
			t.Errorf("%v, %v: %s and back %s", c.a.Value, c.b.Value, there, back)
		}
		if same := there.Ratio.Value() == 0; !same && there.Better() == back.Better() {
			t.Errorf("%s and back %s are both better, or both worse", there, back)
		}
	}
}

// Nothing is known where a side is missing, where one that is no share is 0, within other terms, and of two lower
// bounds.
func TestUnknownDifferences(t *testing.T) {
	one, open := known(keyOutput, 100, 1), ranged(100, math.Inf(1))
	within := one
	within.Terms = "ttft:p99<1s"
	for name, other := range map[string]Figure{
		"missing": {}, "0": known(keyOutput, 0, 1), "above a value": {Key: keyOutput, Value: rundir.Over(100)},
		"terms": within,
	} {
		for _, d := range []Difference{differenceOf(one, other), differenceOf(other, one)} {
			if !d.IsZero() || d.Shown != nil || d.Bound != "" {
				t.Errorf("%s: %+v", name, d)
			}
		}
	}
	if d := differenceOf(open, open); !d.IsZero() || d.Bound != "" {
		t.Errorf("two lower bounds: %+v", d)
	}
}

// A row throughput that contradicts the ends widens them, and one within them does not.
func TestBurstsWidenDifferences(t *testing.T) {
	for burst, want := range map[float64]string{200: "+50.0..+100 %", 160: "> +50.0 %"} {
		a, b := known(keyOutput, 100, 1), ranged(150, math.Inf(1))
		a.Burst, b.Burst = rundir.Exactly(100), rundir.Exactly(burst)
		if burst == 200 { // 2 x is above what the plateaus allow
			b = ranged(150, 180)
			b.Burst = rundir.Exactly(burst)
		}
		if got := differenceOf(a, b).String(); got != want {
			t.Errorf("burst of %v: %s, want %s", burst, got, want)
		}
	}
}

// A difference is told in per cent, as a factor in a cell, and as one in a sentence.
func TestDifferenceTexts(t *testing.T) {
	for _, c := range []struct {
		a, b                      Figure
		percent, factor, sentence string
	}{
		{known(keyOutput, 100, 0), known(keyOutput, 150, 0), "+50.0 % (+50.0..+50.0)", "1.50 x (1.50-1.50)", "1.50 x"},
		{known(keyOutput, 100, math.NaN()), known(keyOutput, 50, 1), "-50.0 %", "0.50 x", "0.50 x"},
		{known(keyOutput, 100, 20), known(keyOutput, 100, 20), "~ (-42.6..+74.1)", "1.00 x (0.57-1.74)", "1.00 x"},
		{known(KeyErrors, 0, 0), known(KeyErrors, 0.1, 0), "+10.0 pp (+10.0..+10.0)", "", ""},
		{known(keyOutput, 100, 1), ranged(150, math.Inf(1)), "> +50.0 %", "> 1.50 x", "at least 1.50 x"},
		{ranged(100, math.Inf(1)), known(keyOutput, 150, 1), "< +50.0 %", "< 1.50 x", "at most 1.50 x"},
		{ranged(100, 150), ranged(150, 300), "0..+200 %", "1.00-3.00 x", "1.00 to 3.00 x"},
	} {
		d := differenceOf(c.a, c.b)
		if d.String() != c.percent || c.factor != "" && (d.factor() != c.factor || d.factorText(lang.English) != c.sentence) {
			t.Errorf("%q, %q, %q, want %q, %q, %q", d, d.factor(), d.factorText(lang.English), c.percent, c.factor, c.sentence)
		}
	}
}
