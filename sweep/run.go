package sweep

import (
	"context"
	"errors"
	"strconv"
	"time"

	"llmsweep/sweep/rundir"
)

// Job is one stage that somebody asks for by itself.
type Job struct {
	Name     string // unique in its run
	Kind     string
	Rate     float64 // arrivals per second, on average; 0 for a closed loop
	Repeat   int     // which of several jobs that measure the same, from 1; 0 where there is one
	Schedule Schedule
	Source   Source // nil for the run's own
	Bound    int    // in flight at most; 0 for no bound

	// Requests is how many tasks arrive, all of which count; or else Duration is how long the stage measures, the opening
	// transient and the drain left out.
	Requests int
	Duration time.Duration
}

// ClosedJob keeps so many requests in flight.
func ClosedJob(width, requests int, duration time.Duration) Job {
	return Job{
		Name: "concurrent@" + strconv.Itoa(width), Kind: "concurrent", Schedule: Always{}, Bound: width,
		Requests: requests, Duration: duration,
	}
}

// OpenJob lets requests arrive by a schedule, at most bound of them in flight.
func OpenJob(kind string, rate float64, schedule Schedule, bound, requests int, duration time.Duration) Job {
	return Job{
		Name: kind + "@" + rateName(rate), Kind: kind, Rate: rate, Schedule: schedule, Bound: bound,
		Requests: requests, Duration: duration,
	}
}

// errNothing ends a run in which nothing succeeded.
var errNothing = errors.New("no request succeeded")

// Run does jobs in order, or shuffled where they are repetitions, and fills in run, which is saved as it goes. States and errors
// are as in [Sweep].
func Run(ctx context.Context, c Config, jobs []Job, run *rundir.Run) error {
	plan := rundir.Plan{Kind: KindRun, StageTime: jobs[0].Duration.Seconds(), StageRequests: jobs[0].Requests, MaxConcurrency: jobs[0].Bound}
	x, err := c.begin(run, plan, len(jobs)-1)
	if err != nil {
		return err
	}
	for _, j := range jobs {
		x.foresee(j.Bound, j.Rate, run.Workload.OutputTokens.Mean)
	}
	if c.repeats() > 1 {
		jobs = shuffled(jobs, c.Seed)
	}
	return x.finish(x.jobs(ctx, jobs))
}

func (x *experiment) jobs(ctx context.Context, jobs []Job) error {
	if err := x.warmUp(ctx); err != nil {
		return err
	}
	succeeded := false
	for i, j := range jobs {
		x.ahead = len(jobs) - 1 - i
		st, err := x.stage(ctx, x.job(j))
		if err != nil {
			return err
		}
		succeeded = succeeded || st.Requests.OK > 0
	}
	if !succeeded {
		return errNothing
	}
	return nil
}

// job plans one job. What somebody asked for is not prolonged while it is undecided.
func (x *experiment) job(j Job) *Spec {
	s := x.spec(j.Name, j.Kind, rundir.Single)
	s.Schedule, s.Rate, s.Repeat, s.Bound, s.MaxTasks = j.Schedule, j.Rate, j.Repeat, j.Bound, j.Requests
	s.MinTime, s.MaxTime, s.MinRequests, s.Tail = j.Duration, j.Duration, 1, j.Duration
	if j.Source != nil {
		s.Source = j.Source
	}
	return s
}

// Endless is a number of requests that no schedule reaches: the stage ends with its schedule or its source.
const Endless = 1 << 40
