package cluster

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"llmsweep/client"
	"llmsweep/client/note"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/sample"
	"llmsweep/sweep/stats"
)

const (
	readyTime  = 2 * time.Minute        // for a rank to get ready: for the first stage it makes its workload
	startDelay = 250 * time.Millisecond // between the message that starts a stage and the start
	endTime    = 15 * time.Second       // for a rank to end a stage that was cancelled
	lateLimit  = 50 * time.Millisecond  // a rank that begins or sends later is named
)

// The notes on ranks. Times are in seconds.
var (
	noteLost = note.Kind{Code: "cluster.lost", Args: []string{"rank", "host", "stage", "error"}}
	noteSlow = note.Kind{Code: "cluster.slow", Args: []string{"rank", "host", "time"}}
)

// hold is a stage while all ranks hold it. Rank 0 moves it from phase to phase. An interrupt or a lost rank cancels
// it.
type hold struct {
	*Coordinator
	load.Stage
	load.Environment
	parts     []*part
	phase     phase
	startSent time.Time // when the ranks were told to start
	epoch     time.Time // the start
	tickCount int       // ticks that were added up
	closedAt  time.Duration
	spent     bool
	fault     error // why it was cancelled; nil where it was not
	limit     *time.Timer
	readings  []load.Reading
	changes   []change // of the number in flight
}

type change struct {
	at time.Duration
	by int // 1 or -1
}

// part is a rank's part of a stage, as rank 0 sees it.
type part struct {
	*member
	ready     bool
	roundTrip time.Duration
	ticks     []tick // not yet added up
	last      time.Duration
	owed      float64
	inFlight  int
	settled   bool
	done      *done
	spent     client.Spent
	lag       []float64 // seconds, of each request
}

// Hold runs a stage on all ranks. It is an experiment.StageRunner.
func (c *Coordinator) Hold(ctx context.Context, s load.Stage, e load.Environment) (*load.Outcome, error) {
	g := &hold{Coordinator: c, Stage: s, Environment: e, closedAt: -1, limit: time.NewTimer(readyTime)}
	defer g.limit.Stop()
	for _, m := range c.members {
		g.parts = append(g.parts, &part{member: m})
	}
	g.announce()
	if c.SpendLimiter != nil {
		defer c.SpendLimiter.Release()
	}
	g.follow(ctx)
	return g.outcome(), g.fault
}

// announce gives each rank its share of what is left of a limit on spending.
func (g *hold) announce() {
	spec := g.Spec
	if t, ok := spec.Load.(arrival.Trace); ok {
		t.Offsets = nil
		spec.Load = t
	}
	var left float64
	if g.SpendLimiter != nil {
		left = g.SpendLimiter.Remaining()
	}
	for i, p := range g.parts {
		s := newShare(i, len(g.parts), g.Limit, g.Schedule == nil, g.Seed, g.Name)
		p.send(stage{Spec: spec, Share: s, Allowance: left * s.part(), Seed: g.Seed})
	}
}

func (g *hold) follow(ctx context.Context) {
	stop := func() {}
	defer func() { stop() }()
	for ending := ctx.Done(); g.anyPart(func(p *part) bool { return p.done == nil }); {
		select {
		case ev := <-g.events:
			g.handle(ev)
		case <-g.limit.C:
			for _, p := range g.parts {
				if p.done == nil {
					g.lose(p, errors.New("it did not answer in time"))
				}
			}
		case <-ending:
			ending = nil
			g.cancel(context.Cause(ctx))
		}
		if g.phase == preparing && !g.anyPart(func(p *part) bool { return !p.ready }) {
			g.limit.Stop()
			g.startSent, g.epoch, g.phase = time.Now(), time.Now().Add(startDelay), open
			g.broadcast(start{startDelay})
			stop = g.scrape(ctx)
		}
		g.advance()
	}
	if g.closedAt < 0 && g.phase != preparing {
		g.close(g.elapsed())
	}
}

func (g *hold) anyPart(match func(*part) bool) bool { return slices.ContainsFunc(g.parts, match) }

// scrape reads the server's gauges until stop is called.
func (g *hold) scrape(ctx context.Context) (stop func()) {
	if g.Scrape == nil {
		return func() {}
	}
	quit, finished := make(chan struct{}), make(chan struct{})
	var failure error
	go func() {
		defer close(finished)
		g.readings = g.Environment.Gather(ctx, g.epoch, quit, func(err error) { failure = err })
	}()
	return func() {
		close(quit)
		<-finished
		g.fault = errors.Join(g.fault, failure)
	}
}

// broadcast ignores ranks that cannot be reached: each is lost when its connection is.
func (g *hold) broadcast(m any) {
	for _, p := range g.parts {
		if p.done == nil {
			p.send(m)
		}
	}
}

func (g *hold) moveTo(to phase) {
	if g.phase != cancelled {
		g.phase = to
		g.broadcast(to)
	}
}

// cancel ends the stage. Ranks that do not end it in time are lost.
func (g *hold) cancel(why error) {
	if g.fault == nil {
		g.fault = why
	}
	g.moveTo(cancelled)
	g.limit.Reset(endTime)
}

// lose cancels the stage because a rank has gone.
func (g *hold) lose(p *part, err error) {
	p.done = &done{CPU: -1}
	p.Close()
	g.cancel(experiment.NewEndError(noteLost.New(p.rank, p.host, g.Name, err.Error()),
		fmt.Sprintf("rank %d (%s) was lost in %s: %v", p.rank, p.host, g.Name, err)))
}

