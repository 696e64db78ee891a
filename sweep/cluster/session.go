package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// Session is a rank that has joined.
type Session struct {
	link   *link
	rank   int
	events chan event
	done   chan struct{}
	close  sync.Once
}

// Join joins the run of rank 0, and returns its description of server and workload. An error gives the reason for a
// refusal.
func Join(ctx context.Context, conn net.Conn, hello Hello) (*Session, []byte, error) {
	s := &Session{link: newLink(conn), rank: hello.Rank, events: make(chan event, 64), done: make(chan struct{})}
	if err := s.link.send(hello); err != nil {
		s.end()
		return nil, nil, err
	}
	go s.link.keepAlive()
	go s.receive()
	select {
	case ev := <-s.events:
		if w, ok := ev.m.(welcome); ok {
			return s, w.Setup, nil
		}
		s.end()
		return nil, nil, endError(ev, errors.New("rank 0 ended the run before this rank joined"))
	case <-ctx.Done():
		s.end()
		return nil, nil, context.Cause(ctx)
	}
}

// ErrEnded is the error of a rank whose run rank 0 has ended early. Rank 0 gives the reason.
var ErrEnded = errors.New("rank 0 ended the run")

// endError returns why rank 0 ended the run; complete where it ended without an error.
func endError(ev event, complete error) error {
	b, ok := ev.m.(bye)
	switch {
	case !ok:
		return fmt.Errorf("rank 0 is gone: %w", ev.err)
	case b.Error != "":
		return fmt.Errorf("%w: %s", ErrEnded, b.Error)
	}
	return complete
}

func (s *Session) receive() {
	for {
		ev := event{}
		ev.m, ev.err = s.link.receive()
		select {
		case s.events <- ev:
		case <-s.done:
			return
		}
		if ev.err != nil {
			return
		}
	}
}

func (s *Session) end() { s.close.Do(func() { close(s.done); s.link.Close() }) }

// Leave tells rank 0 why this rank cannot take part, and waits for a while until rank 0 has ended the run.
func (s *Session) Leave(err error) {
	defer s.end()
	s.link.send(trouble{err.Error()})
	for late := time.After(silenceLimit); ; {
		select {
		case ev := <-s.events:
			if _, ended := ev.m.(bye); ended || ev.err != nil {
				return
			}
		case <-late:
			return
		}
	}
}

// Work is what a rank sends with.
type Work struct {
	Doer    load.Doer
	Sources func(stage string) load.Source // the same sessions on all ranks
	Trace   []time.Duration                // the offsets of the trace that is replayed; nil for none
	Waiter  load.Waiter
	Caps    *load.Caps // this rank's part of the limits of a hosted API; nil for none
	// SpendLimiter is of the rank's requests, and rank 0's of the whole run; nil where spending is not counted.
	SpendLimiter *client.SpendLimiter
	Warm         func(ctx context.Context, connections int) error // nil where there are none to open
}

type ownPart struct {
	stage    load.Stage
	idle     bool
	reporter *reporter
	cancel   context.CancelFunc // nil before it begins
}

// Serve holds this rank's part of each stage until rank 0 ends the run, which returns nil. When ctx ends, rank 0 is
// told, and decides.
func (s *Session) Serve(ctx context.Context, w Work) error {
	const patience = 30 * time.Second // for rank 0 to end the run after an interrupt
	defer s.end()
	finished := make(chan done, 1)
	var part *ownPart
	inner := context.WithoutCancel(ctx)
	interrupted, late := ctx.Done(), (<-chan time.Time)(nil)
	for {
		select {
		case ev := <-s.events:
			switch m := ev.m.(type) {
			case stage:
				var err error
				if part, err = s.prepare(inner, w, &m); err != nil {
					s.Leave(err)
					return err
				}
				s.link.send(ready{})
			case start:
				s.link.send(started{})
				part.begin(inner, w, m.In, finished)
			case phase:
				part.moveTo(m, finished)
			default:
				part.moveTo(cancelled, make(chan done, 1)) // which nobody reads
				return endError(ev, nil)
			}
		case d := <-finished:
			s.link.send(d)
			part = nil
		case <-interrupted:
			interrupted, late = nil, time.After(patience)
			s.link.send(trouble{})
		case <-late:
			return context.Cause(ctx)
		}
	}
}

func (s *Session) prepare(ctx context.Context, w Work, m *stage) (*ownPart, error) {
	l := m.Load
	if t, ok := l.(arrival.Trace); ok {
		t.Offsets = w.Trace
		l = t
	}
	if l == nil {
		return nil, errors.New("rank 0 announced a stage without a load")
	}
	p := &ownPart{idle: m.Share.idle(), reporter: &reporter{
		rank: rundir.Exactly(float64(s.rank)), send: s.link.send, spent: func() client.Spent { return client.Spent{} },
	}}
	p.stage = load.Stage{
		Spec: m.Spec, Schedule: l.Schedule(m.Seed, m.Name), Limit: m.Share.slots(), Source: w.Sources(m.Name),
		Waiter: w.Waiter, Caps: w.Caps, Owns: m.Share.owns,
	}
	p.stage.Load, p.stage.Opening = l, nil
	for slot := s.rank; slot < len(m.Opening); slot += m.Share.Ranks {
		p.stage.Opening = append(p.stage.Opening, m.Opening[slot])
	}
	n := p.stage.Limit
	if l.MeanRate() > 0 {
		n = min(n, load.MaxRateConnections)
	}
	if w.Warm != nil && n > 0 {
		w.Warm(ctx, n) // where it fails, so do the stage's requests
	}
	if w.SpendLimiter != nil {
		w.SpendLimiter.Grant(m.Allowance)
		before := w.SpendLimiter.Spent()
		p.reporter.spent = func() client.Spent { return w.SpendLimiter.Spent().Since(before) }
	}
	return p, nil
}

func (p *ownPart) begin(ctx context.Context, w Work, in time.Duration, finished chan<- done) {
	if p.idle {
		finished <- done{CPU: -1}
		return
	}
	p.stage.Start = time.Now().Add(in)
	ctx, p.cancel = context.WithCancel(ctx)
	p.reporter.begin()
	go func() {
		defer p.cancel()
		o, err := load.Run(ctx, p.stage, load.Environment{
			Doer: w.Doer, Log: p.reporter, Monitor: p.reporter, Progress: p.reporter.progress, Settled: p.reporter.settle,
		})
		p.reporter.end()
		d := done{Spent: o.Spent, Began: o.Began, Elapsed: o.Elapsed, CPU: o.CPU, GC: o.GC}
		if err != nil {
			d.Error = err.Error()
		}
		finished <- d
	}()
}

// moveTo moves the part to another phase. One that has not begun ends at once when it is cancelled.
func (p *ownPart) moveTo(to phase, finished chan<- done) {
	switch {
	case p == nil: // it has ended
	case to != cancelled:
		p.reporter.moveTo(to)
	case p.cancel != nil:
		p.cancel()
	default:
		finished <- done{CPU: -1}
	}
}
