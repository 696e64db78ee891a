package audit

import (
	"math"
	"strconv"
	"strings"

	"llmsweep/client/note"
)

// arithmeticTolerance is the relative difference that is allowed besides rounding. Tools read the clock twice, a few milliseconds apart: for
// the printed duration and for the rates.
const arithmeticTolerance = 0.005

// arithmetic recomputes the numbers of a block that follow from others. It is for whole tests that were read from files: rates that were
// counted in a window do not follow from the counts.
func arithmetic(r *row) (key string, n note.Note) {
	if r.stage.Source == nil || !r.stage.Whole {
		return counts(r)
	}
	ratio := func(a, b intervalOf) intervalOf { return a.Over(b) }
	sum := func(a, b intervalOf) intervalOf { return a.Plus(b) }
	for _, m := range []struct {
		key, a, b string
		kind      note.Kind
		make      func(a, b intervalOf) intervalOf
	}{
		{"rates.completed", "requests.ok", "window_s", noteRequestRate, ratio},
		{"rates.theoretical_max", "requests.due", "latency_s.max", noteRequestRate, ratio},
		{"tokens_per_s.output", "output_tokens.total", "window_s", noteTokenRate, ratio},
		{"tokens_per_s.input", "prompt_tokens.total", "window_s", noteTokenRate, ratio},
		{"tokens_per_s.total", "tokens_per_s.input", "tokens_per_s.output", noteSum, sum},
		{"output_tokens.mean", "output_tokens.total", "requests.ok", noteTokenMean, ratio},
		{"elapsed_s", "window_s", "", noteTwoDurations, func(a, _ intervalOf) intervalOf { return a }},
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
		if math.Abs(got.Beyond(want)) > arithmeticTolerance {
			if m.b == "" {
				return m.key, m.kind.New(digits(got.V), digits(a.V))
			}
			return m.key, m.kind.New(digits(got.V), digits(a.V), digits(b.V), digits(want.V))
		}
	}
	return counts(r)
}

// counts compares the number of requests with its parts, its printed shares and the mean in flight.
func counts(r *row) (key string, n note.Note) {
	q := r.stage.Requests
	if q.Due > 0 && q.OK+q.Error+q.Incomplete > q.Due {
		return "requests.ok", noteCounts.New(q.OK, q.Error, q.Incomplete, q.Due)
	}
	if r.stage.Source == nil || q.Due == 0 {
		return inFlight(r)
	}
	for _, part := range []struct {
		key string
		n   int
	}{{"requests.ok", q.OK}, {"requests.error", q.Error}} {
		printed, ok := r.quantity(part.key)
		share, err := strconv.ParseFloat(strings.TrimSuffix(printed.Rest, "%"), 64)
		if ok && err == nil && math.Abs(share-100*float64(part.n)/float64(q.Due)) > 0.1 {
			return part.key, noteShare.New(part.n, q.Due, printed.Rest)
		}
	}
	return inFlight(r)
}

// inFlight compares a printed mean concurrency with the sum of the latencies divided by the duration.
func inFlight(r *row) (key string, n note.Note) {
	s, ok := r.spans("concurrency.mean", "requests.ok", "latency_s.mean", "window_s")
	if !ok || r.text("concurrency.mean") == "" || !r.stage.Whole || !r.whole() {
		return "", note.Note{}
	}
	want := s[1].Times(s[2]).Over(s[3])
	if math.Abs(s[0].Beyond(want)) <= arithmeticTolerance {
		return "", note.Note{}
	}
	return "concurrency.mean", noteInFlight.New(digits(s[0].V), digits(s[1].V), seconds(s[2].V), seconds(s[3].V), digits(want.V))
}
