package lang

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"

	"llmsweep/sweep/rundir"
)

// Precision returns a Printer with as many decimals as a half-width of an interval leaves meaningful.
func Precision(halfWidth float64) Printer {
	if halfWidth <= 0 {
		return Short
	}
	return Fixed(min(max(-int(math.Floor(math.Log10(halfWidth))), 0), 4))
}

// Estimate returns a Printer for an estimate and what is derived from it: as many decimals as its interval leaves
// meaningful, or three significant digits where it has none.
func Estimate(low, high rundir.Number) Printer {
	if low.Known() && high.Known() {
		return Precision((high.Value() - low.Value()) / 2)
	}
	return Short
}

// Grouped puts commas between the thousands of the only number in a text, from 10,000 on. Other texts stay as they are.
func Grouped(s string) string {
	const least = 5
	start := strings.IndexFunc(s, unicode.IsDigit)
	if start < 0 || start > 0 && (s[start-1] == '.' || s[start-1] == ',') {
		return s
	}
	end := start + len(s[start:]) - len(strings.TrimLeft(s[start:], "0123456789"))
	rest := s[end:]
	if fraction, ok := strings.CutPrefix(rest, "."); ok {
		rest = strings.TrimLeft(fraction, "0123456789")
	}
	if end-start < least || strings.ContainsFunc(rest, unicode.IsDigit) || strings.ContainsAny(s, ":/@") {
		return s
	}
	grouped := s[start:end]
	for i := len(grouped) - 3; i > 0; i -= 3 {
		grouped = grouped[:i] + "," + grouped[i:]
	}
	return s[:start] + grouped + s[end:]
}

// Shortest returns the shortest text of v without an exponent.
func Shortest(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// Clock returns seconds as 03:12 or 1:03:12.
func Clock(seconds float64) string {
	t := int(math.Round(seconds))
	if t >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", t/3600, t/60%60, t%60)
	}
	return fmt.Sprintf("%02d:%02d", t/60, t%60)
}

// Absent is the text of a number that does not exist.
const Absent = "n/a"

// Printer returns the digits of a number. A lower bound is rounded down, so that what is printed is a lower bound too.
type Printer func(v float64, down bool) string

// Number returns f as text: n/a where it is absent, "> x" where only a lower bound is known.
func Number(f rundir.Number, p Printer) string {
	switch {
	case f.IsZero():
		return Absent
	case f.Bound():
		return "> " + p(f.Value(), true)
	}
	return p(f.Value(), false)
}

// Fixed returns a Printer with that many decimals.
func Fixed(decimals int) Printer {
	return func(v float64, down bool) string {
		if math.Abs(v) >= 1e15 { // no measured value is: hundreds of digits would break tables
			return strconv.FormatFloat(v, 'e', 2, 64)
		}
		if down {
			scale := math.Pow10(decimals)
			v = math.Floor(v*scale+1e-6) / scale
		}
		return strconv.FormatFloat(v, 'f', decimals, 64)
	}
}

// Short prints three significant digits, and never an exponent.
func Short(v float64, down bool) string {
	return Fixed(min(max(2-exponent(v), 0), 9))(v, down)
}

// Rate prints two decimals, so that a column of rates is aligned, and three digits below 0.1, where two decimals would
// lose the rate of a slow server.
func Rate(v float64, down bool) string {
	if v != 0 && math.Abs(v) < 0.1 {
		return Short(v, down)
	}
	return Fixed(2)(v, down)
}

// Tenths prints one decimal, and none from 100 on.
func Tenths(v float64, down bool) string {
	if v >= 100 {
		return Fixed(0)(v, down)
	}
	return Fixed(1)(v, down)
}

// exponent returns the power of ten of v's first digit after rounding to three.
func exponent(v float64) int {
	_, power, _ := strings.Cut(strconv.FormatFloat(v, 'e', 2, 64), "e")
	e, _ := strconv.Atoi(power) // FormatFloat wrote it
	return e
}

// TimeUnit returns seconds as digits in ms or s, and the unit.
func TimeUnit(f rundir.Number) (digits, unit string) {
	switch {
	case f.IsZero():
		return Absent, ""
	case f.Value() < 0.9995: // from there on, three digits would be 1000 ms
		return Number(Scale(f, 1e3), Short), "ms"
	}
	return Number(f, Short), "s"
}

// Time returns seconds as text in ms or s.
func Time(f rundir.Number) string {
	digits, unit := TimeUnit(f)
	if unit == "" {
		return digits
	}
	return digits + " " + unit
}

// Scale returns f multiplied by a factor; a bound remains a bound.
func Scale(f rundir.Number, factor float64) rundir.Number {
	switch {
	case f.Known():
		return rundir.Exactly(f.Value() * factor)
	case f.Bound():
		return rundir.Over(f.Value() * factor)
	}
	return f
}

// NonZero returns f, absent where it is 0: a row in which nothing was completed has no rate.
func NonZero(f rundir.Number) rundir.Number {
	if f.Known() && f.Value() == 0 {
		return rundir.Number{}
	}
	return f
}

// WholeOr returns a Printer that prints no decimals for a whole number, within the rounding of sums of means.
func WholeOr(decimals int) Printer {
	return func(v float64, down bool) string {
		if math.Abs(v-math.Round(v)) < 1e-6*max(1, math.Abs(v)) {
			return Fixed(0)(v, false)
		}
		return Fixed(decimals)(v, down)
	}
}
