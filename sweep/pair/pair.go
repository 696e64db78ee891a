// Package pair measures two servers against each other: the same loads, in short stages in turns.
package pair

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// Config is the configuration of a comparison.
//
// A block is four stages at each load, in the order A B B A; the next block's is B A A B. A steady drift of the
// machines, the network or the hour over a block does not enter the difference. The first two stages of a block are a
// round, and so are the last two: both servers get the same arrivals and the same prompts, and another round gets
// others. The unit of the statistics is the round: neighbouring requests are correlated, rounds are not. How many
// blocks there are depends on the budget alone, and not on what they show.
type Config struct {
	Sides [2]sweep.Config // how to measure each; Sources, times and Seed are the first's for both

	Rates  []float64 // arrivals per second to compare at,
	Widths []int     // and numbers in flight; where neither is given, loads are found

	Budget time.Duration // no block begins that would not end by then
	// Same reports whether both are one server: prompts then differ in their first word, so that its prefix cache does
	// not answer.
	Same bool

	Save    func(*rundir.Pair) error
	Planned func(blocks, stages int, block time.Duration) // told before the first block about how many there will be
}

const (
	leastBlocks = 2 // with one there is no spread
	perBlock    = 4 // stages at each load
)

// Keys of loads that were not asked for by number.
const (
	LoadSync    = "sync"
	LoadHalf    = "50"
	LoadHigh    = "80"
	LoadCeiling = "max"
)

// Notes on a comparison. A side is "A" or "B".
var (
	noteOtherFailed = note.Kind{Code: "pair.other-failed"}
	noteNoBlocks    = note.Kind{Code: "pair.no-blocks", Args: []string{"budget", "needed"}}
	noteOfSide      = note.Kind{Code: "pair.side", Args: []string{"side", "what"}}       // what holds one note
	noteSideFailed  = note.Kind{Code: "pair.side-failed", Args: []string{"side", "why"}} // why holds one note
)

type comparison struct {
	Config
	sides      [2]*experiment.Experiment
	record     *rundir.Pair
	started    time.Time
	failedSide int           // the side whose failure ended it; -1 for none
	service    time.Duration // mean latency at the highest load
	block      time.Duration // what one takes, as far as known; 0 before the loads are
}

// Run measures both servers and fills in their runs and what they have in common, all of which is saved as it goes.
// States and errors are as in [sweep.Sweep].
func Run(ctx context.Context, c Config, runs [2]*rundir.Run, record *rundir.Pair) error {
	p := &comparison{Config: c, record: record, started: time.Now(), failedSide: -1}
	record.Schema, record.State = rundir.PairSchema, rundir.Running
	for i := range p.sides {
		side, first := c.Sides[i], &c.Sides[0]
		side.Sources, side.Seed = first.Sources, first.Seed
		side.StageTime, side.StageMax = first.StageTime, first.StageTime
		side.Observer, side.Budget = &observer{side.Observer, p, i}, c.Budget
		plan := rundir.Plan{
			Kind: rundir.KindPair, StageTime: side.StageTime.Seconds(), StageRequests: side.StageRequests,
			MaxConcurrency: side.MaxConcurrency,
		}
		var err error
		if p.sides[i], err = experiment.Begin(side.Config, runs[i], plan); err != nil {
			return err
		}
		var stop func()
		ctx, stop = p.sides[i].Watch(ctx)
		defer stop()
	}
	if err := p.Save(record); err != nil {
		return err
	}
	return p.finish(p.measure(ctx))
}

