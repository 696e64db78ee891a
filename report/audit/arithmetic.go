package audit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// arithmeticTolerance: tools read the clock once for the duration that they print and once for the rates, a few
// milliseconds apart; rounding comes on top, figure by figure.
const arithmeticTolerance = 0.005

// arithmetic recomputes the figures of a block that are made of others. Where rates were counted in a window they are
// not made of the counts, so it is for whole tests that were read elsewhere.
func arithmetic(r *row) (key, text string) {
	if r.stage.Source == nil || !r.stage.Whole {
		return counts(r)
	}
	ratio := func(a, b span) span { return a.over(b) }
	sum := func(a, b span) span { return a.plus(b) }
	for _, m := range []struct {
		key, a, b, how string
		make           func(a, b span) span
	}{
		{"rates.completed", "requests.ok", "window_s", "%s requests / %s s", ratio},
		{"rates.theoretical_max", "requests.due", "latency_s.max", "%s requests / %s s", ratio},
		{"tokens_per_s.output", "output_tokens.total", "window_s", "%s tokens / %s s", ratio},
		{"tokens_per_s.input", "prompt_tokens.total", "window_s", "%s tokens / %s s", ratio},
		{"tokens_per_s.total", "tokens_per_s.input", "tokens_per_s.output", "%s + %s tokens/s", sum},
		{"output_tokens.mean", "output_tokens.total", "requests.ok", "%s tokens / %s requests", ratio},
		{"elapsed_s", "window_s", "", "%s s, a duration printed twice", func(a, _ span) span { return a }},
	} {
		if r.text(m.key) == "" { // computed by the reader, not printed
			continue
		}
		got, ok := r.span(m.key)
		a, ok1 := r.span(m.a)
		b, ok2 := r.span(m.b)
		if !ok || !ok1 || m.b != "" && !ok2 {
			continue
		}
		want := m.make(a, b)
		if math.Abs(got.beyond(want)) > arithmeticTolerance {
			args := []any{digits(a.v), digits(b.v)}
			return m.key, fmt.Sprintf("%s printed, but "+m.how+" = %s", append(append([]any{digits(got.v)}, args[:strings.Count(m.how, "%s")]...), digits(want.v))...)
		}
	}
	return counts(r)
}

// counts adds up the requests, and holds their printed shares and the mean in flight against them.
func counts(r *row) (key, text string) {
	n := r.stage.Requests
	if n.Due > 0 && n.OK+n.Error+n.Incomplete > n.Due {
		return "requests.ok", fmt.Sprintf("%d succeeded, %d failed and %d did neither, of %d in all", n.OK, n.Error, n.Incomplete, n.Due)
	}
	if r.stage.Source == nil || n.Due == 0 {
		return inFlight(r)
	}
	for _, part := range []struct {
		key string
		n   int
	}{{"requests.ok", n.OK}, {"requests.error", n.Error}} {
		q, ok := r.quantity(part.key)
		share, err := strconv.ParseFloat(strings.TrimSuffix(q.Rest, "%"), 64)
		if ok && err == nil && math.Abs(share-100*float64(part.n)/float64(n.Due)) > 0.1 {
			return part.key, fmt.Sprintf("%d of %d is not %s", part.n, n.Due, q.Rest)
		}
	}
	return inFlight(r)
}

// inFlight holds a printed mean concurrency against the sum of latencies over the duration, which it is.
func inFlight(r *row) (key, text string) {
	s, ok := r.spans("concurrency.mean", "requests.ok", "latency_s.mean", "window_s")
	if !ok || r.text("concurrency.mean") == "" || !r.stage.Whole || !r.whole() {
		return "", ""
	}
	want := s[1].times(s[2]).over(s[3])
	if math.Abs(s[0].beyond(want)) <= arithmeticTolerance {
		return "", ""
	}
	return "concurrency.mean", fmt.Sprintf("%s in flight printed, but %s requests x %s / %s = %s", digits(s[0].v), digits(s[1].v),
		seconds(s[2].v), seconds(s[3].v), digits(want.v))
}
