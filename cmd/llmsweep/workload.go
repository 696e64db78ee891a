package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"llmsweep/client/note"
	"llmsweep/report/findings"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/workload"
	"llmsweep/sweep/workload/recorded"
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

// workloadOptions holds the parsed values of loadFlags.
type workloadOptions struct {
	*loadFlags
	prompt, output rundir.Lengths
	talk           workload.Talk
	tokenize       tokenize // nil without --tokenizer
}

// parse parses the flags, and refuses combinations that make no sense.
func (l *loadFlags) parse() (*workloadOptions, error) {
	p := &workloadOptions{loadFlags: l}
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
func (l *workloadOptions) plain() bool {
	return l.Prompt == "" && l.Dataset == "" && l.PrefixTokens == 0 && l.Turns == ""
}

// check refuses combinations that make no sense.
func (l *workloadOptions) check() error {
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
func (t *target) open(ctx context.Context, l *workloadOptions, r *replay) (workload.Workload, error) {
	switch {
	case l.Prompt != "":
		return workload.Repeated{Text: l.Prompt, Output: l.output, Seed: l.Seed}, nil
	case l.Dataset != "":
		return t.openDataset(ctx, l)
	}
	costs, notes, err := workload.CalibrateOrGuess(ctx, t.count, int(l.prompt.Mean))
	if err != nil {
		return nil, err
	}
	t.note(notes...)
	t.costs = costs
	return t.made(ctx, l, r, costs)
}

// made makes a workload of synthetic prompts, or of a trace. The length of prompts is checked.
func (t *target) made(ctx context.Context, l *workloadOptions, r *replay, costs workload.Calibration) (workload.Workload, error) {
	w, err := t.written(ctx, l, r, costs)
	if plain, ok := w.(*workload.Synthetic); ok && err == nil && costs != workload.Guess {
		return w, t.checkLength(ctx, plain, l)
	}
	return w, err
}

// written makes a workload of synthetic prompts, or of a trace.
func (t *target) written(ctx context.Context, l *workloadOptions, r *replay, costs workload.Calibration) (workload.Workload, error) {
	switch {
	case r != nil:
		o := recorded.TraceOptions{Speed: r.speed, Rate: r.rate, Limit: r.limit, Seed: l.Seed, Costs: costs}
		if l.PromptTokens != "" {
			o.Prompt = l.prompt
		}
		if l.OutputTokens != "" {
			o.Output = l.output
		}
		trace, err := recorded.OpenTrace(ctx, r.file, o)
		if err != nil {
			return nil, t.unusable(err)
		}
		t.note(trace.Notes()...)
		return trace, nil
	case l.Turns != "":
		return workload.NewConversations(l.talk, l.Seed, costs), nil
	case l.PrefixTokens > 0:
		w, err := workload.NewPrefixed(l.PrefixTokens, l.PrefixGroups, l.prompt, l.output, l.Seed, costs)
		return w, usage(err)
	}
	return workload.NewSynthetic(l.prompt, l.output, l.Seed, costs), nil
}

func (t *target) openDataset(ctx context.Context, l *workloadOptions) (workload.Workload, error) {
	d, err := recorded.Open(ctx, l.Dataset, recorded.Options{
		Rows: l.DatasetRows, Seed: l.Seed, Count: t.count, Output: l.output, ForceOutput: l.OutputTokens != "",
		MultiTurn: l.MultiTurn, Think: l.talk.Think,
	})
	if err != nil {
		return nil, t.unusable(err)
	}
	t.note(d.Notes()...)
	return d, nil
}

// checkLength has the server count a few prompts as they will be sent.
func (t *target) checkLength(ctx context.Context, w *workload.Synthetic, l *workloadOptions) (err error) {
	var notes []note.Note
	t.counted, notes, err = w.Check(ctx, t.count, int(l.prompt.Mean))
	t.note(notes...)
	return err
}

// unusable returns a usage error; where a file has no usable row, it is in the words of a report.
func (t *target) unusable(err error) error {
	var file *recorded.UnusableError
	if errors.As(err, &file) {
		err = errors.New(findings.Note(file.Note, t.lang))
	}
	return usage(err)
}