func (p *comparison) measure(ctx context.Context) error {
	for i, x := range p.sides {
		if err := x.WarmUp(ctx); err != nil {
			p.failedSide = i
			return err
		}
	}
	if err := p.findLoads(ctx); err != nil {
		return err
	}
	for i := range p.record.Loads {
		p.block += perBlock * p.cost(&p.record.Loads[i])
	}
	fitting := int(p.timeLeft() / p.block)
	if fitting < leastBlocks {
		needed := rundir.RoundUp((time.Since(p.started) + leastBlocks*p.block).Seconds())
		return experiment.NewEndError(noteNoBlocks.New(p.Budget, needed), "the budget has no time for two blocks")
	}
	p.Planned(fitting, fitting*perBlock*len(p.record.Loads), p.block)
	began := time.Now()
	for n := 0; n < leastBlocks || p.timeLeft() >= p.block; n++ {
		err := p.measureBlock(ctx, n)
		if n >= leastBlocks && experiment.BudgetOver(err) {
			return nil
		}
		if err != nil {
			return err
		}
		p.block = time.Since(began) / time.Duration(n+1)
	}
	return nil
}

func (p *comparison) timeLeft() time.Duration { return p.Budget - time.Since(p.started) }

// cost returns about how long a stage at a load takes.
func (p *comparison) cost(l *rundir.PairLoad) time.Duration {
	if l.Rate.Known() {
		return rundir.Duration(l.Opening+l.Window) + p.service
	}
	return rundir.Duration(l.Opening) + p.Sides[0].StageTime + p.service
}

func (p *comparison) measureBoth(
	ctx context.Context, plan func(*experiment.Experiment) experiment.Stage,
) (st [2]rundir.Stage, err error) {
	for i := range p.sides {
		if st[i], err = p.stage(ctx, i, plan(p.sides[i])); err != nil {
			return st, err
		}
	}
	return st, nil
}

// stage ends the comparison where a server fails most of its requests.
func (p *comparison) stage(ctx context.Context, side int, s experiment.Stage) (rundir.Stage, error) {
	for _, x := range p.sides { // both may run on one machine
		if err := x.Settle(ctx); err != nil {
			return rundir.Stage{}, err
		}
	}
	st, err := p.sides[side].Measure(ctx, s)
	if q := st.Requests; err == nil && float64(q.Error) > p.Sides[side].MaxErrorRate*float64(q.OK+q.Error) {
		err = fmt.Errorf("%d of %d requests failed in %s", q.Error, q.OK+q.Error, st.Name)
	}
	if err != nil {
		p.failedSide = side
	}
	return st, err
}

// findLoads finds the loads that both servers get. Those asked for are tried once, to know how long a request takes
// there. Otherwise they are one request at a time, shares of what the slower server takes, and as many in flight as
// make either faster.
func (p *comparison) findLoads(ctx context.Context) error {
	for _, rate := range p.Rates {
		tried, err := p.measureBoth(ctx,
			func(x *experiment.Experiment) experiment.Stage { return x.Poisson(rate, rundir.Grid) })
		if err != nil {
			return err
		}
		p.addOpen(rateKey(rate), rate, p.latency(tried))
	}
	for _, width := range p.Widths {
		name := arrival.Closed{Concurrency: width}.Name()
		tried, err := p.measureBoth(ctx, func(x *experiment.Experiment) experiment.Stage {
			s := x.Closed(rundir.StageConcurrent, rundir.Single, width)
			s.Name = name
			return s
		})
		if err != nil {
			return err
		}
		p.addClosed(widthKey(width), rundir.StageConcurrent, name, width, p.latency(tried))
	}
	if len(p.record.Loads) > 0 {
		return nil
	}
	return p.findCeiling(ctx)
}

