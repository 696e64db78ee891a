package sweep

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// PairConfig is two servers under the same load, stage against stage.
//
// A block is four stages at each load, in the order A B B A, the next one's B A A B: a drift of the machines, the network
// or the hour that is steady over a block does not enter the difference. The first two stages of a block are a round, and
// so are the last two: both servers get the same arrivals and the same prompts, and another round gets others. The
// unit of the statistics is the round: neighbouring requests are correlated, rounds are not.
//
// The number of blocks is fixed once, after a pilot, from the spread that the pilot saw; see [PairRows] for what that
// promises.
type PairConfig struct {
	Sides [2]Config // how to measure each; Sources, times and Seed are the first's for both

	Rates  []float64 // arrivals per second to compare at,
	Widths []int     // and numbers in flight; where neither is given, loads are found

	Difference float64       // the smallest difference to be sure of: 0.03
	Budget     time.Duration // no block begins that would not end by then, but for the first two; 0 for no limit
	// Same reports whether both are one server: prompts then differ in their first word, lest its prefix cache answers.
	Same bool

	Save    func(*rundir.Pair) error
	Planned func(*rundir.Pair, int) // told when the plan is made, and before the pilot, with the number of stages to come
}

// KindPair is the kind of a run that has a counterpart.
const KindPair = "pair"

// What a comparison of two servers keeps to.
const (
	pairPower  = 0.8  // a difference of the size asked for is shown so often
	pairLevel  = 0.05 // and any so often where there is none, over all figures together
	pilotMost  = 5    // blocks: with fewer the spread is known too badly, which costs more blocks than it saves
	pilotLeast = 2    // with one block there is no spread
	perBlock   = 4    // stages at each load
)

// Keys of loads that were not asked for by number.
const (
	LoadSync    = "sync"
	LoadHalf    = "50"
	LoadHigh    = "80"
	LoadCeiling = "max"
)

// pair is a comparison on its way.
type pair struct {
	PairConfig
	sides   [2]*experiment
	record  *rundir.Pair
	started time.Time
	culprit int           // the side that ended it; -1 for none
	service time.Duration // mean latency at the highest load
	block   time.Duration // what one takes, as far as known
	stages  int           // of the block that runs, done
}

// Pair measures both servers and fills in their runs and what they have in common, all of which is saved as it goes. States
// and errors are as in [Sweep].
func Pair(ctx context.Context, c PairConfig, runs [2]*rundir.Run, record *rundir.Pair) error {
	p := &pair{PairConfig: c, record: record, started: time.Now(), culprit: -1}
	record.Schema, record.State = rundir.PairSchema, rundir.Running
	record.Plan = rundir.PairPlan{Difference: c.Difference, Power: pairPower, Level: pairLevel, Budget: c.Budget.Seconds()}
	for i := range p.sides {
		side := c.Sides[i]
		side.Sources, side.Seed, side.StageTime, side.StageMax = c.Sides[0].Sources, c.Sides[0].Seed, c.Sides[0].StageTime, c.Sides[0].StageTime
		side.Observer = &onSide{side.Observer, p, i}
		plan := rundir.Plan{
			Kind: KindPair, StageTime: side.StageTime.Seconds(), StageRequests: side.StageRequests, MaxConcurrency: side.MaxConcurrency,
		}
		var err error
		if p.sides[i], err = side.begin(runs[i], plan, 4); err != nil {
			return err
		}
	}
	if err := p.Save(record); err != nil {
		return err
	}
	return p.finish(p.measure(ctx))
}

// measure finds the loads, does the pilot, plans, and does the rest.
func (p *pair) measure(ctx context.Context) error {
	for i, x := range p.sides {
		if err := x.warmUp(ctx); err != nil {
			p.culprit = i
			return err
		}
	}
	if err := p.findLoads(ctx); err != nil {
		return err
	}
	if err := p.preparePilot(); err != nil {
		return err
	}
	for p.record.Blocks() < p.record.Plan.Pilot {
		if n := p.record.Blocks(); n >= pilotLeast && p.spent() {
			p.record.Plan.Pilot = n
			break
		}
		if err := p.oneBlock(ctx); err != nil {
			return err
		}
	}
	if err := p.plan(); err != nil {
		return err
	}
	for p.record.Blocks() < p.record.Plan.Blocks && !p.spent() {
		if err := p.oneBlock(ctx); err != nil {
			return err
		}
	}
	return nil
}

