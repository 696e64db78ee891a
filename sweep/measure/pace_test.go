package measure

import (
	"math"
	"testing"
	"time"

	"llmsweep/sweep/load"
)

// paceTick is a step of the computed server.
const paceTick = 10 * time.Millisecond

// fillServer plays a closed loop on an empty server, which computes one prompt and then one token of each request at
// work, until it has no more places; then it only takes steps, or with later ends a request each half second and begins
// another.
func fillServer(a *Account, width, places, asked, perPrompt int, later bool, until time.Duration) {
	for range width {
		a.Due(asked)
	}
	working, steps := 0, 0
	for n := 1; time.Duration(n)*paceTick <= until; n++ {
		done := load.Work{}
		if working < places && n%(perPrompt+1) == 0 {
			working++
			done.Firsts, done.Tokens = 1, float64(working)
			a.FirstToken(0)
		} else if working == places {
			if steps++; later && steps%50 == 0 {
				a.Due(asked)
				a.FirstToken(0)
				done.Firsts = 1
			}
			if !later || steps%50 < 50-perPrompt {
				done.Tokens = float64(working)
			}
		}
		a.Tick(time.Duration(n)*paceTick, done)
	}
	a.Closed(until)
}

func quickAccount(width int) *Account {
	return NewAccount(Criteria{Concurrency: width,
		Extent: Extent{From: time.Nanosecond, Paced: true, Quick: true, MinWaves: 1}})
}

// Two spans tell what a prompt and a token take: a server of 50 ms a prompt and 10 ms a step does a request of 200
// tokens, 40 at a time, in 50 + 200 x 10 / 40 ms. Requests that wait for a place are told from a few that are late.
func TestPaceOfTheFirstMoments(t *testing.T) {
	for _, c := range []struct {
		places        int
		later, waited bool
	}{{40, false, false}, {40, true, false}, {36, false, false}, {20, false, true}} {
		a, places := quickAccount(40), c.places
		fillServer(a, 40, places, 200, 5, c.later, 3600*time.Millisecond)
		want := 200 / (0.05 + 200*0.01/float64(places)) // tokens per second
		p := a.Pace()
		if off := p.Output.Or(0)/want - 1; math.Abs(off) > 0.01 || p.Waited != c.waited {
			t.Errorf("%d places: %.1f tokens/s, %.1f %% off; waited %v", places, p.Output.Or(0), 100*off, p.Waited)
		}
		if l := 40 * 200 / p.Output.Or(0); p.Latency.Or(0) != l || p.Error.Known() {
			t.Errorf("%d places: latency %v, error %v; want %v, and no error", places, p.Latency, p.Error, l)
		}
	}
}

// Where neither a wave nor a second span was seen, nothing is known.
func TestPaceUnknown(t *testing.T) {
	for _, until := range []time.Duration{time.Second, 2410 * time.Millisecond} { // the server is full after 2.4 s
		a := quickAccount(40)
		fillServer(a, 40, 40, 1000, 5, false, until)
		if p := a.Pace(); p.Output.Known() || p.Latency.Known() || a.paced(until) {
			t.Errorf("after %v: %+v, paced %v", until, p, a.paced(until))
		}
	}
}

// Without first moments a stage goes on until whole waves have come since its opening, and ends with one.
func TestPaceOfWholeWaves(t *testing.T) {
	a := NewAccount(Criteria{Concurrency: 2, Extent: Extent{From: time.Second, Paced: true, MinWaves: 2}})
	a.Due(50)
	a.Due(50)
	var ends []int
	for n := 1; n <= 500; n++ { // a token each 10 ms, and a wave each second
		now := time.Duration(n) * paceTick
		a.Tick(now, load.Work{Tokens: 1})
		if a.paced(now) {
			ends = append(ends, n)
		}
	}
	a.Closed(4 * time.Second)
	if p := a.Pace(); len(ends) != 3 || ends[0] != 300 || ends[2] != 500 || math.Abs(p.Output.Or(0)-100) > 1e-9 ||
		math.Abs(p.Latency.Or(0)-1) > 1e-9 {
		t.Errorf("it may end after the ticks %v, with %+v", ends, p)
	}
}

// A client that did not run for a while missed ticks: the counts of first tokens keep their places among the others.
func TestPaceAfterMissedTicks(t *testing.T) {
	a := quickAccount(4)
	for range 4 {
		a.Due(1000)
	}
	now := paceTick
	a.Tick(now, load.Work{})
	now += 3 * time.Second // stopped
	for range 4 {
		a.FirstToken(0)
	}
	a.Tick(now, load.Work{Tokens: 4, Firsts: 4})
	for range 110 {
		now += paceTick
		a.Tick(now, load.Work{Tokens: 4})
	}
	a.Closed(now)
	if tokens, firsts := a.arrivedIn(0, now); tokens != 444 || firsts != 4 || !a.Pace().Output.Known() {
		t.Errorf("%v tokens, %v first ones, %+v", tokens, firsts, a.Pace())
	}
}
