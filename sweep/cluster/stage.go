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
	h := &hold{Coordinator: c, Stage: s, Environment: e, closedAt: -1, limit: time.NewTimer(readyTime)}
	defer h.limit.Stop()
	for _, m := range c.members {
		h.parts = append(h.parts, &part{member: m})
	}
	h.announce()
	if c.SpendLimiter != nil {
		defer c.SpendLimiter.Release()
	}
	h.follow(ctx)
	return h.outcome(), h.fault
}

// announce gives each rank its share of what is left of a limit on spending.
func (h *hold) announce() {
	spec := h.Spec
	if t, ok := spec.Load.(arrival.Trace); ok {
		t.Offsets = nil
		spec.Load = t
	}
	var left float64
	if h.SpendLimiter != nil {
		left = h.SpendLimiter.Remaining()
	}
	for i, p := range h.parts {
		s := newShare(i, len(h.parts), h.Limit, h.Schedule == nil, h.Seed, h.Name)
		p.send(stage{Spec: spec, Share: s, Allowance: left * s.part(), Seed: h.Seed})
	}
}

func (h *hold) follow(ctx context.Context) {
	stop := func() {}
	defer func() { stop() }()
	for ending := ctx.Done(); h.anyPart(func(p *part) bool { return p.done == nil }); {
		select {
		case ev := <-h.events:
			h.handle(ev)
		case <-h.limit.C:
			for _, p := range h.parts {
				if p.done == nil {
					h.lose(p, errors.New("it did not answer in time"))
				}
			}
		case <-ending:
			ending = nil
			h.cancel(context.Cause(ctx))
		}
		if h.phase == preparing && !h.anyPart(func(p *part) bool { return !p.ready }) {
			h.limit.Stop()
			h.startSent, h.epoch, h.phase = time.Now(), time.Now().Add(startDelay), open
			h.broadcast(start{startDelay})
			stop = h.scrape(ctx)
		}
		h.advance()
	}
	if h.closedAt < 0 && h.phase != preparing {
		h.close(h.elapsed())
	}
}

func (h *hold) anyPart(match func(*part) bool) bool { return slices.ContainsFunc(h.parts, match) }

// scrape reads the server's gauges until stop is called.
func (h *hold) scrape(ctx context.Context) (stop func()) {
	if h.Scrape == nil {
		return func() {}
	}
	quit, finished := make(chan struct{}), make(chan struct{})
	var failure error
	go func() {
		defer close(finished)
		h.readings = h.Environment.Gather(ctx, h.epoch, quit, func(err error) { failure = err })
	}()
	return func() {
		close(quit)
		<-finished
		h.fault = errors.Join(h.fault, failure)
	}
}

// broadcast ignores ranks that cannot be reached: each is lost when its connection is.
func (h *hold) broadcast(m any) {
	for _, p := range h.parts {
		if p.done == nil {
			p.send(m)
		}
	}
}

func (h *hold) moveTo(to phase) {
	if h.phase != cancelled {
		h.phase = to
		h.broadcast(to)
	}
}

// cancel ends the stage. Ranks that do not end it in time are lost.
func (h *hold) cancel(why error) {
	if h.fault == nil {
		h.fault = why
	}
	h.moveTo(cancelled)
	h.limit.Reset(endTime)
}

// lose cancels the stage because a rank has gone.
func (h *hold) lose(p *part, err error) {
	p.done = &done{CPU: -1}
	p.Close()
	h.cancel(experiment.NewEndError(noteLost.New(p.rank, p.host, h.Name, err.Error()),
		fmt.Sprintf("rank %d (%s) was lost in %s: %v", p.rank, p.host, h.Name, err)))
}

func (h *hold) handle(ev event) {
	p := h.parts[ev.from.rank]
	if p.done != nil && ev.err == nil {
		if t, ok := ev.m.(trouble); !ok || t.Error != "" {
			return
		}
	}
	switch m := ev.m.(type) {
	case nil:
		if p.done == nil {
			h.lose(p, ev.err)
		}
	case ready:
		p.ready = true
	case started:
		p.roundTrip = time.Since(h.startSent)
	case progress:
		if err := h.takeProgress(p, &m); err != nil {
			h.cancel(err)
		}
	case done:
		h.takeDone(p, &m)
	case trouble:
		if m.Error == "" {
			h.Interrupt()
		} else {
			h.lose(p, errors.New(m.Error))
		}
	}
}

