package cluster

import (
	"context"
	"errors"
	"time"

	"llmsweep/sweep/load"
)

// watchOver follows the stage until all ranks have ended it.
func (g *coordinatorStage) watchOver(ctx context.Context) error {
	defer g.scrape(ctx)()
	ticker := time.NewTicker(watch)
	defer ticker.Stop()
	looked, ending := time.Now(), ctx.Done()
	for _, p := range g.parts {
		p.heard = g.epoch
	}
	for !g.ended() {
		select {
		case ev := <-g.events:
			g.take(ev)
			g.advance()
		case <-ticker.C:
			g.look(time.Since(looked))
			looked = time.Now()
		case <-ending:
			ending = nil
			g.interrupted = true
			g.order(cancelled)
		}
		if !g.fault.IsZero() {
			return nil
		}
	}
	g.advance()
	if g.closedAt < 0 {
		g.close(g.elapsed())
	}
	return nil
}

// scrape reads the server's gauges until the function that it returns is called.
func (g *coordinatorStage) scrape(ctx context.Context) (stop func()) {
	if g.Scrape == nil {
		return func() {}
	}
	over, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		g.readings = g.Environment.Gather(ctx, g.epoch, over, func(err error) { g.unkept = err })
	}()
	return func() { close(over); <-done }
}

func (g *coordinatorStage) ended() bool {
	_, running := firstOf(g.parts, func(p *share) bool { return p.done == nil })
	return !running
}

// look finds ranks that have stalled. own is the time since the last look: where that is long, it was rank 0 that stalled.
func (g *coordinatorStage) look(own time.Duration) {
	if own > silent {
		g.fault = noteStalled.New(0, g.parts[0].host(), g.Name, own.Seconds())
		return
	}
	now := time.Now()
	for _, p := range g.parts {
		if own > 2*watch && p.heard.After(g.epoch) { // what came meanwhile is not yet read
			p.heard = p.heard.Add(own)
		}
		if quiet := now.Sub(p.heard); p.done == nil && quiet > silent {
			g.fault = noteStalled.New(p.rank, p.host(), g.Name, quiet.Seconds())
			return
		}
	}
}

// lost names a rank that has gone, and leaves it out from now on.
func (g *coordinatorStage) lost(p *share, err error) {
	why := noteLost.New(p.rank, p.host(), g.Name, err.Error())
	g.bookLost(p)
	g.Coordinator.lose(p.member, why)
	if g.fault.IsZero() {
		g.fault = why
	}
}

// take takes in a message of a rank, of this attempt.
func (g *coordinatorStage) take(ev event) {
	p := g.of[ev.from]
	if p == nil { // lost before
		return
	}
	if ev.err != nil {
		g.lost(p, ev.err)
		return
	}
	switch k := ev.m.(type) {
	case *Ready:
		if k.Attempt == g.attempt {
			p.ready = k
			g.keepClock(p.member, k.Clock)
		}
	case *reading:
		if k.Attempt == g.attempt {
			g.read(p, k)
		}
	case *Done:
		if k.Attempt == g.attempt {
			g.done(p, k)
		}
	case *Trouble:
		if k.Interrupted {
			g.Interrupt()
			return
		}
		g.lost(p, errors.New(k.Error))
	}
}

// read takes in a reading.
func (g *coordinatorStage) read(p *share, r *reading) {
	p.heard = time.Now()
	if r.Spending != nil {
		p.spending = *r.Spending
	}
	p.inFlight, p.settled = r.InFlight, p.settled || r.Settled
	for i := range min(len(r.At), len(r.Arrived), len(r.Owed)) {
		p.last = r.At[i]
		p.ticks = append(p.ticks, tick{p.last, r.Arrived[i], r.Owed[i]})
	}
	asked := r.Asked
	for i := range r.Due { // shared out evenly: only the sum counts
		each := asked / (r.Due - i)
		asked -= each
		g.Monitor.Due(each)
	}
	for _, t := range r.FirstTokens {
		g.Monitor.FirstToken(t)
	}
	for i := range r.Ended {
		lengthen(&r.Ended[i], &g.scratch)
		g.Monitor.Ended(&g.scratch, r.Ended[i].Tokens)
	}
	if _, waiting := firstOf(g.parts, func(p *share) bool { return p.done == nil && !p.settled }); !waiting && g.phase == closed {
		g.order(settled)
	}
}

