// Package slo reads service level objectives such as "ttft:p99<500ms", and judges measured stages by them. A metric
// that is absent, or a percentile that too few samples support, neither keeps nor breaks an objective.
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
	TTFA    = "ttfa"     // from when the request was sent to the first token of the answer, after thinking
	ITL     = "itl"
	TPOT    = "tpot"
	Latency = "latency"
	// Speed is tokens per second of one request after its first token, the inverse of TPOT. Inside, a term of it is
	// about seconds per token.
	Speed  = "speed"
	Errors = "errors"
	Stalls = "stalls" // the share of the requests with a gap between two chunks above [Term.Gap]
	// Accuracy is the share of the graded answers that are right. Inside, a term of it is about the share that is not.
	Accuracy = "accuracy"
	// Sessions is the share of the sessions whose turns all keep the other terms. Inside, a term of it is about the
	// share of those that do not.
	Sessions = "sessions"
)

// Mean is the statistic that is not a percentile.
const Mean = "mean"

// Term is one objective: a statistic of a metric lies below a limit; of [Speed], [Accuracy] and [Sessions], above it.
type Term struct {
	Metric string
	Stat   string  // Mean or a percentile, "p99"; of Speed a low one, "p5"; empty for a share
	Limit  float64 // seconds; of Speed seconds per token; of a share that which may miss: fail, stall, be wrong
	Gap    float64 // of Stalls: seconds without a token from which on it is a stall; 0 for other metrics
}

type form struct {
	sign    string   // "<" or ">"
	stats   []string // nil for a share
	example string
}

// forms are the metrics. This is the only list of them.
var forms = map[string]form{
	TTFT: timed(TTFT), TTFTDue: timed(TTFTDue), TTFA: timed(TTFA), ITL: timed(ITL), TPOT: timed(TPOT),
	Latency:  timed(Latency),
	Speed:    {">", []string{"p1", "p5", "p10", "p50"}, "speed:p5>30tok/s"},
	Errors:   {"<", nil, "errors<1%"},
	Stalls:   {"<", nil, "stalls<1% or stalls<1%,stall=1s"},
	Accuracy: {">", nil, "accuracy>80%"},
	Sessions: {">", nil, "sessions>99%"},
}

func timed(metric string) form {
	return form{"<", []string{Mean, "p50", "p90", "p95", "p99"}, metric + ":p99<500ms"}
}

// OfStage reports whether the term is known of a stage alone, and not of a single request.
func (t Term) OfStage() bool { return t.Metric == Accuracy || t.Metric == Sessions }

// Share reports whether the term is about a share: of requests, answers or sessions.
func (t Term) Share() bool { return forms[t.Metric].stats == nil }

// Above reports whether the metric must lie above its limit. Inside, its inverse lies below.
func (t Term) Above() bool { return forms[t.Metric].sign == ">" }

// Timed reports whether the term is about a duration as such.
func (t Term) Timed() bool { return !t.Share() && t.Metric != Speed }

const grammar = "ttft|ttft_due|ttfa|itl|tpot|latency:mean|p50|p90|p95|p99<DURATION, speed:p1|p5|p10|p50>RATE, " +
	"errors|stalls<PERCENT, or accuracy|sessions>PERCENT, such as ttft:p99<500ms or speed:p5>30tok/s"

// foreignNames are names that other tools have for the metrics.
var foreignNames = map[string]string{
	"e2e": Latency, "e2el": Latency, "e2e_latency": Latency, "request_latency": Latency, "inter_token_latency": ITL,
	"time_to_first_token": TTFT,
	"tbt":                 ITL, "time_per_output_token": TPOT, "error_rate": Errors,
}

// Parse reads one term.
func Parse(text string) (Term, error) {
	at := strings.IndexAny(text, "<>")
	if at < 0 {
		return Term{}, notATerm(text, "it has no < and no >")
	}
	metric, stat, _ := strings.Cut(strings.ToLower(strings.TrimSpace(text[:at])), ":")
	t := Term{Metric: strings.TrimSpace(metric), Stat: strings.TrimSpace(stat)}
	limit := strings.TrimSpace(strings.TrimPrefix(text[at+1:], "=")) // a measured value is never exactly at its limit
	f, known := forms[t.Metric]
	switch ours, translated := foreignNames[t.Metric]; {
	case translated:
		return Term{}, fmt.Errorf("SLO %q: %s is %s here, as in %s", text, t.Metric, ours, strings.Replace(text, t.Metric,
			ours, 1))
	case !known:
		return Term{}, notATerm(text, "there is no metric "+strconv.Quote(t.Metric))
	case text[at:at+1] != f.sign:
		return Term{}, notATerm(text, strconv.Quote(t.Metric)+" takes "+f.sign+", as in "+f.example)
	case t.Share():
		return t.withShare(text, limit)
	case t.Stat == "":
		return Term{}, fmt.Errorf("SLO %q: which statistic? For example %s:%s%s%s", text, t.Metric, f.stats[len(f.stats)-1],
			f.sign, limit)
	case !slices.Contains(f.stats, t.Stat):
		return Term{}, notATerm(text, t.Metric+" has no statistic "+strconv.Quote(t.Stat))
	case t.Metric == Speed:
		return t.withSpeed(text, limit)
	}
	return t.withTime(text, limit)
}