func (p *comparison) findCeiling(ctx context.Context) error {
	floor, err := p.measureBoth(ctx, func(x *experiment.Experiment) experiment.Stage {
		return x.Closed(rundir.StageSynchronous, rundir.Synchronous, 1)
	})
	if err != nil {
		return err
	}
	alone, width := p.latency(floor), 1
	for i, x := range p.sides {
		level, err := sweep.SearchCeiling(ctx, x, &p.Sides[i])
		if err != nil {
			p.failedSide = i
			return err
		}
		width = max(width, level)
	}
	ceiling, err := p.measureBoth(ctx, func(x *experiment.Experiment) experiment.Stage {
		return x.Closed(rundir.StageThroughput, rundir.Throughput, width)
	})
	if err != nil {
		return err
	}
	lower := math.Inf(1)
	for i, st := range ceiling {
		if !st.Progress.Rate.Known() || !floor[i].Latency.Mean.Known() {
			p.failedSide = i
			return experiment.NothingDone()
		}
		lower = min(lower, st.Progress.Rate.Value())
	}
	const fewest = 5 // requests of a synchronous stage, however long they take
	p.record.Loads = append(p.record.Loads, rundir.PairLoad{
		Key: LoadSync, Name: rundir.StageSynchronous, Kind: rundir.StageSynchronous, MaxConcurrency: 1,
		Requests: max(fewest, int(p.Sides[0].StageTime/alone)),
	})
	longest := p.latency(ceiling)
	p.addOpen(LoadHalf, 0.5*lower, longest)
	p.addOpen(LoadHigh, 0.8*lower, longest)
	p.addClosed(LoadCeiling, rundir.StageThroughput, rundir.StageThroughput, width, longest)
	return nil
}

// latency returns the longer of the two.
func (p *comparison) latency(st [2]rundir.Stage) time.Duration {
	l := time.Millisecond
	for i := range st {
		if mean := st[i].Latency.Mean; !mean.IsZero() {
			l = max(l, rundir.Duration(mean.Value()))
		}
	}
	p.service = max(p.service, l)
	return l
}

// addOpen adds a load of Poisson arrivals. Its window is fixed, so that both servers are judged by the same
// requests: those due after the opening, by when the number in flight has reached its level.
func (p *comparison) addOpen(key string, rate float64, opening time.Duration) {
	const (
		openings = 2  // a window is at least this many openings long,
		requests = 10 // and expects this many requests,
		longest  = 3  // but no longer for their sake than this many stage times
	)
	least := p.Sides[0].StageTime
	enough := min(rundir.Duration(requests/rate), longest*least)
	l := arrival.Poisson{Rate: rate}
	p.record.Loads = append(p.record.Loads, rundir.PairLoad{
		Key: key, Name: l.Name(), Kind: l.Kind(), Rate: rundir.Exactly(rate),
		Opening: opening.Seconds(), Window: max(least, openings*opening, enough).Seconds(),
	})
}

// addClosed adds a closed loop whose slots are filled one by one over the given time.
func (p *comparison) addClosed(key, kind, name string, width int, filled time.Duration) {
	p.record.Loads = append(p.record.Loads, rundir.PairLoad{Key: key, Name: name, Kind: kind, MaxConcurrency: width,
		Opening: filled.Seconds()})
}

// measureBlock measures the n-th block, from 0.
func (p *comparison) measureBlock(ctx context.Context, n int) error {
	order := []string{"ABBA", "BAAB"}[n%2] // neither server is always first
	for i := range p.record.Loads {
		l := &p.record.Loads[i]
		for half := range 2 {
			if err := p.measureRound(ctx, l, 2*n+half+1, order[2*half:2*half+2]); err != nil {
				return err
			}
		}
	}
	p.record.Orders = append(p.record.Orders, order)
	return p.Save(p.record)
}

// measureRound gives both servers the same, one after the other.
func (p *comparison) measureRound(ctx context.Context, l *rundir.PairLoad, round int, order string) error {
	name := l.StageName(round)
	sessions := tape{source: p.Sides[0].Sources(name)}
	for _, who := range order {
		side := int(who - 'A')
		var source load.Source = &player{tape: &sessions}
		if p.Same {
			source = p.Sides[0].Sources(name)
		}
		if _, err := p.stage(ctx, side, p.stageOf(p.sides[side], l, name, source)); err != nil {
			return err
		}
	}
	return nil
}

