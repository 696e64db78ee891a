package sweep

import (
	"iter"

	"llmsweep/sweep/rundir"
)

// tokenCounter says how many tokens each chunk of a stage's answers held. Chunks are not tokens: where the server told
// the counts they are used; else an answer's own total is shared out over its chunks; else what a chunk held on average
// in the stage.
type tokenCounter struct {
	perChunk float64 // average over the stage
	known    bool    // perChunk rests on the server's counts
}

// tokenTally counts what a tokenCounter rests on.
type tokenTally struct{ tokens, chunks float64 }

func (t *tokenTally) add(r *rundir.Record) {
	if ok(r) && r.OutputTokens.Known() && r.FirstToken.Known() {
		t.tokens += r.OutputTokens.Value()
		t.chunks += float64(len(r.GapsUS) + 1)
	}
}

func (t *tokenTally) counter() tokenCounter {
	if t.tokens == 0 {
		return tokenCounter{perChunk: 1}
	}
	return tokenCounter{perChunk: t.tokens / t.chunks, known: true}
}

// share is what each chunk of an answer held, where the counts of single chunks are not known.
func (c tokenCounter) share(r *rundir.Record) float64 {
	if ok(r) && r.OutputTokens.Known() && r.OutputTokens.Value() > 0 {
		return r.OutputTokens.Value() / float64(len(r.GapsUS)+1)
	}
	return c.perChunk
}

// arrivals yields when tokens arrived, in seconds from the stage's start, and how many.
func (c tokenCounter) arrivals(r *rundir.Record) iter.Seq2[float64, float64] {
	return func(yield func(at, tokens float64) bool) {
		if !r.FirstToken.Known() {
			return
		}
		share := c.share(r)
		held := func(i int) float64 {
			if i < len(r.Counts) {
				return float64(r.Counts[i])
			}
			return share
		}
		first, us := r.FirstToken.Value(), int64(0)
		if !yield(first, held(0)) {
			return
		}
		for i, gap := range r.GapsUS {
			us += gap
			if !yield(first+float64(us)/1e6, held(i+1)) {
				return
			}
		}
	}
}

// received is how many tokens an answer has had, whole or not.
func (c tokenCounter) received(r *rundir.Record) float64 {
	if !r.FirstToken.Known() {
		return 0
	}
	if ok(r) && r.OutputTokens.Known() {
		return r.OutputTokens.Value()
	}
	sum := 0.0
	for _, k := range c.arrivals(r) {
		sum += k
	}
	return sum
}

// expected is how many tokens an answer has in the end: its own count, or for one that was cut short what was asked.
func (c tokenCounter) expected(r *rundir.Record) float64 {
	if ok(r) {
		return c.received(r)
	}
	return max(float64(r.AskedTokens), c.received(r))
}
