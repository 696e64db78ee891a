package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/workload"
)

// loadFlags say what each request asks for.
type loadFlags struct {
	PromptTokens string `name:"prompt-tokens" placeholder:"N" help:"Prompt length in tokens (512), or a distribution: mean=512,std=100,min=64,max=2048." group:"Workload"`
	OutputTokens string `name:"output-tokens" placeholder:"N" help:"Answer length in tokens (128, or as in the dataset), or a distribution." group:"Workload"`
	Prompt       string `placeholder:"TEXT" help:"Send this text in each request. A server with a prefix cache then looks faster than it is." group:"Workload"`
	Dataset      string `type:"path" placeholder:"FILE" help:"Take prompts from a file: ShareGPT JSON, JSONL with prompt or messages, or CSV with a header." group:"Workload"`
	DatasetRows  int    `name:"dataset-rows" default:"10000" placeholder:"N" help:"Draw at most N rows of the dataset (${default})." group:"Workload"`
	MultiTurn    bool   `name:"multi-turn" help:"Take whole conversations of the dataset, not only their first turns." group:"Workload"`
	PrefixTokens int    `name:"prefix-tokens" placeholder:"N" positive:"" help:"Let the prompts of a group begin with the same N tokens." group:"Workload"`
	PrefixGroups int    `name:"prefix-groups" default:"1" placeholder:"N" help:"Number of such groups (${default})." group:"Workload"`
	Turns        string `placeholder:"N" help:"Conversations of N turns that carry their history, or a distribution: mean=4,std=2,min=1,max=10." group:"Workload"`
	TurnTokens   string `name:"turn-tokens" default:"64" placeholder:"N" help:"Length in tokens of each user message after the first (${default})." group:"Workload"`
	ThinkTime    string `name:"think-time" default:"1s" placeholder:"T" help:"Pause between an answer and the next turn: 2s, or exp:2s for exponential times of that mean (${default})." group:"Workload"`
	Tokenizer    string `type:"path" placeholder:"FILE" help:"tokenizer.json to count tokens with, where the server does not count them." group:"Workload"`
	Seed         uint64 `default:"42" placeholder:"N" help:"Random seed for arrivals, lengths and prompts (${default})." group:"Workload"`
}

// load holds the parsed values of loadFlags.
type load struct {
	*loadFlags
	prompt, output rundir.Lengths
	talk           workload.Talk
	tokenize       tokenize // nil without --tokenizer
}

// parse parses the flags, and refuses combinations that make no sense.
func (l *loadFlags) parse() (*load, error) {
	p := &load{loadFlags: l}
	var err error
	if p.prompt, err = workload.ParseLengths(cmp.Or(l.PromptTokens, "512")); err != nil {
		return nil, fmt.Errorf("--prompt-tokens: %w", err)
	}
	if p.output, err = workload.ParseLengths(cmp.Or(l.OutputTokens, "128")); err != nil {
		return nil, fmt.Errorf("--output-tokens: %w", err)
	}
	if p.talk.Later, err = workload.ParseLengths(l.TurnTokens); err != nil {
		return nil, fmt.Errorf("--turn-tokens: %w", err)
	}
	if p.talk.Think, err = workload.ParseThink(l.ThinkTime); err != nil {
		return nil, fmt.Errorf("--think-time: %w", err)
	}
	if l.Turns != "" {
		if p.talk.Turns, err = workload.ParseLengths(l.Turns); err != nil {
			return nil, fmt.Errorf("--turns: %w", err)
		}
	}
	if l.Tokenizer != "" {
		if p.tokenize, err = tokenizerFile(l.Tokenizer); err != nil {
			return nil, err
		}
	}
	p.talk.First, p.talk.Output = p.prompt, p.output
	return p, p.check()
}

// plain reports whether all requests draw their lengths from the same distributions.
func (l *load) plain() bool {
	return l.Prompt == "" && l.Dataset == "" && l.PrefixTokens == 0 && l.Turns == ""
}

