package measure

import (
	"cmp"
	"iter"

	"llmsweep/sweep/rundir"
)

// tokenCounter knows how many tokens each chunk of a stage's answers held. Chunks are not tokens: where the server told
// the counts they are used; otherwise an answer's own total is shared out over its chunks; otherwise a chunk counts as
// what one held on average in the stage.
type tokenCounter struct {
	perChunk float64 // average over the stage
	known    bool    // perChunk rests on the server's counts
	share    float64 // of the length asked for, that answers had on average; 0 where that is not known
}

type tokenTally struct{ tokens, chunks, asked float64 }

func (t *tokenTally) add(r *rundir.Record) {
	if r.OK() && r.OutputTokens.Known() && r.FirstToken.Known() {
		t.tokens += r.OutputTokens.Value()
		t.chunks += chunks(r)
		t.asked += float64(r.AskedTokens)
	}
}

func (t *tokenTally) counter() tokenCounter {
	if t.tokens == 0 {
		return tokenCounter{perChunk: 1}
	}
	c := tokenCounter{perChunk: t.tokens / t.chunks, known: true}
	if t.asked > 0 {
		c.share = min(1, t.tokens/t.asked)
	}
	return c
}

func chunks(r *rundir.Record) float64 { return float64(len(r.GapsUS) + 1) }

// ownShare shares an answer's own total out over its chunks; known is false where it has none.
func ownShare(r *rundir.Record) (share float64, known bool) {
	if r.OK() && r.OutputTokens.Known() && r.OutputTokens.Value() > 0 {
		return r.OutputTokens.Value() / chunks(r), true
	}
	return 0, false
}

func (c tokenCounter) arrivals(r *rundir.Record) iter.Seq2[float64, float64] {
	return func(yield func(at, tokens float64) bool) {
		share, known := ownShare(r)
		if !known {
			share = c.perChunk
		}
		for i, at := range chunkInstants(r) {
			tokens := share
			if i < len(r.Counts) {
				tokens = float64(r.Counts[i])
			}
			if !yield(at, tokens) {
				return
			}
		}
	}
}

// Arrivals yields when the tokens of an answer arrived, in seconds from the stage's start, and how many; perChunk is
// what a chunk of the stage holds on average, for answers that do not tell.
func Arrivals(r *rundir.Record, perChunk float64) iter.Seq2[float64, float64] {
	return tokenCounter{perChunk: perChunk}.arrivals(r)
}

// chunkInstants yields seconds from the stage's start.
func chunkInstants(r *rundir.Record) iter.Seq2[int, float64] {
	return func(yield func(int, float64) bool) {
		if !r.FirstToken.Known() {
			return
		}
		first, us := r.FirstToken.Value(), int64(0)
		if !yield(0, first) {
			return
		}
		for i, gap := range r.GapsUS {
			us += gap
			if !yield(i+1, first+float64(us)/1e6) {
				return
			}
		}
	}
}

// chunkGaps yields the gaps between the chunks of an answer, in seconds, each with the number of tokens that the later
// chunk held: one where that is not known.
func chunkGaps(r *rundir.Record) iter.Seq2[float64, int] {
	return func(yield func(gap float64, tokens int) bool) {
		for i, us := range r.GapsUS {
			k := 1
			if len(r.Counts) > 0 {
				k = int(r.Counts[i+1])
			}
			if !yield(float64(us)/1e6, k) {
				return
			}
		}
	}
}

func (c tokenCounter) received(r *rundir.Record) float64 {
	if !r.FirstToken.Known() {
		return 0
	}
	if r.OK() && r.OutputTokens.Known() {
		return r.OutputTokens.Value()
	}
	sum := 0.0
	for _, k := range c.arrivals(r) {
		sum += k
	}
	return sum
}

// expected returns how many tokens an answer has in the end: its own count, or for one that was cut short as much of
// what was asked for as the stage's other answers had.
func (c tokenCounter) expected(r *rundir.Record) float64 {
	if r.OK() {
		return c.received(r)
	}
	return max(cmp.Or(c.share, 1)*float64(r.AskedTokens), c.received(r))
}

func owed(r *rundir.Record) float64 { return max(1, float64(r.AskedTokens)) }
