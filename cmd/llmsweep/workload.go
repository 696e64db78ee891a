package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"llmsweep/client/note"
	"llmsweep/report"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/workload"
)

// loadFlags say what each request asks.
type loadFlags struct {
	PromptTokens string `name:"prompt-tokens" placeholder:"N" help:"Length of prompts (512), or mean=512,std=100,min=64,max=2048." group:"Workload"`
	OutputTokens string `name:"output-tokens" placeholder:"N" help:"Length of answers (128, or as in the dataset), likewise." group:"Workload"`
	Prompt       string `placeholder:"TEXT" help:"Send this text each time. A server that caches prefixes makes it look faster than it is." group:"Workload"`
	Dataset      string `type:"path" placeholder:"FILE" help:"Take prompts from a file: ShareGPT JSON, JSONL with prompt or messages, CSV with a header." group:"Workload"`
	DatasetRows  int    `name:"dataset-rows" default:"10000" placeholder:"N" help:"Draw so many rows of it (${default}), at most." group:"Workload"`
	MultiTurn    bool   `name:"multi-turn" help:"Take all turns of its conversations, not the first alone." group:"Workload"`
	PrefixTokens int    `name:"prefix-tokens" placeholder:"N" help:"Begin prompts with so many tokens that they share, in groups." group:"Workload"`
	PrefixGroups int    `name:"prefix-groups" default:"1" placeholder:"N" help:"How many such groups (${default})." group:"Workload"`
	Turns        string `placeholder:"N" help:"Conversations of so many turns that carry their history, or mean=4,std=2,min=1,max=10." group:"Workload"`
	TurnTokens   string `name:"turn-tokens" default:"64" placeholder:"N" help:"Length of each user message after the first (${default})." group:"Workload"`
	ThinkTime    string `name:"think-time" default:"1s" placeholder:"T" help:"Between an answer and the next turn: 2s, or exp:2s for exponential times of that mean." group:"Workload"`
	Tokenizer    string `type:"path" placeholder:"FILE" help:"A tokenizer.json: counts prompts where the server does not, and what the text of answers tokenizes to." group:"Workload"`
	Seed         uint64 `default:"42" help:"Repeats arrivals, lengths and words." group:"Workload"`
}

// load is what the flags came to.
type load struct {
	*loadFlags
	prompt, output rundir.Lengths // of the default where the flag was not given
	talk           workload.Talk
	tokenize       tokenize // nil where no tokenizer was named
}

// parse reads the flags' values.
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

// plain reports whether every request asks for the same lengths, give or take their spread.
func (l *load) plain() bool {
	return l.Prompt == "" && l.Dataset == "" && l.PrefixTokens == 0 && l.Turns == ""
}

// check refuses what does not go together.
func (l *load) check() error {
	sources := 0
	for _, given := range []bool{l.Prompt != "", l.Dataset != "", l.PrefixTokens != 0, l.Turns != ""} {
		if given {
			sources++
		}
	}
	switch {
	case sources > 1:
		return errors.New("--prompt, --dataset, --prefix-tokens and --turns exclude each other")
	case l.PrefixTokens < 0 || l.PrefixGroups < 1:
		return errors.New("--prefix-tokens must not be negative, and --prefix-groups at least 1")
	case l.DatasetRows < 1:
		return errors.New("--dataset-rows must be at least 1")
	case l.MultiTurn && l.Dataset == "":
		return errors.New("--multi-turn goes with --dataset")
	}
	return nil
}

// replay is a trace to be played, where --arrivals names one.
type replay struct {
	file  string
	speed float64
	rate  float64
	limit int
}

// open makes the workload. Where it needs to know what a text costs, it asks the server.
func (t *target) open(ctx context.Context, l *load, r *replay) (workload.Workload, error) {
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
	w := workload.NewSynthetic(l.prompt, l.output, l.Seed, costs)
	if costs != workload.Guess {
		return w, t.checkLength(ctx, w, l)
	}
	return w, nil
}

func (t *target) openDataset(ctx context.Context, l *load) (workload.Workload, error) {
	d, err := workload.Open(ctx, l.Dataset, workload.Options{
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
func (t *target) checkLength(ctx context.Context, w *workload.Synthetic, l *load) (err error) {
	var notes []note.Note
	t.counted, notes, err = w.Check(ctx, t.count, int(l.prompt.Mean))
	t.note(notes...)
	return err
}

// unusable returns a usage error; where a file has no usable row, it is in the words of a report.
func (t *target) unusable(err error) error {
	var file *workload.UnusableError
	if errors.As(err, &file) {
		err = errors.New(report.Note(file.Note, report.English))
	}
	return usage(err)
}
