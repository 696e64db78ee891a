package twin

import (
	"cmp"
	"slices"
)

// tick is a step of the engine as the client saw it: the requests that got a token from it.
type tick struct {
	end  float64
	gets []int // indices of requests
}

// ticksOf sorts the tokens of all requests into steps. A request gets one token in a step: its next token begins another. So
// does a token that comes late after the one before: the tokens of a step leave the server one after the other. How late that is follows from the
// quickest steps.
func ticksOf(all []StageRequest) []tick {
	type token struct {
		at      float64
		request int
	}
	var tokens []token
	var gaps []float64
	for i, q := range all {
		for k, at := range q.Tokens {
			tokens = append(tokens, token{at, i})
			if k > 0 {
				gaps = append(gaps, at-q.Tokens[k-1])
			}
		}
	}
	if len(gaps) == 0 {
		return nil
	}
	slices.SortFunc(tokens, func(a, b token) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.request, b.request)) })
	slices.Sort(gaps)
	const quickest, together = 0.05, 0.3 // quantile of the gaps; share of such a step within which the tokens of one step come
	within := together * gaps[int(quickest*float64(len(gaps)-1))]
	last := make([]int, len(all)) // the number of the step of a request's latest token
	var ticks []tick
	for _, t := range tokens {
		if len(ticks) == 0 || t.at-ticks[len(ticks)-1].end > within || last[t.request] == len(ticks) {
			ticks = append(ticks, tick{})
		}
		k := &ticks[len(ticks)-1]
		k.end = t.at
		k.gets = append(k.gets, t.request)
		last[t.request] = len(ticks)
	}
	return joined(ticks, all)
}

// joined puts the parts of a step together that reached the client one after the other, because it or the server was busy. A request that is
// being answered gets a token in each step. So two neighbours without a request in common, of which the later has one that was being answered before
// both, are parts of one step.
func joined(ticks []tick, all []StageRequest) []tick {
	usual := usualGap(all)
	got := make([]int, len(all))  // tokens before the latest tick
	part := make([]int, len(all)) // the latest tick of each request
	var out []tick
	for _, t := range ticks {
		n := len(out)
		common, before := n == 0, false
		for _, i := range t.gets {
			common = common || part[i] == n
			before = before || got[i] > 0
		}
		if !common && before && t.end-out[n-1].end < usual {
			out[n-1].end = t.end
			out[n-1].gets = append(out[n-1].gets, t.gets...)
		} else {
			out = append(out, t)
			n++
		}
		for _, i := range t.gets {
			part[i] = n
			got[i]++
		}
	}
	return out
}