// each runs one stage on each server.
func (p *pair) each(ctx context.Context, plan func(*experiment) *Spec) (st [2]rundir.Stage, err error) {
	for i := range p.sides {
		if st[i], err = p.stage(ctx, i, plan(p.sides[i])); err != nil {
			return st, err
		}
	}
	return st, nil
}

// stage runs one stage on one server. A server that fails most of what it is asked ends the comparison.
func (p *pair) stage(ctx context.Context, side int, spec *Spec) (rundir.Stage, error) {
	x := p.sides[side]
	st, err := x.stage(ctx, spec)
	if q := st.Requests; err == nil && float64(q.Error) > x.MaxErrorRate*float64(q.OK+q.Error) {
		err = fmt.Errorf("%d of %d requests failed in %s", q.Error, q.OK+q.Error, st.Name)
	}
	if err != nil {
		p.culprit = side
	}
	return st, err
}

// findLoads says what both servers get. What was asked for is tried out once, to know how long a request takes there; else
// they are one request at a time, shares of what the slower server takes, and as many in flight as make either faster.
func (p *pair) findLoads(ctx context.Context) error {
	for _, rate := range p.Rates {
		tried, err := p.each(ctx, func(x *experiment) *Spec { return x.open(rate, rundir.Grid) })
		if err != nil {
			return err
		}
		p.addOpen(strconv.FormatFloat(rate, 'f', -1, 64)+"rps", rate, p.latency(tried), FigureLatency)
	}
	for _, width := range p.Widths {
		tried, err := p.each(ctx, func(x *experiment) *Spec {
			s := x.closed("concurrent", rundir.Single, width)
			s.Name += "@" + strconv.Itoa(width)
			return s
		})
		if err != nil {
			return err
		}
		p.addClosed("c"+strconv.Itoa(width), "concurrent", width, p.latency(tried))
	}
	if len(p.record.Loads) > 0 {
		return nil
	}
	return p.findCeiling(ctx)
}

func (p *pair) findCeiling(ctx context.Context) error {
	floor, err := p.each(ctx, func(x *experiment) *Spec { return x.closed("synchronous", rundir.Floor, 1) })
	if err != nil {
		return err
	}
	alone, width := p.latency(floor), 1
	for i, x := range p.sides {
		level, err := x.searchCeiling(ctx, floor[i])
		if err != nil {
			p.culprit = i
			return err
		}
		width = max(width, level)
	}
	ceiling, err := p.each(ctx, func(x *experiment) *Spec { return x.closed("throughput", rundir.Ceiling, width) })
	if err != nil {
		return err
	}
	lower := math.Inf(1)
	for i, st := range ceiling {
		if !st.Progress.Rate.Known() || !floor[i].Latency.Mean.Known() {
			p.culprit = i
			return errNothing
		}
		lower = min(lower, st.Progress.Rate.Value())
	}
	const fewest = 5
	p.record.Loads = append(p.record.Loads, rundir.PairLoad{
		Key: LoadSync, Name: "synchronous", Kind: "synchronous", MaxConcurrency: 1,
		Requests: max(fewest, int(p.time()/alone)),
	})
	longest := p.latency(ceiling)
	p.addOpen(LoadHalf, 0.5*lower, longest, FigureLatency)
	p.addOpen(LoadHigh, 0.8*lower, longest, "")
	p.addClosed(LoadCeiling, "throughput", width, longest)
	return nil
}

// time is how long a stage measures at least.
func (p *pair) time() time.Duration { return p.sides[0].StageTime }

// latency is the longer of two mean latencies.
func (p *pair) latency(st [2]rundir.Stage) time.Duration {
	l := time.Millisecond
	for i := range st {
		if mean := st[i].Latency.Mean; !mean.IsZero() {
			l = max(l, duration(mean.Value()))
		}
	}
	p.service = max(p.service, l)
	return l
}

// addOpen adds a load of Poisson arrivals. Its window is fixed beforehand, so that both servers are judged by the same
// requests: those due after the opening, by when as many are there as stay on average.
func (p *pair) addOpen(key string, rate float64, opening time.Duration, primary string) {
	const openings, few, longest = 2, 10, 3
	enough := min(duration(few/rate), longest*p.time())
	p.record.Loads = append(p.record.Loads, rundir.PairLoad{
		Key: key, Name: "poisson@" + rateName(rate), Kind: "poisson", Rate: rundir.Exactly(rate), Primary: primary,
		Opening: opening.Seconds(), Window: max(p.time(), openings*opening, enough).Seconds(),
	})
}

