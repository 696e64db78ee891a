package audit

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"llmsweep/client/note"
	"llmsweep/report/published"
	"llmsweep/sweep/rundir"
)

// The rules of this file compare results with each other, and stress tables with their own settings.

// closedLoopTolerance is for the time between the end of a request and the start of the next one.
const closedLoopTolerance = 0.05

// closedLoops finds tests that took longer than a closed loop can, and those of the same script for which that is not proven though as few were in flight.
func closedLoops(all []*result) []hit {
	hits := each(closedLoop)(all)
	shown := map[string]*row{}
	for _, h := range hits {
		if shown[h.row.result.file] == nil {
			shown[h.row.result.file] = h.row
		}
	}
	for _, t := range all {
		for _, r := range t.rows {
			s, of := r.stage, shown[t.file]
			if of == nil || !r.published(published.Stress) || s.Requests.OK < 5*s.MaxConcurrency || s.MaxConcurrency < 2 || s.Window <= 0 || !s.Latency.Mean.Known() ||
				slices.ContainsFunc(hits, func(h hit) bool { return h.row == r }) {
				continue
			}
			if mean := float64(s.Requests.OK) * s.Latency.Mean.Value() / s.Window; mean < fewInFlight*float64(s.MaxConcurrency) {
				hits = append(hits, hit{row: r, key: "max_concurrency", note: noteLikeClosedLoop.New(s.MaxConcurrency, mean, of.line("max_concurrency"))})
			}
		}
	}
	return hits
}

// fewInFlight is the share of the concurrency from which on a table is taken for one of batches, where another table of the file is shown to be one.
const fewInFlight = 0.9

// Limits of a cold start: how much longer than the median the longest request took, and how far the number of slow ones, by the mean, may be from one
// batch.
const (
	coldFactor = 3
	coldBatch  = 0.25
	coldAlike  = 0.9 // the shortest, over the median: the rest took equally long
	coldSpread = 0.9 // of the spread of two values, the longest and the median, with these shares
)

// coldStart finds a test whose first batch took much longer than the rest: as many requests as the concurrency, by the mean.
func coldStart(r *row) (key string, n note.Note) {
	s := r.stage
	if !r.published(published.Stress) || s.MaxConcurrency < 2 || !known(s.Latency.Mean, s.Latency.Min, s.Latency.P50, s.Latency.Max, s.Latency.Std) || s.Requests.OK < 5*s.MaxConcurrency {
		return "", note.Note{}
	}
	median, longest := s.Latency.P50.Value(), s.Latency.Max.Value()
	if longest < coldFactor*median || s.Latency.Min.Value() < coldAlike*median {
		return "", note.Note{}
	}
	share := (s.Latency.Mean.Value() - median) / (longest - median)
	slow := share * float64(s.Requests.OK)
	if two := math.Sqrt(share*(1-share)) * (longest - median); math.Abs(slow/float64(s.MaxConcurrency)-1) > coldBatch || s.Latency.Std.Value() < coldSpread*two {
		return "", note.Note{}
	}
	return "latency_s.mean", noteCold.New(slow, s.Requests.OK, seconds(longest), seconds(median))
}

// stuck finds counts of tokens that are not the server's: all requests took the same time, yet their tokens are no whole number each, so the answers were
// not equal; something ended all of them below Max Tokens.
func stuck(r *row) (key string, n note.Note) {
	s := r.stage
	if !r.published(published.Stress) || !known(s.Latency.Mean, s.Latency.Std, s.OutputTokens.Mean, s.OutputTokens.Total, s.AskedTokens) || s.Requests.OK < 10 {
		return "", note.Note{}
	}
	explained := slices.ContainsFunc(s.Doubts, func(d rundir.Doubt) bool { return d.Rule == "default-limit" })
	if explained || r.result.run.Workload.Temperature.Known() { // then rule even decides
		return "", note.Note{}
	}
	spread, each := s.Latency.Std.Value()/s.Latency.Mean.Value(), s.OutputTokens.Total.Value()/float64(s.Requests.OK)
	if spread > evenSpread || each >= s.AskedTokens.Value()*(1-evenTokens) || each == math.Trunc(each) {
		return "", note.Note{}
	}
	return "output_tokens.mean", noteStuck.New(digits(each), s.Requests.OK, s.OutputTokens.Total.Value(), spread, s.AskedTokens.Value())
}

