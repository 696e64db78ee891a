package audit

import (
	"math"
	"slices"

	"llmsweep/report/published"
	"llmsweep/sweep/rundir"
)

// The rules of this file compare stress tables with their own settings.

// closedLoopTolerance is for the time between the end of a request and the start of the next one.
const closedLoopTolerance = 0.05

// closedLoop finds a test that took longer than a closed loop can. With c of n requests always in flight, until none is
// left to send, all end within sum of their times / c + (1 - 1/c) x longest, in any order (R. L. Graham, Bell System
// Technical Journal 45, 1966). A test that took longer did not keep c in flight: it sent them in batches, and each
// batch waited for its slowest request.
func closedLoop(r *row) hit {
	s := r.stage
	if !r.published(published.Stress) || !s.Whole || s.MaxConcurrency < 2 || s.Requests.Due == 0 ||
		s.Requests.OK != s.Requests.Due || !known(s.Latency.Mean, s.Latency.Max) || s.Window <= 0 {
		return hit{}
	}
	requests, c, mean := float64(s.Requests.Due), float64(s.MaxConcurrency), s.Latency.Mean.Value()
	longest := requests*mean/c + (1-1/c)*s.Latency.Max.Value()
	if s.Window <= longest*(1+closedLoopTolerance) {
		return hit{}
	}
	n := noteClosedLoop.New(s.MaxConcurrency, requests, seconds(mean), seconds(longest), seconds(s.Window),
		requests*mean/s.Window)
	return hit{key: "max_concurrency", grade: Remark, note: n}
}

// Limits of a cold start: how much longer than the median the longest request took, and how far the number of slow
// requests, by the mean, may be from one batch. The shortest took about as long as the median, and the spread is that
// of two values.
const (
	coldFactor  = 3
	coldBatch   = 0.25
	coldMinimum = 0.9
	coldSpread  = 0.9
)

// coldStart finds a test of which as many requests as run at once took much longer than the rest.
func coldStart(r *row) hit {
	s := r.stage
	if !r.published(published.Stress) || s.MaxConcurrency < 2 || s.Requests.OK < 5*s.MaxConcurrency ||
		!known(s.Latency.Mean, s.Latency.Min, s.Latency.P50, s.Latency.Max, s.Latency.Std) {
		return hit{}
	}
	median, longest := s.Latency.P50.Value(), s.Latency.Max.Value()
	share := (s.Latency.Mean.Value() - median) / (longest - median)
	slow := share * float64(s.Requests.OK)
	if longest < coldFactor*median || s.Latency.Min.Value() < coldMinimum*median ||
		math.Abs(slow/float64(s.MaxConcurrency)-1) > coldBatch ||
		s.Latency.Std.Value() < coldSpread*math.Sqrt(share*(1-share))*(longest-median) {
		return hit{}
	}
	return hit{
		key:   keyLatency,
		grade: Remark,
		note:  noteCold.New(slow, s.Requests.OK, seconds(longest), seconds(median)),
	}
}

// Limits of even lengths. Answers that end by themselves take different times, at a temperature above 0. Where all take
// the same time, within 2.5 %, a limit ended them.
const (
	evenSpread = 0.025
	evenTokens = 0.1
)

// evenLengths finds a count of tokens below Max Tokens where one limit seems to have ended all requests. Where the
// temperature is unknown, the answers may have been equal: then each has a whole number of tokens.
func evenLengths(r *row) hit {
	s := r.stage
	if !r.published(published.Stress) || !known(s.Latency.Mean, s.Latency.Std, s.OutputTokens.Mean, s.AskedTokens) ||
		s.Requests.OK < 10 {
		return hit{}
	}
	if _, ok := r.span("output_tokens.mean"); !ok {
		return hit{}
	}
	temperature, total := r.result.run.Workload.Temperature, s.OutputTokens.Total
	equal := temperature.Known() && temperature.Value() <= 0
	if !temperature.Known() {
		each := total.Value() / float64(s.Requests.OK)
		equal = !total.Known() || each == math.Trunc(each)
	}
	spread, asked, got := s.Latency.Std.Value()/s.Latency.Mean.Value(), s.AskedTokens.Value(), s.OutputTokens.Mean.Value()
	if equal || spread > evenSpread || got >= asked*(1-evenTokens) {
		return hit{}
	}
	return hit{key: "output_tokens.mean", grade: Doubtful, note: noteEven.New(digits(got), spread, asked)}
}

// Limits of a length that the server sets itself: the spread and the difference in duration that remain with a fixed
// length, and the least ratio of two values of Max Tokens at which it shows.
const (
	defaultSpread = 0.05
	defaultRatio  = 1.5
)

// maxCompared bounds how many results are compared with each other: the time grows with its square, and a file of a
// hundred thousand blocks would take hours.
const maxCompared = 500

// stoppedByDefault finds stress tables whose duration does not depend on Max Tokens and in which all requests took the
// same time, next to a response that stopped at fewer tokens: the server ignored Max Tokens.
func stoppedByDefault(all []*result) []hit {
	var hits []hit
	var fixed []*row
	for _, t := range all {
		for _, r := range t.rows {
			if fixedLength(r) && len(fixed) < maxCompared {
				fixed = append(fixed, r)
			}
		}
	}
	for _, r := range fixed {
		i := slices.IndexFunc(fixed, func(o *row) bool { return o != r && sameLimit(r, o) })
		if i < 0 {
			continue
		}
		s, o, resp := r.stage, fixed[i], r.result.run.Source.Responses[0]
		counted := math.NaN() // left out of the note
		if got := s.OutputTokens.Mean; got.Known() && math.Abs(got.Value()/float64(resp.CompletionTokens)-1) > tokensAbove {
			counted = got.Value()
		}
		n := noteDefaultLimit.New(s.AskedTokens.Value(), o.stage.AskedTokens.Value(), o.line("asked_tokens"),
			seconds(s.Window), resp.Line, resp.CompletionTokens, counted)
		hits = append(hits, hit{row: r, key: "asked_tokens", note: n, figures: rowFigures()})
	}
	return hits
}

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
		return r.CompletionTokens == 0 || float64(r.CompletionTokens) >= s.AskedTokens.Value() ||
			r.Finish != "" && r.Finish != "length"
	})
}

// sameLimit reports whether two stress tables differ in Max Tokens and in nothing that it should change.
func sameLimit(r, o *row) bool {
	a, b := r.stage, o.stage
	ratio := a.AskedTokens.Value() / b.AskedTokens.Value()
	return r.result.file == o.result.file && r.result.run.Target.URL == o.result.run.Target.URL &&
		a.MaxConcurrency == b.MaxConcurrency &&
		a.Requests.Due == b.Requests.Due &&
		max(ratio, 1/ratio) >= defaultRatio &&
		math.Abs(a.Window-b.Window) <= defaultSpread*min(a.Window, b.Window)
}
