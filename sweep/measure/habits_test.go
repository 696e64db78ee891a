package measure

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/rundir"
)

// copies returns n streams that are alike.
func copies(n int, s stream) []*stream {
	all := make([]*stream, n)
	for i := range all {
		all[i] = &s
	}
	return all
}

// Answers in bursts, from a cache, and that stall together.
func TestHabits(t *testing.T) {
	var out rundir.Traits
	gaps := func(us int64) float64 {
		s := streamOf(answer(0, 1, append(slices.Repeat([]int64{100_000}, 9), us)...))
		return s.gaps
	}
	bursty := func(n int, tokens float64) bool {
		all := append(copies(n, stream{tokens: tokens, gaps: 3, last: 1}), copies(100-n, stream{tokens: 9, gaps: 8})...)
		return bursts(all, &out)
	}
	cached := func(took, tokens float64) bool {
		h := habitFinder{streams: []stream{{first: 1, last: 2, tokens: 9, chunks: 9, gaps: 8},
			{first: took, last: took, tokens: tokens}}}
		return h.traits(Window{To: time.Hour}).Whole.Known()
	}
	buffered := func(tokens float64) bool { // by a server that sends bursts of ten
		h := habitFinder{streams: []stream{{first: 1, last: 2, tokens: 40, gaps: 3}, {tokens: tokens}}}
		return h.traits(Window{To: time.Hour}).Whole.Known()
	}
	stall := func(usual, longest float64, n, later int, apart float64) bool { // n of ten, and some of the ten later
		s := stream{sent: -1, last: 1000 * usual, chunks: 1002}
		others := copies(10-n-later, s)
		s.last, s.largest, s.largestEnd = s.last+longest, longest, 500*usual
		all := append(others, copies(n, s)...)
		s.largestEnd += apart
		all = append(all, copies(later, s)...)
		out = rundir.Traits{}
		stalls(all, all, &out)
		return out.Stalls > 0
	}
	noToken := func(us int64) bool { return stalled(0.05, answer(0, 1, 10_000, us), false).Value() == 1 }
	bounds{
		"a tenth of the mean gap is a wait":    {gaps(9200) == 10, gaps(9000) == 10},
		"2.5 tokens between two waits":         {bursty(99, 10), bursty(99, 9.9)},
		"more than half of the answers":        {bursty(51, 40), bursty(50, 40)},
		"seven tenths of the usual first wait": {cached(0.69, 9), cached(0.71, 9)},
		"four tokens in one piece":             {cached(0.1, 4), cached(0.1, 3)},
		"one and a half bursts in one piece":   {buffered(15.1), buffered(14.9)},
		"an answer of three chunks has a gap": {
			usualGap(copies(1, stream{last: 1, chunks: 3})) > 0, usualGap(copies(1, stream{last: 1, chunks: 2})) > 0,
		},
		"six usual gaps are a stall":        {stall(0.1, 0.61, 10, 0, 0), stall(0.1, 0.59, 10, 0, 0)},
		"a tenth of a second at least":      {stall(0.01, 0.101, 10, 0, 0), stall(0.01, 0.099, 10, 0, 0)},
		"eight of ten stand still":          {stall(0.01, 0.5, 8, 0, 0), stall(0.01, 0.5, 7, 0, 0)},
		"they go on within two ms":          {stall(0.001, 0.5, 5, 5, 0.0019), stall(0.001, 0.5, 5, 5, 0.0021)},
		"a gap of 51 ms of a term of 50 ms": {noToken(51_000), noToken(49_000)},
	}.check(t)
	piece := streamOf(answer(0, 1, 500_000, 100_000))
	stall(0.01, 0.5, 10, 0, 0)
	length := out.StallTime
	bursty(60, 40)
	cache := habitFinder{streams: slices.Repeat([]stream{{first: 1, last: 2, tokens: 9, chunks: 9, gaps: 8}}, 4)}
	cache.add(answer(1, 1.005, 0, 0, 0))
	whole := cache.traits(Window{To: 10 * time.Second})
	numbers{
		"the largest gap": {piece.largest, 0.5}, "when it ended": {piece.largestEnd, 1.5},
		"length of a stall": {length.Value(), 0.5}, "answers in bursts": {out.Bursts.Value(), 0.6},
		"tokens in a burst": {out.Burst.Value(), 10}, "from one burst to the next": {out.BurstGap.Value(), 1 / 3.0},
		"answers from a cache": {whole.Whole.Value(), 0.2}, "their time": {whole.WholeTime.Value(), 0.005},
		"of a second": {whole.WholeRate.Value(), 0.1}, "time to a token of others": {whole.Computed.Value(), 1 / 8.0},
	}.check(t)
}

