// Package slo reads what people promise of a server, "ttft:p99<500ms", and says whether a measured stage keeps it. It
// never judges by a figure that is absent or that too few samples support: then a promise is neither kept nor broken.
package slo

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"llmsweep/sweep/rundir"
)

// The figures that a term can be about.
const (
	TTFT    = "ttft"
	ITL     = "itl"
	TPOT    = "tpot"
	Latency = "latency"
	Errors  = "errors"
)

// Mean is the statistic that is no percentile.
const Mean = "mean"

// Term is one promise: a statistic of a figure lies below a limit.
type Term struct {
	Figure string  // TTFT, ITL, TPOT, Latency or Errors
	Stat   string  // Mean or a percentile, "p99"; empty for Errors
	Limit  float64 // seconds; for Errors a share of the requests
}

// Verdict says whether a stage keeps a term.
type Verdict uint8

// The verdicts there are.
const (
	Unknown Verdict = iota // the figure is absent, not supported, or a lower bound beneath the limit
	Kept
	Broken
)

const grammar = "ttft|itl|tpot|latency:mean|p50|p90|p95|p99<DURATION, or errors<PERCENT, such as ttft:p99<500ms"

// Parse reads one term.
func Parse(text string) (Term, error) {
	bad := func(why string) (Term, error) {
		return Term{}, fmt.Errorf("SLO %q: %s; write %s", text, why, grammar)
	}
	left, right, ok := strings.Cut(text, "<")
	if !ok {
		return bad("it has no <")
	}
	right = strings.TrimPrefix(right, "=") // a figure is never exactly at its limit
	figure, stat, _ := strings.Cut(strings.ToLower(strings.TrimSpace(left)), ":")
	t := Term{Figure: strings.TrimSpace(figure), Stat: strings.TrimSpace(stat)}
	if t.Figure == Errors {
		share, err := parseShare(right)
		if err != nil || t.Stat != "" {
			return bad("errors takes a share of the requests, as in errors<1%")
		}
		t.Limit = share
		return t, nil
	}
	if !slices.Contains([]string{TTFT, ITL, TPOT, Latency}, t.Figure) {
		return bad("there is no figure " + strconv.Quote(t.Figure))
	}
	if !slices.Contains([]string{Mean, "p50", "p90", "p95", "p99"}, t.Stat) {
		return bad("there is no statistic " + strconv.Quote(t.Stat))
	}
	d, err := time.ParseDuration(strings.ReplaceAll(right, " ", ""))
	if err != nil || d <= 0 {
		return bad("the limit is no duration, as 500ms is")
	}
	t.Limit = d.Seconds()
	return t, nil
}

// ParseAll reads terms. Two of one figure and statistic contradict each other or say the same twice.
func ParseAll(texts []string) ([]Term, error) {
	var all []Term
	for _, text := range texts {
		t, err := Parse(text)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(o Term) bool { return o.Figure == t.Figure && o.Stat == t.Stat }) {
			return nil, fmt.Errorf("SLO %q: a limit for that was given before; leave one", text)
		}
		all = append(all, t)
	}
	return all, nil
}

func parseShare(text string) (float64, error) {
	text = strings.TrimSpace(text)
	digits, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v > 0 && v <= 1) {
		return 0, fmt.Errorf("%q is no share", text)
	}
	return v, nil
}

// String is the term as Parse reads it.
func (t Term) String() string {
	exact := func(v float64) string { return trim(strconv.FormatFloat(v, 'f', 6, 64)) }
	switch {
	case t.Figure == Errors:
		return t.Name() + "<" + exact(t.Limit*100) + "%"
	case t.Limit < 1:
		return t.Name() + "<" + exact(t.Limit*1e3) + "ms"
	}
	return t.Name() + "<" + exact(t.Limit) + "s"
}

// Name is the term without its limit.
func (t Term) Name() string {
	if t.Stat == "" {
		return t.Figure
	}
	return t.Figure + ":" + t.Stat
}

// Amount prints a value of the term's figure, to three digits.
func (t Term) Amount(v float64) string {
	switch {
	case t.Figure == Errors:
		return digits(v*100) + "%"
	case v < 0.9995:
		return digits(v*1e3) + "ms"
	}
	return digits(v) + "s"
}

// digits prints three of them, and all of a whole number.
func digits(v float64) string {
	decimals := 0
	if v > 0 && v < 100 {
		decimals = 2 - int(math.Floor(math.Log10(v)))
	}
	return trim(strconv.FormatFloat(v, 'f', min(decimals, 9), 64))
}

// trim takes zeros off the end of decimals.
func trim(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// Of is the term's figure in a stage, and whether enough samples support it.
func (t Term) Of(s *rundir.Stage) (f rundir.Figure, supported bool) {
	switch t.Figure {
	case Errors:
		return errorShare(s), true
	case TTFT:
		return s.TTFT.Get(t.Stat), s.TTFT.Supported(t.Stat)
	case TPOT:
		return s.TPOT.Get(t.Stat), s.TPOT.Supported(t.Stat)
	case Latency:
		return s.Latency.Get(t.Stat), s.Latency.Supported(t.Stat)
	}
	f, supported = s.ITL.Get(t.Stat), s.ITL.Supported(t.Stat)
	if t.Stat == Mean && f.IsZero() {
		// sum(last - first) / sum(n - 1) is the mean of all gaps between tokens; six-column tables have nothing else.
		return s.InterToken, true
	}
	return f, supported
}

// errorShare is absent where nobody counted requests.
func errorShare(s *rundir.Stage) rundir.Figure {
	ended := s.Requests.OK + s.Requests.Error
	if ended == 0 {
		return rundir.Figure{}
	}
	return rundir.Exactly(float64(s.Requests.Error) / float64(ended))
}

// Holds says whether a stage keeps the term.
func (t Term) Holds(s *rundir.Stage) Verdict {
	f, supported := t.Of(s)
	switch {
	case f.IsZero():
		return Unknown
	case f.Value() >= t.Limit && (supported || f.Bound()): // a bound above the limit is above it however few the samples
		return Broken
	case f.Bound() || !supported:
		return Unknown
	}
	return Kept
}
