package client

import (
	"testing"

	"pgregory.net/rapid"
)

// Processes that each spend a share of what is left never exceed the limit together, stage after stage, and the first
// one's purse knows what all of them spent.
func TestSharesAreNeverExceeded(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limits := SpendLimits{PriceIn: 1, PriceOut: 2, Cost: rapid.Float64Range(0.0001, 0.1).Draw(rt, "most")}
		n := rapid.IntRange(1, 5).Draw(rt, "processes")
		var purses []*Purse
		for range n {
			purses = append(purses, NewPurse(limits))
		}
		first := purses[0]
		var sent int64
		for range rapid.IntRange(1, 4).Draw(rt, "stages") {
			part := first.Left() / float64(n)
			var before []Spent
			for _, p := range purses {
				p.Grant(part)
				before = append(before, p.Spent())
			}
			for range rapid.IntRange(0, 100).Draw(rt, "requests") {
				p := purses[rapid.IntRange(0, n-1).Draw(rt, "process")]
				r := p.Reserve(call(40, 20))
				if r == nil {
					continue
				}
				var e Result
				e.HTTP, e.Status, e.PromptTokens, e.OutputTokens, e.TokenSource = 200, StatusOK, 60, 20, SourceServer
				r.Settle(&e)
				sent += 80
			}
			for i, p := range purses[1:] {
				first.Book(p.Spent().Since(before[i+1]))
			}
			first.Release()
		}
		s := first.Spent()
		if tokens(s) != sent || limits.Cost < s.Cost {
			rt.Errorf("spent %d tokens, booked %+v, with the limits %+v", sent, s, limits)
		}
		if want := limits.Price(s.Prompt, s.Output); s.Cost < want*0.999 || s.Cost > want*1.001 {
			rt.Errorf("cost %v, want %v", s.Cost, want)
		}
	})
}