func (g *hold) handle(ev event) {
	p := g.parts[ev.from.rank]
	if p.done != nil && ev.err == nil {
		if t, ok := ev.m.(trouble); !ok || t.Error != "" {
			return
		}
	}
	switch m := ev.m.(type) {
	case nil:
		if p.done == nil {
			g.lose(p, ev.err)
		}
	case ready:
		p.ready = true
	case started:
		p.roundTrip = time.Since(g.startSent)
	case progress:
		if err := g.takeProgress(p, &m); err != nil {
			g.cancel(err)
		}
	case done:
		g.takeDone(p, &m)
	case trouble:
		if m.Error == "" {
			g.Interrupt()
		} else {
			g.lose(p, errors.New(m.Error))
		}
	}
}

func (g *hold) takeProgress(p *part, m *progress) error {
	p.spent, p.inFlight, p.settled = m.Spent, m.InFlight, p.settled || m.Settled
	p.ticks = append(p.ticks, m.Ticks...)
	if n := len(m.Ticks); n > 0 {
		p.last = m.Ticks[n-1].At
	}
	for _, asked := range m.Due {
		g.Monitor.Due(asked)
	}
	n := 0
	for line := range bytes.Lines(m.Records) {
		r, err := rundir.ParseRecord(bytes.TrimSuffix(line, []byte("\n")))
		if err == nil {
			err = g.Log.Append(r)
		}
		if err != nil {
			return err
		}
		if r.Sent.Known() {
			lag := r.Sent.Value() - r.Due.Value()
			if r.Queued.Known() {
				lag -= r.Queued.Value()
			}
			p.lag = append(p.lag, lag)
			g.changes = append(g.changes, change{rundir.Duration(r.Sent.Value()), 1}, change{rundir.Duration(r.End.Value()), -1})
		}
		if r.FirstToken.Known() {
			g.Monitor.FirstToken(rundir.Duration(r.FirstToken.Value() - r.Sent.Value()))
		}
		g.Monitor.Ended(r, m.Counted[n])
		n++
	}
	g.settle()
	return nil
}

// settle ends the load when the requests of all windows have ended.
func (g *hold) settle() {
	if g.phase == closed && !g.anyPart(func(p *part) bool { return p.done == nil && !p.settled }) {
		g.moveTo(settled)
	}
}

func (g *hold) takeDone(p *part, d *done) {
	p.done, p.inFlight = d, 0
	switch {
	case d.Error != "":
		g.lose(p, errors.New(d.Error))
	case d.Spent:
		g.spent = true
		g.moveTo(stopped)
	}
	g.settle()
}

// advance adds up the ticks of all ranks, as far as all have reported, and asks the monitor.
func (g *hold) advance() {
	until, latest := time.Duration(-1), time.Duration(0)
	for _, p := range g.parts {
		if p.done == nil && (until < 0 || p.last < until) {
			until = p.last
		}
		latest = max(latest, p.last)
	}
	if until < 0 {
		until = latest
	}
	for int(until/g.Tick) > g.tickCount {
		g.tickCount++
		at, arrived, owed := time.Duration(g.tickCount)*g.Tick, 0.0, 0.0
		for _, p := range g.parts {
			for len(p.ticks) > 0 && int(p.ticks[0].At/g.Tick) <= g.tickCount {
				arrived += p.ticks[0].Arrived
				p.owed = p.ticks[0].Owed
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

func (g *hold) decide(at time.Duration) {
	if g.closedAt >= 0 || g.phase != open {
		return
	}
	switch g.Monitor.Decide(at) {
	case load.Stop:
		g.close(at)
		g.moveTo(stopped)
	case load.Close:
		g.close(at)
		g.moveTo(closed)
	}
}

func (g *hold) close(at time.Duration) {
	g.closedAt = at
	g.Monitor.Closed(at)
}

func (g *hold) show(now time.Duration) {
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

func (g *hold) elapsed() (longest time.Duration) {
	for _, p := range g.parts {
		longest = max(longest, p.done.Elapsed)
	}
	return longest
}

// outcome sums up the stage. What a lost rank had in flight is not counted as spent.
func (g *hold) outcome() *load.Outcome {
	o := &load.Outcome{
		ClosedAt: g.closedAt, Elapsed: g.elapsed(), CPU: -1, Interrupted: g.fault != nil, Spent: g.spent,
		Readings: g.readings, InFlight: sample.NewLevel(g.Tick),
	}
	for _, p := range g.parts {
		if g.SpendLimiter != nil && p.rank > 0 {
			g.SpendLimiter.Book(p.spent)
		}
		o.CPU, o.GC = max(o.CPU, p.done.CPU), max(o.GC, p.done.GC)
		late := max(p.roundTrip, p.done.Began).Seconds()
		if len(p.lag) > 0 {
			slices.Sort(p.lag)
			late = max(late, stats.QuantileOf(stats.Sorted(p.lag), 0.99))
		}
		if late > lateLimit.Seconds() {
			o.Warnings = append(o.Warnings, noteSlow.New(p.rank, p.host, late))
		}
	}
	slices.SortStableFunc(g.changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	for _, ch := range g.changes {
		o.InFlight.Add(ch.at, ch.by)
	}
	o.InFlight.Advance(o.Elapsed)
	return o
}