func notATerm(text, why string) error { return fmt.Errorf("SLO %q: %s; write %s", text, why, grammar) }

func (t Term) withShare(text, limit string) (Term, error) {
	bad := notATerm(text, t.Metric+" takes a share below 100%, as in "+forms[t.Metric].example)
	if t.Metric == Stalls {
		share, gap, set := strings.Cut(limit, ",")
		limit, t.Gap = share, stallGap
		if set {
			d, err := time.ParseDuration(strings.TrimPrefix(strings.ReplaceAll(gap, " ", ""), "stall="))
			if err != nil || d <= 0 {
				return Term{}, bad
			}
			t.Gap = d.Seconds()
		}
	}
	share, err := parseShare(limit)
	above := t.Above()
	if err != nil || t.Stat != "" || above && share == 1 { // no number of answers shows that all are right
		return Term{}, bad
	}
	t.Limit = share
	if above {
		t.Limit = 1 - share
	}
	return t, nil
}

func (t Term) withSpeed(text, limit string) (Term, error) {
	number, found := strings.CutSuffix(limit, "tok/s")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if !found || err != nil || !(v > 0) || math.IsInf(v, 0) {
		return Term{}, notATerm(text, "the limit is not a speed such as 30tok/s")
	}
	t.Limit = 1 / v
	return t, nil
}

