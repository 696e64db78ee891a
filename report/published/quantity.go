package published

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"unicode"

	"llmsweep/sweep/rundir"
)

// Quantity is a number as it was printed.
type Quantity struct {
	Number   rundir.Number // in Unit; absent for n/a, a lower bound for "> 9.8"
	Unit     string        // as it was written; empty where there was none
	Decimals int
	Digits   int    // significant ones
	Rest     string // what follows in parentheses: "100 (100.0%)"
}

// Dimension is what a quantity measures.
type Dimension uint8

// The dimensions.
const (
	Number   Dimension = iota // a count, or a number without a unit
	Time                      // in seconds
	Requests                  // per second
	Tokens                    // per second
)

// ParseQuantity reads a number with the unit behind it: "1,187.02 tokens/second", "15.9sec", "> 58.30 sec", "n/a".
func ParseQuantity(text string) (Quantity, error) {
	var q Quantity
	rest := strings.TrimSpace(strings.Map(narrow, text))
	switch strings.ToLower(rest) {
	case "n/a", "na", "-", "--", "none", "null", "nan":
		return q, nil
	case "":
		return q, parseFault{faultEmpty.New()}
	}
	bound := false
	for _, sign := range []string{`\>`, "&gt;", ">=", "≥", ">"} {
		if number, ok := strings.CutPrefix(rest, sign); ok {
			rest, bound = strings.TrimSpace(number), true
			break
		}
	}
	digits, after := splitNumber(rest)
	plain, ok := ungroup(digits)
	if !ok || digits == "" {
		return q, parseFault{faultNoNumber.New()}
	}
	v, err := strconv.ParseFloat(plain, 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) || math.Abs(v) > 1e15 {
		return q, parseFault{faultNumberRange.New()}
	}
	q.Number = rundir.Exactly(v)
	if bound {
		q.Number = rundir.Over(v)
	}
	q.Decimals, q.Digits = precision(plain)
	q.Unit, q.Rest, _ = strings.Cut(after, "(")
	q.Unit = strings.TrimSpace(q.Unit)
	q.Rest = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(q.Rest), ")"))
	return q, nil
}

// narrow returns the ASCII character for one that Chinese input methods write wide, as in １．５.
func narrow(r rune) rune {
	const first, last = '！', '～'
	if r >= first && r <= last {
		return r - first + '!'
	}
	return r
}

// An exponent is part of the number, a unit that begins with e is not.
func splitNumber(text string) (digits, after string) {
	i := 0
	for i < len(text) && strings.IndexByte("0123456789.,+-", text[i]) >= 0 {
		i++
	}
	if i > 0 && i+1 < len(text) && (text[i] == 'e' || text[i] == 'E') {
		j := i + 1
		if text[j] == '+' || text[j] == '-' {
			j++
		}
		k := j
		for k < len(text) && text[k] >= '0' && text[k] <= '9' {
			k++
		}
		if k > j {
			i = k
		}
	}
	return text[:i], strings.TrimSpace(text[i:])
}

// ungroup takes thousands separators out: commas before each three digits, and none after the point.
func ungroup(digits string) (plain string, ok bool) {
	if !strings.Contains(digits, ",") {
		return digits, true
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	for i, g := range strings.Split(strings.TrimLeft(whole, "+-"), ",") {
		if i > 0 && len(g) != 3 || i == 0 && (g == "" || len(g) > 3) {
			return "", false
		}
	}
	return strings.ReplaceAll(digits, ",", ""), !strings.Contains(fraction, ",")
}

// precision counts the decimals and the significant digits of a plain number.
func precision(plain string) (decimals, digits int) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(plain), "e")
	_, fraction, _ := strings.Cut(mantissa, ".")
	shift, _ := strconv.Atoi(exponent) // empty, or checked by ParseFloat
	for _, c := range strings.TrimLeft(mantissa, "+-0.") {
		if unicode.IsDigit(c) {
			digits++
		}
	}
	return max(len(fraction)-shift, 0), digits
}

// unit holds factor times ten to the power of tens of the basic unit of a dimension.
type unit struct {
	dimension Dimension
	factor    float64
	tens      int
}

func unitOf(name string) (u unit, known bool) {
	switch strings.ToLower(strings.Join(strings.Fields(name), "")) {
	case "":
		return unit{Number, 1, 0}, true
	case "s", "sec", "secs", "second", "seconds", "秒":
		return unit{Time, 1, 0}, true
	case "ms", "msec", "millisecond", "milliseconds", "毫秒":
		return unit{Time, 1, -3}, true
	case "us", "µs", "μs", "microsecond", "microseconds", "微秒":
		return unit{Time, 1, -6}, true
	case "min", "minute", "minutes", "分钟":
		return unit{Time, 60, 0}, true
	case "req/s", "req/sec", "req/second", "reqs/s", "reqs/sec", "request/s", "request/sec", "request/second",
		"requests/s", "requests/sec", "requests/second", "rps", "qps", "请求/秒", "次/秒":
		return unit{Requests, 1, 0}, true
	case "req/min", "reqs/min", "requests/min", "rpm", "请求/分钟", "次/分钟":
		return unit{Requests, 1.0 / 60, 0}, true
	case "tok/s", "tok/sec", "tok/second", "token/s", "token/sec", "token/second", "tokens/s", "tokens/sec",
		"tokens/second", "t/s", "tps", "token/秒", "tokens/秒":
		return unit{Tokens, 1, 0}, true
	case "ktok/s", "ktokens/s":
		return unit{Tokens, 1, 3}, true
	case "tokens", "token", "requests", "request", "req", "个":
		return unit{Number, 1, 0}, true
	}
	return unit{Number, 1, 0}, false
}

// In returns the quantity in the basic unit of a dimension. Where no unit was printed it is in the unit named usual.
func (q Quantity) In(want Dimension, usual string) (rundir.Number, error) {
	name := cmp.Or(q.Unit, usual)
	u, known := unitOf(name)
	switch {
	case q.Number.IsZero():
		return rundir.Number{}, nil
	case !known:
		return rundir.Number{}, parseFault{faultUnknownUnit.New(short(name))}
	case u.dimension != want:
		return rundir.Number{}, parseFault{faultOtherUnit.New(short(name))}
	}
	v := shiftPoint(q.Number.Value()*u.factor, u.tens)
	if q.Number.Bound() {
		return rundir.Over(v), nil
	}
	return rundir.Exactly(v), nil
}

// Slack is half of the last printed digit in the basic unit: as far as the true value may be from the printed one.
func (q Quantity) Slack(usual string) float64 {
	u, _ := unitOf(cmp.Or(q.Unit, usual))
	return 0.5 * u.factor * math.Pow10(u.tens-q.Decimals)
}

// shiftPoint moves the decimal point, so that 26.97 ms is the number nearest to 0.02697: multiplying is not that exact.
func shiftPoint(v float64, tens int) float64 {
	mantissa, exponent, _ := strings.Cut(strconv.FormatFloat(v, 'e', -1, 64), "e")
	e, _ := strconv.Atoi(exponent)                                        // FormatFloat wrote it
	moved, _ := strconv.ParseFloat(mantissa+"e"+strconv.Itoa(e+tens), 64) // and this is well formed too
	return moved
}

func short(s string) string {
	const maxLength = 40 // what a remark has room for
	s = strings.TrimSpace(s)
	if r := []rune(s); len(r) > maxLength {
		return string(r[:maxLength]) + "..."
	}
	return s
}
