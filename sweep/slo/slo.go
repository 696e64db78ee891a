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
	"llmsweep/sweep/stats"
)

// The figures that a term can be about.
const (
	TTFT    = "ttft"     // from when the request was sent
	TTFTDue = "ttft_due" // from when it was due: what a user felt, the client's own queue included
	ITL     = "itl"
	TPOT    = "tpot"
	Latency = "latency"
	Errors  = "errors"
)

// Mean is the statistic that is no percentile.
const Mean = "mean"

// Term is one promise: a statistic of a figure lies below a limit.
type Term struct {
	Figure string  // TTFT, TTFTDue, ITL, TPOT, Latency or Errors
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

// String is the verdict as run.json has it.
func (v Verdict) String() string {
	return [...]string{Unknown: "unknown", Kept: "kept", Broken: "broken"}[v]
}

const grammar = "ttft|ttft_due|itl|tpot|latency:mean|p50|p90|p95|p99<DURATION, or errors<PERCENT, such as ttft:p99<500ms"

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
	if !slices.Contains([]string{TTFT, TTFTDue, ITL, TPOT, Latency}, t.Figure) {
		return bad("there is no figure " + strconv.Quote(t.Figure))
	}
	if t.Stat != Mean && !slices.Contains(percentiles(), t.Stat) {
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

// Strings are terms as ParseAll reads them.
func Strings(terms []Term) []string {
	var all []string
	for _, t := range terms {
		all = append(all, t.String())
	}
	return all
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

// percentiles are those that a term can be about, lowest first.
func percentiles() []string { return []string{"p50", "p90", "p95", "p99"} }

// Quantile is the percentile as a share: 0.99 for p99. It is NaN for a mean and for errors.
func (t Term) Quantile() float64 {
	if t.Stat == "" || t.Stat == Mean {
		return math.NaN()
	}
	return 1 - t.tail()
}

// tail is the share of the requests that may lie beyond the limit; 0 for a mean.
func (t Term) tail() float64 {
	switch t.Stat {
	case "p50":
		return 0.5
	case "p90":
		return 0.1
	case "p95":
		return 0.05
	case "p99":
		return 0.01
	case "":
		return t.Limit // errors
	}
	return 0
}

// dist is the distribution that the term is about; nil for Errors.
func (t Term) dist(s *rundir.Stage) *rundir.Dist {
	return map[string]*rundir.Dist{TTFT: &s.TTFT, TTFTDue: &s.TTFTDue, ITL: &s.ITL, TPOT: &s.TPOT, Latency: &s.Latency}[t.Figure]
}

// Of is the term's figure in a stage, and whether enough samples support it.
func (t Term) Of(s *rundir.Stage) (f rundir.Number, supported bool) {
	d := t.dist(s)
	if d == nil {
		return errorShare(s), t.supportsErrors(s)
	}
	f, supported = d.Get(t.Stat), d.Supported(t.Stat)
	if t.Figure == ITL && t.Stat == Mean && f.IsZero() {
		// sum(last - first) / sum(n - 1) is the mean of all gaps between tokens; six-column tables have nothing else.
		return s.InterToken, true
	}
	return f, supported
}

// errorShare is absent where nobody counted requests.
func errorShare(s *rundir.Stage) rundir.Number {
	ended := s.Requests.OK + s.Requests.Error
	if ended == 0 {
		return rundir.Number{}
	}
	return rundir.Exactly(float64(s.Requests.Error) / float64(ended))
}

// supportsErrors asks of a share of errors what is asked of a percentile: that five requests lie beyond the limit, or would
// if the share were at it.
func (t Term) supportsErrors(s *rundir.Stage) bool {
	ended := float64(s.Requests.OK + s.Requests.Error)
	return s.Requests.Error >= 5 || stats.Supported(ended, 1-t.Limit)
}

// Holds says whether a stage keeps the term.
func (t Term) Holds(s *rundir.Stage) Verdict {
	f, supported := t.Of(s)
	switch {
	case f.IsZero():
		return Unknown
	case f.Value() >= t.Limit && (supported || f.Bound()) || t.surelyBroken(s): // a bound above the limit is above it however few the samples
		return Broken
	case f.Bound() || !supported:
		return Unknown
	}
	return Kept
}

// surelyBroken reports whether enough of the sample lies beyond the limit to say so, though not enough to say where the percentile
// is: five requests, and more than may.
func (t Term) surelyBroken(s *rundir.Stage) bool {
	d := t.dist(s)
	if d == nil || t.Stat == Mean || !d.Neff.Known() {
		return false
	}
	share, ok := beyond(d, t.Limit)
	return ok && share > t.tail() && stats.Supported(d.Neff.Value(), 1-share)
}

// Judge says whether a stage keeps all terms. term is one that it breaks, else one that it is not shown to keep, else nil.
func Judge(s *rundir.Stage, terms []Term) (v Verdict, term *Term) {
	v = Kept
	for i := range terms {
		switch one := terms[i].Holds(s); {
		case one == Broken:
			return Broken, &terms[i]
		case one == Unknown && term == nil:
			v, term = Unknown, &terms[i]
		}
	}
	return v, term
}

// Sample is how many independent requests the term takes to be judged at all; 0 where a few will do. Gaps between tokens
// are many in each request.
func (t Term) Sample() int {
	if t.tail() == 0 || t.Figure == ITL {
		return 0
	}
	return int(math.Ceil(enough/t.tail() - 1e-9))
}

// enough is how many samples must lie beyond a percentile: see [stats.Supported].
const enough = 5

// Takes is how many requests like those of a stage it takes to judge the term: more than [Term.Sample], where those near each
// other are alike. It is 0 where a stage tells nothing of that.
func (t Term) Takes(s *rundir.Stage) int {
	had := float64(s.Requests.OK + s.Requests.Error)
	worth := had // so many independent ones
	if d := t.dist(s); d != nil {
		worth = d.Neff.Value()
	}
	if t.tail() == 0 || !(worth > 0) {
		return 0
	}
	return int(math.Ceil(had*enough/t.tail()/worth - 1e-9))
}

// Needs is how many more requests like those of a stage it takes to judge the term; 0 where the sample is not what is
// missing.
func (t Term) Needs(s *rundir.Stage) int {
	if f, supported := t.Of(s); t.Holds(s) != Unknown || supported || f.IsZero() {
		return 0
	}
	return max(0, t.Takes(s)-s.Requests.OK-s.Requests.Error)
}
