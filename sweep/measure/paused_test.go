package measure

import (
	"testing"
	"time"

	"llmsweep/sweep/sample"
)

// A server whose quota is used up completes nothing until the next window: a stage that has hardly seen more than that pause does not show it saturated, and one that
// has lasted three times as long may.
func TestAPauseIsNoOverload(t *testing.T) {
	const works, pauses = 10, 20 // seconds
	for _, c := range []struct {
		what    string
		seconds int
		tokens  func(second int) float64
		want    bool
	}{
		{"in a pause at once", 25, func(int) float64 { return 0 }, true},
		{"in a pause, after work", works + 15, func(s int) float64 { return float64(max(0, works-s)) }, true},
		{"after one pause", works + pauses + 5, func(s int) float64 {
			if s%(works+pauses) < works {
				return 5
			}
			return 0
		}, true},
		{"after two pauses", 2*(works+pauses) + 5, func(s int) float64 {
			if s%(works+pauses) < works {
				return 5
			}
			return 0
		}, false},
		{"with short pauses", 12, func(s int) float64 { return float64(s % 5 / 4) }, false},
		{"without a pause", 25, func(int) float64 { return 1 }, false},
	} {
		a := &Account{ticks: sample.Ticks{Width: time.Second}}
		for s := range c.seconds {
			a.ticks.Add(time.Duration(s+1)*time.Second, c.tokens(s), 100)
		}
		if got := a.paused(time.Duration(c.seconds) * time.Second); got != c.want {
			t.Errorf("%s: paused %v, want %v", c.what, got, c.want)
		}
	}
}
