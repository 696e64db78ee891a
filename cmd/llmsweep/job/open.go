package job

import (
	"context"
	"errors"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/sweep/workload"
)

// open makes the workload. It asks the server for the length of texts in tokens where that is needed.
func (t *Target) open(ctx context.Context, spec *workload.Spec) error {
	o, err := openWorkload(ctx, spec, t.count, nil, t.Lang)
	if err != nil {
		return err
	}
	t.addNotes(o.Notes...)
	t.Counted, t.Workload = o.Counted, o.Workload
	return nil
}

// openWorkload makes a workload. An error of the flags or of a file is a usage error.
func openWorkload(ctx context.Context, spec *workload.Spec, count workload.Counter, costs *workload.Calibration,
	l lang.Lang) (workload.Opened, error) {
	o, err := workload.Open(ctx, spec, count, costs)
	var unusable *workload.UnusableError
	if errors.As(err, &unusable) {
		return o, console.Usage(errors.New(findings.Note(unusable.Note, l)))
	}
	var wrongSpec *workload.SpecError
	if errors.As(err, &wrongSpec) {
		return o, console.Usage(err)
	}
	return o, err
}

func (t *Target) checkLength(ctx context.Context, w *workload.Synthetic, wanted int) error {
	counted, notes, err := w.Check(ctx, t.count, wanted)
	t.Counted = counted
	t.addNotes(notes...)
	return err
}