// addClosed adds a closed loop whose slots are filled one by one over the given time.
func (p *pair) addClosed(key, kind string, width int, filled time.Duration) {
	name := kind
	if kind == "concurrent" {
		name += "@" + strconv.Itoa(width)
	}
	p.record.Loads = append(p.record.Loads, rundir.PairLoad{
		Key: key, Name: name, Kind: kind, MaxConcurrency: width, Primary: FigureOutput, Opening: filled.Seconds(),
	})
}

// order is the order of a block's stages, so that neither server is always first.
func order(block int) string {
	if block%2 == 0 {
		return "ABBA"
	}
	return "BAAB"
}

// oneBlock runs the next block.
func (p *pair) oneBlock(ctx context.Context) error {
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
func (p *pair) round(ctx context.Context, l *rundir.PairLoad, round int, order string) error {
	name := l.StageName(round)
	tasks := tape{from: p.sides[0].Sources(name)}
	for _, who := range order {
		side := int(who - 'A')
		source := tasks.play()
		if p.Same {
			source = p.sides[side].Sources(name)
		}
		if _, err := p.stage(ctx, side, p.spec(p.sides[side], l, name, source)); err != nil {
			return err
		}
		p.stages++
	}
	return nil
}

// spec plans a stage of a round.
func (p *pair) spec(x *experiment, l *rundir.PairLoad, name string, source Source) *Spec {
	var s *Spec
	if l.Rate.Known() {
		s = x.spec(name, l.Kind, rundir.Grid)
		s.Rate, s.Schedule = l.Rate.Value(), NewPoisson(l.Rate.Value(), x.Seed, name)
		s.From, s.MinTime = duration(l.Opening), duration(l.Opening+l.Window)
		s.Tail = max(s.Tail, duration(2*l.Opening))
	} else {
		role := map[string]string{"synchronous": rundir.Floor, "throughput": rundir.Ceiling}[l.Kind]
		s = x.closed(l.Kind, role, l.MaxConcurrency)
		s.Name, s.MaxTasks, s.Opening = name, l.Requests, nil
		if l.Opening > 0 && l.MaxConcurrency > 1 {
			s.Opening = opening(l.MaxConcurrency, duration(l.Opening), NewRand(x.Seed, "opening", name))
		}
		s.MaxTime = 3 * s.MinTime // for the last whole wave
		if role == "" {
			s.Role = rundir.Single
		}
	}
	s.Source = source
	return s
}

// finish writes how it ended, on both sides.
func (p *pair) finish(err error) error {
	var ours error
	for i, x := range p.sides {
		mine := err
		if failed := p.failed(err); failed && i != p.culprit {
			mine = errOther
		}
		ours = errors.Join(ours, x.finish(mine))
	}
	p.record.State = rundir.Complete
	switch {
	case p.failed(err):
		p.record.State = rundir.Failed
		p.record.Failure = failure(err)
		if p.culprit >= 0 {
			p.record.Failure = noteSideFailed.New(string(rune('A'+p.culprit)), []note.Note{p.sides[p.culprit].run.Failure})
		}
	case err != nil:
		p.record.State = rundir.Interrupted
	}
	return errors.Join(ours, p.Save(p.record))
}

// failed reports whether an error is no interruption.
func (p *pair) failed(err error) bool {
	return err != nil && !errors.Is(err, ErrInterrupted) && !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded)
}

// onSide tells an observer which server a stage is of, and how long everything takes.
type onSide struct {
	Observer
	pair *pair
	side int
}

// StageBegins names the server.
func (o *onSide) StageBegins(s *rundir.Stage, planned, left time.Duration) {
	if o.pair.block > 0 {
		left = max(0, o.pair.left()-planned)
	}
	o.Observer.StageBegins(o.named(s), planned, left)
}

// StageEnds names the server.
func (o *onSide) StageEnds(s *rundir.Stage) { o.Observer.StageEnds(o.named(s)) }

// Note names the server.
func (o *onSide) Note(n note.Note) { o.Observer.Note(noteOfSide.New(o.name(), []note.Note{n})) }

func (o *onSide) name() string { return string(rune('A' + o.side)) }

func (o *onSide) named(s *rundir.Stage) *rundir.Stage {
	copied := *s
	if !strings.HasPrefix(copied.Name, SearchPrefix) {
		copied.Name = o.name() + " " + copied.Name
	}
	return &copied
}
