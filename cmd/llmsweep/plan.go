package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"time"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/report/choose"
	"llmsweep/report/lang"
	"llmsweep/report/page"
	"llmsweep/report/plans"
	"llmsweep/sweep/plan"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
	"llmsweep/sweep/workload"
)

// planCmd is llmsweep plan.
type planCmd struct {
	Twins []string `arg:"" name:"twin" help:"Twins that llmsweep fit wrote, or directories of sweep --by users. Several are ranked by cost."`

	SLO      []string `name:"slo" sep:"none" placeholder:"TERM" help:"Service level objective that must hold, such as 'ttft:p99<1s'; may be repeated. See llmsweep help slo."`
	Minutes  float64  `default:"0.99" placeholder:"SHARE" help:"Share of the minutes in which it must hold (${default})."`
	Headroom float64  `default:"0.2" placeholder:"SHARE" help:"Share of what the replicas can take that is kept free (${default})."`
	Lost     int      `default:"0" placeholder:"N" help:"Plan so that N replicas may be lost (${default})."`

	Rate    float64       `placeholder:"R" positive:"" help:"Requests per second, on the mean. A profile or a trace is scaled to it." group:"Demand"`
	Users   float64       `placeholder:"N" positive:"" help:"Number of users, with --requests-per-user-hour; with directories of sweep --by users, those who hold a conversation at a time." group:"Demand"`
	PerUser float64       `name:"requests-per-user-hour" placeholder:"M" positive:"" help:"Requests that a user sends in an hour." group:"Demand"`
	Profile string        `placeholder:"H=R,.." help:"Requests per second at hours of the day, with straight lines between: 0=2,8=10,9:30=20,18=12." group:"Demand"`
	Trace   string        `placeholder:"FILE" help:"Recorded requests: JSONL as Mooncake's, CSV as BurstGPT's or Azure's, logs of LiteLLM or nginx." group:"Demand"`
	Length  time.Duration `name:"duration" placeholder:"TIME" positive:"" help:"Time to simulate. Default: a day of a profile, all of a trace, else 1h." group:"Demand"`
	Prompt  string        `name:"prompt-tokens" default:"" placeholder:"LENGTH" help:"Prompt length: 512, or mean=512,std=100,min=64,max=2048. Default: the trace's, else 512." group:"Demand"`
	Answer  string        `name:"output-tokens" default:"" placeholder:"LENGTH" help:"Answer length. Default: the trace's, else 128." group:"Demand"`
	Seed    uint64        `default:"1" placeholder:"N" help:"Seed of all that is drawn (${default})." group:"Demand"`

	Router      string        `default:"round-robin" enum:"round-robin,least-loaded,prefix-aware" placeholder:"NAME" help:"Router: round-robin, least-loaded or prefix-aware (${default})." group:"Fleet"`
	MaxReplicas int           `name:"max-replicas" default:"128" placeholder:"N" positive:"" help:"Try at most N replicas (${default})." group:"Fleet"`
	ColdStart   time.Duration `name:"cold-start" placeholder:"TIME" positive:"" help:"Start and stop replicas with the load; a start takes this long." group:"Fleet"`
	ScaleAt     float64       `name:"scale-at" placeholder:"N" positive:"" help:"With --cold-start: requests in flight for each replica above which one is started. Default: found." group:"Fleet"`
	Calm        time.Duration `name:"scale-down-after" default:"5m" placeholder:"TIME" positive:"" help:"With --cold-start: how long fewer must be enough before one is stopped (${default})." group:"Fleet"`
	MinReplicas int           `name:"min-replicas" default:"1" placeholder:"N" positive:"" help:"With --cold-start: keep at least N (${default})." group:"Fleet"`
	PrefixCache bool          `name:"prefix-cache" help:"Simulate a prefix cache with the hash_ids of a trace." group:"Fleet"`
	PrefixHits  float64       `name:"prefix-hits" placeholder:"SHARE" help:"Share of each prompt that is found in a prefix cache." group:"Fleet"`

	Price     []string `sep:"none" placeholder:"GPU=N,.." help:"Prices of one GPU for one hour: L20=1.2,A100=3.6." group:"Choice"`
	Unchecked bool     `help:"Plan also with twins that failed their held-out check." group:"Choice"`
	WhatIf    []string `name:"what-if" sep:"none" placeholder:"K=V" help:"Plan also under a change: prompts=2x, answers=2x, requests=2x, max-num-seqs=128, step-tokens=4096, prefix-hits=0.5, bandwidth=2x, compute=2x. May be repeated." group:"Choice"`
	Draws     int      `default:"10" placeholder:"N" help:"Servers that the measurement does not exclude, for the ranges (${default})." group:"Choice"`

	flags.Tables
	flags.Verdict
	flags.Page
}