// closedLoop finds a test that took longer than a closed loop can. With c of n requests always in flight, until none is left to send, all end
// within sum of their times / c + (1 - 1/c) x longest, in any order (R. L. Graham, Bell System Technical Journal 45,
// 1966). A test that took longer did not keep c in flight: it sent them in batches, and each batch waited for its slowest request.
func closedLoop(r *row) (key string, n note.Note) {
	s := r.stage
	if !r.published(published.Stress) || !s.Whole || s.MaxConcurrency < 2 || s.Requests.Due == 0 || s.Requests.OK != s.Requests.Due ||
		!known(s.Latency.Mean, s.Latency.Max) || s.Window <= 0 {
		return "", note.Note{}
	}
	requests, c := float64(s.Requests.Due), float64(s.MaxConcurrency)
	longest := requests*s.Latency.Mean.Value()/c + (1-1/c)*s.Latency.Max.Value()
	if s.Window <= longest*(1+closedLoopTolerance) {
		return "", note.Note{}
	}
	return "max_concurrency", noteClosedLoop.New(s.MaxConcurrency, requests, seconds(s.Latency.Mean.Value()), seconds(longest), seconds(s.Window), requests*s.Latency.Mean.Value()/s.Window)
}

// Limits of even lengths. At a temperature above 0, answers that end by themselves take different times. Where all take the same time, within
// 2.5 %, a limit ended them.
const (
	evenSpread = 0.025
	evenTokens = 0.1
)

// evenLengths finds a count of tokens below Max Tokens where all requests seem to have reached it.
func evenLengths(r *row) (key string, n note.Note) {
	s := r.stage
	if !r.published(published.Stress) || !known(s.Latency.Mean, s.Latency.Std, s.OutputTokens.Mean, s.AskedTokens, r.result.run.Workload.Temperature) ||
		r.result.run.Workload.Temperature.Value() <= 0 || s.Requests.OK < 10 {
		return "", note.Note{}
	}
	spread, asked, got := s.Latency.Std.Value()/s.Latency.Mean.Value(), s.AskedTokens.Value(), s.OutputTokens.Mean.Value()
	if spread > evenSpread || got >= asked*(1-evenTokens) {
		return "", note.Note{}
	}
	return "output_tokens.mean", noteEven.New(digits(got), spread, asked)
}

// Limits of a length that the server sets itself: the spread and the difference in duration that remain with a fixed length, and the least
// ratio of two values of Max Tokens at which it shows.
const (
	defaultSpread = 0.05
	defaultApart  = 1.5
)

// stoppedByDefault finds stress tables whose duration does not depend on Max Tokens and in which all requests took the
// same time, next to a response that stopped at fewer tokens: the server ignored Max Tokens.
func stoppedByDefault(all []*result) []hit {
	var hits []hit
	var some []*row
	for _, t := range all {
		for _, r := range t.rows {
			if fixedLength(r) && len(some) < mostCompared {
				some = append(some, r)
			}
		}
	}
	for _, r := range some {
		for _, o := range some {
			if r == o || !sameLimit(r, o) {
				continue
			}
			s, resp := r.stage, r.result.run.Source.Responses[0]
			counted := math.NaN() // left out of the note
			if got := s.OutputTokens.Mean; known(got) && math.Abs(got.Value()/float64(resp.CompletionTokens)-1) > tokensAbove {
				counted = got.Value()
			}
			n := noteDefaultLimit.New(s.AskedTokens.Value(), o.stage.AskedTokens.Value(), o.line("asked_tokens"), seconds(s.Window),
				s.Latency.Std.Value()/s.Latency.Mean.Value(), resp.Line, resp.CompletionTokens, counted)
			hits = append(hits, hit{row: r, key: "asked_tokens", note: n})
			break
		}
	}
	return hits
}

// mostCompared bounds how many results are compared with each other: the time grows with its square, and a file of a hundred
// thousand blocks would take hours.
const mostCompared = 500

// fixedLength reports whether a stress table has hardly any spread, and stands next to responses that a limit below Max
// Tokens ended.
func fixedLength(r *row) bool {
	source := r.result.run.Source
	if source == nil || source.Format != published.Stress || len(source.Responses) == 0 {
		return false
	}
	s := r.stage
	if !known(s.AskedTokens, s.Latency.Mean, s.Latency.Std) || s.Window <= 0 ||
		s.Latency.Std.Value() > defaultSpread*s.Latency.Mean.Value() {
		return false
	}
	return !slices.ContainsFunc(source.Responses, func(r rundir.Response) bool {
		return r.CompletionTokens == 0 || float64(r.CompletionTokens) >= s.AskedTokens.Value() || r.Finish != "" && r.Finish != "length"
	})
}

