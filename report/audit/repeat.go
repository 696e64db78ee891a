package audit

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"llmsweep/report/published"
	"llmsweep/sweep/rundir"
)

// The rules of this file hold results against each other, and stress tables against what they say of themselves.

// closedLoopTolerance: some time passes between one request's end and the next one's start.
const closedLoopTolerance = 0.05

// closedLoop: n requests of which c are always in flight, until none is left to send, end within the sum of their times
// / c plus (1 - 1/c) of the longest, in whatever order they are sent (R. L. Graham, Bell System Technical Journal 45,
// 1966). A test that took longer did not keep c in flight: it sent them in batches, each waiting for its slowest.
func closedLoop(r *row) (key, text string) {
	s := r.stage
	if !r.published(published.Stress) || !s.Whole || s.MaxConcurrency < 2 || s.Requests.Due == 0 || s.Requests.OK != s.Requests.Due ||
		!known(s.Latency.Mean, s.Latency.Max) || s.Window <= 0 {
		return "", ""
	}
	n, c := float64(s.Requests.Due), float64(s.MaxConcurrency)
	longest := n*s.Latency.Mean.Value()/c + (1-1/c)*s.Latency.Max.Value()
	if s.Window <= longest*(1+closedLoopTolerance) {
		return "", ""
	}
	return "max_concurrency", fmt.Sprintf("%d in flight end %.0f requests of %s within %s, and it took %s: %.1f were in flight on average, as when batches wait for their slowest",
		s.MaxConcurrency, n, seconds(s.Latency.Mean.Value()), seconds(longest), seconds(s.Window), n*s.Latency.Mean.Value()/s.Window)
}

// Even lengths: at a temperature above 0, answers that end by themselves take different times; that all take the same,
// within 2.5 %, is what a limit does.
const (
	evenSpread = 0.025
	evenTokens = 0.1
)

// evenLengths finds a count of tokens below Max Tokens where all requests seem to have reached it.
func evenLengths(r *row) (key, text string) {
	s := r.stage
	if !r.published(published.Stress) || !known(s.Latency.Mean, s.Latency.Std, s.OutputTokens.Mean, s.AskedTokens, r.table.run.Workload.Temperature) ||
		r.table.run.Workload.Temperature.Value() <= 0 || s.Requests.OK < 10 {
		return "", ""
	}
	spread, asked, got := s.Latency.Std.Value()/s.Latency.Mean.Value(), s.AskedTokens.Value(), s.OutputTokens.Mean.Value()
	if spread > evenSpread || got >= asked*(1-evenTokens) {
		return "", ""
	}
	return "output_tokens.mean", fmt.Sprintf("%s tokens a request counted, but response times spread by %.1f %% only: all seem to have run to Max Tokens %.0f, so the count is not the server's",
		digits(got), 100*spread, asked)
}

// A limit of the server's own: the spread and the difference in duration that a fixed length leaves, and how far Max
// Tokens must be apart for it to show.
const (
	defaultSpread = 0.05
	defaultApart  = 1.5
)

// stoppedByDefault finds stress tables whose duration does not depend on Max Tokens and in which all requests took the
// same time, next to a response that stopped at fewer tokens: the server did not hear Max Tokens.
func stoppedByDefault(all []*table) []hit {
	var hits []hit
	var some []*table
	for _, t := range all {
		if fixedLength(t) && len(some) < mostCompared {
			some = append(some, t)
		}
	}
	for _, t := range some {
		for _, o := range some {
			if t == o || !sameLimit(t, o) {
				continue
			}
			r, s := t.rows[0], t.rows[0].stage
			resp := t.run.Source.Responses[0]
			text := fmt.Sprintf("Max Tokens %.0f and %.0f (line %d) both took %s, spread %.1f %%, and the response in line %d stopped at %d tokens: Max Tokens was not heard",
				s.AskedTokens.Value(), o.rows[0].stage.AskedTokens.Value(), o.rows[0].line("asked_tokens"), seconds(s.Window),
				100*s.Latency.Std.Value()/s.Latency.Mean.Value(), resp.Line, resp.CompletionTokens)
			if got := s.OutputTokens.Mean; known(got) && math.Abs(got.Value()/float64(resp.CompletionTokens)-1) > tokensAbove {
				text += fmt.Sprintf(" (and %s a request is not the server's count)", digits(got.Value()))
			}
			hits = append(hits, hit{row: r, key: "asked_tokens", text: text})
			break
		}
	}
	return hits
}

// mostCompared bounds what is compared with what, lest a file of a hundred thousand blocks takes hours.
const mostCompared = 500

// fixedLength reports whether a stress table has hardly any spread, and stands next to responses that a limit below Max
// Tokens ended.
func fixedLength(t *table) bool {
	if t.run.Source == nil || t.run.Source.Format != published.Stress || len(t.rows) != 1 || len(t.run.Source.Responses) == 0 {
		return false
	}
	s := t.rows[0].stage
	if !known(s.AskedTokens, s.Latency.Mean, s.Latency.Std) || s.Window <= 0 ||
		s.Latency.Std.Value() > defaultSpread*s.Latency.Mean.Value() {
		return false
	}
	return !slices.ContainsFunc(t.run.Source.Responses, func(r rundir.Response) bool {
		return r.CompletionTokens == 0 || float64(r.CompletionTokens) >= s.AskedTokens.Value() || r.Finish != "" && r.Finish != "length"
	})
}

