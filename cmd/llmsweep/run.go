package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/cmd/llmsweep/job"
	"llmsweep/report"
	"llmsweep/report/lang"
	"llmsweep/sweep"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/slo"
	"llmsweep/sweep/stats"
	"llmsweep/sweep/workload"
)

type runCmd struct {
	URL []string `arg:"" optional:"" name:"url" help:"The server; several share the requests."`

	Rate           float64       `placeholder:"R" positive:"" help:"Open loop: R requests arrive per second." group:"Load"`
	Concurrency    []int         `placeholder:"N" help:"Closed loop: N requests in flight; several: in turn." group:"Load"`
	Arrivals       string        `placeholder:"KIND" help:"${arrivals} (poisson)." group:"Load"`
	SessionRate    float64       `name:"session-rate" placeholder:"R" positive:"" help:"Open loop: R conversations begin per second." hidden:"" group:"Load"`
	TimeScale      float64       `name:"time-scale" placeholder:"X" positive:"" help:"Replay a trace X times as fast (1)." hidden:"" group:"Load"`
	MaxConcurrency int           `name:"max-concurrency" placeholder:"N" positive:"" help:"Open loop: at most N requests in flight; others wait (no limit)." hidden:"" group:"Load"`
	Requests       stageLength   `placeholder:"N|Nx" help:"N requests, or 10x those in flight (closed loop: 10x)." group:"How long"`
	Duration       time.Duration `placeholder:"TIME" positive:"" help:"This time, the start-up left out." group:"How long"`
	Repeats        int           `default:"1" placeholder:"N" help:"Measure N whole runs, into numbered directories of --out (${default})." hidden:"" group:"How long"`
	flags.Rows
	DryRun bool `name:"dry-run" help:"Print what it sends and costs at most, and send nothing." hidden:"" group:"How long"`

	flags.Workload
	flags.Objectives
	flags.Target
	flags.Results
	Format string `default:"console" placeholder:"NAME" help:"Such as stress, serving, csv, json (${default})." group:"Result"`
	flags.Selftest
	flags.Cluster
}

func (runCmd) Help() string {
	return `Exit code with --slo: 3 an objective is missed, 4 the requests do not decide it.

  llmsweep run http://localhost:8000 --concurrency 5,10,30 --requests 200
  llmsweep run http://localhost:8000 --rate 4 --slo 'ttft:p99<500ms'
  llmsweep run http://localhost:8000 --arrivals trace:mooncake.jsonl

All other flags (TLS, hosted APIs, conversations, bursts): llmsweep help run`
}

func (r *runCmd) job(c *console.Console) (*job.Job, error) {
	servers, err := c.Servers(r.URL)
	if err != nil {
		return nil, err
	}
	if err := job.CheckPresets(servers); err != nil {
		return nil, err
	}
	if err := r.countTurns(); err != nil {
		return nil, err
	}
	loads, err := r.check()
	if err != nil {
		return nil, err
	}
	plan := sweep.Defaults()
	plan.Seed = r.Seed
	if err := r.Rows.Configure(&plan); err != nil {
		return nil, err
	}
	if plan.SLO, err = slo.ParseAll(r.SLO); err != nil {
		return nil, err
	}
	j := &job.Job{
		Console: c, URLs: servers, Target: &r.Target, Workload: &r.Workload, Plan: plan, Results: &r.Results,
		Dir:   func() (*store.Dir, error) { return c.RunDir(r.Out, r.Force) },
		Loads: loads, Stages: func(w workload.Workload) ([]experiment.Stage, error) { return r.stages(loads, w) },
		Format: r.Format, Selftest: &r.Selftest, Cluster: &r.Cluster,
	}
	if trace, ok := loads[0].(arrival.Trace); ok {
		j.Replay = &workload.Replay{File: trace.File, Speed: r.TimeScale, Rate: r.Rate, Limit: r.Requests.Number}
	}
	return j, nil
}

func (r *runCmd) Run(c *console.Console) error {
	j, err := r.job(c)
	if err != nil {
		return console.Usage(err)
	}
	if r.noLoad() {
		fmt.Fprintln(c.Err, sayNoLoad.In(lang.Lang(r.Lang)))
	}
	if r.DryRun {
		return j.DryRun(0)
	}
	if r.Repeats > 1 {
		return repeat(c, repeats{r.Repeats, r.Seed, &r.Results, &r.Target, &r.Cluster},
			func(c *console.Console, seed uint64, dir string) (*job.Job, error) {
				one := *r
				one.Seed, one.Out, one.Spending = seed, dir, nil
				return one.job(c)
			})
	}
	return j.Run()
}

