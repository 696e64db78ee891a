package job

import (
	"context"
	"fmt"
	"math"
	"time"

	"llmsweep/client"
	"llmsweep/client/probe"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/workload"
)

// The tokens of a request of a preflight: the most of its prompt, chat template included, and those that it asks for.
const (
	preflightPrompt = 64
	preflightOutput = 24
)

// preflightSpending returns how many requests preflight and calibration send at most that cost something, and their
// tokens.
func preflightSpending(l *flags.WorkloadOptions) (requests int, t experiment.SpendTokens) {
	const reconnects = 1 // see probe.Prober.Reconnects
	requests = probe.MaxPaidRequests + reconnects
	t = experiment.SpendTokens{Prompt: int64(requests) * preflightPrompt, Output: probe.MaxPaidRequests*preflightOutput +
		reconnects}
	texts, tokens := 0, 0
	switch {
	case l.Prompt != "":
	case l.Dataset != "":
		texts, tokens = workload.MostDatasetCounts, workload.MostDatasetCounts*workload.LongestAsked
	default:
		texts, tokens = workload.MostCounts(int(l.PromptLengths.Mean))
	}
	t.Add(experiment.SpendTokens{Prompt: int64(tokens), Output: int64(texts)})
	return requests + texts, t
}

// counter returns what counts the tokens of a text: --tokenizer, or one token a byte.
func counter(ctx context.Context, l *flags.WorkloadOptions) func(text string) int {
	return func(text string) int {
		if l.Tokenize != nil {
			if n, err := l.Tokenize(ctx, text); err == nil {
				return n
			}
		}
		return len(text)
	}
}

func limitsOf(p *client.SpendLimiter) client.SpendLimits {
	if p == nil {
		return client.SpendLimits{}
	}
	return p.Limits()
}

// DryRun prints what a plan sends at most, and at what price. Nothing is sent: prompts that only the server could count
// are counted by --tokenizer, or reckoned at one token a byte.
func (j *Job) DryRun(longest time.Duration) error {
	p, err := j.parse()
	if err != nil {
		return console.Usage(err)
	}
	limiter, err := j.Target.SpendLimiter()
	if err != nil {
		return console.Usage(err)
	}
	count := counter(j.Ctx, p.load)
	w, stages, err := j.plannedStages(p.load, count)
	if err != nil {
		return err
	}
	if err := j.checkMaxCost(p); err != nil {
		return err
	}
	run, before := j.preparationSpending(p)
	if j.Stages == nil && !j.Plan.Users {
		run.Outlooks = Outlooks(&j.Plan)
	}
	asked := w.Describe()
	for i := range stages {
		s := &stages[i]
		s.Load = arrival.NewSessions(s.Load, asked.Turns(), asked.Pause(), s.Sessions == 0)
	}
	limits := limitsOf(limiter)
	most := experiment.Reckon(&experiment.SpendPlan{
		Stages: stages, Warmup: j.Plan.Warmup, Seed: j.Plan.Seed, Sources: w.Stage, Count: count, Caps: j.Target.Caps(),
		Longest: longest, Limits: &limits, Before: before,
	})
	run.Requests, run.Warmup, run.Unbounded = most.Requests, most.Warmup, most.Unbounded
	run.Prompt, run.Output = most.Prompt, most.Output
	run.MaxCost, run.Priced = limits.Cost, limits.PriceIn > 0 || limits.PriceOut > 0
	run.Cost = limits.Price(run.Prompt, run.Output)
	for _, line := range run.Lines(j.Lang) {
		fmt.Fprintln(j.Console.Out, table.Wrap(line, dryColumns, 0))
	}
	return nil
}

const dryColumns = 120

// Outlooks returns what sweeps by rate take where a request alone takes a second, and ten.
func Outlooks(c *sweep.Config) (all []findings.Outlook) {
	for _, alone := range []time.Duration{time.Second, 10 * time.Second} {
		quick, slow := c.Outlook(alone)
		all = append(all, findings.Outlook{
			Alone: alone, Takes: [2]time.Duration{quick.Takes, slow.Takes}, Requests: [2]int{quick.Requests, slow.Requests},
		})
	}
	return all
}