// sameLimit reports whether two stress tables differ in Max Tokens and in nothing that it should change.
func sameLimit(t, o *table) bool {
	a, b := t.rows[0].stage, o.rows[0].stage
	apart := a.AskedTokens.Value() / b.AskedTokens.Value()
	return t.file == o.file && t.run.Target.URL == o.run.Target.URL && a.MaxConcurrency == b.MaxConcurrency &&
		a.Requests.Due == b.Requests.Due && max(apart, 1/apart) >= defaultApart &&
		math.Abs(a.Window-b.Window) <= defaultSpread*min(a.Window, b.Window)
}

// A configuration printed twice: runs of 100 requests whose lengths vary repeat within 16 %, so 25 % is not chance; and
// where the spread is known, four standard errors.
const (
	twiceTolerance = 0.25
	twiceErrors    = 4
)

// printedTwice finds results of one configuration whose values differ. Where most of their figures are alike to the
// last digit they are one measurement, printed twice, and none may differ.
func printedTwice(all []*table) []hit {
	groups := map[string][]*row{}
	var order []string
	for _, t := range all {
		for _, r := range t.rows {
			id := configuration(r)
			if id == "" {
				continue
			}
			if groups[id] == nil {
				order = append(order, id)
			}
			if len(groups[id]) < mostCompared {
				groups[id] = append(groups[id], r)
			}
		}
	}
	var hits []hit
	for _, id := range order {
		if g := groups[id]; len(g) > 1 {
			hits = append(hits, compareAll(g)...)
		}
	}
	return hits
}

// configuration is all that a row says about what was run; empty where it says too little to be told from others.
func configuration(r *row) string {
	run, s := r.table.run, r.stage
	if s.Source == nil || run.Labels.Model == "" && run.Target.Backend == "" {
		return ""
	}
	think := "?"
	if run.Workload.Think != nil {
		think = fmt.Sprint(*run.Workload.Think)
	}
	parts := []string{s.Source.Format, fmt.Sprint(run.Labels), run.Target.URL, run.Target.Backend, think, s.Name,
		fmt.Sprint(s.AskedTokens.Value(), run.Workload.Temperature.Value(), s.MaxConcurrency, s.Requests.Due)}
	switch s.Source.Format {
	case published.Serving: // the lengths asked for stand above some blocks only; the prompts stand in all
		parts[len(parts)-1] = fmt.Sprint(s.MaxConcurrency, s.Requests.OK+s.Requests.Error, s.PromptTokens.Total.Value())
	case published.SixColumn:
		parts = append(parts, fmt.Sprint(run.Workload.PromptTokens, run.Workload.OutputTokens))
	}
	return strings.Join(parts, "\x00")
}

// compareAll compares rows of one configuration: each with the one before it as one measurement printed twice, and all
// of them as measurements repeated.
func compareAll(g []*row) []hit {
	var hits []hit
	for i := 1; i < len(g); i++ {
		if key, text := onceMore(g[i-1], g[i]); text != "" {
			hits = append(hits, hit{row: g[i], key: key, text: text})
		}
	}
	if len(hits) > 0 {
		return hits
	}
	for _, key := range []string{"latency_s.mean", "rates.completed", "tokens_per_s.output"} {
		if h, ok := repeated(g, key); ok {
			return []hit{h}
		}
	}
	return nil
}

// onceMore compares two prints of what seems to be one measurement.
func onceMore(a, b *row) (key, text string) {
	var differ []string
	same := 0
	for k, p := range b.stage.Source.Printed {
		switch other := a.text(k); {
		case other == "" || !strings.ContainsAny(p.Text, "123456789") || figure(b.stage, k).IsZero() || k == "rate":
		case other == p.Text:
			same++
		default:
			differ = append(differ, k)
		}
	}
	if len(differ) == 0 || same < 3 || same < 2*len(differ) {
		return "", ""
	}
	slices.Sort(differ)
	key = differ[0]
	return key, fmt.Sprintf("the measurement of line %d once more, but for %s: %s there, %s here", a.line(key), key, a.text(key), b.text(key))
}

// repeated compares one figure over all rows, and blames the one that most others disagree with.
func repeated(g []*row, key string) (hit, bool) {
	most, who := 0, -1
	for i, a := range g {
		n := 0
		for _, b := range g {
			if apart(a, b, key) {
				n++
			}
		}
		if n > most {
			most, who = n, i
		}
	}
	if who < 0 {
		return hit{}, false
	}
	var values, lines []string
	for _, r := range g {
		values = append(values, r.said(key))
		lines = append(lines, fmt.Sprint(r.stage.Source.Line))
	}
	return hit{row: g[who], key: key, grade: Doubtful, text: fmt.Sprintf("one configuration %d times (lines %s), and %s is %s",
		len(g), strings.Join(lines, ", "), strings.ToLower(label(key)), strings.Join(values, ", "))}, true
}

// apart reports whether two measurements of one thing differ by more than they may.
func apart(a, b *row, key string) bool {
	x, ok1 := a.span(key)
	y, ok2 := b.span(key)
	if !ok1 || !ok2 || max(x.v, y.v) <= (1+twiceTolerance)*min(x.v, y.v) {
		return false
	}
	if p, q := &a.stage.Latency, &b.stage.Latency; key == "latency_s.mean" && known(p.Std, q.Std) && p.N > 0 && q.N > 0 {
		return math.Abs(x.v-y.v) > twiceErrors*math.Hypot(p.Std.Value()/math.Sqrt(float64(p.N)), q.Std.Value()/math.Sqrt(float64(q.N)))
	}
	return true
}
