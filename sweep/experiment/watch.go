package experiment

import (
	"context"
	"errors"
	"slices"

	"llmsweep/sweep/rundir/store"
)

// Watch returns a context that also ends when the log can no longer be written. Its cause is then a [store.WriteError].
// What runs ends at once: what it measures from then on would be lost.
func (x *Experiment) Watch(ctx context.Context) (watched context.Context, stop func()) {
	watched, cancel := context.WithCancelCause(ctx)
	log, stopped := x.config.Log, make(chan struct{})
	go func() {
		select {
		case <-log.Broken():
			cancel(log.Failure())
		case <-stopped:
		}
	}()
	return watched, func() {
		close(stopped)
		cancel(nil)
	}
}

// joinErrors returns the errors as one, each text once. A failure to write stands for everything else that then fails.
func joinErrors(errs ...error) error {
	if broken := (*store.WriteError)(nil); errors.As(errors.Join(errs...), &broken) {
		return broken
	}
	var different []error
	for _, err := range errs {
		if err != nil && !slices.ContainsFunc(different, func(e error) bool { return e.Error() == err.Error() }) {
			different = append(different, err)
		}
	}
	return errors.Join(different...)
}
