package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"llmsweep/client/note"
	"llmsweep/client/spend"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/cluster/message"
	"llmsweep/sweep/load"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/sample"
	"llmsweep/sweep/seconds"
)

const (
	readyTime = 30 * time.Second       // for a rank to get ready for a stage
	lead      = 200 * time.Millisecond // between the announcement of a common start and the start
	silent    = 3 * time.Second        // without a reading, a rank has stalled
	watch     = 250 * time.Millisecond // between two looks for such ranks
	endTime   = 15 * time.Second       // for a rank to end a stage that was cancelled; then it is lost
	fetchTime = 30 * time.Second       // without a message, while records are fetched
)

// stage is one attempt at a stage, on all ranks.
type stage struct {
	*Coordinator
	load.Stage
	load.Environment
	what    arrival.Load
	attempt int32
	parts   []*share
	of      map[*member]*share
	epoch   time.Time
	passed  int // ticks that were put together

	closedAt    time.Duration // negative while the window is open
	ordered     message.Order_What
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
	ready    *message.Ready
	ticks    []tick // not yet put together
	last     time.Duration
	owed     float64
	heard    time.Time
	inFlight int
	settled  bool
	done     *message.Done
	part     spend.Part        // what it may spend
	spending *message.Spending // as it last told
	booked   bool              // what it spent
}

type tick struct {
	at            time.Duration
	arrived, owed float64
}