// sent is requests a step apart of which "p" passes and another is refused.
func sent(pattern string, step float64) (q quotas) {
	for i, c := range pattern {
		q.events = append(q.events, quotaEvent{sent: float64(i) * step, refused: c != 'p'})
	}
	return q
}

func TestQuotas(t *testing.T) {
	times := strings.Repeat
	shut := func(step float64) bool {
		q := sent(times("p", 30)+times("-", 10)+times("p", 30), step)
		return len(q.periodStarts()) == 1
	}
	named := func(refused int) bool {
		q := sent(times("-", refused), 1)
		return q.sum().Named.Known()
	}
	even := func(more int) bool { // of two periods, one has more requests than a hundred, and the other fewer
		q := sent(times("p", 30)+times("-", 20)+times("p", 80+more)+times("-", 20)+times("p", 80-more)+times("-", 20)+
			times("p", 30), 0.1)
		return q.sum().Periods == 2
	}
	queued := func(waiting int, idle float64) bool { // after twenty answers, at intervals of 0.2 s
		var passed []quotaEvent
		for i := range 40 {
			e := quotaEvent{first: float64(i) * 0.2, sent: float64(i) * 0.2}
			if i >= 20 {
				e.first += idle - 0.2
				if e.sent = e.first; i < 20+waiting {
					e.sent = 3
				}
			}
			e.last = e.first
			passed = append(passed, e)
		}
		return len(queuePeriodStarts(passed)) == 1
	}
	bounds{
		"shut for a second":                  {shut(0.101), shut(0.099)},
		"twenty are refused":                 {named(20), named(19)},
		"periods differ by 15 %":             {even(14), even(16)},
		"three waited":                       {queued(3, 5), queued(2, 5)},
		"eight times the usual from another": {queued(3, 1.61), queued(3, 1.59)},
	}.check(t)

	batch := []quotaEvent{{sent: 9.9, first: 10, last: 11}, {sent: 3, first: 10, last: 11}, {sent: 4, first: 10, last: 11},
		{sent: 5, first: 10, last: 11}, {sent: 0, first: 0.1, last: 1}, {sent: 0.1, first: 0.2, last: 1}}
	if n := len(queuePeriodStarts(batch)); n != 1 {
		t.Errorf("where those that waited begin with those that just came, %d openings are seen", n)
	}
}

// Periods and what passes in them are read off records, and nothing is read off servers without a quota.
func TestQuotaOfRecords(t *testing.T) {
	soon := func(at float64) float64 { return at + 0.1 }
	window, passed := 0, 0
	for _, c := range []struct {
		name    string
		quota   bool                                                  // of 100 requests in 20 s
		service float64                                               // seconds from the first token to the last
		answers func(at float64, n int) (first float64, refused bool) // the n-th request
	}{
		{"refuses", true, 0.5, func(at float64, _ int) (float64, bool) {
			if w := int(at / 20); w != window {
				window, passed = w, 0
			}
			passed++
			return soon(at), passed > 100
		}},
		{"delays", true, 0.5, func(at float64, n int) (float64, bool) {
			w := math.Max(math.Floor(at/20), float64(n/100))
			return soon(math.Max(at, w*20+float64(n%100)*0.02)), false
		}},
		{"refuses every other", false, 0.5, func(at float64, n int) (float64, bool) { return soon(at), n%2 == 1 }},
		{"refuses at random", false, 0.5, func(at float64, n int) (float64, bool) { return soon(at), n*7919%10 < 4 }},
		{"is quick", false, 0.5, func(at float64, _ int) (float64, bool) { return soon(at), false }},
		{"is slow to begin", false, 0.5, func(at float64, _ int) (float64, bool) { return at + 3, false }},
		{"falls behind", false, 0.5, func(at float64, n int) (float64, bool) {
			return soon(math.Max(at, float64(n)*0.15)), false
		}},
		{"pauses with all streams open", false, 10, func(at float64, _ int) (float64, bool) {
			if math.Mod(at, 20) > 15 {
				at += 20 - math.Mod(at, 20)
			}
			return soon(at), false
		}},
	} {
		rng, q := rand.New(rand.NewPCG(1, 2)), quotas{}
		for at, n := rng.ExpFloat64()/10, 0; at < 200; at, n = at+rng.ExpFloat64()/10, n+1 {
			first, refused := c.answers(at, n)
			r := answer(at, first, int64(c.service*1e6))
			if refused {
				r = failure(at, string(client.ClassRateLimited))
				r.HTTP = 429
			}
			q.add(r)
		}
		got := q.sum()
		if c.quota != (got.Periods >= 5) || !c.quota && got.Periods > 0 || c.quota &&
			(math.Abs(got.Period.Value()/20-1) > 0.03 || math.Abs(got.Requests.Value()/100-1) > 0.05) {
			t.Errorf("%s: %v requests in %v s, over %d periods", c.name, got.Requests, got.Period, got.Periods)
		}
	}
}
