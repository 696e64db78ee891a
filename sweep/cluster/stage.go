package cluster

import (
	"context"
	"fmt"
	"slices"
	"time"

	"llmsweep/client"
	"llmsweep/client/note"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/sample"
)

const (
	readyTime = 30 * time.Second       // for a rank to get ready for a stage
	lead      = 200 * time.Millisecond // between the announcement of a common start and the start
	silent    = 3 * time.Second        // without a reading, a rank has stalled
	watch     = 250 * time.Millisecond // between two looks for such ranks
	endTime   = 15 * time.Second       // for a rank to end a stage that was cancelled; then it is lost
	fetchTime = 30 * time.Second       // without a message, while records are fetched
)

// coordinatorStage is one attempt at a stage, on all ranks. Rank 0 moves it from phase to phase, and tells the ranks by Start and Order:
//
//	phase      all Ready   monitor    all windows  a rank's      all Done  interrupt
//	                       says       settled      limit spent
//	Preparing  Open        -          -            -             -         given up
//	Open       -           Closed or  -            Stopped       fetched   Cancelled
//	                       Stopped
//	Closed     -           -          Settled      Stopped       fetched   Cancelled
//	Settled    -           -          -            Stopped       fetched   Cancelled
//	Stopped    -           -          -            Stopped       fetched   Cancelled
//	Cancelled  -           -          -            Stopped       fetched   -
//
// Fetched: the records of one rank after the other are asked for, and the stage counts. In every phase, and while records are fetched, a fault voids
// it: a rank that was lost (its connection ended, it sent Trouble, it was not ready within 30 s, its records paused for 30 s), that stood still
// for 3 s, began 0.1 s late, failed, or would send other requests. Then all ranks are moved to Cancelled, and those that are not Done after 15 s
// are lost as well. The caller repeats a void stage with the ranks that remain.
type coordinatorStage struct {
	*Coordinator
	load.Stage
	load.Environment
	what    arrival.Load
	attempt int
	parts   []*share
	of      map[*member]*share
	epoch   time.Time
	passed  int // ticks that were put together

	closedAt    time.Duration // negative while the window is open
	phase       phase
	interrupted bool
	spent       bool
	fault       note.Note // zero while there is none
	readings    []load.Reading
	unkept      error // why readings could not be kept
	scratch     rundir.Record
}

// share is a rank's part of a stage, as rank 0 sees it.
type share struct {
	*member
	ready    *Ready
	ticks    []tick // not yet put together
	last     time.Duration
	owed     float64
	heard    time.Time
	inFlight int
	settled  bool
	done     *Done
	part     client.PurseShare // what it may spend
	spending client.Spent      // as it last told
	booked   bool              // what it spent
}

type tick struct {
	at            time.Duration
	arrived, owed float64
}

// Hold runs a stage on all ranks. It is an experiment.Holder.
func (c *Coordinator) Hold(ctx context.Context, s load.Stage, e load.Environment) (*load.Observed, error) {
	c.attempt++
	g := &coordinatorStage{Coordinator: c, Stage: s, Environment: e, what: s.Load, attempt: c.attempt, of: map[*member]*share{}, closedAt: -1}
	for _, m := range c.alive() {
		p := &share{member: m}
		g.parts = append(g.parts, p)
		g.of[m] = p
	}
	g.allot()
	if g.Purse != nil {
		defer g.Purse.Release()
	}
	err := g.announce(ctx)
	if err == nil && g.fault.IsZero() {
		err = g.watchOver(ctx)
	}
	if err == nil && g.fault.IsZero() {
		err = g.unkept
	}
	if err == nil && g.fault.IsZero() {
		err = g.fetch()
	}
	if err != nil || !g.fault.IsZero() {
		g.giveUp()
	}
	switch {
	case !g.fault.IsZero():
		return nil, &load.VoidError{Why: g.fault}
	case err != nil:
		return &load.Observed{InFlight: sample.Sum(nil), Interrupted: true}, err
	}
	return g.observed(), nil
}