// Hold runs a stage on all ranks. It is an experiment.Holder.
func (c *Coordinator) Hold(ctx context.Context, l arrival.Load, s load.Stage, e load.Environment) (*load.Observed, error) {
	c.attempt++
	g := &stage{Coordinator: c, Stage: s, Environment: e, what: l, attempt: c.attempt, of: map[*member]*share{}, closedAt: -1}
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
func (g *stage) broadcast(m *message.ToRank) {
	for _, p := range g.parts {
		if p.done == nil {
			p.send(m)
		}
	}
}

func (g *stage) order(what message.Order_What) {
	g.ordered = what
	g.broadcast(&message.ToRank{Kind: &message.ToRank_Order{Order: &message.Order{Attempt: g.attempt, What: what}}})
}

// announce has all ranks get ready, and sets the common start.
func (g *stage) announce(ctx context.Context) error {
	b, err := encode(g.what, &g.Stage, g.Seed)
	if err != nil {
		return err
	}
	var nonce, places uint64
	if g.Numbers != nil {
		nonce, places = g.Numbers.Numbers()
	}
	for i, p := range g.parts {
		own := NewShare(i, len(g.parts), g.Limit, g.Schedule == nil, g.Seed, g.Name)
		p.send(&message.ToRank{Kind: &message.ToRank_Stage{Stage: &message.Stage{
			Attempt: g.attempt, Member: int32(i), Members: int32(len(g.parts)), Nonce: nonce, Places: places, Spec: b,
			Connect: int32(min(own.Slots(), mostConnections)), Allowance: &message.Allowance{Tokens: p.part.Tokens, Cost: p.part.Cost},
		}}})
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
	g.epoch = start
	g.broadcast(&message.ToRank{Kind: &message.ToRank_Start{Start: &message.Start{Attempt: g.attempt, At: int64(g.Clock.Reading(start))}}})
	return nil
}

// mostConnections is how many connections a rank opens before a stage: more take longer to open than the stage's start to need them.
const mostConnections = 256

func (g *stage) allReady() bool {
	_, waiting := firstOf(g.parts, func(p *share) bool { return p.ready == nil })
	return !waiting
}

// slowest returns the longest way to a rank and back.
func (g *stage) slowest() (longest time.Duration) {
	for _, p := range g.parts {
		longest = max(longest, seconds.Duration(p.ready.Clock.GetRoundTrip()))
	}
	return longest
}

// watchOver follows the stage until all ranks have ended it.
func (g *stage) watchOver(ctx context.Context) error {
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
			g.order(message.Order_CANCEL)
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
func (g *stage) scrape(ctx context.Context) (stop func()) {
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

func (g *stage) ended() bool {
	_, running := firstOf(g.parts, func(p *share) bool { return p.done == nil })
	return !running
}

// look finds ranks that have stalled. own is the time since the last look: where that is long, it was rank 0 that stalled.
func (g *stage) look(own time.Duration) {
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
func (g *stage) lost(p *share, err error) {
	why := noteLost.New(p.rank, p.host(), g.Name, err.Error())
	g.bookLost(p)
	g.Coordinator.lose(p.member, why)
	if g.fault.IsZero() {
		g.fault = why
	}
}

// take takes in a message of a rank, of this attempt.
func (g *stage) take(ev event) {
	p := g.of[ev.from]
	if p == nil { // lost before
		return
	}
	if ev.err != nil {
		g.lost(p, ev.err)
		return
	}
	switch k := ev.m.Kind.(type) {
	case *message.FromRank_Ready:
		if k.Ready.Attempt == g.attempt {
			p.ready = k.Ready
			g.keepClock(p.member, k.Ready.Clock)
		}
	case *message.FromRank_Reading:
		if k.Reading.Attempt == g.attempt {
			g.read(p, k.Reading)
		}
	case *message.FromRank_Done:
		if k.Done.Attempt == g.attempt {
			g.done(p, k.Done)
		}
	case *message.FromRank_Trouble:
		if k.Trouble.Interrupted {
			g.Interrupt()
			return
		}
		g.lost(p, errors.New(k.Trouble.Error))
	}
}

// read takes in a reading.
func (g *stage) read(p *share, r *message.Reading) {
	p.heard = time.Now()
	if r.Spending != nil {
		p.spending = r.Spending
	}
	p.inFlight, p.settled = int(r.InFlight), p.settled || r.Settled
	for i := range min(len(r.At), len(r.Arrived), len(r.Owed)) {
		p.last = time.Duration(r.At[i])
		p.ticks = append(p.ticks, tick{p.last, r.Arrived[i], r.Owed[i]})
	}
	if n := int(r.Due); n > 0 {
		asked := int(r.Asked)
		for i := range n { // shared out evenly: only the sum counts
			each := asked / (n - i)
			asked -= each
			g.Monitor.Due(each)
		}
	}
	for _, t := range r.FirstTokens {
		g.Monitor.FirstToken(time.Duration(t))
	}
	for _, e := range r.Ended {
		lengthen(e, &g.scratch)
		g.Monitor.Ended(&g.scratch, int(e.Tokens))
	}
	if _, waiting := firstOf(g.parts, func(p *share) bool { return p.done == nil && !p.settled }); !waiting && g.ordered == message.Order_CLOSE {
		g.order(message.Order_SETTLED)
	}
}

// done notes that a rank has ended the stage.
func (g *stage) done(p *share, d *message.Done) {
	p.done, p.inFlight = d, 0
	g.keepClock(p.member, d.Clock)
	g.book(p, spent(d.Spending))
	switch late := time.Duration(d.Began); {
	case !g.fault.IsZero():
	case d.Error != "":
		g.fault = noteBroken.New(p.rank, p.host(), g.Name, d.Error)
	case late > maxLate:
		g.fault = noteLate.New(p.rank, p.host(), g.Name, late.Seconds())
	case d.Stall > silent.Seconds():
		g.fault = noteStalled.New(p.rank, p.host(), g.Name, d.Stall)
	case d.Spent:
		g.spent = true
		g.order(message.Order_STOP)
	}
	if g.ordered == message.Order_CLOSE {
		if _, waiting := firstOf(g.parts, func(p *share) bool { return p.done == nil && !p.settled }); !waiting {
			g.order(message.Order_SETTLED)
		}
	}
}

// advance puts the ticks of all ranks together, up to the last that all have told of, and asks the monitor.
func (g *stage) advance() {
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
func (g *stage) decide(at time.Duration) {
	if g.closedAt >= 0 || g.ordered != message.Order_NOTHING || g.ended() {
		return
	}
	switch g.Monitor.Decide(at) {
	case load.Stop:
		g.close(at)
		g.order(message.Order_STOP)
	case load.Close:
		g.close(at)
		g.order(message.Order_CLOSE)
	}
}

func (g *stage) close(at time.Duration) {
	g.closedAt = at
	g.Monitor.Closed(at)
}

// show reports progress.
func (g *stage) show(now time.Duration) {
	s := g.Monitor.Recent()
	s.Phase, s.Elapsed = load.PhaseMeasuring, now
	switch g.ordered {
	case message.Order_CLOSE:
		s.Phase = load.PhaseTail
	case message.Order_SETTLED, message.Order_STOP, message.Order_CANCEL:
		s.Phase = load.PhaseDraining
	}
	for _, p := range g.parts {
		s.InFlight += p.inFlight
	}
	g.Progress(s)
}

func (g *stage) elapsed() (longest time.Duration) {
	for _, p := range g.parts {
		if p.done != nil {
			longest = max(longest, time.Duration(p.done.Elapsed))
		}
	}
	return longest
}

// lineKeeper is a log that takes encoded records.
type lineKeeper interface {
	AppendLines(stage string, lines []byte) error
}

// fetch has the ranks send their records, one after the other, and appends those of all to the log, or those of none.
func (g *stage) fetch() error {
	keeper, ok := g.Log.(lineKeeper)
	if !ok {
		return fmt.Errorf("records cannot be brought together in a %T", g.Log)
	}
	spool, err := os.CreateTemp("", "llmsweep-records-*")
	if err != nil {
		return err
	}
	defer os.Remove(spool.Name())
	defer spool.Close()
	for _, p := range g.parts {
		if err := g.fetchFrom(p, spool); err != nil || !g.fault.IsZero() {
			return err
		}
	}
	if _, err := spool.Seek(0, io.SeekStart); err != nil {
		return err
	}
	for lines, err := range store.EachLines(spool, chunk) {
		if err == nil {
			err = keeper.AppendLines(g.Name, lines)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (g *stage) fetchFrom(p *share, to io.Writer) error {
	p.send(&message.ToRank{Kind: &message.ToRank_Fetch{Fetch: &message.Fetch{Attempt: g.attempt}}})
	timer := time.NewTimer(fetchTime)
	defer timer.Stop()
	for {
		select {
		case ev := <-g.events:
			if r := ev.m.GetRecords(); ev.err == nil && r != nil && r.Attempt == g.attempt && g.of[ev.from] == p {
				if r.Last {
					return nil
				}
				if _, err := to.Write(r.Lines); err != nil {
					return err
				}
				timer.Reset(fetchTime)
				continue
			}
			g.take(ev)
		case <-timer.C:
			g.lost(p, fmt.Errorf("its records did not come within %v", fetchTime))
		}
		if !g.fault.IsZero() {
			return nil
		}
	}
}

// giveUp cancels the stage on all ranks, and waits until they have ended it, or, where it did not begin, have ended getting ready for it: what a
// rank prepares must not overlap with the next attempt. Who does not is lost.
func (g *stage) giveUp() {
	begun := !g.epoch.IsZero()
	switch {
	case begun:
		g.order(message.Order_CANCEL)
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

// observed puts together what the ranks saw.
func (g *stage) observed() *load.Observed {
	o := &load.Observed{ClosedAt: g.closedAt, Elapsed: g.elapsed(), CPU: -1, Interrupted: g.interrupted, Spent: g.spent, Readings: g.readings}
	o.Ranks = &rundir.StageRanks{N: len(g.parts)}
	var levels []sample.Bins
	var first, last time.Duration
	worst, align := g.parts[0], 0.0
	began := false
	for _, p := range g.parts {
		d := p.done
		if g.Numbers != nil {
			if nonce, places := g.Numbers.Numbers(); d.Places > places {
				g.Numbers.Continue(nonce, d.Places)
			}
		}
		if d.Bin > 0 {
			bins := sample.Bins{Width: time.Duration(d.Bin), Area: d.Area, Last: time.Duration(d.Last)}
			for _, n := range d.Peak {
				bins.Peak = append(bins.Peak, int(n))
			}
			levels = append(levels, bins)
			if at := time.Duration(d.Began); !began {
				first, last, began = at, at, true
			} else {
				first, last = min(first, at), max(last, at)
			}
		}
		o.CPU, o.GC = max(o.CPU, d.Cpu), max(o.GC, d.Gc)
		if d.Align > align {
			worst, align = p, d.Align
		}
		g.assess(p, o)
	}
	o.InFlight = sample.Sum(levels)
	o.Ranks.Alignment, o.Ranks.Skew = rundir.Exactly(align), rundir.Exactly((last - first).Seconds())
	if rate := g.what.MeanRate(); Misaligned(rate, align) {
		o.Warnings = append(o.Warnings, Alignment(&g.record.Ranks[worst.rank], rate, align))
	}
	if g.Limit > 0 && g.Schedule != nil && len(g.parts) > 1 {
		o.Warnings = append(o.Warnings, noteShared.New(g.Limit, len(g.parts)))
	}
	return o
}

// assess notes whether a rank was fit to measure.
func (g *stage) assess(p *share, o *load.Observed) {
	d := p.done
	known := func(v float64) rundir.Number {
		if v < 0 || d.Requests == 0 {
			return rundir.Number{}
		}
		return rundir.Exactly(v)
	}
	s := rundir.StageRank{
		Rank: p.rank, Requests: int(d.Requests), LagP99: known(d.LagP99), CPU: known(d.Cpu), Late: rundir.Exactly(time.Duration(d.Began).Seconds()),
	}
	if s.CPU.Known() {
		s.GC = rundir.Exactly(d.Gc)
	}
	o.Ranks.Each = append(o.Ranks.Each, s)
	r := &g.record.Ranks[p.rank]
	r.LagP99, r.CPU = larger(r.LagP99, s.LagP99), larger(r.CPU, s.CPU)
	alone := rundir.Stage{
		Lag: rundir.Dist{P99: s.LagP99}, ReadDelay: rundir.Dist{P99: known(d.ReadP99)}, SharedChunks: known(d.Shared),
		ClientCPU: s.CPU, ClientGC: s.GC,
	}
	why := measure.Unfit(&alone)
	if why.IsZero() {
		return
	}
	r.Valid = false
	r.Unfit = append(r.Unfit, noteOnStage.New(g.Name, []note.Note{why}))
	if o.Invalid.IsZero() {
		o.Invalid = noteUnfit.New(p.rank, p.host(), []note.Note{why})
	}
}

// larger returns the larger of two numbers, or the one that exists.
func larger(a, b rundir.Number) rundir.Number {
	if a.IsZero() || b.Known() && b.Value() > a.Value() {
		return b
	}
	return a
}