// done notes that a rank has ended the stage.
func (g *coordinatorStage) done(p *share, d *Done) {
	p.done, p.inFlight = d, 0
	g.keepClock(p.member, d.Clock)
	if d.Spending != nil {
		g.book(p, *d.Spending)
	}
	switch {
	case !g.fault.IsZero():
	case d.InFlight.Width < 0 || len(d.InFlight.Area) != len(d.InFlight.Peak):
		g.fault = noteBroken.New(p.rank, p.host(), g.Name, "its numbers in flight cannot be read")
	case d.Error != "":
		g.fault = noteBroken.New(p.rank, p.host(), g.Name, d.Error)
	case d.Began > maxLate:
		g.fault = noteLate.New(p.rank, p.host(), g.Name, d.Began.Seconds())
	case d.Stall > silent:
		g.fault = noteStalled.New(p.rank, p.host(), g.Name, d.Stall.Seconds())
	case d.Spent:
		g.spent = true
		g.order(stopped)
	}
	if g.phase == closed {
		if _, waiting := firstOf(g.parts, func(p *share) bool { return p.done == nil && !p.settled }); !waiting {
			g.order(settled)
		}
	}
}

// advance puts the ticks of all ranks together, up to the last that all have told of, and asks the monitor.
func (g *coordinatorStage) advance() {
	until, most := time.Duration(-1), time.Duration(0)
	for _, p := range g.parts {
		if p.done == nil && (until < 0 || p.last < until) {
			until = p.last
		}
		most = max(most, p.last)
	}
	if until < 0 {
		until = most
	}
	for int(until/g.Tick) > g.passed {
		g.passed++
		at := time.Duration(g.passed) * g.Tick
		arrived, owed := 0.0, 0.0
		for _, p := range g.parts {
			for len(p.ticks) > 0 && int(p.ticks[0].at/g.Tick) <= g.passed {
				arrived += p.ticks[0].arrived
				p.owed = p.ticks[0].owed
				p.ticks = p.ticks[1:]
			}
			if p.done != nil && len(p.ticks) == 0 {
				p.owed = 0
			}
			owed += p.owed
		}
		g.Monitor.Tick(at, arrived, owed)
		g.decide(at)
	}
	g.show(until)
}

// decide asks the monitor whether the stage has gone on for long enough.
func (g *coordinatorStage) decide(at time.Duration) {
	if g.closedAt >= 0 || g.phase != Open || g.ended() {
		return
	}
	switch g.Monitor.Decide(at) {
	case load.Stop:
		g.close(at)
		g.order(stopped)
	case load.Close:
		g.close(at)
		g.order(closed)
	}
}

func (g *coordinatorStage) close(at time.Duration) {
	g.closedAt = at
	g.Monitor.Closed(at)
}

// show reports progress.
func (g *coordinatorStage) show(now time.Duration) {
	s := g.Monitor.Recent()
	s.Phase, s.Elapsed = load.PhaseMeasuring, now
	switch g.phase {
	case closed:
		s.Phase = load.PhaseTail
	case settled, stopped, cancelled:
		s.Phase = load.PhaseDraining
	}
	for _, p := range g.parts {
		s.InFlight += p.inFlight
	}
	g.Progress(s)
}

func (g *coordinatorStage) elapsed() (longest time.Duration) {
	for _, p := range g.parts {
		if p.done != nil {
			longest = max(longest, p.done.Elapsed)
		}
	}
	return longest
}
