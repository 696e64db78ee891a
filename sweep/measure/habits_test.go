package measure

import (
	"slices"
	"strings"
	"testing"
	"time"

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
		return h.Sum(Window{To: time.Hour}).Whole.Known()
	}
	buffered := func(tokens float64) bool { // by a server that sends bursts of ten
		h := habitFinder{streams: []stream{{first: 1, last: 2, tokens: 40, gaps: 3}, {tokens: tokens}}}
		return h.Sum(Window{To: time.Hour}).Whole.Known()
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
	cache.Add(answer(1, 1.005, 0, 0, 0))
	whole := cache.Sum(Window{To: 10 * time.Second})
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
		return len(q.reopened()) == 1
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
		return len(reopenedQueue(passed)) == 1
	}
	bounds{
		"shut for a second":                  {shut(0.101), shut(0.099)},
		"twenty are refused":                 {named(20), named(19)},
		"periods differ by 15 %":             {even(14), even(16)},
		"three waited":                       {queued(3, 5), queued(2, 5)},
		"eight times the usual from another": {queued(3, 1.61), queued(3, 1.59)},
	}.check(t)
}