func (j *Job) plannedStages(
	l *flags.WorkloadOptions, count func(string) int,
) (workload.Workload, []experiment.Stage, error) {
	countAll := func(_ context.Context, texts ...string) (counts []int, source string, err error) {
		for _, text := range texts {
			counts = append(counts, count(text))
		}
		return counts, "dry run", nil
	}
	opened, err := openWorkload(j.Ctx, l.Spec(j.Replay), countAll, &workload.Guess, j.Lang)
	if err != nil {
		return nil, nil, err
	}
	if err := j.checkAccuracy(opened.Workload.Describe().Graded > 0); err != nil || j.Stages == nil {
		return opened.Workload, nil, console.Usage(err)
	}
	stages, err := j.Stages(opened.Workload)
	return opened.Workload, stages, console.Usage(err)
}

// Of the limits on spending, preflight and warm-up take at most one part in openingParts. A sweep measures leastStages
// stages at least: one request at a time, the throughput, and a rate.
const (
	openingParts = 5
	leastStages  = 3
)

// roundedUp raises a number by more than its printing with three digits can lower it.
const roundedUp = 1.01

// checkMaxCost refuses a --max-cost below that of the smallest useful measurement, before anything is sent: preflight
// and warm-up, and the fewest requests of its stages. A plan that fits wholly is not refused, nor a run that is
// continued: it has paid for its opening.
func (j *Job) checkMaxCost(p parsedFlags) error {
	limiter, err := j.Target.SpendLimiter()
	limits := limitsOf(limiter)
	if err != nil || limits.Cost == 0 || j.firstPart != nil {
		return console.Usage(err)
	}
	const bytesPerToken = 4 // an estimate: a bound would refuse what fits
	count := func(text string) int { return len(text) / bytesPerToken }
	w, stages, err := j.plannedStages(p.load, count)
	if err != nil {
		return err
	}
	_, opening := preflightSpending(p.load)
	reckon := func(stages ...experiment.Stage) experiment.MostSpent {
		return experiment.Reckon(&experiment.SpendPlan{
			Stages: stages, Warmup: j.Plan.Warmup, Seed: j.Plan.Seed, Sources: w.Stage, Count: count, Before: opening,
		})
	}
	if whole := reckon(stages...); len(stages) > 0 && whole.Unbounded == "" &&
		limits.Share(whole.Prompt, whole.Output) <= 1 {
		return nil
	}
	requests := j.Plan.StageRequests
	if len(stages) == 0 {
		requests *= leastStages
	}
	asked := w.Describe()
	sessions := int(math.Ceil(float64(requests) / asked.Turns()))
	first, least := reckon(), reckon(experiment.NewStage(arrival.Closed{Concurrency: 1}, sessions, 0))
	enough := max(openingParts*limits.Share(first.Prompt, first.Output), limits.Share(least.Prompt, least.Output))
	if enough <= 1 {
		return nil
	}
	return console.Usage(fmt.Errorf("--max-cost %s does not pay for a useful measurement: %d requests after preflight "+
		"and warm-up take about %s. Raise it to %s, or make prompts and answers shorter; --warmup 1 warms up with one "+
		"request",
		lang.Shortest(limits.Cost), requests, lang.Short(limits.Price(least.Prompt, least.Output), false),
		lang.Short(roundedUp*limits.Cost*enough, false)))
}

func (j *Job) preparationSpending(p parsedFlags) (run findings.DryRun, tokens experiment.SpendTokens) {
	run.Preflight, tokens = preflightSpending(p.load)
	further := int64(len(j.URLs) - 1) // further servers have a preflight each, and no calibration
	run.Preflight += int(further) * probe.MaxPaidRequests
	tokens.Add(experiment.SpendTokens{Prompt: further * probe.MaxPaidRequests * preflightPrompt,
		Output: further * probe.MaxPaidRequests * preflightOutput})
	run.ByBytes = p.load.Tokenize == nil && (p.load.Prompt != "" || p.load.Dataset != "")
	return run, tokens
}
