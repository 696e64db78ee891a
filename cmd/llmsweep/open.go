package main

import (
	"context"
	"errors"

	"llmsweep/client/note"
	"llmsweep/report/findings"
	"llmsweep/sweep/workload"
	"llmsweep/sweep/workload/recorded"
)

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
	return t.made(ctx, l, r, costs)
}

// made makes a workload of synthetic prompts, or of a trace.
func (t *target) made(ctx context.Context, l *workloadOptions, r *replay, costs workload.Calibration) (workload.Workload, error) {
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
	w := workload.NewSynthetic(l.prompt, l.output, l.Seed, costs)
	if costs != workload.Guess {
		return w, t.checkLength(ctx, w, l)
	}
	return w, nil
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