// sameLimit reports whether two stress tables differ in Max Tokens and in nothing that it should change.
func sameLimit(r, o *row) bool {
	a, b := r.stage, o.stage
	apart := a.AskedTokens.Value() / b.AskedTokens.Value()
	return r.result.file == o.result.file && r.result.run.Target.URL == o.result.run.Target.URL && a.MaxConcurrency == b.MaxConcurrency &&
		a.Requests.Due == b.Requests.Due && max(apart, 1/apart) >= defaultApart &&
		math.Abs(a.Window-b.Window) <= defaultSpread*min(a.Window, b.Window)
}

// Limits of a configuration that is printed twice. Runs of 100 requests of varied lengths repeat within 16 %, so 25 % is not chance. Where the
// spread is known, the limit is four standard errors.
const (
	twiceTolerance = 0.25
	twiceErrors    = 4
)

// printedTwice finds results of one configuration whose values differ. Where most of their numbers are equal to the
// last digit, they are one measurement that was printed twice, and none may differ.
func printedTwice(all []*result) []hit {
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

// configuration returns what a row tells about what was run; empty where that is too little to tell it from others.
func configuration(r *row) string {
	run, s := r.result.run, r.stage
	if s.Source == nil || run.Labels.Model == "" && run.Target.Backend == "" || s.Role == rundir.WarmUp {
		return ""
	}
	name := strings.TrimSuffix(s.Name, fmt.Sprintf("#%d", s.Repeat))
	think := "?"
	if run.Workload.Think != nil {
		think = fmt.Sprint(*run.Workload.Think)
	}
	parts := []string{s.Source.Format, fmt.Sprint(run.Labels), run.Target.URL, run.Target.Backend, think, run.Target.Launch, name,
		fmt.Sprint(s.AskedTokens.Value(), run.Workload.Temperature.Value(), s.MaxConcurrency, s.Requests.Due)}
	switch s.Source.Format {
	case published.Serving: // the lengths asked for stand above some blocks only; the prompts stand in all
		parts[len(parts)-1] = fmt.Sprint(s.MaxConcurrency, s.Requests.OK+s.Requests.Error, s.PromptTokens.Total.Value(), published.HeadingName(run.Source))
	case published.SixColumn:
		parts = append(parts, fmt.Sprint(run.Workload.PromptTokens, run.Workload.OutputTokens))
	}
	return strings.Join(parts, "\x00")
}

// compareAll compares rows of one configuration: each with the one before it as one measurement that was printed twice, and all
// of them as repeated measurements.
func compareAll(g []*row) []hit {
	var hits []hit
	for i := 1; i < len(g); i++ {
		if h, ok := onceMore(g[i-1], g[i]); ok {
			hits = append(hits, h)
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

// onceMore compares two rows that seem to be prints of one measurement. The finding is on the one that contradicts itself, and on the second where
// neither does: then nothing may rest on either number.
func onceMore(a, b *row) (hit, bool) {
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
		return hit{}, false
	}
	slices.Sort(differ)
	key := differ[0]
	if a.stage.MaxConcurrency == 1 && len(differ) == 1 && key == "elapsed_s" { // lone requests may repeat to the last digit in two measurements
		return hit{}, false
	}
	wrong := func(r *row) bool {
		_, n := latencyIdentity(r)
		return r.suspect() || !n.IsZero()
	}
	there, here := a, b
	if wrong(a) && !wrong(b) {
		there, here = b, a
	}
	h := hit{row: here, key: key, note: noteOnceMore.New(there.line(key), key, there.text(key), here.text(key))}
	h.blame = []blamed{{row: here, keys: differ}}
	if wrong(here) {
		h.blame[0].probably = map[string]float64{}
		for _, k := range differ {
			h.blame[0].probably[k] = figure(there.stage, k).Value()
		}
	} else {
		h.blame = append(h.blame, blamed{row: there, keys: differ, note: noteOnceMore.New(here.line(key), key, here.text(key), there.text(key))})
	}
	return h, true
}

// repeated compares one number over all rows. The finding is on the row that most others disagree with.
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
	return hit{row: g[who], key: key, grade: Doubtful, note: noteTwice.New(len(g), lines, key, values)}, true
}

// apart reports whether two measurements of one quantity differ by more than the tolerance.
func apart(a, b *row, key string) bool {
	x, ok1 := a.span(key)
	y, ok2 := b.span(key)
	if !ok1 || !ok2 || max(x.V, y.V) <= (1+twiceTolerance)*min(x.V, y.V) {
		return false
	}
	if p, q := &a.stage.Latency, &b.stage.Latency; key == "latency_s.mean" && known(p.Std, q.Std) && p.N > 0 && q.N > 0 {
		return math.Abs(x.V-y.V) > twiceErrors*math.Hypot(p.Std.Value()/math.Sqrt(float64(p.N)), q.Std.Value()/math.Sqrt(float64(q.N)))
	}
	return true
}
