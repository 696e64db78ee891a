// Package slo reads service level objectives such as "ttft:p99<500ms", and judges measured stages by them. A metric that is absent, or
// a percentile that too few samples support, neither keeps nor breaks an objective.
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

// The metrics that a term can be about.
const (
	TTFT    = "ttft"     // from when the request was sent
	TTFTDue = "ttft_due" // from when it was due: what a user waited, the client's own queue included
	ITL     = "itl"
	TPOT    = "tpot"
	Latency = "latency"
	Errors  = "errors"
	// Fidelity is the share of the answers to canaries that are equal to those got alone. Inside, a term of it is about the share that is not.
	Fidelity = "fidelity"
	// Accuracy is the share of the graded answers that are right. Inside, a term of it is about the share that is not.
	Accuracy = "accuracy"
)

// Mean is the statistic that is not a percentile.
const Mean = "mean"

// Term is one objective: a statistic of a metric lies below a limit; of [Fidelity] and [Accuracy], above it.
type Term struct {
	Metric string  // TTFT, TTFTDue, ITL, TPOT, Latency, Errors, Fidelity or Accuracy
	Stat   string  // Mean or a percentile, "p99"; empty for Errors, Fidelity and Accuracy
	Limit  float64 // seconds; for Errors a share of the requests; for Fidelity and Accuracy the share of the answers that may differ or be wrong
}

// OfAnswers reports whether the term is about what answers say, which is known of a stage alone.
func (t Term) OfAnswers() bool { return t.Metric == Fidelity || t.Metric == Accuracy }

const grammar = "ttft|ttft_due|itl|tpot|latency:mean|p50|p90|p95|p99<DURATION, or errors<PERCENT, or fidelity>PERCENT, or accuracy>PERCENT, such as ttft:p99<500ms"

// foreign are names that other tools have for the metrics.
var foreign = map[string]string{
	"e2e": Latency, "e2el": Latency, "e2e_latency": Latency, "request_latency": Latency, "inter_token_latency": ITL, "time_to_first_token": TTFT,
	"tbt": ITL, "time_per_output_token": TPOT, "error_rate": Errors,
}

// Parse reads one term.
func Parse(text string) (Term, error) {
	bad := func(why string) (Term, error) {
		return Term{}, fmt.Errorf("SLO %q: %s; write %s", text, why, grammar)
	}
	if left, right, ok := strings.Cut(text, ">"); ok {
		metric := strings.ToLower(strings.TrimSpace(left))
		share, err := ParseShare(strings.TrimPrefix(right, "="))
		none := err != nil || share == 1 // no number of answers shows that all are equal, or right
		switch {
		case metric == Fidelity && none:
			return bad("fidelity takes a share of the answers below 100%, as in fidelity>99%")
		case metric == Accuracy && none:
			return bad("accuracy takes a share of the answers below 100%, as in accuracy>80%")
		case metric == Fidelity || metric == Accuracy:
			return Term{Metric: metric, Limit: 1 - share}, nil
		}
	}
	left, right, ok := strings.Cut(text, "<")
	if !ok {
		return bad("it has no <")
	}
	right = strings.TrimPrefix(right, "=") // a measured value is never exactly at its limit
	metric, stat, _ := strings.Cut(strings.ToLower(strings.TrimSpace(left)), ":")
	t := Term{Metric: strings.TrimSpace(metric), Stat: strings.TrimSpace(stat)}
	if t.Metric == Errors {
		share, err := ParseShare(right)
		if err != nil || t.Stat != "" {
			return bad("errors takes a share of the requests, as in errors<1%")
		}
		t.Limit = share
		return t, nil
	}
	if !slices.Contains([]string{TTFT, TTFTDue, ITL, TPOT, Latency}, t.Metric) {
		if ours, ok := foreign[t.Metric]; ok {
			return Term{}, fmt.Errorf("SLO %q: %s is %s here, as in %s", text, t.Metric, ours, strings.Replace(text, t.Metric, ours, 1))
		}
		return bad("there is no metric " + strconv.Quote(t.Metric))
	}
	if t.Stat == "" {
		return Term{}, fmt.Errorf("SLO %q: which statistic? For example %s:p99<%s", text, t.Metric, right)
	}
	if t.Stat != Mean && !slices.Contains(percentiles(), t.Stat) {
		return bad("there is no statistic " + strconv.Quote(t.Stat))
	}
	d, err := time.ParseDuration(strings.ReplaceAll(right, " ", ""))
	if _, number := strconv.ParseFloat(right, 64); number == nil && err != nil {
		return Term{}, fmt.Errorf("SLO %q: the limit has no unit; for example %s<%sms", text, left, right)
	}
	if err != nil || d <= 0 {
		return bad("the limit is not a duration such as 500ms")
	}
	t.Limit = d.Seconds()
	return t, nil
}

// ParseAll reads terms. It refuses two terms with the same metric and statistic.
func ParseAll(texts []string) ([]Term, error) {
	var all []Term
	for _, text := range texts {
		t, err := Parse(text)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(all, func(o Term) bool { return o.Metric == t.Metric && o.Stat == t.Stat }) {
			return nil, fmt.Errorf("SLO %q: a limit for it was given before; leave one out", text)
		}
		all = append(all, t)
	}
	return all, nil
}

// Strings returns terms as [ParseAll] reads them.
func Strings(terms []Term) []string {
	var all []string
	for _, t := range terms {
		all = append(all, t.String())
	}
	return all
}