// Help returns what --help prints after the purpose.
func (planCmd) Help() string {
	return `Examples:
  llmsweep plan twin.yaml --slo 'ttft:p99<1s' --rate 20
  llmsweep plan twin.yaml --slo 'ttft:p99<1s' --slo 'itl:p99<100ms' --users 5000 --requests-per-user-hour 12 --lost 1
  llmsweep plan l20.yaml a100.yaml --slo 'ttft:p99<1s' --profile 0=2,8=10,9=20,18=12 --cold-start 5m --price L20=1.2,A100=3.6
  llmsweep plan twin.yaml --slo 'ttft:p99<1s' --profile 0=2,9=20,18=12 --html plan.html
  llmsweep plan chats --slo 'ttft:p95<2s' --users 500 --price L20=1.2
  llmsweep plan twin.yaml --slo 'ttft:p95<2s' --trace trace.jsonl --rate 20 --what-if prompts=2x --what-if bandwidth=1.5x

More: llmsweep help fit`
}

// planProgress is the time between two lines that tell how far a plan is.
const planProgress = 5 * time.Second

// Run plans.
func (p *planCmd) Run(c *console.Console) error {
	if p.measured() {
		return p.byUsers(c)
	}
	w, err := p.wish(c)
	if err != nil {
		return console.Usage(err)
	}
	prices := choose.Prices{}
	if err := prices.Add(p.Price); err != nil {
		return console.Usage(err)
	}
	all, unused, err := plans.Candidates(p.Twins, prices)
	if err != nil {
		return console.Usage(err)
	}
	l := lang.Lang(p.Lang)
	if err := p.Page.CheckFiles(&p.Tables); err != nil {
		return err
	}
	told := time.Now()
	r, err := plan.Plan(c.Ctx, all, *w, func(name, what string, done, total int) {
		if time.Since(told) >= planProgress {
			fmt.Fprintln(c.Err, plans.Progress(name, what, done, total, l))
			told = time.Now()
		}
	})
	if err != nil {
		if c.Ctx.Err() != nil {
			return c.Interrupted(err)
		}
		return console.Usage(err)
	}
	r.PricesUnused = unused
	p.Conclusions = func() []rundir.Conclusion { return plans.Conclusions(r) }
	err = p.WriteWithPage(c, &p.Tables, func(w io.Writer) error { return plans.JSON(w, r) }, plans.Sections(r), func(w io.Writer, o page.WriteOptions) error {
		return plans.PlanPlots(w, r, o)
	})
	if err == nil && len(r.Ranked) == 0 {
		return console.Exit(console.Missed, errNoPlan)
	}
	return err
}

// measured reports whether the plan is one for users whom servers were measured with: all results are directories.
func (p *planCmd) measured() bool {
	return p.Users > 0 && p.PerUser == 0 && !slices.ContainsFunc(p.Twins, func(path string) bool {
		about, err := os.Stat(path)
		return err != nil || !about.IsDir()
	})
}

// byUsers plans for users who hold conversations at a time, from sweeps --by users: with as many replicas and GPUs as choose counts.
func (p *planCmd) byUsers(c *console.Console) error {
	if p.Rate > 0 || p.Profile != "" || p.Trace != "" || p.Prompt != "" || p.Answer != "" || p.Lost > 0 || p.ColdStart > 0 || len(p.WhatIf) > 0 || p.PrefixHits > 0 {
		return console.Usage(errMeasured)
	}
	choice := chooseCmd{Paths: p.Twins, Tables: p.Tables, Page: p.Page}
	choice.Requirements = flags.Requirements{SLO: p.SLO, Demand: strconv.FormatFloat(p.Users, 'f', -1, 64) + "users", Price: p.Price, Headroom: p.Headroom}
	return choice.Run(c)
}