func (p *comparison) stageOf(
	x *experiment.Experiment, l *rundir.PairLoad, name string, source load.Source,
) experiment.Stage {
	var s experiment.Stage
	opening := rundir.Duration(l.Opening)
	if l.Rate.Known() {
		s = x.Poisson(l.Rate.Value(), rundir.Grid)
		s.Fixed, s.From, s.MinTime = true, opening, rundir.Duration(l.Opening+l.Window)
		// a request of the window may take as long as those of the opening, and a little longer
		s.Tail = max(s.Tail, 2*opening)
	} else {
		s = x.Closed(l.Kind, cmp.Or(rundir.RoleOf(l.Kind), rundir.Single), l.MaxConcurrency)
		s.Sessions, s.Opening = l.Requests, nil
		if l.Opening > 0 && l.MaxConcurrency > 1 {
			s.Opening = arrival.Opening(l.MaxConcurrency, opening, p.Sides[0].Seed, name)
		}
		const forLastWave = 3
		s.MaxTime = forLastWave * s.MinTime
	}
	s.Name, s.Source = name, source
	return s
}

// tape gives both stages of a round the same sessions. A source of prompts that no server has seen before would give
// others the second time.
type tape struct {
	source   load.Source
	sessions []load.Session
}

// player reads a tape from its beginning, and goes on where the other ended.
type player struct {
	*tape
	at int
}

func (p *player) Next() (load.Session, bool) {
	if p.at == len(p.sessions) {
		next, ok := p.source.Next()
		if !ok {
			return next, false
		}
		p.sessions = append(p.sessions, next)
	}
	p.at++
	return p.sessions[p.at-1], true
}

func (p *comparison) finish(err error) error {
	var ours error
	failed := err != nil && !experiment.Interrupted(err)
	for i, x := range p.sides {
		mine := err
		if failed && i != p.failedSide {
			mine = experiment.NewEndError(noteOtherFailed.New(), "the other server failed")
		}
		ours = errors.Join(ours, x.Finish(mine))
	}
	p.record.State = rundir.Complete
	switch {
	case failed:
		p.record.State, p.record.Failure = rundir.Failed, experiment.Failure(err)
		if p.failedSide >= 0 {
			why := []note.Note{p.sides[p.failedSide].Run().Failure}
			p.record.Failure = noteSideFailed.New(rundir.SideName(p.failedSide), why)
		}
	case err != nil:
		p.record.State = rundir.Interrupted
	}
	return errors.Join(ours, p.Save(p.record))
}

// observer adds to another observer's events which server a stage is of, and how long the whole comparison takes.
type observer struct {
	experiment.Observer
	comparison *comparison
	side       int
}

// StageBegins names the server.
func (o *observer) StageBegins(s *rundir.Stage, planned time.Duration) {
	o.Observer.StageBegins(o.withSide(s), planned)
}

// Left tells how long the whole comparison takes: a side knows its own stage at most. The last block may end a block
// before the budget.
func (o *observer) Left(time.Duration, time.Duration) {
	left := max(0, o.comparison.timeLeft())
	o.Observer.Left(max(0, left-o.comparison.block), left)
}

// StageEnds names the server.
func (o *observer) StageEnds(s *rundir.Stage) { o.Observer.StageEnds(o.withSide(s)) }

// Note names the server.
func (o *observer) Note(n note.Note) {
	o.Observer.Note(noteOfSide.New(rundir.SideName(o.side), []note.Note{n}))
}

func (o *observer) withSide(s *rundir.Stage) *rundir.Stage {
	copied := *s
	if !strings.HasPrefix(copied.Name, rundir.SearchPrefix) {
		copied.Name = rundir.SideName(o.side) + " " + copied.Name
	}
	return &copied
}

// rateKey and widthKey return the keys of loads that were asked for.
func rateKey(rate float64) string { return strconv.FormatFloat(rate, 'f', -1, 64) + "rps" }
func widthKey(width int) string   { return "c" + strconv.Itoa(width) }