func (r *runCmd) options() arrival.Options {
	inFlight := r.Concurrency
	if r.noLoad() {
		inFlight = []int{1}
	}
	return arrival.Options{
		Concurrency: inFlight, Arrivals: r.Arrivals, Rate: r.Rate, TimeScale: r.TimeScale, MaxConcurrency: r.MaxConcurrency,
		Requests: r.Requests.requests(max(1, r.MaxConcurrency)), Duration: r.Duration,
	}
}

// length returns how long a stage of a load is: a number of sessions, or a time. By default a closed loop has ten
// requests for each in flight, and as many as a p90 needs: a time would be too short for slow answers, and cut them.
func (r *runCmd) length(l arrival.Load) (sessions int, window time.Duration) {
	const each = 10
	if l.MeanRate() > 0 || r.Duration > 0 || r.Requests != (stageLength{}) {
		return r.Requests.requests(l.Limit()), r.options().Window()
	}
	least := float64(experiment.RequestsFor(0.9))
	if turns, err := r.MeanTurns(); err == nil {
		least /= turns
	}
	return max(each*l.Limit(), int(math.Ceil(least))), 0
}

// noLoad reports whether no load was asked for. It is then one request at a time.
func (r *runCmd) noLoad() bool {
	return len(r.Concurrency) == 0 && r.Rate == 0 && r.Arrivals == "" && r.MaxConcurrency == 0
}

func (r *runCmd) countTurns() error {
	if r.SessionRate == 0 {
		return nil
	}
	if r.Rate > 0 || len(r.Concurrency) > 0 || r.Arrivals != "" {
		return errors.New("--session-rate is a load of its own: leave out --rate, --concurrency and --arrivals")
	}
	turns, err := r.MeanTurns()
	r.Rate = r.SessionRate * turns
	return err
}

func (r *runCmd) check() ([]arrival.Load, error) {
	loads, err := r.options().Loads()
	switch {
	case err != nil:
		return nil, err
	case r.Requests.Times > 0 && len(r.Concurrency) == 0 && r.MaxConcurrency == 0:
		return nil, fmt.Errorf("--requests %gx is a multiple of --concurrency or --max-concurrency: give one of them, or "+
			"a number of requests", r.Requests.Times)
	case r.Repeats < 1 || r.Repeats > flags.MostRepeats:
		return nil, flags.ErrRepeats
	}
	return loads, flags.CheckFormat(r.Format, report.Formats())
}

// stages returns the stages of the loads, shuffled by the seed with --repeats, so that a drift of the server is no
// difference between loads. The arrivals of a trace are known once its file has been read.
func (r *runCmd) stages(loads []arrival.Load, w workload.Workload) ([]experiment.Stage, error) {
	var all []experiment.Stage
	for _, l := range loads {
		if trace, ok := l.(arrival.Trace); ok {
			replayed, read := w.(*workload.Trace)
			if !read {
				return nil, fmt.Errorf("--arrivals trace:%s brings its own prompts: leave out --prompt, --dataset and --workload",
					trace.File)
			}
			l = replayed.Load(r.MaxConcurrency)
		}
		sessions, window := r.length(l)
		all = append(all, experiment.NewStage(l, sessions, window))
	}
	if r.Repeats > 1 {
		stats.Rand(r.Seed, "order", "").Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	}
	return all, nil
}

// stageLength is how many requests a stage has: a number, or a multiple of the requests in flight, such as 10x. The
// zero value leaves it to the time.
type stageLength struct {
	Number int
	Times  float64
}

// mostRequests bounds the number of requests of a stage.
const mostRequests = 1e9

// UnmarshalText reads 100 or 10x.
func (s *stageLength) UnmarshalText(text []byte) error {
	number, isMultiple := strings.CutSuffix(strings.TrimSpace(string(text)), "x")
	v, err := strconv.ParseFloat(number, 64)
	switch {
	case err != nil || !(v > 0 && v <= mostRequests) || !isMultiple && v != math.Trunc(v):
		return fmt.Errorf("%q must be a number of requests above 0, such as 100, or a multiple of the requests in flight, "+
			"such as 10x", text)
	case isMultiple:
		*s = stageLength{Times: v}
	default:
		*s = stageLength{Number: int(v)}
	}
	return nil
}

// requests returns how many requests a stage sends with a number in flight; 0 where the time decides.
func (s stageLength) requests(inFlight int) int {
	if s.Times > 0 {
		return max(1, int(math.Round(min(mostRequests, s.Times*float64(inFlight)))))
	}
	return s.Number
}
