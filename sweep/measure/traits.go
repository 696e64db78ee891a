package measure

import (
	"math"
	"slices"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// mostTraced is how many requests of a stage are looked at for habits: more would show nothing new, and cost memory.
const mostTraced = 50_000

// traits gathers from a stage's records what they show of habits of the server: pauses of all streams, output in bursts, answers from a
// cache, and refusals by a token bucket.
type traits struct {
	streams  []stream
	attempts []attempt
	refused  bool // some attempt was
}

// stream is what is kept of an answer with several tokens. Times are in seconds.
type stream struct {
	sent, first, last float64
	tokens, chunks    float64
	largest, resumed  float64 // the largest gap, and when it ended
	apart             float64 // gaps that are no part of a burst
}

// attempt is a request as a token bucket sees it.
type attempt struct {
	at     float64
	passed bool
	cost   float64 // tokens
}

func (t *traits) add(r *rundir.Record) {
	if len(t.attempts) < mostTraced && r.Sent.Known() {
		no := refused(r)
		t.refused = t.refused || no
		cost := float64(r.AskedTokens)
		if r.OutputTokens.Known() {
			cost = r.OutputTokens.Value()
		}
		if r.PromptTokens.Known() {
			cost += r.PromptTokens.Value()
		}
		t.attempts = append(t.attempts, attempt{r.Sent.Value(), !no, cost})
	}
	if len(t.streams) == mostTraced || !r.FirstToken.Known() || !ok(r) {
		return
	}
	s := stream{sent: r.Sent.Value(), first: r.FirstToken.Value(), last: r.LastToken.Value(), chunks: float64(len(r.GapsUS) + 1)}
	s.tokens = s.chunks
	if len(r.Counts) > 0 {
		s.tokens = 0
		for _, k := range r.Counts {
			s.tokens += float64(k)
		}
	}
	const burst = 0.1 // of the mean gap: a smaller one is no wait at all
	mean, at := int64(0), s.first
	if n := int64(len(r.GapsUS)); n > 0 {
		mean = int64((s.last - s.first) * 1e6 / float64(n))
	}
	for _, us := range r.GapsUS {
		gap := float64(us) / 1e6
		at += gap
		if gap > s.largest {
			s.largest, s.resumed = gap, at
		}
		if float64(us) > burst*float64(mean) {
			s.apart++
		}
	}
	t.streams = append(t.streams, s)
}

// sum returns the traits.
func (t *traits) sum() rundir.Traits {
	var out rundir.Traits
	ordinary := t.whole(&out)
	if len(ordinary) == 0 {
		return t.limit(out)
	}
	if !bursts(ordinary, &out) {
		stalls(ordinary, t.streams, &out)
	}
	return t.limit(out)
}

func (t *traits) limit(out rundir.Traits) rundir.Traits {
	if t.refused {
		out.Limit = findBucket(t.attempts)
	}
	return out
}

// fewTokens is how many tokens an answer must have to show a rhythm.
const fewTokens = 4

// whole finds answers that came in one piece, sooner than the first token of the others. It returns the others.
func (t *traits) whole(out *rundir.Traits) (others []*stream) {
	const sooner = 0.7 // than the quickest first token of the others
	var pieces []*stream
	quickest := math.Inf(1)
	for i := range t.streams {
		switch s := &t.streams[i]; {
		case s.tokens < fewTokens:
		case s.last-s.first < 1e-6*s.tokens:
			pieces = append(pieces, s)
		default:
			others = append(others, s)
			quickest = min(quickest, s.first-s.sent)
		}
	}
	n, time := 0.0, 0.0
	for _, s := range pieces {
		if took := s.last - s.sent; took < sooner*quickest {
			n, time = n+1, time+took
		}
	}
	if n > 0 && len(others) > 0 {
		out.Whole, out.WholeTime = rundir.Exactly(n/(float64(len(pieces)+len(others)))), rundir.Exactly(time/n)
	}
	return others
}

// bursts finds out whether the tokens of answers come several at a time, with waits between.
func bursts(streams []*stream, out *rundir.Traits) bool {
	const several = 2.5 // tokens between two waits, on average
	n, tokens, gaps, span := 0.0, 0.0, 0.0, 0.0
	for _, s := range streams {
		if s.apart > 0 && s.tokens/(s.apart+1) >= several {
			n++
			tokens, gaps, span = tokens+s.tokens, gaps+s.apart, span+s.last-s.first
		}
	}
	if n == 0 {
		return false
	}
	out.Bursts = rundir.Exactly(n / float64(len(streams)))
	out.Burst, out.BurstGap = rundir.Exactly(tokens/(gaps+n)), rundir.Exactly(span/gaps)
	return out.Bursts.Value() > 0.5
}

// stalls counts how often all open streams stood still together, for much longer than between two tokens, while no request waited for
// its first token: work on a prompt is no pause.
func stalls(streams []*stream, all []stream, out *rundir.Traits) {
	const long, most, together = 6, 0.8, 2e-3 // times the usual gap; share of the open streams; seconds
	var usual, sents, firsts, lasts []float64
	for _, s := range streams {
		if n := s.chunks - 2; n > 0 {
			usual = append(usual, (s.last-s.first-s.largest)/n)
		}
	}
	for _, s := range all {
		sents, firsts, lasts = append(sents, s.sent), append(firsts, s.first), append(lasts, s.last)
	}
	if len(usual) == 0 {
		return
	}
	slices.Sort(usual)
	slices.Sort(sents)
	slices.Sort(firsts)
	slices.Sort(lasts)
	gap := stats.Quantile(usual, 0.5)
	apart := max(together, gap) // streams that go on together may have different rhythms
	type stall struct{ end, length float64 }
	var found []stall
	for _, s := range streams {
		if s.largest > long*gap {
			found = append(found, stall{s.resumed, s.largest})
		}
	}
	slices.SortFunc(found, func(a, b stall) int { return int(math.Copysign(1, a.end-b.end)) })
	before := func(sorted []float64, at float64) int { n, _ := slices.BinarySearch(sorted, at); return n }
	count, time := 0, 0.0
	for i := 0; i < len(found); {
		j, length := i, 0.0
		for ; j < len(found) && found[j].end-found[i].end < apart; j++ {
			length += found[j].length
		}
		length /= float64(j - i)
		from, end := found[i].end-length, found[i].end
		open := before(firsts, from+together) - before(lasts, from+apart) // a stream that ended meanwhile did not stand still
		begun := before(firsts, end+together) - before(firsts, end-together)
		begun += before(sents, from+together) - before(firsts, end+together) // whose prompts are worked on
		if begun == 0 && float64(j-i) >= most*float64(open) {
			count, time = count+1, time+length
		}
		i = j
	}
	if count > 0 {
		out.Stalls, out.StallTime = count, rundir.Exactly(time/float64(count))
	}
}