// check refuses combinations that make no sense.
func (l *load) check() error {
	sources := 0
	for _, given := range []bool{l.Prompt != "", l.Dataset != "", l.PrefixTokens != 0, l.Turns != ""} {
		if given {
			sources++
		}
	}
	switch {
	case sources > 1:
		return errors.New("--prompt, --dataset, --prefix-tokens and --turns are different workloads: give one of them")
	case l.PrefixGroups < 1:
		return errors.New("--prefix-groups must be at least 1")
	case l.DatasetRows < 1:
		return errors.New("--dataset-rows must be at least 1")
	case l.MultiTurn && l.Dataset == "":
		return errors.New("--multi-turn needs --dataset")
	}
	return nil
}

// replay is the trace to replay, where --arrivals names one.
type replay struct {
	file  string
	speed float64
	rate  float64
	limit int
}

// open makes the workload. It asks the server for the length of texts in tokens where that is needed.
func (t *target) open(ctx context.Context, l *load, r *replay) (workload.Workload, error) {
	switch {
	case l.Prompt != "":
		return workload.Repeated{Text: l.Prompt, Output: l.output, Seed: l.Seed}, nil
	case l.Dataset != "":
		return t.openDataset(ctx, l)
	}
	costs, err := t.calibrate(ctx, int(l.prompt.Mean))
	if err != nil {
		return nil, err
	}
	switch {
	case r != nil:
		o := workload.TraceOptions{Speed: r.speed, Rate: r.rate, Limit: r.limit, Seed: l.Seed, Costs: costs}
		if l.PromptTokens != "" {
			o.Prompt = l.prompt
		}
		if l.OutputTokens != "" {
			o.Output = l.output
		}
		trace, err := workload.OpenTrace(ctx, r.file, o)
		if err != nil {
			return nil, usage(err)
		}
		for _, text := range trace.Notes() {
			t.note("%s", text)
		}
		return trace, nil
	case l.Turns != "":
		return workload.NewConversations(l.talk, l.Seed, costs), nil
	case l.PrefixTokens > 0:
		w, err := workload.NewPrefixed(l.PrefixTokens, l.PrefixGroups, l.prompt, l.output, l.Seed, costs)
		return w, usage(err)
	}
	w := workload.NewSynthetic(l.prompt, l.output, l.Seed, costs)
	if costs != workload.Guess {
		return w, t.checkLength(ctx, w, int(l.prompt.Mean))
	}
	return w, nil
}

func (t *target) openDataset(ctx context.Context, l *load) (workload.Workload, error) {
	d, err := workload.Open(ctx, l.Dataset, workload.Options{
		Rows: l.DatasetRows, Seed: l.Seed, Count: t.count, Output: l.output, ForceOutput: l.OutputTokens != "",
		MultiTurn: l.MultiTurn, Think: l.talk.Think,
	})
	if err != nil {
		return nil, usage(err)
	}
	for _, text := range d.Notes() {
		t.note("%s", text)
	}
	return d, nil
}

// calibrate measures how many tokens words cost, for prompts of the wanted length.
func (t *target) calibrate(ctx context.Context, wanted int) (workload.Calibration, error) {
	costs, err := workload.Calibrate(ctx, t.count, wanted)
	switch {
	case ctx.Err() != nil:
		return costs, context.Cause(ctx)
	case err != nil:
		t.note("prompt lengths are a guess of one token a word: %v", err)
		return workload.Guess, nil
	}
	return costs, nil
}

// checkLength lets the server count a few prompts, and notes a deviation.
func (t *target) checkLength(ctx context.Context, s *workload.Synthetic, wanted int) error {
	const samples = 3
	sum := 0
	for range samples {
		n, _, err := t.count(ctx, s.Sample(wanted))
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			t.note("the length of prompts could not be checked: %v", err)
			return nil
		}
		sum += n
	}
	counted := (sum + samples/2) / samples
	t.counted = counted
	if off := float64(counted-wanted) / float64(wanted); off > 0.01 || off < -0.01 {
		t.note("asked for prompts of %d tokens; the server counts %d", wanted, counted)
	}
	return nil
}
