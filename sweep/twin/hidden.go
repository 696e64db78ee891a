package twin

import (
	"math"
	"slices"
)

// long is from how many usual gaps of its request a gap may have a hidden token in it.
const long = 1.5

// reveal gives hidden tokens their instants. A server sends nothing for a token that is not yet a whole character, so that its request seems
// to have been left out of a step. A gap in which the other requests got more than one token has hidden ones. all is in the order of sending.
func reveal(all []StageRequest) {
	hidden := 0
	for i := range all {
		hidden += all[i].hidden
	}
	if hidden == 0 {
		return
	}
	rest := slices.Clone(all) // with the tokens that came
	for i := range all {
		q := &all[i]
		if q.hidden > 0 || !q.Whole {
			q.reveal(rest, i)
		}
	}
	if n := unseenFirst(all); n > 0 {
		rest = slices.Clone(all)
		for i := range all {
			if q := &all[i]; !q.Whole || q.unseen > 0 {
				q.before(rest, n)
			}
		}
	}
}

// reveal adds the hidden tokens of a request, one of all, as far as others or its own pace show them. Of a request that was cut off nobody counted the
// tokens: only others show them.
func (q *StageRequest) reveal(all []StageRequest, self int) {
	if len(q.Tokens) < 2 {
		return
	}
	left := q.hidden
	if !q.Whole {
		left = math.MaxInt
	}
	usual := q.usualGap()
	tokens := q.Tokens[:1:1]
	for k := 1; k < len(q.Tokens); k++ {
		a, b := q.Tokens[k-1], q.Tokens[k]
		if b-a > long*usual {
			missed := q.missed(all, self, a, b, usual)
			missed = missed[:min(left, len(missed))]
			left -= len(missed)
			tokens = append(tokens, missed...)
		}
		tokens = append(tokens, b)
	}
	if last := tokens[len(tokens)-1]; q.Whole && left > 0 && q.end-last > usual/long { // the answer ended in a later step than its text
		tokens = append(tokens, q.end)
		q.Gone = q.end
		left--
		left--
	} else if !q.limited {
		left-- // the mark of an end is counted as a token, and nothing comes of it
	}
	q.Tokens = tokens
	if q.Whole {
		q.unseen = max(0, left)
	}
}

// unseenFirst returns how many tokens most whole answers still lack: a server that shows no first token, or no reasoning, does so in all.
func unseenFirst(all []StageRequest) int {
	var lacks []int
	for i := range all {
		if all[i].Whole && len(all[i].Tokens) > 0 {
			lacks = append(lacks, all[i].unseen)
		}
	}
	if len(lacks) == 0 {
		return 0
	}
	slices.Sort(lacks)
	return lacks[len(lacks)/2]
}

// before puts up to n tokens in front of the first that came, in the steps that other requests show, or else at the pace of the request.
func (q *StageRequest) before(all []StageRequest, n int) {
	const near = 0.3 // of the usual gap: nearer are tokens of the same step
	if len(q.Tokens) < 2 {
		return
	}
	usual := q.usualGap()
	var hidden []float64
	for first := q.Tokens[0]; n > 0; n-- {
		at := first - usual
		latest := 0.0
		for i := range all {
			o := all[i].Tokens
			if k, _ := slices.BinarySearch(o, first-near*usual); k > 0 && k < len(o) {
				latest = max(latest, o[k-1])
			}
		}
		if latest > first-2*usual || latest > q.Sent {
			at = latest
		}
		if at <= q.Sent {
			break
		}
		hidden = append(hidden, at)
		first = at
	}
	slices.Reverse(hidden)
	q.Tokens = append(hidden, q.Tokens...)
}

// missed returns the instants of the steps between two tokens: those of the tokens of another request that shows as many of them as most do, of
// those that had tokens before and after. Where there is none, the pace of the request itself shows them.
func (q *StageRequest) missed(all []StageRequest, self int, a, b, usual float64) []float64 {
	const near = 0.15 // of the gap: nearer to its ends are tokens of the steps that end it
	var shown [][]float64
	for i := range all {
		o := &all[i]
		if o.Sent > b {
			break
		}
		n := len(o.Tokens)
		if n == 0 || i == self || o.Tokens[0] > a || o.Tokens[n-1] < b {
			continue
		}
		from, _ := slices.BinarySearch(o.Tokens, a+near*(b-a))
		to, _ := slices.BinarySearch(o.Tokens, b-near*(b-a))
		shown = append(shown, o.Tokens[from:to])
	}
	if len(shown) > 0 {
		slices.SortStableFunc(shown, func(x, y []float64) int { return len(x) - len(y) })
		return shown[len(shown)/2]
	}
	if !q.Whole {
		return nil
	}
	n := max(1, int(math.Round((b-a)/usual)))
	var at []float64
	for k := 1; k < n; k++ {
		at = append(at, a+(b-a)*float64(k)/float64(n))
	}
	return at
}

// usualGap returns the median gap between two tokens.
func (q *StageRequest) usualGap() float64 {
	var gaps []float64
	for k := 1; k < len(q.Tokens); k++ {
		gaps = append(gaps, q.Tokens[k]-q.Tokens[k-1])
	}
	slices.Sort(gaps)
	return gaps[len(gaps)/2]
}
