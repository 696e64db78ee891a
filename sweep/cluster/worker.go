package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

// sessionPart is this rank's part of a stage.
type sessionPart struct {
	attempt  int32
	name     string
	load     arrival.Load
	seed     uint64
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
	root, err := os.MkdirTemp(work.Dir, "llmsweep-rank-"+strconv.Itoa(int(s.hello.Rank))+"-")
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
			if bye := m.GetBye(); bye != nil {
				err := ended(bye)
				s.end(err)
				return err
			}
			if err := w.take(context.WithoutCancel(ctx), m); err != nil {
				s.send(trouble(err, false))
				return errors.Join(err, s.await())
			}
		case d := <-w.finished:
			s.send(&FromRank{Kind: &FromRank_Done{Done: d}})
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
			if m.GetBye() != nil {
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

func trouble(err error, interrupted bool) *FromRank {
	return &FromRank{Kind: &FromRank_Trouble{Trouble: &Trouble{Error: err.Error(), Interrupted: interrupted}}}
}

// take does what a message asks. An error is this rank's own, and it cannot go on.
func (w *worker) take(ctx context.Context, m *ToRank) error {
	switch k := m.Kind.(type) {
	case *ToRank_Stage:
		return w.prepare(ctx, k.Stage)
	case *ToRank_Start:
		if p := w.part; p != nil && p.attempt == k.Start.Attempt {
			w.begin(ctx, p, time.Duration(k.Start.At))
		}
	case *ToRank_Order:
		if p := w.part; p != nil && p.attempt == k.Order.Attempt {
			p.reporter.obey(k.Order.What)
			if k.Order.What == Order_CANCEL && p.cancel != nil {
				p.cancel()
			}
		}
	case *ToRank_Fetch:
		if p := w.part; p != nil && p.attempt == k.Fetch.Attempt {
			if k.Fetch.Drop {
				w.drop()
				return nil
			}
			return w.ship(p)
		}
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
func (w *worker) prepare(ctx context.Context, m *Stage) error {
	w.drop()
	s, l, err := Decode(m.Spec, w.Trace)
	if err != nil {
		return err
	}
	share := NewShare(int(m.Member), int(m.Members), s.Limit, l.MeanRate() == 0, s.Seed, s.Name)
	w.number(m)
	mark := Fingerprint(l.Schedule(s.Seed, s.Name), w.Sources(s.Name))
	w.number(m) // the fingerprint took some
	p := &sessionPart{attempt: m.Attempt, name: s.Name, load: l, seed: s.Seed, idle: share.Idle(), reporter: newReporter(m.Attempt, time.Now(), w.send)}
	p.stage = load.Stage{
		Name: s.Name, Schedule: l.Schedule(s.Seed, s.Name), Limit: share.Slots(), Source: w.Sources(s.Name), Waiter: w.Waiter, Caps: w.Caps,
		Owns: share.Owns, Sessions: s.Sessions, Exact: s.Exact, Tick: s.Tick, Tail: s.Tail, Drain: s.Drain, TimeOut: s.TimeOut,
	}
	for slot := share.Member; slot < len(s.Opening); slot += share.Members {
		p.stage.Opening = append(p.stage.Opening, s.Opening[slot])
	}
	if p.dir, err = store.Create(filepath.Join(w.root, strconv.Itoa(int(m.Attempt)))); err != nil {
		return err
	}
	if w.Warm != nil && m.Connect > 0 && !p.idle {
		w.Warm(ctx, int(m.Connect)) // the stage's requests find out where it fails
	}
	if !w.own {
		w.align()
	}
	if w.Purse != nil {
		if !w.own { // rank 0 has done that
			w.Purse.Grant(client.PurseShare{Tokens: m.Allowance.GetTokens(), Cost: m.Allowance.GetCost()})
		}
		p.before = w.Purse.Spent()
		p.reporter.spending = func() *MessageSpending { return Spending(w.Purse.Spent().Since(p.before)) }
	}
	w.part = p
	w.send(&FromRank{Kind: &FromRank_Ready{Ready: &Ready{Attempt: m.Attempt, Fingerprint: mark, Clock: aligned(w.estimate())}}})
	return nil
}

// number lets the texts of a stage have the same numbers as on the other ranks.
func (w *worker) number(m *Stage) {
	if w.Numbers != nil {
		w.Numbers.Continue(m.Nonce, m.Places)
	}
}

// begin runs a stage, from an instant by rank 0's clock.
func (w *worker) begin(ctx context.Context, p *sessionPart, at time.Duration) {
	p.start = w.estimate()
	start := w.clock.Instant(at - p.start.Offset)
	if late := time.Since(start); late > MaxLate || p.idle {
		d := &Done{Attempt: p.attempt, LagP99: -1, ReadP99: -1, Cpu: -1, Clock: aligned(p.start)}
		if !p.idle {
			d.Began = int64(late)
		}
		w.finished <- d
		return
	}
	p.reporter.began, p.stage.Start = start, start
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
	bins := seen.InFlight.Bins()
	d := &Done{
		Attempt: p.attempt, Interrupted: seen.Interrupted, Spent: seen.Spent, Began: int64(seen.Began), Elapsed: int64(seen.Elapsed),
		Cpu: seen.CPU, Gc: seen.GC, Bin: int64(bins.Width), Area: bins.Area, Last: int64(bins.Last), Clock: aligned(end),
		Align: max(p.start.Error(), (end.Offset-p.start.Offset).Abs()+end.Error()).Seconds(),
	}
	for _, n := range bins.Peak {
		d.Peak = append(d.Peak, int32(n))
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
	for lines, err := range store.Lines(p.dir.Path, Chunk) {
		if err != nil {
			return fmt.Errorf("the records of %s: %w", p.name, err)
		}
		w.send(&FromRank{Kind: &FromRank_Records{Records: &Records{Attempt: p.attempt, Lines: append([]byte(nil), lines...)}}})
	}
	w.send(&FromRank{Kind: &FromRank_Records{Records: &Records{Attempt: p.attempt, Last: true}}})
	w.drop()
	return nil
}