// broadcast sends a message to the ranks that have not ended the stage.
func (g *coordinatorStage) broadcast(m ToRank) {
	for _, p := range g.parts {
		if p.done == nil {
			p.send(m)
		}
	}
}

// order moves all ranks on to another phase.
func (g *coordinatorStage) order(to phase) {
	g.phase = to
	g.broadcast(&order{Attempt: g.attempt, To: to})
}

// announce has all ranks get ready, and sets the common start.
func (g *coordinatorStage) announce(ctx context.Context) error {
	what := g.what
	if t, ok := what.(arrival.Trace); ok {
		t.Offsets = nil // each rank reads its file
		what = t
	}
	var nonce, places uint64
	if g.Numbers != nil {
		nonce, places = g.Numbers.Numbers()
	}
	for i, p := range g.parts {
		own := newShare(i, len(g.parts), g.Limit, g.Schedule == nil, g.Seed, g.Name)
		p.send(&stage{
			Attempt: g.attempt, Member: i, Members: len(g.parts), Nonce: nonce, Places: places, Connect: min(own.Slots(), mostConnections), Allowance: p.part,
			Name: g.Name, Load: what, Seed: g.Seed, Limit: g.Limit, Opening: g.Opening, Joins: g.Joins, Sessions: g.Sessions,
			Tick: g.Tick, Tail: g.Tail, Drain: g.Drain, TimeOut: g.TimeOut,
		})
	}
	timer := time.NewTimer(readyTime)
	defer timer.Stop()
	for !g.allReady() {
		select {
		case ev := <-g.events:
			g.take(ev)
		case <-timer.C:
			for _, p := range g.parts {
				if p.ready == nil {
					g.lost(p, fmt.Errorf("it did not get ready within %v", readyTime))
				}
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if !g.fault.IsZero() {
			return nil
		}
	}
	for _, p := range g.parts {
		if p.ready.Fingerprint != g.parts[0].ready.Fingerprint {
			g.fault = noteDiffers.New(p.rank, p.host(), g.Name)
			return nil
		}
	}
	start := time.Now().Add(lead + 2*g.slowest())
	g.epoch, g.phase = start, Open
	g.broadcast(&Start{Attempt: g.attempt, At: g.Clock.Reading(start)})
	return nil
}

// mostConnections is how many connections a rank opens before a stage: more take longer to open than the stage's start to need them.
const mostConnections = 256

func (g *coordinatorStage) allReady() bool {
	_, waiting := firstOf(g.parts, func(p *share) bool { return p.ready == nil })
	return !waiting
}

// slowest returns the longest way to a rank and back.
func (g *coordinatorStage) slowest() (longest time.Duration) {
	for _, p := range g.parts {
		longest = max(longest, p.ready.Clock.RoundTrip)
	}
	return longest
}

// giveUp cancels the stage on all ranks, and waits until they have ended it, or, where it did not begin, have ended getting ready for it: what a
// rank prepares must not overlap with the next attempt. Who does not is lost.
func (g *coordinatorStage) giveUp() {
	begun := g.phase != preparing
	switch {
	case begun:
		g.order(cancelled)
	case g.fault.IsZero(): // interrupted: there is no next attempt
		return
	}
	busy := func(p *share) bool {
		if !g.record.Ranks[p.rank].Lost.IsZero() {
			return false
		}
		return begun && p.done == nil || p.ready == nil
	}
	timer := time.NewTimer(endTime)
	defer timer.Stop()
	for slices.ContainsFunc(g.parts, busy) {
		select {
		case ev := <-g.events:
			g.take(ev)
		case <-timer.C:
			for _, p := range g.parts {
				if busy(p) {
					g.lost(p, fmt.Errorf("it did not answer for %v", endTime))
				}
			}
		}
	}
}