// wish reads the flags.
func (p *planCmd) wish(c *console.Console) (*plan.CapacityWish, error) {
	w := &plan.CapacityWish{Router: plan.Router(p.Router), Headroom: p.Headroom, Lost: p.Lost, Minutes: p.Minutes, Most: p.MaxReplicas, Hits: p.PrefixHits,
		Draws: p.Draws, Seed: p.Seed, Unchecked: p.Unchecked}
	var err error
	if w.Terms, err = slo.ParseAll(p.SLO); err != nil {
		return nil, err
	}
	for _, t := range w.Terms {
		switch {
		case t.Metric == slo.Speed:
			return nil, fmt.Errorf("--slo '%s': a plan limits the time per token in its place: %s", t, t.PerToken())
		case t.OfStage(), t.Metric == slo.Stalls, t.Metric == slo.TTFA:
			return nil, fmt.Errorf("--slo '%s': a twin does not tell it; leave it out", t)
		}
	}
	for _, text := range p.WhatIf {
		change, err := plan.ParseChange(text)
		if err != nil {
			return nil, err
		}
		w.WhatIfs = append(w.WhatIfs, change)
	}
	if p.ColdStart > 0 {
		w.Scaling = &plan.CapacityScaling{Least: p.MinReplicas, InFlight: p.ScaleAt, ColdStart: p.ColdStart, Calm: p.Calm}
	}
	if w.Day, err = p.day(c); err != nil {
		return nil, err
	}
	return w, nil
}

var errNoPlan = errors.New("no twin gives a plan that meets the demand; the reasons are in the result")

var (
	errUsers    = errors.New("with a twin, --users and --requests-per-user-hour belong together: give both, or --rate; --users alone needs directories of sweep --by users")
	errRates    = errors.New("--rate and --users contradict each other: give one of them")
	errShapes   = errors.New("--profile and --trace contradict each other: give one of them")
	errNoTrace  = errors.New("--prefix-cache needs --trace with hash_ids; --prefix-hits needs none")
	errMeasured = errors.New("with directories of sweep --by users, a plan takes --slo, --users, --headroom and --price: other demands, --lost, --cold-start and --what-if need a twin")
)

// day draws the requests.
func (p *planCmd) day(c *console.Console) (*plan.Day, error) {
	d := plan.DemandWish{Rate: p.Rate, Length: p.Length, Seed: p.Seed}
	switch {
	case (p.Users > 0) != (p.PerUser > 0):
		return nil, errUsers
	case p.Users > 0 && p.Rate > 0:
		return nil, errRates
	case p.Profile != "" && p.Trace != "":
		return nil, errShapes
	case p.PrefixCache && p.Trace == "":
		return nil, errNoTrace
	case p.Users > 0:
		d.Rate = p.Users * p.PerUser / time.Hour.Seconds()
	}
	var err error
	if p.Profile != "" {
		if d.Profile, err = plan.ParseProfile(p.Profile); err != nil {
			return nil, err
		}
	}
	if d.Prompt, err = p.lengths("--prompt-tokens", p.Prompt, "512"); err != nil {
		return nil, err
	}
	if d.Output, err = p.lengths("--output-tokens", p.Answer, "128"); err != nil {
		return nil, err
	}
	if p.Trace != "" {
		if d.Trace, err = workload.OpenTrace(c.Ctx, p.Trace, workload.TraceOptions{Prompt: d.Prompt, Output: d.Output, Share: p.PrefixCache, Hashed: p.PrefixCache}); err != nil {
			return nil, err
		}
	}
	return plan.NewDemand(d)
}

// lengths reads a length. Without one it is the trace's, or the usual one.
func (p *planCmd) lengths(flag, text, usual string) (rundir.Lengths, error) {
	if text == "" {
		if p.Trace != "" {
			return rundir.Lengths{}, nil
		}
		text = usual
	}
	l, err := workload.ParseLengths(text)
	if err != nil {
		err = fmt.Errorf("%s: %w", flag, err)
	}
	return l, err
}
