// Finds in the records of a stage what they show of the server's habits: pauses of all streams, output in bursts, and
// answers from a cache.

package measure

import (
	"slices"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

type habitFinder struct {
	streams []stream
}

// stream is in seconds.
type stream struct {
	sent, first, last   float64
	tokens, chunks      float64
	largest, largestEnd float64 // the largest gap, and when it ended
	gaps                float64 // the number of gaps that are no part of a burst
}

func (s *stream) inOnePiece() bool { return s.last-s.first < 1e-6*s.tokens }

func (t *habitFinder) add(r *rundir.Record) {
	if len(t.streams) < mostTraced && r.FirstToken.Known() && r.OK() {
		t.streams = append(t.streams, streamOf(r))
	}
}

func streamOf(r *rundir.Record) stream {
	s := stream{sent: r.Sent.Value(), first: r.FirstToken.Value(), last: r.LastToken.Value(),
		tokens: float64(countTokens(r)), chunks: chunks(r)}
	mean, at := int64(0), s.first
	if n := int64(len(r.GapsUS)); n > 0 {
		mean = int64((s.last - s.first) * 1e6 / float64(n))
	}
	for _, us := range r.GapsUS {
		gap := float64(us) / 1e6
		at += gap
		if gap > s.largest {
			s.largest, s.largestEnd = gap, at
		}
		if float64(us) > withinBurst*float64(mean) {
			s.gaps++
		}
	}
	return s
}

func (t *habitFinder) traits(w Window) (out rundir.Traits) {
	ordinary, computed := t.fromCache(w, 0, &out)
	if len(ordinary) == 0 {
		return out
	}
	if !bursts(ordinary, &out) {
		stalls(ordinary, computed, &out)
		return out
	}
	out.Whole, out.WholeTime, out.WholeRate, out.Computed = rundir.Number{}, rundir.Number{}, rundir.Number{},
		rundir.Number{}
	t.fromCache(w, surelyCached*out.Burst.Value(), &out)
	return out
}

// fromCache finds answers of more than some tokens that came in one piece, sooner than the first token of the others.
// It returns the others that have a rhythm, and all that the model computed, short ones too.
func (t *habitFinder) fromCache(w Window, longer float64, out *rundir.Traits) (others, computed []*stream) {
	var pieces []*stream
	var firsts []float64
	for i := range t.streams {
		switch s := &t.streams[i]; {
		case s.tokens < fewTokens:
		case s.inOnePiece():
			pieces = append(pieces, s)
		default:
			others = append(others, s)
			firsts = append(firsts, s.first-s.sent)
		}
	}
	if len(others) == 0 {
		return nil, nil
	}
	slices.Sort(firsts)
	quick := cachedSooner * stats.Quantile(firsts, 0.5)
	n, time, within := 0.0, 0.0, 0.0
	for _, s := range pieces {
		if took := s.last - s.sent; took < quick && s.tokens > longer {
			n, time = n+1, time+took
			if w.Holds(s.last) {
				within++
			}
		}
	}
	for i := range t.streams {
		if s := &t.streams[i]; !s.inOnePiece() || s.first-s.sent >= quick {
			computed = append(computed, s)
		}
	}
	if n > 0 {
		out.Whole, out.WholeTime = rundir.Exactly(n/(float64(len(pieces)+len(others)))), rundir.Exactly(time/n)
		out.WholeRate, out.Computed = rundir.Exactly(within/w.Length()), timePerToken(computed)
	}
	return others, computed
}

// timePerToken returns the mean time from one token to the next; absent where no answer has two.
func timePerToken(streams []*stream) rundir.Number {
	tokens, span := 0.0, 0.0
	for _, s := range streams {
		if s.tokens > 1 {
			tokens, span = tokens+s.tokens-1, span+s.last-s.first
		}
	}
	return rundir.Exactly(span / tokens) // 0/0 is absent
}

// bursts finds answers whose tokens come several at a time, with waits between, and reports whether most do.
func bursts(streams []*stream, out *rundir.Traits) bool {
	n, tokens, gaps, span := 0.0, 0.0, 0.0, 0.0
	for _, s := range streams {
		if s.gaps > 0 && s.tokens/(s.gaps+1) >= tokensPerBurst {
			n++
			tokens, gaps, span = tokens+s.tokens, gaps+s.gaps, span+s.last-s.first
		}
	}
	if n == 0 {
		return false
	}
	out.Bursts = rundir.Exactly(n / float64(len(streams)))
	out.Burst, out.BurstGap = rundir.Exactly(tokens/(gaps+n)), rundir.Exactly(span/gaps)
	return out.Bursts.Value() > mostlyBursts
}
