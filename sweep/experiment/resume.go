package experiment

import (
	"cmp"
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// A run that ended early goes on by being planned again: the plan follows from the configuration, the seed, and what the stages showed. What
// the first part measured is taken from its run.json ([Experiment.recall]), at the time on the clock at which it was measured. The first stage
// that is not there is measured, and so is all that follows ([Experiment.catchUp]).

// past is what the first part of a run measured, and has not been recalled yet.
type past struct {
	run    *rundir.Run
	stages map[string]rundir.Stage
	steps  map[string]rundir.SearchStep
	rests  []rundir.Recovery
	at     time.Duration // on the clock of the run
	over   bool          // what is not recalled is measured now
	last   string        // the latest stage that was recalled
}

// Kept returns which stages of a run that ended early are kept when it goes on: the whole ones. Where the server stopped answering, the
// stages without an answer are not, nor those in which connections broke more than at the start of the run.
func Kept(run *rundir.Run) (stages []rundir.Stage) {
	for i := range run.Stages {
		if st := &run.Stages[i]; st.State == rundir.Complete {
			stages = append(stages, *st)
		}
	}
	for n := len(stages) - 1; n >= 0 && run.State == rundir.Failed; n-- {
		if st := &stages[n]; st.Requests.OK > 0 && !st.FrozenSince.Known() && lost(st) <= lost(&stages[0])+crashed {
			break
		}
		stages = stages[:n]
	}
	return stages
}

// crashed is the share of broken connections, beyond that of the first stage, from which on the server counts as gone in a stage.
const crashed = 0.1

// lost returns the share of a stage's requests whose connections could not be made, or broke.
func lost(st *rundir.Stage) float64 {
	n, all := 0, st.Requests.OK
	for class, count := range st.Errors {
		all += count
		switch client.Class(class) {
		case client.ClassConnect, client.ClassReset, client.ClassTruncated:
			n += count
		}
	}
	return float64(n) / float64(max(1, all))
}

// Keeps returns whether a stage or step of a run is kept, by its name.
func Keeps(run *rundir.Run) func(stage string) bool {
	names := map[string]bool{}
	for _, st := range Kept(run) {
		names[st.Name] = true
	}
	for _, step := range run.Search {
		names[step.Name] = true
	}
	return func(stage string) bool { return names[stage] }
}

// remember returns the past of a run that goes on.
func remember(run *rundir.Run) *past {
	p := &past{run: run, stages: map[string]rundir.Stage{}, steps: map[string]rundir.SearchStep{}, rests: run.Recoveries}
	for _, st := range Kept(run) {
		p.stages[st.Name] = st
	}
	for _, step := range run.Search {
		p.steps[step.Name] = step
	}
	return p
}

// empty reports whether there is nothing to recall.
func (p *past) empty() bool { return p == nil || p.over || len(p.stages) == 0 && len(p.steps) == 0 }

// errOtherPlan is the error of a run that cannot go on, because it would be another.
var errOtherPlan = errors.New("the run was planned with other flags than now: its configuration file has changed, or this llmsweep has other defaults")

// resume takes over what a run keeps when it goes on.
func (x *Experiment) resume(before *rundir.Run) error {
	if !samePlan(&x.run.Plan, &before.Plan) {
		return errOtherPlan
	}
	if err := x.recallAnswers(before); err != nil {
		return err
	}
	x.past = remember(before)
	x.run.Started, x.run.Client.Selftest = before.Started, before.Client.Selftest
	for _, n := range before.Warnings {
		if n.Is(noteNotIdle) || n.Is(notePaused) || n.Is(noteRetokenize) || n.Is(noteResumed) || n.Is(noteServerDiffers) {
			x.run.Warnings = append(x.run.Warnings, n) // the others are found again
		}
	}
	return nil
}

// samePlan reports whether two plans are the same.
func samePlan(a, b *rundir.Plan) bool {
	one, other := *a, *b
	one.SLO, other.SLO = nil, nil
	return slices.Equal(a.SLO, b.SLO) && reflect.DeepEqual(one, other)
}

// recall returns a stage that the first part of the run measured.
func (x *Experiment) recall(s *Stage) (st rundir.Stage, ok bool) {
	if x.past == nil {
		return st, false
	}
	if st, ok = x.past.stages[s.Name]; !ok {
		return st, false
	}
	delete(x.past.stages, s.Name)
	if !x.past.over {
		x.past.at, x.past.last = st.EndsAt(), st.Name
		x.run.Stages = append(x.run.Stages, st)
		x.judgeAnswers() // they are in the log: nothing is written
		st = x.run.Stages[len(x.run.Stages)-1]
	}
	for _, n := range x.run.Warnings {
		if seconds, known := n.Number("time"); n.Is(notePaused) && n.String("stage") == st.Name && known && x.HasBudget() {
			x.until += time.Duration(seconds * float64(time.Second))
		}
	}
	x.recallRecovery()
	x.Ahead.Begins(s.forecast())
	x.config.Observer.StageBegins(&st, s.MinTime)
	x.Ahead.Ended(s.forecast(), &st)
	x.overloaded(&st)
	x.learn(st.Latency.Mean)
	x.judgeClient()
	x.config.Observer.StageEnds(&st)
	return st, true
}

// recallStep returns a step of the search for the ceiling that the first part of the run took.
func (x *Experiment) recallStep(s *Stage) (st rundir.Stage, ok bool) {
	if x.past == nil {
		return st, false
	}
	step, ok := x.past.steps[s.Name]
	if !ok {
		return st, false
	}
	delete(x.past.steps, s.Name)
	if !x.past.over {
		x.past.at, x.past.last = step.EndsAt(), step.Name
	}
	st = s.describe(0)
	st.State, st.TokensPerS.Output, st.Latency.Mean, st.Invalid = rundir.Complete, step.Output, step.Latency, step.Invalid
	x.overloaded(&st)
	x.learn(st.Latency.Mean)
	x.run.Search = append(x.run.Search, step)
	return st, true
}

// recallRecovery takes over what was found of the server's recovery before a stage.
func (x *Experiment) recallRecovery() {
	r := &x.recovery
	after := r.overload
	r.overload = ""
	i := slices.IndexFunc(x.past.rests, func(found rundir.Recovery) bool { return found.After == after })
	if after == "" || i < 0 {
		return
	}
	found := x.past.rests[i]
	x.run.Recoveries = append(x.run.Recoveries, found)
	if found.Idle.Known() {
		r.rest = time.Duration(found.Idle.Value() * float64(time.Second))
	} else {
		r.hopeless = true
	}
}

// catchUp ends the recalling: what follows is measured. The server is warmed up before it, and compared with what it was.
func (x *Experiment) catchUp(ctx context.Context) error {
	if x.past == nil || x.past.over {
		return nil
	}
	p := x.past
	x.keepRest()
	p.over = true
	x.idle.after = p.last
	before, err := x.loneBefore()
	if err == nil {
		err = x.recallRecords()
	}
	if err != nil {
		return err
	}
	x.setClock(p.at)
	if err := x.judgeAnswers(); err != nil {
		return err
	}
	x.Warn(noteResumed.New(len(x.run.Stages), p.last, time.Since(p.run.Started)-p.at))
	if err := x.save(); err != nil {
		return err
	}
	latency, alone := x.latency, x.Ahead.Alone
	if err := x.warmUp(ctx); err != nil {
		return err
	}
	if err := x.compareServer(ctx, before); err != nil {
		return err
	}
	x.latency, x.Ahead.Alone = latency, alone
	x.setClock(p.at)
	return nil
}

// keepRest takes over the whole stages that were not recalled, so that none is lost: the plan may ask for them yet.
func (x *Experiment) keepRest() {
	p := x.past
	var rest []rundir.Stage
	for _, st := range p.stages {
		rest = append(rest, st)
	}
	slices.SortFunc(rest, func(a, b rundir.Stage) int { return cmp.Compare(a.Started, b.Started) })
	for i := range rest {
		x.run.Stages = append(x.run.Stages, rest[i])
		if rest[i].EndsAt() > p.at {
			p.at, p.last = rest[i].EndsAt(), rest[i].Name
		}
	}
}

// recallRecords goes on with the lone requests after overloads where the first part ended, so that no prompt is sent twice.
func (x *Experiment) recallRecords() error {
	for _, err := range x.config.Log.Records(recoveryStage) {
		if err != nil {
			return err
		}
		if x.recovery.source == nil {
			x.recovery.source = x.config.Sources(recoveryStage)
		}
		x.recovery.source.Next()
		x.recovery.sent++
	}
	return nil
}

// lone returns the times per token, in seconds, of the requests of a stage that were sent one at a time.
func (x *Experiment) lone(stage string) (gaps []float64, err error) {
	for r, err := range x.config.Log.Records(stage) {
		if err != nil {
			return nil, err
		}
		tokens := r.OutputTokens.Value()
		if !r.OK() || !r.FirstToken.Known() || !(tokens >= fewestTokens) {
			continue
		}
		gaps = append(gaps, (r.LastToken.Value()-r.FirstToken.Value())/(tokens-1))
	}
	return gaps, nil
}

// loneBefore returns the times per token of lone requests in the first part of the run: of its first stage, or else of its warm-up.
func (x *Experiment) loneBefore() ([]float64, error) {
	if i := slices.IndexFunc(x.run.Stages, func(st rundir.Stage) bool { return st.Role == rundir.Floor }); i >= 0 {
		return x.lone(x.run.Stages[i].Name)
	}
	gaps, err := x.lone(warmUpStage)
	return gaps[max(0, len(gaps)-agreeing):], err // until then they did not agree
}

// compareServer warns where lone requests are slower or faster than they were in the first part of the run.
func (x *Experiment) compareServer(ctx context.Context, before []float64) error {
	const most = 4 // requests
	if len(before) < 2 {
		return nil
	}
	var now []float64
	source := x.config.Sources(resumedStage)
	sent, err := x.skip(source, resumedStage)
	if err != nil {
		return err
	}
	for n := range most {
		gap, err := x.oneOf(ctx, source, resumedStage, sent+n)
		if err != nil {
			return err
		}
		if gap > 0 {
			now = append(now, gap)
		}
	}
	if is, low, high := foretold(before, now); is < low || is > high {
		x.Warn(noteServerDiffers.New(is, low, high))
	}
	return nil
}

// foretold returns the mean of new values, and the interval that holds it with a probability of 99 % where they are like those before, or
// differ from them by no more than two lone requests do by chance.
func foretold(before, now []float64) (mean, low, high float64) {
	if len(now) == 0 {
		return 0, 0, 0
	}
	const tail = 0.995
	expected, n, k := stats.Mean(before), float64(len(before)), float64(len(now))
	sd := stats.Deviation(before) * math.Sqrt(n/(n-1))
	half := max(stats.StudentQuantile(tail, n-1)*sd*math.Sqrt(1/n+1/k), (asFast-1)*expected)
	return stats.Mean(now), expected - half, expected + half
}

// resumedStage names the records of the requests that compare the server with what it was. They are in no row.
const resumedStage = "resumed"

// SameWorkload reports whether two runs ask for the same.
func SameWorkload(a, b *rundir.Workload) bool { return reflect.DeepEqual(a, b) }