func (h *hold) takeProgress(p *part, m *progress) error {
	p.spent, p.inFlight, p.settled = m.Spent, m.InFlight, p.settled || m.Settled
	p.ticks = append(p.ticks, m.Ticks...)
	if n := len(m.Ticks); n > 0 {
		p.last = m.Ticks[n-1].At
	}
	for _, asked := range m.Due {
		h.Monitor.Due(asked)
	}
	n := 0
	for line := range bytes.Lines(m.Records) {
		r, err := rundir.ParseRecord(bytes.TrimSuffix(line, []byte("\n")))
		if err == nil {
			err = h.Log.Append(r)
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
			h.changes = append(h.changes, change{rundir.Duration(r.Sent.Value()), 1}, change{rundir.Duration(r.End.Value()), -1})
		}
		if r.FirstToken.Known() {
			h.Monitor.FirstToken(rundir.Duration(r.FirstToken.Value() - r.Sent.Value()))
		}
		h.Monitor.Ended(r, m.Counted[n])
		n++
	}
	h.settle()
	return nil
}

// settle ends the load when the requests of all windows have ended.
func (h *hold) settle() {
	if h.phase == closed && !h.anyPart(func(p *part) bool { return p.done == nil && !p.settled }) {
		h.moveTo(settled)
	}
}

func (h *hold) takeDone(p *part, d *done) {
	p.done, p.inFlight = d, 0
	switch {
	case d.Error != "":
		h.lose(p, errors.New(d.Error))
	case d.Spent:
		h.spent = true
		h.moveTo(stopped)
	}
	h.settle()
}

// advance adds up the ticks of all ranks, as far as all have reported, and asks the monitor.
func (h *hold) advance() {
	until, latest := time.Duration(-1), time.Duration(0)
	for _, p := range h.parts {
		if p.done == nil && (until < 0 || p.last < until) {
			until = p.last
		}
		latest = max(latest, p.last)
	}
	if until < 0 {
		until = latest
	}
	for int(until/h.Tick) > h.tickCount {
		h.tickCount++
		at, arrived, owed := time.Duration(h.tickCount)*h.Tick, 0.0, 0.0
		for _, p := range h.parts {
			for len(p.ticks) > 0 && int(p.ticks[0].At/h.Tick) <= h.tickCount {
				arrived += p.ticks[0].Arrived
				p.owed = p.ticks[0].Owed
				p.ticks = p.ticks[1:]
			}
			if p.done != nil && len(p.ticks) == 0 {
				p.owed = 0
			}
			owed += p.owed
		}
		h.Monitor.Tick(at, arrived, owed)
		h.decide(at)
	}
	h.show(until)
}

func (h *hold) decide(at time.Duration) {
	if h.closedAt >= 0 || h.phase != open {
		return
	}
	switch h.Monitor.Decide(at) {
	case load.Stop:
		h.close(at)
		h.moveTo(stopped)
	case load.Close:
		h.close(at)
		h.moveTo(closed)
	}
}

func (h *hold) close(at time.Duration) {
	h.closedAt = at
	h.Monitor.Closed(at)
}

func (h *hold) show(now time.Duration) {
	s := h.Monitor.Recent()
	s.Phase, s.Elapsed = load.PhaseMeasuring, now
	switch h.phase {
	case closed:
		s.Phase = load.PhaseTail
	case settled, stopped, cancelled:
		s.Phase = load.PhaseDraining
	}
	for _, p := range h.parts {
		s.InFlight += p.inFlight
	}
	h.Progress(s)
}

func (h *hold) elapsed() (longest time.Duration) {
	for _, p := range h.parts {
		longest = max(longest, p.done.Elapsed)
	}
	return longest
}

// outcome sums up the stage. What a lost rank had in flight is not counted as spent.
func (h *hold) outcome() *load.Outcome {
	o := &load.Outcome{
		ClosedAt: h.closedAt, Elapsed: h.elapsed(), CPU: -1, Interrupted: h.fault != nil, Spent: h.spent,
		Readings: h.readings, InFlight: sample.NewLevel(h.Tick),
	}
	for _, p := range h.parts {
		if h.SpendLimiter != nil && p.rank > 0 {
			h.SpendLimiter.Book(p.spent)
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
	slices.SortStableFunc(h.changes, func(a, b change) int { return cmp.Compare(a.at, b.at) })
	for _, ch := range h.changes {
		o.InFlight.Add(ch.at, ch.by)
	}
	o.InFlight.Advance(o.Elapsed)
	return o
}
