package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// Work is what a rank sends with.
type Work struct {
	Doer    load.Doer
	Sources func(stage string) load.Source // the same sessions on all ranks
	Numbers Numbers                        // of the sessions' texts; nil where they have none
	Trace   []time.Duration                // the offsets of the trace that is replayed; nil for none
	Waiter  load.Waiter
	Caps    *load.Caps                                       // this rank's part of the limits of a hosted API; nil for none
	Purse   *client.Purse                                    // for what its requests cost; rank 0's is that of the whole run. nil where nothing is counted
	Warm    func(ctx context.Context, connections int) error // nil where there are none to open
	Dir     string                                           // for the records of the stage that runs; empty for a temporary directory
}

// state is where a rank is in its part of a stage. What comes leads to another state; what has no entry is left out, since it is of an attempt that
// is over.
//
//	state     Stage       Start          Order                      the load has ended   Fetch
//	none      prepared    -              -                          -                    -
//	prepared  prepared    running, or    -                          -                    -
//	                      held [1]
//	running   prepared    -              running; Cancelled:        held: Done is sent   -
//	          [2]                        requests are cancelled
//	held      prepared    -              -                          -                    none: Records are sent
//
// [1] Where the rank has no slot, or the start is past: Done is sent, with how late it is.
// [2] The load is cancelled, and its records are dropped.
//
// In every state Bye ends the session, without an error where the run is done. So do a lost connection and 10 s without a message from rank 0
// ([ErrGone]). A rank that cannot go on sends Trouble, and waits up to 10 s for Bye. One that is interrupted sends Trouble too, and goes on until
// Bye comes, up to 30 s.
type state int

const (
	prepared state = iota // Ready was sent
	running               // the load is on
	held                  // Done is sent
)

// sessionPart is this rank's part of a stage.
type sessionPart struct {
	attempt  int
	state    state
	stage    load.Stage
	idle     bool // it has no slot
	reporter *reporter
	dir      *store.Dir
	cancel   context.CancelFunc
	start    ClockEstimate // of the clock, at the start
	before   client.Spent  // before the stage
}

// worker serves a session.
type worker struct {
	*Session
	Work
	root     string // of the directories of stages
	part     *sessionPart
	finished chan *Done
}

// farewell is how long a rank that was interrupted waits for rank 0 to end the run.
const farewell = 30 * time.Second

// Serve holds this rank's part of each stage until rank 0 ends the run, which returns nil. When ctx ends, rank 0 is told, and decides.
func (s *Session) Serve(ctx context.Context, work Work) error {
	root, err := os.MkdirTemp(work.Dir, "llmsweep-rank-"+strconv.Itoa(s.hello.Rank)+"-")
	if err != nil {
		s.send(trouble(err, false))
		return err
	}
	w := &worker{Session: s, Work: work, root: root, finished: make(chan *Done, 8)}
	defer os.RemoveAll(root)
	defer w.drop()
	leaving, late := ctx.Done(), (<-chan time.Time)(nil)
	for {
		select {
		case m := <-s.in:
			if bye, ok := m.(*bye); ok {
				err := ended(bye)
				s.end(err)
				return err
			}
			if err := w.take(context.WithoutCancel(ctx), m); err != nil {
				s.send(trouble(err, false))
				return errors.Join(err, s.await())
			}
		case d := <-w.finished:
			if p := w.part; p != nil && p.attempt == d.Attempt {
				p.state = held
			}
			s.send(d)
		case <-leaving:
			leaving, late = nil, time.After(farewell)
			s.send(trouble(context.Cause(ctx), true))
		case <-late:
			s.end(context.Cause(ctx))
			return context.Cause(ctx)
		case <-s.over:
			return s.err
		}
	}
}

// await waits until rank 0 has ended the run, or for a while.
func (s *Session) await() error {
	timer := time.NewTimer(gone)
	defer timer.Stop()
	for {
		select {
		case m := <-s.in:
			if _, bye := m.(*bye); bye {
				s.end(nil)
				return nil
			}
		case <-s.over:
			return nil
		case <-timer.C:
			s.end(nil)
			return nil
		}
	}
}

func trouble(err error, interrupted bool) FromRank {
	return &Trouble{Error: err.Error(), Interrupted: interrupted}
}

// take does what a message asks. What is of an attempt that is over is left out. An error is this rank's own, and it cannot go on.
func (w *worker) take(ctx context.Context, m ToRank) error {
	switch m := m.(type) {
	case *stage:
		return w.prepare(ctx, m)
	case *Start:
		if p := w.at(m.Attempt, prepared); p != nil {
			w.begin(ctx, p, m.At)
		}
	case *order:
		if p := w.at(m.Attempt, running); p != nil {
			p.reporter.obey(m.To)
			if m.To == cancelled {
				p.cancel()
			}
		}
	case *fetch:
		if p := w.at(m.Attempt, held); p != nil {
			return w.ship(p)
		}
	}
	return nil
}

// at returns this rank's part in an attempt that has come to a state; nil where it is over, or has not come there.
func (w *worker) at(attempt int, s state) *sessionPart {
	if p := w.part; p != nil && p.attempt == attempt && p.state == s {
		return p
	}
	return nil
}

