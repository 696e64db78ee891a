// Package pair measures two servers against each other: the same load, stage by stage in turns.
package pair

import (
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
// A block is four stages at each load, in the order A B B A; the next block's is B A A B. A steady drift of the machines, the network
// or the hour over a block does not enter the difference. The first two stages of a block are a round, and
// so are the last two: both servers get the same arrivals and the same prompts, and another round gets others. The
// unit of the statistics is the round: neighbouring requests are correlated, rounds are not.
//
// The number of blocks is fixed once, after a pilot, from the spread that the pilot saw; see [Rows] for what that
// promises.
type Config struct {
	Sides [2]sweep.Config // how to measure each; Sources, times and Seed are the first's for both

	Rates  []float64 // arrivals per second to compare at,
	Widths []int     // and numbers in flight; where neither is given, loads are found

	Difference float64       // the smallest difference to be sure of: 0.03 for 3 %
	Budget     time.Duration // nothing begins that would not end by then; 0 for no limit
	// Same reports whether both are one server: prompts then differ in their first word, so that its prefix cache does not answer.
	Same bool

	Save    func(*rundir.Pair) error
	Planned func(*rundir.Pair, int) // told when the plan is made, and before the pilot, with the number of stages to come
}

// What a comparison promises.
const (
	power    = 0.8  // a difference of the size asked for is shown with this probability,
	level    = 0.05 // and any difference with this one where there is none, over all metrics together
	maxPilot = 5    // blocks: with fewer the spread is known too badly, which costs more blocks than it saves
	minPilot = 2    // blocks: with one there is no spread
	perBlock = 4    // stages at each load
)

// Keys of loads that were not asked for by number.
const (
	LoadSync    = "sync"
	LoadHalf    = "50"
	LoadHigh    = "80"
	LoadCeiling = "max"
)

// comparison is a comparison of two servers while it runs.
type comparison struct {
	Config
	sides   [2]*experiment.Experiment
	record  *rundir.Pair
	started time.Time
	culprit int           // the side that ended it; -1 for none
	service time.Duration // mean latency at the highest load,
	alone   time.Duration // and of one request at a time; 0 where that was not measured
	block   time.Duration // what one takes, as far as known
	stages  int           // of the block that runs, done

	stageBegan time.Time // the one that runs
}

// Run measures both servers and fills in their runs and what they have in common, all of which is saved as it goes. States
// and errors are as in [sweep.Sweep].
func Run(ctx context.Context, c Config, runs [2]*rundir.Run, record *rundir.Pair) error {
	p := &comparison{Config: c, record: record, started: time.Now(), culprit: -1}
	record.Schema, record.State = rundir.PairSchema, rundir.Running
	record.Plan = rundir.PairPlan{Difference: c.Difference, Power: power, Level: level, Budget: c.Budget.Seconds()}
	for i := range p.sides {
		side := c.Sides[i]
		side.Sources, side.Seed, side.StageTime, side.StageMax = c.Sides[0].Sources, c.Sides[0].Seed, c.Sides[0].StageTime, c.Sides[0].StageTime
		side.Observer = &observer{side.Observer, p, i}
		side.Budget = c.Budget
		plan := rundir.Plan{
			Kind: rundir.KindPair, StageTime: side.StageTime.Seconds(), StageRequests: side.StageRequests, MaxConcurrency: side.MaxConcurrency,
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

// measure finds the loads, does the pilot, plans, and does the rest.
func (p *comparison) measure(ctx context.Context) error {
	for i, x := range p.sides {
		if err := x.WarmUp(ctx); err != nil {
			p.culprit = i
			return err
		}
	}
	if err := p.findWithin(ctx); err != nil {
		return err
	}
	if err := p.preparePilot(); err != nil {
		return err
	}
	if err := p.blocks(ctx, &p.record.Plan.Pilot); err != nil {
		return err
	}
	if err := p.plan(); err != nil {
		return err
	}
	planned := p.record.Plan.Blocks
	return p.blocks(ctx, &planned)
}

// blocks measures up to a number of blocks in all. Where the budget holds fewer, but enough for a result, the number becomes that.
func (p *comparison) blocks(ctx context.Context, most *int) error {
	for p.record.Blocks() < *most {
		n := p.record.Blocks()
		if n >= minPilot && p.spent() {
			*most = n
			return nil
		}
		err := p.oneBlock(ctx)
		if n >= minPilot && experiment.BudgetOver(err) {
			*most = n
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// each measures one stage on each server.
func (p *comparison) each(ctx context.Context, plan func(*experiment.Experiment) experiment.Stage) (st [2]rundir.Stage, err error) {
	for i := range p.sides {
		if st[i], err = p.stage(ctx, i, plan(p.sides[i])); err != nil {
			return st, err
		}
	}
	return st, nil
}

// stage measures one stage on one server. A server that fails most of its requests ends the comparison.
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
		p.culprit = side
	}
	return st, err
}

// findWithin finds the loads in a part of the budget, so that the rest has time for blocks.
func (p *comparison) findWithin(ctx context.Context) error {
	const share = 0.4
	kept := time.Duration((1 - share) * float64(p.Budget))
	for _, x := range p.sides {
		x.Extend(-kept)
	}
	err := p.findLoads(ctx)
	for _, x := range p.sides {
		x.Extend(kept)
	}
	return err
}

// findLoads finds the loads that both servers get. Those asked for are tried once, to know how long a request takes there. Otherwise
// they are one request at a time, shares of what the slower server takes, and as many in flight as make either faster.
func (p *comparison) findLoads(ctx context.Context) error {
	for _, rate := range p.Rates {
		tried, err := p.each(ctx, func(x *experiment.Experiment) experiment.Stage { return x.Poisson(rate, rundir.Grid) })
		if err != nil {
			return err
		}
		p.addOpen(rateKey(strconv.FormatFloat(rate, 'f', -1, 64)), rate, p.latency(tried), MetricLatency)
	}
	for _, width := range p.Widths {
		tried, err := p.each(ctx, func(x *experiment.Experiment) experiment.Stage {
			s := x.Closed(arrival.KindClosed, rundir.Single, width)
			s.Name = s.Load.Name()
			return s
		})
		if err != nil {
			return err
		}
		p.addClosed(widthKey(strconv.Itoa(width)), arrival.KindClosed, width, p.latency(tried))
	}
	if len(p.record.Loads) > 0 {
		return nil
	}
	return p.findCeiling(ctx)
}

func (p *comparison) findCeiling(ctx context.Context) error {
	floor, err := p.each(ctx, func(x *experiment.Experiment) experiment.Stage { return x.Closed("synchronous", rundir.Floor, 1) })
	if err != nil {
		return err
	}
	p.alone = p.latency(floor)
	alone, width := p.alone, 1
	for i, x := range p.sides {
		level, err := sweep.SearchCeiling(ctx, x, floor[i], p.Sides[i].MaxConcurrency)
		if err != nil {
			p.culprit = i
			return err
		}
		width = max(width, level)
	}
	ceiling, err := p.each(ctx, func(x *experiment.Experiment) experiment.Stage { return x.Closed("throughput", rundir.Ceiling, width) })
	if err != nil {
		return err
	}
	lower := math.Inf(1)
	for i, st := range ceiling {
		if !st.Progress.Rate.Known() || !floor[i].Latency.Mean.Known() {
			p.culprit = i
			return experiment.NothingDone()
		}
		lower = min(lower, st.Progress.Rate.Value())
	}
	const fewest = 5 // requests of a synchronous stage, however long they take
	p.record.Loads = append(p.record.Loads, rundir.PairLoad{
		Key: LoadSync, Name: "synchronous", Kind: "synchronous", MaxConcurrency: 1,
		Requests: max(fewest, int(p.time()/alone)),
	})
	longest := p.latency(ceiling)
	p.addOpen(LoadHalf, 0.5*lower, longest, MetricLatency)
	p.addOpen(LoadHigh, 0.8*lower, longest, "")
	p.addClosed(LoadCeiling, "throughput", width, longest)
	return nil
}

// time returns how long a stage measures at least.
func (p *comparison) time() time.Duration { return p.Sides[0].StageTime }

// latency returns the longer of two mean latencies.
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
func (p *comparison) addOpen(key string, rate float64, opening time.Duration, primary string) {
	const (
		openings = 2  // a window is at least this many openings long,
		requests = 10 // and expects this many requests,
		longest  = 3  // but no longer for their sake than this many stage times
	)
	enough := min(rundir.Duration(requests/rate), longest*p.time())
	l := arrival.Poisson{Rate: rate}
	p.record.Loads = append(p.record.Loads, rundir.PairLoad{
		Key: key, Name: l.Name(), Kind: l.Kind(), Rate: rundir.Exactly(rate), Primary: primary,
		Opening: opening.Seconds(), Window: max(p.time(), openings*opening, enough).Seconds(),
	})
}

// addClosed adds a closed loop whose slots are filled one by one over the given time.
func (p *comparison) addClosed(key, kind string, width int, filled time.Duration) {
	name := kind
	if kind == arrival.KindClosed {
		name = arrival.Closed{Concurrency: width}.Name()
	}
	p.record.Loads = append(p.record.Loads, rundir.PairLoad{
		Key: key, Name: name, Kind: kind, MaxConcurrency: width, Primary: MetricOutput, Opening: filled.Seconds(),
	})
}

// order returns the order of a block's stages, so that neither server is always first.
func order(block int) string {
	if block%2 == 0 {
		return "ABBA"
	}
	return "BAAB"
}

// oneBlock measures the next block.
func (p *comparison) oneBlock(ctx context.Context) error {
	began, n := time.Now(), p.record.Blocks()
	o := order(n)
	p.stages = 0
	for i := range p.record.Loads {
		l := &p.record.Loads[i]
		for half := range 2 {
			if err := p.round(ctx, l, 2*n+half+1, o[2*half:2*half+2]); err != nil {
				return err
			}
		}
	}
	took := time.Since(began)
	if n > 0 { // the mean of all
		took = (time.Duration(n)*p.block + took) / time.Duration(n+1)
	}
	p.block = took
	p.stages = 0
	p.record.Orders = append(p.record.Orders, o)
	return p.Save(p.record)
}

// round gives both servers the same, one after the other.
func (p *comparison) round(ctx context.Context, l *rundir.PairLoad, round int, order string) error {
	name := l.StageName(round)
	if p.Budget > 0 && p.record.Blocks() >= minPilot && time.Since(p.started)+2*p.cost(l) > p.Budget {
		return experiment.BudgetEnds(p.Budget, name)
	}
	sessions := tape{from: p.Sides[0].Sources(name)}
	for _, who := range order {
		side := int(who - 'A')
		source := sessions.play()
		if p.Same {
			source = p.Sides[0].Sources(name)
		}
		if _, err := p.stage(ctx, side, p.plannedStage(p.sides[side], l, name, source)); err != nil {
			return err
		}
		p.stages++
	}
	return nil
}

// plannedStage returns a stage of a round.
func (p *comparison) plannedStage(x *experiment.Experiment, l *rundir.PairLoad, name string, source load.Source) experiment.Stage {
	var s experiment.Stage
	opening := rundir.Duration(l.Opening)
	if l.Rate.Known() {
		s = x.Poisson(l.Rate.Value(), rundir.Grid)
		s.From, s.MinTime = opening, rundir.Duration(l.Opening+l.Window)
		s.Tail = max(s.Tail, 2*opening) // a request of the window may take as long as those of the opening, and a little longer
	} else {
		role := map[string]rundir.Role{"synchronous": rundir.Floor, "throughput": rundir.Ceiling}[l.Kind]
		s = x.Closed(l.Kind, role, l.MaxConcurrency)
		s.Sessions, s.Opening = l.Requests, nil
		if l.Opening > 0 && l.MaxConcurrency > 1 {
			s.Opening = arrival.Opening(l.MaxConcurrency, opening, p.Sides[0].Seed, name)
		}
		const forLastWave = 3
		s.MaxTime = forLastWave * s.MinTime
		if role == "" {
			s.Role = rundir.Single
		}
	}
	s.Name, s.Source = name, source
	return s
}

// finish writes how the comparison ended, on both sides.
func (p *comparison) finish(err error) error {
	var ours error
	failed := err != nil && !experiment.Interrupted(err)
	for i, x := range p.sides {
		mine := err
		if failed && i != p.culprit {
			mine = experiment.NewEndError(noteOtherFailed.New(), "the other server failed")
		}
		ours = errors.Join(ours, x.Finish(mine))
	}
	p.record.State = rundir.Complete
	switch {
	case failed:
		p.record.State = rundir.Failed
		p.record.Failure = experiment.Failure(err)
		if p.culprit >= 0 {
			p.record.Failure = noteSideFailed.New(sideName(p.culprit), []note.Note{p.sides[p.culprit].Run().Failure})
		}
	case err != nil:
		p.record.State = rundir.Interrupted
	}
	return errors.Join(ours, p.Save(p.record))
}

// sideName returns "A" or "B".
func sideName(side int) string { return string(rune('A' + side)) }

// observer adds to another observer's events which server a stage is of, and how long the whole comparison takes.
type observer struct {
	experiment.Observer
	comparison *comparison
	side       int
}

// StageBegins names the server.
func (o *observer) StageBegins(s *rundir.Stage, planned time.Duration) {
	o.comparison.stageBegan = time.Now()
	o.Observer.StageBegins(o.named(s), planned)
}

// Left tells how long the whole comparison takes, as far as that is known: a side knows its own stage at most.
func (o *observer) Left(time.Duration, time.Duration) {
	o.Observer.Left(o.comparison.leftBounds())
}

// Follows does nothing: a side does not know what follows.
func (o *observer) Follows(int) {}

// StageEnds names the server.
func (o *observer) StageEnds(s *rundir.Stage) { o.Observer.StageEnds(o.named(s)) }

// Note names the server.
func (o *observer) Note(n note.Note) {
	o.Observer.Note(noteOfSide.New(sideName(o.side), []note.Note{n}))
}

func (o *observer) named(s *rundir.Stage) *rundir.Stage {
	copied := *s
	if !strings.HasPrefix(copied.Name, sweep.SearchPrefix) {
		copied.Name = sideName(o.side) + " " + copied.Name
	}
	return &copied
}