// ParseShare reads a share above 0 and up to 1, such as "10%" or "0.1".
func ParseShare(text string) (float64, error) {
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

// String returns the term as [Parse] reads it.
func (t Term) String() string {
	exact := func(v float64) string { return trim(strconv.FormatFloat(v, 'f', 6, 64)) }
	switch {
	case t.OfAnswers():
		return t.Name() + ">" + exact((1-t.Limit)*100) + "%"
	case t.Metric == Errors:
		return t.Name() + "<" + exact(t.Limit*100) + "%"
	case t.Limit < 1:
		return t.Name() + "<" + exact(t.Limit*1e3) + "ms"
	}
	return t.Name() + "<" + exact(t.Limit) + "s"
}

// Name returns the term without its limit.
func (t Term) Name() string {
	if t.Stat == "" {
		return t.Metric
	}
	return t.Metric + ":" + t.Stat
}

// Heading returns the term without its limit as reports head their columns: "TTFT p95".
func (t Term) Heading() string {
	name := t.Metric
	if t.Metric != Latency && !t.OfAnswers() && t.Metric != Errors {
		name = strings.ToUpper(name)
	}
	return strings.TrimSpace(name + " " + t.Stat)
}

// Amount returns a value of the term's metric as text, to three digits.
func (t Term) Amount(v float64) string {
	switch {
	case t.OfAnswers(): // of equal or right answers
		return trim(strconv.FormatFloat(100*max(0, 1-v), 'f', 2, 64)) + "%"
	case t.Metric == Errors:
		return digits(v*100) + "%"
	case v < 0.9995:
		return digits(v*1e3) + "ms"
	}
	return digits(v) + "s"
}

// digits returns a number with three significant digits, or all digits before its point.
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

// percentiles returns those that a term can be about, lowest first.
func percentiles() []string { return []string{"p50", "p90", "p95", "p99"} }

// Quantile returns the percentile as a share: 0.99 for p99; NaN for a mean and for errors.
func (t Term) Quantile() float64 {
	if t.Stat == "" || t.Stat == Mean {
		return math.NaN()
	}
	return 1 - t.tail()
}

// tail returns the share of the requests that may lie beyond the limit; 0 for a mean.
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
		return t.Limit // errors, answers
	}
	return 0
}

// dist returns the distribution that the term is about; nil for Errors.
func (t Term) dist(s *rundir.Stage) *rundir.Dist {
	return map[string]*rundir.Dist{TTFT: &s.TTFT, TTFTDue: &s.TTFTDue, ITL: &s.ITL, TPOT: &s.TPOT, Latency: &s.Latency}[t.Metric]
}

// Of returns the value of the term's metric in a stage, and whether enough samples support it.
func (t Term) Of(s *rundir.Stage) (f rundir.Number, supported bool) {
	d := t.dist(s)
	switch {
	case t.OfAnswers():
		b := t.Answers(s)
		if b == nil {
			return f, true
		}
		return rundir.Exactly(float64(b.Count) / float64(b.Of)), true
	case d == nil:
		return errorShare(s), true
	}
	f, supported = d.Get(t.Stat), d.Supported(t.Stat)
	if t.Metric == ITL && t.Stat == Mean && f.IsZero() {
		// sum(last - first) / sum(n - 1) is the mean of all gaps between tokens; six-column tables have nothing else.
		return s.InterToken, true
	}
	return f, supported
}

// errorShare returns the share of requests that failed; absent where requests were not counted.
func errorShare(s *rundir.Stage) rundir.Number {
	ended := s.Requests.OK + s.Requests.Error
	if ended == 0 {
		return rundir.Number{}
	}
	return rundir.Exactly(float64(s.Requests.Error) / float64(ended))
}

// Of returns the term of a metric among several; nil where there is none.
func Of(metric string, terms []Term) *Term {
	for i := range terms {
		if terms[i].Metric == metric {
			return &terms[i]
		}
	}
	return nil
}

// Judge returns whether a stage keeps all terms. term is one that it breaks; otherwise one that it is not shown to keep; otherwise nil.
func Judge(s *rundir.Stage, terms []Term) (v rundir.Promised, term *Term) {
	v = rundir.Kept
	for i := range terms {
		switch one := terms[i].Holds(s); {
		case one == rundir.Broken:
			return rundir.Broken, &terms[i]
		case one == rundir.Unsure && term == nil:
			v, term = rundir.Unsure, &terms[i]
		}
	}
	return v, term
}

// Sample returns how many independent requests the term needs to be judged; 0 where a few are enough. Each request has many gaps between
// tokens.
func (t Term) Sample() int {
	if t.tail() == 0 || t.Metric == ITL || t.OfAnswers() {
		return 0
	}
	return int(math.Ceil(enough/t.tail() - roundOff))
}

// Takes returns how many requests like those of a stage are needed to judge the term: more than [Term.Sample], where neighbours are alike.
// It is 0 where the stage does not tell.
func (t Term) Takes(s *rundir.Stage) int {
	had := float64(s.Requests.OK + s.Requests.Error)
	worth := had // independent requests
	if d := t.dist(s); d != nil {
		worth = d.Neff.Value()
	}
	if t.tail() == 0 || !(worth > 0) {
		return 0
	}
	return int(math.Ceil(had*enough/t.tail()/worth - roundOff))
}
