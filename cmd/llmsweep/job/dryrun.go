package job

import (
	"context"
	"fmt"
	"time"

	"llmsweep/client"
	"llmsweep/client/probe"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/report/findings"
	"llmsweep/sweep"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/workload"
)

// Of the requests before the first stage: the tokens that the preflight's ask for, and the most of its prompts, chat template included;
// the shortest prompt of a calibration is taken for that too.
const (
	preflightPrompt = 64
	preflightOutput = 24
)

// before returns how many requests preflight and calibration send at most that cost something, and their tokens.
func before(l *flags.WorkloadOptions) (requests int, t experiment.SpendTokens) {
	const reconnects = 1 // see probe.Prober.Reconnects
	requests = probe.MostPaid + reconnects
	t = experiment.SpendTokens{Prompt: int64(requests) * preflightPrompt, Output: probe.MostPaid*preflightOutput + reconnects}
	count := func(n, each int) {
		requests += n
		t.Prompt += int64(n) * int64(each)
		t.Output += int64(n)
	}
	switch {
	case l.Prompt != "":
	case l.Dataset != "":
		count(workload.MostDatasetCounts, workload.LongestAsked)
	default:
		count(workload.MostCounts, max(int(l.PromptLengths.Mean), preflightPrompt))
	}
	return requests, t
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

// limitsOf returns the limits of a purse; none where there is no purse.
func limitsOf(p *client.Purse) client.SpendLimits {
	if p == nil {
		return client.SpendLimits{}
	}
	return p.Limits()
}

// DryRun prints what a plan sends at most, and at what price. Nothing is sent: prompts that only the server could count are counted by
// --tokenizer, or reckoned at one token a byte.
func (j *Job) DryRun(longest time.Duration) error {
	l, err := j.workload()
	if err != nil {
		return console.Usage(err)
	}
	purse, err := j.Target.Purse()
	if err != nil {
		return console.Usage(err)
	}
	count := counter(j.Ctx, l)
	counter := func(_ context.Context, text string) (int, string, error) { return count(text), "dry run", nil }
	opened, err := openWorkload(j.Ctx, l.Spec(j.Replay), counter, &workload.Guess, j.Lang)
	if err != nil {
		return err
	}
	w := opened.Workload
	stages, err := j.stagesOf(w)
	if err != nil {
		return console.Usage(err)
	}
	limits := limitsOf(purse)
	check, err := j.check()
	if err != nil {
		return console.Usage(err)
	}
	preflight, before := before(l)
	alone, tokens := planned(check, count)
	before.Add(tokens)
	graded := j.grades(w)
	if err := j.checkAccuracy(graded != nil); err != nil {
		return console.Usage(err)
	}
	for _, tokens := range graded.Tokens(count) {
		before.Add(tokens)
	}
	text, err := j.text()
	if err != nil {
		return console.Usage(err)
	}
	before.Add(text.Tokens(count))
	sources := w.Stage
	if check != nil {
		sources = func(stage string) load.Source { return check.Planned(stage, w.Stage(stage)) }
	}
	further := int64(len(j.Urls) - 1) // further servers have a preflight each, and no calibration
	preflight += int(further) * probe.MostPaid
	before.Add(experiment.SpendTokens{Prompt: further * probe.MostPaid * preflightPrompt, Output: further * probe.MostPaid * preflightOutput})
	most := experiment.Reckon(&experiment.SpendPlan{
		Stages: stages, Warmup: j.Plan.Warmup, Seed: j.Plan.Seed, Sources: sources, Count: count, Caps: j.Target.Caps(), Longest: longest,
		Limits: &limits, Before: before,
	})
	told := findings.DryRun{
		Requests: most.Requests, Warmup: most.Warmup, Preflight: preflight, Canaries: alone, Graded: graded.Questions(), Windows: text.Requests(), Hypotheses: j.hypotheses(), Unbounded: most.Unbounded, Prompt: most.Prompt, Output: most.Output,
		MaxTokens: limits.Tokens, MaxCost: limits.Cost, Priced: limits.PriceIn > 0 || limits.PriceOut > 0,
		ByBytes: l.Tokenize == nil && (l.Prompt != "" || l.Dataset != ""),
	}
	told.Cost = limits.Price(told.Prompt, told.Output)
	if check != nil {
		told.Few = findings.FewCanaries(len(check.Set), j.Plan.SLO, j.Lang)
	}
	for _, line := range told.Lines(j.Lang) {
		fmt.Fprintln(j.Console.Out, line)
	}
	return nil
}

// LongestSweep returns how long a sweep sends at most.
func LongestSweep(c *sweep.Config) time.Duration {
	if c.Budget > 0 {
		return c.Budget
	}
	return time.Duration(sweep.MostStages(c)) * (c.StageMax + c.StageTime) // with the tail of each
}
