package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"llmsweep/report"
	"llmsweep/sweep"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
	"llmsweep/sweep/workload"
)

// runCmd is llmsweep run.
type runCmd struct {
	URL string `arg:"" optional:"" name:"url" help:"Base URL of the server, or sim: for the simulated one."`

	Rate           float64       `placeholder:"R" positive:"" help:"Open loop: R requests arrive per second on average, however slow the server is." group:"Load"`
	Arrivals       string        `placeholder:"KIND" help:"Arrival process: poisson (default), constant, gamma:SHAPE, ramp:A-B (from A to B requests per second), trace:FILE." group:"Load"`
	TimeScale      float64       `name:"time-scale" placeholder:"X" positive:"" help:"Replay a trace X times as fast. With --rate it is replayed at that mean rate instead." group:"Load"`
	Concurrency    []int         `placeholder:"N" help:"Closed loop: keep N requests in flight. Several numbers are measured one after the other." group:"Load"`
	Requests       int           `placeholder:"N" positive:"" help:"Length of a stage: N requests (or conversations). All of them count." group:"Load"`
	Duration       time.Duration `placeholder:"TIME" positive:"" help:"Length of a stage: a time (1m). Its start-up phase does not count." group:"Load"`
	Repeats        int           `default:"1" placeholder:"N" help:"Measure each stage N times, in shuffled order, and report the spread between the repetitions." group:"Load"`
	MaxConcurrency int           `name:"max-concurrency" placeholder:"N" positive:"" help:"Open loop: keep at most N requests in flight. Others wait, and their wait is reported separately." group:"Load"`
	Warmup         string        `default:"auto" placeholder:"W" help:"Warm-up before the first stage: auto (until requests agree), a number of requests, or a time." group:"Load"`
	Drain          time.Duration `default:"1m" placeholder:"TIME" help:"Longest wait for the last requests of a stage; after it they are cancelled (${default})." group:"Load"`
	MaxErrorRate   float64       `name:"max-error-rate" default:"0.5" placeholder:"SHARE" help:"End a stage early when more than this share of its requests fails (${default})." group:"Load"`
	Format         string        `default:"console" placeholder:"NAME" help:"Format of the result: ${formats}." group:"Output"`

	targetFlags
	loadFlags
	sloFlags
	outFlags
	selftestFlags
}

// defaultDuration is the length of a stage without --requests and --duration.
const defaultDuration = time.Minute

// Help returns what --help prints after the purpose.
func (runCmd) Help() string {
	return `Examples:
  llmsweep run http://localhost:8000 --concurrency 10 --requests 100
  llmsweep run http://localhost:8000 --concurrency 5,10,30,50,100 --requests 200 --format stress
  llmsweep run http://localhost:8000 --rate 4 --arrivals gamma:0.5 --duration 5m
  llmsweep run http://localhost:8000 --rate 8 --requests 3000 --slo 'ttft:p99<500ms' --slo 'errors<1%'    # exit code 1 where it is missed
  llmsweep run http://localhost:8000 --arrivals ramp:1-20 --duration 10m
  llmsweep run http://localhost:8000 --arrivals trace:mooncake.jsonl --time-scale 2
  llmsweep run http://localhost:8000 --rate 20 --max-concurrency 20 --dataset sharegpt.json --requests 100 --format serving
  llmsweep run http://localhost:8000 --concurrency 8 --turns 4 --think-time exp:2s --requests 50

More: llmsweep help loads, llmsweep help workloads, llmsweep help slo`
}

// Run measures.
func (r *runCmd) Run(c *console) error {
	server, err := c.server(r.URL)
	if err != nil {
		return err
	}
	arrivals, err := r.check()
	if err != nil {
		return usage(err)
	}
	plan := sweep.Defaults()
	plan.Seed, plan.Repeats, plan.Drain, plan.MaxErrorRate = r.Seed, r.Repeats, r.Drain, r.MaxErrorRate
	if plan.Warmup, err = sweep.ParseWarmup(r.Warmup); err != nil {
		return usage(fmt.Errorf("--warmup: %w", err))
	}
	if plan.SLO, err = slo.ParseAll(r.SLO); err != nil {
		return usage(err)
	}
	e := experiment{
		console: c, url: server, target: &r.targetFlags, load: &r.loadFlags, plan: plan, out: &r.outFlags,
		dir:  func() (*rundir.Dir, error) { return c.runDir(r.Out) },
		kind: sweep.KindRun, format: r.Format, stages: max(1, len(r.Concurrency)) * r.Repeats, conns: max(plan.MaxConcurrency, slices.Max(append(r.Concurrency, 0))),
		fit: &r.selftestFlags, width: slices.Max(append(r.Concurrency, r.MaxConcurrency)),
	}
	if arrivals.Kind == sweep.ArrivalsTrace && len(r.Concurrency) == 0 {
		e.replay = &replay{file: arrivals.File, speed: r.TimeScale, rate: r.Rate, limit: r.Requests}
	}
	e.measure = func(ctx context.Context, c sweep.Config, t *target, run *rundir.Run) error {
		jobs, err := r.jobs(arrivals, t)
		if err != nil {
			return usage(err)
		}
		return sweep.Run(ctx, c, jobs, run)
	}
	return e.run()
}

