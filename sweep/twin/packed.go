package twin

import (
	"math"
	"slices"

	"llmsweep/sweep/rundir"
)

// finishLength is the reason of an end at the limit of tokens.
const finishLength = "length"

// packed returns how many tokens the chunks after the first have where the server sends several tokens in a chunk and tells only the sum; 0 where
// it sends about one.
func packed(records []*rundir.Record) float64 {
	const several = 1.5
	tokens, chunks := 0.0, 0.0
	for _, r := range records {
		if r.Status == "ok" && r.FirstToken.Known() && r.OutputTokens.Known() && len(r.Counts) == 0 && len(r.GapsUS) > 0 {
			tokens, chunks = tokens+r.OutputTokens.Value()-1, chunks+float64(len(r.GapsUS))
		}
	}
	if tokens < several*chunks {
		return 0
	}
	return tokens / max(1, chunks)
}

// instants returns the instant of each token of a record. each is the number of tokens of the chunks after the first of a server that packs them;
// of a whole answer it is known exactly.
func instants(r *rundir.Record, each float64) []float64 {
	if each > 0 && r.Status == "ok" && r.OutputTokens.Known() && len(r.GapsUS) > 0 {
		each = (r.OutputTokens.Value() - 1) / float64(len(r.GapsUS))
	}
	at, us := r.FirstToken.Value(), int64(0)
	var tokens []float64
	add := func(chunk int, t float64) {
		n := 1
		switch {
		case chunk < len(r.Counts):
			n = max(1, int(r.Counts[chunk]))
		case each > 0 && len(r.Counts) == 0:
			n = max(1, 1+int(math.Round(each*float64(chunk)))-len(tokens))
		}
		for range n {
			tokens = append(tokens, t)
		}
	}
	add(0, at)
	for i, g := range r.GapsUS {
		us += g
		add(i+1, at+float64(us)*1e-6)
	}
	return tokens
}

// spread spreads tokens that came in one piece over the time since the token before the piece, as the server made them. Those of a first piece
// were made at the pace of the others.
func (q *StageRequest) spread() {
	t := q.Tokens
	first := pieceFrom(t, 0)
	for i := first; i < len(t); {
		end := pieceFrom(t, i)
		if n := end - i; n > 1 {
			from, width := t[i-1], t[end-1]-t[i-1]
			for k := range n {
				t[i+k] = from + width*float64(k+1)/float64(n)
			}
		}
		i = end
	}
	if first == 1 || first == len(t) {
		return
	}
	var gaps []float64
	for i := first; i < len(t); i++ {
		gaps = append(gaps, t[i]-t[i-1])
	}
	slices.Sort(gaps)
	last := t[first-1]
	pace := min(gaps[len(gaps)/2], (last-q.Sent)/float64(first))
	for i := range first {
		t[i] = last - pace*float64(first-1-i)
	}
}

// pieceFrom returns the end of the piece that begins with a token.
func pieceFrom(t []float64, from int) int {
	end := from + 1
	for end < len(t) && t[end]-t[end-1] <= unseparated {
		end++
	}
	return end
}

// Lumped reports whether the tokens of an answer came all at once: then they show no step.
func (q *StageRequest) Lumped() bool {
	n := len(q.Tokens)
	return n > 1 && q.Tokens[n-1]-q.Tokens[0] <= unseparated*float64(n-1)
}
