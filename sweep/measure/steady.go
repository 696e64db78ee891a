package measure

import (
	"cmp"
	"math"
	"slices"
	"time"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// A number of users is measured once its hits and its tokens per second are steady. The contexts of new users are
// computed first, and a cache that was thrashed fills again as slowly as its sessions go on.

type cachedTurns struct {
	all    []cachedTurn
	sorted bool
}

type cachedTurn struct {
	end            time.Duration
	prompt, cached float64
	output         float64 // tokens
}

// maxTurns bounds the memory of a stage's turns to 4 MiB: in a longer one the first tell when it became steady.
const maxTurns = 1 << 17

func (c *cachedTurns) add(r *rundir.Record) {
	if !r.OK() || len(c.all) >= maxTurns {
		return
	}
	c.all = append(c.all, cachedTurn{rundir.Duration(r.End.Value()), r.PromptTokens.Or(0), r.CachedTokens.Or(0),
		r.OutputTokens.Or(0)})
	c.sorted = false
}

// openingTurns is how many turns of each user belong to the opening, on average: the first of them computes the context
// of a session that had begun before.
const openingTurns = 2

// opening returns when the opening of a stage of some users is over, at the latest at an instant.
func (c *cachedTurns) opening(users int, to time.Duration) time.Duration {
	if !c.sorted {
		slices.SortFunc(c.all, func(a, b cachedTurn) int { return cmp.Compare(a.end, b.end) })
		c.sorted = true
	}
	if users < 2 || len(c.all) == 0 {
		return 0
	}
	if n := openingTurns * users; n <= len(c.all) {
		return min(to, c.all[n-1].end)
	}
	return to
}

// settledFrom returns from when on the stage is steady: the opening is over, and after it the hit rate is not as
// different as it is while a cache fills.
func (a *Account) settledFrom(to time.Duration) time.Duration {
	from := a.cached.opening(a.Concurrency, to)
	var at []time.Duration
	var hits []float64
	for _, t := range a.cached.all {
		if t.end > from && t.end <= to && t.prompt > 0 {
			at, hits = append(at, t.end), append(hits, t.cached/t.prompt)
		}
	}
	if n, ok := stats.MSER5(hits); ok && n > 0 && math.Abs(stats.Mean(hits[:n])-stats.Mean(hits[n:])) > hitsDrift {
		return at[n-1]
	}
	return from
}

// steadyIn compares hit rate and token rate in the halves of a window.
func (a *Account) steadyIn(w Window) bool {
	const parts = 8 // batches of the window
	hits, tokens := make([]float64, parts), make([]float64, parts)
	prompts := make([]float64, parts)
	width := (w.To - w.From) / parts
	if width <= 0 {
		return false
	}
	total := 0.0
	for _, t := range a.cached.all {
		if t.end > w.From && t.end <= w.To {
			i := min(int((t.end-w.From-1)/width), parts-1)
			hits[i], prompts[i], tokens[i] = hits[i]+t.cached, prompts[i]+t.prompt, tokens[i]+t.output
			total += t.output
		}
	}
	for i := range hits {
		hits[i] /= max(1, prompts[i])
		tokens[i] /= max(1, total/parts)
	}
	return !drifts(hits, hitsDrift) && !drifts(tokens, tokensDrift)
}

// drifts reports whether the halves of a series differ by more than an amount, beyond chance.
func drifts(x []float64, amount float64) bool {
	a, b := x[:len(x)/2], x[len(x)/2:]
	n := float64(len(a))
	se := math.Sqrt((math.Pow(stats.Deviation(a), 2) + math.Pow(stats.Deviation(b), 2)) / (n - 1))
	return math.Abs(stats.Mean(b)-stats.Mean(a))-driftSigmas*se > amount
}

func (a *Account) steadyEnough(now time.Duration) bool {
	if now >= a.MaxTime {
		return true
	}
	if now < a.looks.next {
		return false
	}
	a.looks.next = now + a.MinTime/4
	w := Window{a.settledFrom(now), now}
	turns := 0
	for _, t := range a.cached.all {
		if w.HoldsAt(t.end) {
			turns++
		}
	}
	return w.To-w.From >= a.MinTime*3/4 && turns >= a.MinRequests && a.steadyIn(w)
}