// drop lets the records of the last stage go.
func (w *worker) drop() {
	p := w.part
	w.part = nil
	if p == nil {
		return
	}
	if p.cancel != nil {
		p.cancel()
	}
	if p.dir != nil {
		p.dir.Close()
		os.RemoveAll(p.dir.Path)
	}
}

// prepare makes ready for a stage, and tells rank 0.
func (w *worker) prepare(ctx context.Context, m *stage) error {
	w.drop()
	l := m.Load
	if t, ok := l.(arrival.Trace); ok {
		t.Offsets = w.Trace
		l = t
	}
	if l == nil || m.Member < 0 || m.Member >= m.Members {
		return fmt.Errorf("rank 0 announced a stage that cannot be held: member %d of %d", m.Member, m.Members)
	}
	share := newShare(m.Member, m.Members, m.Limit, l.MeanRate() == 0, m.Seed, m.Name)
	w.number(m)
	mark := fingerprint(l.Schedule(m.Seed, m.Name), w.Sources(m.Name))
	w.number(m) // the fingerprint took some
	p := &sessionPart{attempt: m.Attempt, idle: share.Idle(), reporter: newReporter(m.Attempt, time.Now(), w.send)}
	p.stage = load.Stage{
		Name: m.Name, Schedule: l.Schedule(m.Seed, m.Name), Limit: share.Slots(), Source: w.Sources(m.Name), Waiter: w.Waiter, Caps: w.Caps,
		Owns: share.Owns, Joins: m.Joins, Sessions: m.Sessions, Tick: m.Tick, Tail: m.Tail, Drain: m.Drain, TimeOut: m.TimeOut,
	}
	for slot := share.Member; slot < len(m.Opening); slot += share.Members {
		p.stage.Opening = append(p.stage.Opening, m.Opening[slot])
	}
	var err error
	if p.dir, err = store.Create(filepath.Join(w.root, strconv.Itoa(m.Attempt))); err != nil {
		return err
	}
	if w.Warm != nil && m.Connect > 0 && !p.idle {
		w.Warm(ctx, m.Connect) // the stage's requests find out where it fails
	}
	if !w.own {
		w.align()
	}
	if w.Purse != nil {
		if !w.own { // rank 0 has done that
			w.Purse.Grant(m.Allowance)
		}
		p.before = w.Purse.Spent()
		p.reporter.spending = func() *client.Spent {
			s := w.Purse.Spent().Since(p.before)
			return &s
		}
	}
	w.part = p
	w.send(&Ready{Attempt: m.Attempt, Fingerprint: mark, Clock: w.estimate()})
	return nil
}

// number lets the texts of a stage have the same numbers as on the other ranks.
func (w *worker) number(m *stage) {
	if w.Numbers != nil {
		w.Numbers.Continue(m.Nonce, m.Places)
	}
}

// begin runs a stage, from an instant by rank 0's clock.
func (w *worker) begin(ctx context.Context, p *sessionPart, at time.Duration) {
	p.start = w.estimate()
	start := w.clock.Instant(at - p.start.Offset)
	if late := time.Since(start); late > maxLate || p.idle {
		d := &Done{Attempt: p.attempt, LagP99: -1, ReadP99: -1, CPU: -1, Clock: p.start}
		if !p.idle {
			d.Began = late
		}
		w.finished <- d
		return
	}
	p.reporter.began, p.stage.Start = start, start
	p.state = running
	ctx, p.cancel = context.WithCancel(ctx)
	go func() { w.finished <- w.hold(ctx, p) }()
}

// rankLog keeps records with the rank that sent them.
type rankLog struct {
	*store.Dir
	rank rundir.Number
}

// Append writes a record.
func (l rankLog) Append(r *rundir.Record) error {
	r.Rank = l.rank
	return l.Dir.Append(r)
}

// hold holds the stage to its end.
func (w *worker) hold(ctx context.Context, p *sessionPart) *Done {
	seen, err := load.Run(ctx, p.stage, load.Environment{
		Doer: w.Doer, Log: rankLog{p.dir, rundir.Exactly(float64(w.hello.Rank))}, Monitor: p.reporter, Progress: p.reporter.progress,
		Settled: p.reporter.settle,
	})
	p.reporter.end()
	end := w.estimate()
	d := &Done{
		Attempt: p.attempt, Interrupted: seen.Interrupted, Spent: seen.Spent, Began: seen.Began, Elapsed: seen.Elapsed,
		CPU: seen.CPU, GC: seen.GC, InFlight: seen.InFlight.Bins(), Clock: end,
		Align: max(p.start.Error(), (end.Offset-p.start.Offset).Abs()+end.Error()),
	}
	if w.Numbers != nil {
		_, d.Places = w.Numbers.Numbers()
	}
	p.reporter.fitness(d)
	d.Spending = p.reporter.spent()
	if err = errors.Join(err, p.dir.Flush()); err != nil {
		d.Error = err.Error()
	}
	return d
}

// ship sends the records of a stage.
func (w *worker) ship(p *sessionPart) error {
	for lines, err := range store.Lines(p.dir.Path, chunk) {
		if err != nil {
			return fmt.Errorf("the records of %s: %w", p.stage.Name, err)
		}
		for piece := range slices.Chunk(lines, chunk) {
			w.send(&records{Attempt: p.attempt, Lines: bytes.Clone(piece)})
		}
	}
	w.send(&records{Attempt: p.attempt, Last: true})
	w.drop()
	return nil
}