func (t Term) withTime(text, limit string) (Term, error) {
	d, err := time.ParseDuration(strings.ReplaceAll(limit, " ", ""))
	if _, number := strconv.ParseFloat(limit, 64); number == nil && err != nil {
		return Term{}, fmt.Errorf("SLO %q: the limit has no unit; for example %s<%sms", text, t.Name(), limit)
	}
	if err != nil || d <= 0 {
		return Term{}, notATerm(text, "the limit is not a duration such as 500ms")
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
	ofTurns := func(t Term) bool { return !t.OfStage() && t.Metric != Errors }
	if t := Of(Sessions, all); t != nil && !slices.ContainsFunc(all, ofTurns) {
		return nil, fmt.Errorf(
			"SLO %q: it is about sessions whose turns keep the other terms: give one, such as ttft:p95<1s", t)
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

// parseShare reads a share above 0 and up to 1, such as "10%" or "0.1".
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

// String returns the term as [Parse] reads it.
func (t Term) String() string {
	exact := func(v float64) string { return trim(strconv.FormatFloat(v, 'f', 6, 64)) }
	name := t.Name() + forms[t.Metric].sign
	switch {
	case t.Metric == Speed:
		return name + exact(1/t.Limit) + "tok/s"
	case t.Metric == Stalls && t.Gap != stallGap:
		return name + exact(t.Limit*100) + "%,stall=" + Term{}.Amount(t.Gap)
	case t.OfStage():
		return name + exact((1-t.Limit)*100) + "%"
	case t.Share():
		return name + exact(t.Limit*100) + "%"
	case t.Limit < 1:
		return name + exact(t.Limit*1e3) + "ms"
	}
	return name + exact(t.Limit) + "s"
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
	if t.Timed() && t.Metric != Latency {
		name = strings.ToUpper(name)
	}
	return strings.TrimSpace(name + " " + t.Stat)
}

// Amount returns a value of the term's metric as text, to three digits.
func (t Term) Amount(v float64) string {
	switch {
	case t.Metric == Speed:
		return digits(1/v) + "tok/s"
	case t.OfStage(): // of right answers, of good sessions
		return trim(strconv.FormatFloat(100*max(0, 1-v), 'f', 2, 64)) + "%"
	case t.Metric == Errors || t.Metric == Stalls:
		return digits(v*100) + "%"
	case v < 0.9995:
		return digits(v*1e3) + "ms"
	}
	return digits(v) + "s"
}

// Least returns a value of the term's metric as text, with the side on which it lies where only a bound is known.
func (t Term) Least(n rundir.Number) string {
	switch {
	case !n.Bound():
		return t.Amount(n.Value())
	case t.Above(): // inside, its inverse
		return "< " + t.Amount(n.Value())
	}
	return "> " + t.Amount(n.Value())
}

// digits returns a number with three significant digits, or all digits before its point.
func digits(v float64) string {
	decimals := 0
	if v > 0 && v < 100 {
		decimals = 2 - int(math.Floor(math.Log10(v)))
	}
	return trim(strconv.FormatFloat(v, 'f', min(decimals, 9), 64))
}

func trim(s string) string {
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// Quantile returns the percentile as a share of the times: 0.99 for p99, and for the p1 of a speed; NaN for a mean and
// for errors.
func (t Term) Quantile() float64 {
	if !t.Percentile() {
		return math.NaN()
	}
	return 1 - t.tail()
}

// tail returns the share of the requests that may lie beyond the limit; 0 for a mean.
func (t Term) tail() float64 {
	switch t.Stat {
	case "p50":
		return 0.5
	case "p90", "p10":
		return 0.1
	case "p95", "p5":
		return 0.05
	case "p99", "p1":
		return 0.01
	case "":
		return t.Limit // of a share
	}
	return 0
}

// PerToken returns a term of [Speed] as one of [TPOT].
func (t Term) PerToken() Term {
	return Term{Metric: TPOT, Stat: map[string]string{"p1": "p99", "p5": "p95", "p10": "p90", "p50": "p50"}[t.Stat],
		Limit: t.Limit}
}

var noDists rundir.AllDists // of a stage in which no request failed

// dist returns the distribution and the statistic that the term is about, failed requests included where some failed;
// nil for a share.
func (t Term) dist(s *rundir.Stage) (d *rundir.Dist, stat string) {
	all := s.All
	if all == nil {
		all = &noDists
	}
	stat = t.Stat
	var withFailed *rundir.Dist
	switch t.Metric {
	case TTFT:
		d, withFailed = &s.TTFT, &all.TTFT
	case TTFTDue:
		d, withFailed = &s.TTFTDue, &all.TTFTDue
	case TTFA:
		d, withFailed = &s.FirstAnswer, &all.FirstAnswer
	case ITL:
		d, withFailed = &s.ITL, &all.ITL
	case TPOT:
		d, withFailed = &s.TPOT, &all.TPOT
	case Speed:
		d, withFailed, stat = &s.TPOT, &all.TPOT, t.PerToken().Stat
	case Latency:
		d, withFailed = &s.Latency, &all.Latency
	default:
		return nil, stat
	}
	if withFailed.N > 0 {
		d = withFailed
	}
	return d, stat
}

// Of returns the value of the term's metric in a stage, and whether enough samples support it.
func (t Term) Of(s *rundir.Stage) (f rundir.Number, supported bool) {
	d, stat := t.dist(s)
	switch {
	case !t.Unknown(s).IsZero():
		return f, true
	case t.Metric == Errors:
		return rundir.Exactly(float64(s.Requests.Error) / float64(s.Requests.OK+s.Requests.Error)), true // 0/0 is absent
	case d == nil:
		b := t.Counted(s)
		share := float64(b.Count) / float64(b.Of)
		if b.Open > 0 {
			return rundir.Over(share), true
		}
		return rundir.Exactly(share), true
	}
	f, supported = d.Get(stat), stat == Mean || d.Supported(stat) // a mean is judged by its interval
	if t.Metric == ITL && t.Stat == Mean && f.IsZero() {
		// sum(last - first) / sum(n - 1) is the mean of all gaps between tokens; six-column tables have nothing else.
		return s.InterToken, true
	}
	return f, supported
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

// Judge returns whether a stage keeps all terms. term is one that it breaks; otherwise one that it is not shown to
// keep; otherwise nil.
func Judge(s *rundir.Stage, terms []Term) (v rundir.SLOVerdict, term *Term) {
	v = rundir.Met
	for i := range terms {
		switch one := terms[i].Verdict(s); {
		case one == rundir.Missed:
			return rundir.Missed, &terms[i]
		case one == rundir.Unsure && term == nil:
			v, term = rundir.Unsure, &terms[i]
		}
	}
	return v, term
}

// Sample returns how many independent requests the term needs to be judged; 0 where a few are enough. Each request has
// many gaps between tokens.
func (t Term) Sample() int {
	if t.tail() == 0 || t.Metric == ITL || t.OfStage() {
		return 0
	}
	return int(math.Ceil(tailSamples/t.tail() - rounding))
}

// Takes returns how many requests like those of a stage are needed to judge the term: more than [Term.Sample], where
// neighbours are alike. It is 0 where the stage does not tell.
func (t Term) Takes(s *rundir.Stage) int {
	had := float64(s.Requests.OK + s.Requests.Error)
	worth := had // independent requests
	if d, _ := t.dist(s); d != nil {
		worth = d.Neff.Value()
	}
	if t.tail() == 0 || !(worth > 0) {
		return 0
	}
	return int(math.Ceil(had*tailSamples/t.tail()/worth - rounding))
}
