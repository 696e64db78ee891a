package job

import (
	"context"
	"errors"

	"llmsweep/client/note"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"
	"llmsweep/report/findings"
	"llmsweep/sweep/workload"
)

// Replay is the trace to replay, where --arrivals names one.
type Replay struct {
	File  string
	Speed float64
	Rate  float64
	Limit int
}

// open makes the workload. It asks the server for the length of texts in tokens where that is needed.
func (t *Target) open(ctx context.Context, l *flags.WorkloadOptions, r *Replay) (workload.Workload, error) {
	switch {
	case l.Prompt != "":
		return workload.Repeated{Text: l.Prompt, Output: l.OutputLengths, Seed: l.Seed}, nil
	case l.Dataset != "":
		return t.openDataset(ctx, l)
	}
	costs, notes, err := workload.CalibrateOrGuess(ctx, t.count, int(l.PromptLengths.Mean))
	if err != nil {
		return nil, err
	}
	t.AddNotes(notes...)
	t.costs = costs
	return t.MakeWorkload(ctx, l, r, costs)
}

// MakeWorkload returns a workload of synthetic prompts, whose length is checked, or of a trace.
func (t *Target) MakeWorkload(ctx context.Context, l *flags.WorkloadOptions, r *Replay, costs workload.Calibration) (workload.Workload, error) {
	w, err := t.written(ctx, l, r, costs)
	if plain, ok := w.(*workload.Synthetic); ok && err == nil && costs != workload.Guess {
		return w, t.CheckLength(ctx, plain, l)
	}
	return w, err
}

// written makes a workload of synthetic prompts, or of a trace.
func (t *Target) written(ctx context.Context, l *flags.WorkloadOptions, r *Replay, costs workload.Calibration) (workload.Workload, error) {
	switch {
	case r != nil:
		o := workload.TraceOptions{Speed: r.Speed, Rate: r.Rate, Limit: r.Limit, Seed: l.Seed, Costs: costs}
		if l.PromptTokens != "" {
			o.Prompt = l.PromptLengths
		}
		if l.OutputTokens != "" {
			o.Output = l.OutputLengths
		}
		trace, err := workload.OpenTrace(ctx, r.File, o)
		if err != nil {
			return nil, t.UsageError(err)
		}
		t.AddNotes(trace.Notes()...)
		return trace, nil
	case l.Turns != "":
		return workload.NewConversations(l.Talk, l.Seed, costs), nil
	case l.PrefixTokens > 0:
		w, err := workload.NewPrefixed(l.PrefixTokens, l.PrefixGroups, l.PromptLengths, l.OutputLengths, l.Seed, costs)
		return w, console.Usage(err)
	}
	return workload.NewSynthetic(l.PromptLengths, l.OutputLengths, l.Seed, costs), nil
}

func (t *Target) openDataset(ctx context.Context, l *flags.WorkloadOptions) (workload.Workload, error) {
	d, err := workload.OpenDataset(ctx, l.Dataset, workload.DatasetOptions{
		Rows: l.DatasetRows, Seed: l.Seed, Count: t.count, Output: l.OutputLengths, ForceOutput: l.OutputTokens != "",
		MultiTurn: l.MultiTurn, Think: l.Talk.Think, Graded: l.Graded,
	})
	if err != nil {
		return nil, t.UsageError(err)
	}
	t.AddNotes(d.Notes()...)
	return d, nil
}

// CheckLength has the server count a few prompts as they will be sent.
func (t *Target) CheckLength(ctx context.Context, w *workload.Synthetic, l *flags.WorkloadOptions) (err error) {
	var notes []note.Note
	t.Counted, notes, err = w.Check(ctx, t.count, int(l.PromptLengths.Mean))
	t.AddNotes(notes...)
	return err
}

// UsageError returns err as a usage error; where a file has no usable row, it is in the words of a report.
func (t *Target) UsageError(err error) error {
	var file *workload.UnusableError
	if errors.As(err, &file) {
		err = errors.New(findings.Note(file.Note, t.Lang))
	}
	return console.Usage(err)
}
