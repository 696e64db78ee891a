package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"llmsweep/report"
	"llmsweep/sweep"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
	"llmsweep/sweep/workload"
)

// runCmd is llmsweep run.
type runCmd struct {
	URL string `arg:"" name:"url" help:"Base URL of the server, or sim: for the embedded one."`

	Rate           float64       `placeholder:"R" help:"Open loop: requests per second, on average." group:"Load"`
	Arrivals       string        `placeholder:"KIND" help:"How they arrive: poisson (default), constant, gamma:SHAPE, ramp:A-B (requests per second), trace:FILE." group:"Load"`
	TimeScale      float64       `name:"time-scale" placeholder:"X" help:"Play a trace X times as fast. --rate instead gives it that mean rate." group:"Load"`
	Concurrency    []int         `placeholder:"N,.." help:"Closed loop: so many in flight; several make a ladder." group:"Load"`
	Requests       int           `placeholder:"N" help:"So many requests (or conversations) a stage, each of which counts." group:"Load"`
	Duration       time.Duration `placeholder:"D" help:"Measure so long a stage, opening transient and drain left out. Default: 1m." group:"Load"`
	Repeats        int           `default:"1" help:"Do each stage so many times, all in shuffled order, and report the spread between runs." group:"Load"`
	MaxConcurrency int           `name:"max-concurrency" placeholder:"N" help:"Open loop: most in flight; others wait their turn, and that wait is told apart." group:"Load"`
	Warmup         string        `default:"auto" help:"Before the first stage: auto until requests agree, a number of requests, or a time." group:"Load"`
	Drain          time.Duration `default:"1m" help:"How long the last requests may take before they are cancelled." group:"Load"`
	MaxErrorRate   float64       `name:"max-error-rate" default:"0.5" help:"A stage ends early when more than this share of its requests fails." group:"Load"`
	Format         string        `default:"console" help:"What is printed at the end: ${formats}." group:"Output"`

	targetFlags
	loadFlags
	sloFlags
	outFlags
	selftestFlags
}

// Help is what --help says at its end.
func (runCmd) Help() string {
	return `Examples:
  llmsweep run http://localhost:8000 --concurrency 10 --requests 100 --format stress
  llmsweep run http://localhost:8000 --concurrency 5,10,30,50,100 --requests 200
  llmsweep run http://localhost:8000 --concurrency 5,10 --requests 100 --repeats 3
  llmsweep run http://localhost:8000 --rate 20 --max-concurrency 20 --dataset sharegpt.json --requests 100 --warmup 5 --format serving
  llmsweep run http://localhost:8000 --rate 8 --requests 600 --slo 'ttft:p99<500ms' --slo 'errors<1%'    # exit 1 where it misses
  llmsweep run http://localhost:8000 --rate 4 --arrivals gamma:0.5 --duration 5m
  llmsweep run http://localhost:8000 --arrivals ramp:1-20 --duration 10m
  llmsweep run http://localhost:8000 --arrivals trace:mooncake.jsonl --time-scale 2
  llmsweep run http://localhost:8000 --concurrency 8 --turns 4 --think-time exp:2s --requests 50`
}

// Run runs.
func (r *runCmd) Run(c *console) error {
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
		console: c, url: r.URL, target: &r.targetFlags, load: &r.loadFlags, plan: plan, out: &r.outFlags, dir: r.freshDir,
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

// check refuses what does not go together, and fills in what goes without saying.
func (r *runCmd) check() (sweep.Arrivals, error) {
	arrivals, err := sweep.ParseArrivals(r.Arrivals)
	if err != nil {
		return arrivals, fmt.Errorf("--arrivals: %w", err)
	}
	open := r.Rate != 0 || r.Arrivals != ""
	trace := arrivals.Kind == sweep.ArrivalsTrace
	switch {
	case open && len(r.Concurrency) > 0:
		return arrivals, errors.New("--concurrency is a closed loop and --rate an open one: give one of them (--max-concurrency caps an open loop)")
	case !open && len(r.Concurrency) == 0:
		return arrivals, errors.New("say how requests come: --concurrency N keeps N in flight, --rate R lets R arrive per second")
	case r.Rate < 0 || r.Rate > 1e6:
		return arrivals, errors.New("--rate must be above 0 and at most 1000000")
	case open && r.Rate == 0 && arrivals.NeedsRate():
		return arrivals, fmt.Errorf("--arrivals %s needs --rate", arrivals)
	case arrivals.Kind == sweep.ArrivalsRamp && r.Rate != 0:
		return arrivals, errors.New("a ramp has its own rates: leave --rate out")
	case r.TimeScale < 0 || r.TimeScale > 0 && !trace:
		return arrivals, errors.New("--time-scale goes with --arrivals trace:FILE, and is above 0")
	case r.TimeScale > 0 && r.Rate > 0:
		return arrivals, errors.New("--time-scale and --rate both say how fast the trace is played: give one of them")
	case slices.ContainsFunc(r.Concurrency, func(n int) bool { return n < 1 || n > 100_000 }):
		return arrivals, errors.New("--concurrency must be between 1 and 100000")
	case len(slices.Compact(slices.Sorted(slices.Values(r.Concurrency)))) != len(r.Concurrency):
		return arrivals, errors.New("--concurrency names a rung twice")
	case r.MaxConcurrency < 0 || r.MaxConcurrency > 0 && !open:
		return arrivals, errors.New("--max-concurrency caps an open loop (--rate), and is above 0")
	case r.Requests < 0 || r.Duration < 0 || r.Requests > 0 && r.Duration > 0 && arrivals.Kind != sweep.ArrivalsRamp:
		return arrivals, errors.New("give --requests or --duration, above 0")
	case r.Repeats < 1 || r.Repeats > mostRepeats:
		return arrivals, errRepeats
	case r.Drain < 0 || !(r.MaxErrorRate >= 0 && r.MaxErrorRate <= 1):
		return arrivals, errors.New("--drain must not be negative, and --max-error-rate is a share between 0 and 1")
	case !slices.Contains(report.Formats(), r.Format):
		return arrivals, fmt.Errorf("--format %s: there are %s", r.Format, strings.Join(report.Formats(), ", "))
	}
	if r.Requests == 0 && r.Duration == 0 {
		r.Duration = time.Minute
	}
	return arrivals, nil
}

// jobs are the stages that the flags ask for.
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

// round is each stage once: its repetition of that number, or 0 where there are none.
func (r *runCmd) round(number int, a sweep.Arrivals, t *target) ([]sweep.Job, error) {
	var jobs []sweep.Job
	for _, n := range r.Concurrency {
		jobs = append(jobs, sweep.ClosedJob(n, r.Requests, r.Duration).Again(number))
	}
	if jobs != nil {
		return jobs, nil
	}
	if trace, ok := t.workload.(*workload.Trace); ok {
		j := sweep.OpenJob(a.Kind, trace.Rate(), trace.Schedule(), r.MaxConcurrency, trace.Rows(), 0)
		return append(jobs, j.Again(number)), nil
	}
	rate := a.MeanRate(r.Rate)
	j := sweep.OpenJob(a.Kind, rate, nil, r.MaxConcurrency, r.Requests, r.Duration).Again(number)
	if a.Kind == sweep.ArrivalsRamp { // it ends of itself, and each of its requests counts
		j.Requests, j.Duration = max(r.Requests, sweep.Endless), 0
	}
	var err error
	j.Schedule, err = a.Schedule(r.Rate, r.Duration, r.Seed, j.Name)
	return append(jobs, j), err
}
