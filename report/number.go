package report

import (
	"math"
	"strconv"

	"llmsweep/sweep/rundir"
)

const absent = "n/a"

// printer turns a number into digits. Where the number is a lower bound it is rounded down, so that what is printed
// holds too.
type printer func(v float64, down bool) string

// number prints f: n/a where it does not exist, "> x" where only a lower bound is known.
func number(f rundir.Number, p printer) string {
	switch {
	case f.IsZero():
		return absent
	case f.Bound():
		return "> " + p(f.Value(), true)
	}
	return p(f.Value(), false)
}

// fixed prints that many decimals.
func fixed(decimals int) printer {
	return func(v float64, down bool) string {
		if down {
			scale := math.Pow10(decimals)
			v = math.Floor(v*scale+1e-6) / scale
		}
		return strconv.FormatFloat(v, 'f', decimals, 64)
	}
}

// short prints three significant digits, and never an exponent.
func short(v float64, down bool) string {
	return fixed(min(max(2-exponent(v), 0), 9))(v, down)
}

// rate prints two decimals, so that a column of rates lines up, and three digits where that would round a slow server
// to nothing.
func rate(v float64, down bool) string {
	if v != 0 && math.Abs(v) < 0.1 {
		return short(v, down)
	}
	return fixed(2)(v, down)
}

// tenths prints one decimal, and none from a hundred on.
func tenths(v float64, down bool) string {
	if v >= 100 {
		return fixed(0)(v, down)
	}
	return fixed(1)(v, down)
}

// exponent is the power of ten of v's first digit after rounding to three.
func exponent(v float64) int {
	if v == 0 {
		return 0
	}
	s := strconv.FormatFloat(v, 'e', 2, 64)
	for i := range s {
		if s[i] == 'e' {
			e, _ := strconv.Atoi(s[i+1:]) // FormatFloat wrote it
			return e
		}
	}
	return 0
}

// duration prints seconds in the unit that reads best, and names the unit.
func duration(f rundir.Number) (digits, unit string) {
	switch {
	case f.IsZero():
		return absent, ""
	case f.Value() < 0.9995:
		return number(scaled(f, 1e3), short), "ms"
	}
	return number(f, short), "s"
}

// durationText is duration in one string.
func durationText(f rundir.Number) string {
	digits, unit := duration(f)
	if unit == "" {
		return digits
	}
	return digits + " " + unit
}

// scaled multiplies a figure, and keeps what is known of it.
func scaled(f rundir.Number, by float64) rundir.Number {
	switch {
	case f.Known():
		return rundir.Exactly(f.Value() * by)
	case f.Bound():
		return rundir.Over(f.Value() * by)
	}
	return f
}

// something is f, or absent where f says that nothing happened: a row in which nothing completed has no rate.
func something(f rundir.Number) rundir.Number {
	if f.Known() && f.Value() == 0 {
		return rundir.Number{}
	}
	return f
}