// check parses --arrivals, and refuses flags that contradict each other.
func (r *runCmd) check() (sweep.Arrivals, error) {
	arrivals, err := sweep.ParseArrivals(r.Arrivals)
	if err != nil {
		return arrivals, fmt.Errorf("--arrivals: %w", err)
	}
	open := r.Rate != 0 || r.Arrivals != ""
	trace := arrivals.Kind == sweep.ArrivalsTrace
	switch {
	case open && len(r.Concurrency) > 0:
		return arrivals, errors.New("--concurrency is a closed loop and --rate an open one: give one of them (--max-concurrency limits an open loop)")
	case !open && len(r.Concurrency) == 0:
		return arrivals, errors.New("the load is missing: --concurrency N keeps N requests in flight, --rate R lets R arrive per second")
	case r.Rate > mostRate:
		return arrivals, errors.New("--rate must be at most " + mostRateText)
	case open && r.Rate == 0 && arrivals.NeedsRate():
		return arrivals, fmt.Errorf("--arrivals %s needs --rate", arrivals)
	case arrivals.Kind == sweep.ArrivalsRamp && r.Rate != 0:
		return arrivals, errors.New("--arrivals ramp:A-B has its own rates: leave --rate out")
	case r.TimeScale > 0 && !trace:
		return arrivals, errors.New("--time-scale needs --arrivals trace:FILE")
	case r.TimeScale > 0 && r.Rate > 0:
		return arrivals, errors.New("--time-scale and --rate both set the speed of the trace: give one of them")
	case slices.ContainsFunc(r.Concurrency, func(n int) bool { return n < 1 || n > mostInFlight }):
		return arrivals, errors.New("--concurrency must be between 1 and 100000")
	case len(slices.Compact(slices.Sorted(slices.Values(r.Concurrency)))) != len(r.Concurrency):
		return arrivals, errors.New("--concurrency names a number twice")
	case r.MaxConcurrency > 0 && !open:
		return arrivals, errors.New("--max-concurrency limits an open loop: it needs --rate")
	case r.Requests > 0 && r.Duration > 0 && arrivals.Kind != sweep.ArrivalsRamp:
		return arrivals, errors.New("--requests and --duration both set the length of a stage: give one of them")
	case r.Repeats < 1 || r.Repeats > mostRepeats:
		return arrivals, errRepeats
	case r.Drain < 0 || !(r.MaxErrorRate >= 0 && r.MaxErrorRate <= 1):
		return arrivals, errors.New("--drain must not be negative, and --max-error-rate must be a share between 0 and 1")
	case !slices.Contains(report.Formats(), r.Format):
		return arrivals, unknownFormat(r.Format)
	}
	return arrivals, nil
}

// length returns the length of a stage: a time, where no number of requests was given.
func (r *runCmd) length() time.Duration {
	if r.Requests == 0 && r.Duration == 0 {
		return defaultDuration
	}
	return r.Duration
}

// jobs returns the stages to measure.
func (r *runCmd) jobs(a sweep.Arrivals, t *target) ([]sweep.Job, error) {
	if r.Repeats == 1 {
		return r.round(0, a, t)
	}
	var jobs []sweep.Job
	for n := range r.Repeats {
		some, err := r.round(n+1, a, t)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, some...)
	}
	return jobs, nil
}

// round returns each stage once: repetition number, counted from 1, or 0 where stages are not repeated.
func (r *runCmd) round(number int, a sweep.Arrivals, t *target) ([]sweep.Job, error) {
	var jobs []sweep.Job
	for _, n := range r.Concurrency {
		jobs = append(jobs, sweep.ClosedJob(n, r.Requests, r.length()).Again(number))
	}
	if jobs != nil {
		return jobs, nil
	}
	if trace, ok := t.workload.(*workload.Trace); ok {
		j := sweep.OpenJob(a.Kind, trace.Rate(), trace.Schedule(), r.MaxConcurrency, trace.Rows(), 0)
		return append(jobs, j.Again(number)), nil
	}
	rate := a.MeanRate(r.Rate)
	j := sweep.OpenJob(a.Kind, rate, nil, r.MaxConcurrency, r.Requests, r.length()).Again(number)
	if a.Kind == sweep.ArrivalsRamp { // a ramp ends by itself, and all its requests count
		j.Requests, j.Duration = max(r.Requests, sweep.Endless), 0
	}
	var err error
	j.Schedule, err = a.Schedule(r.Rate, r.length(), r.Seed, j.Name)
	return append(jobs, j), err
}
