package experiment

import (
	"context"
	"errors"
	"fmt"
	"time"

	"llmsweep/client/note"
)

// EndError ends a run before its plan is done. It is the server's failure, or the plan's, and no error of the client's
// own.
type EndError struct {
	Why  note.Note
	text string
}

// NewEndError returns an error with a note for run.json and a text for logs.
func NewEndError(why note.Note, text string) *EndError { return &EndError{why, text} }

// Error returns the text.
func (e *EndError) Error() string { return e.text }

func serverGone(stage string) error {
	return NewEndError(noteServerGone.New(stage), "the server stopped answering in "+stage)
}

// NothingDone returns the error that ends a run in which no request succeeded.
func NothingDone() error { return NewEndError(noteNothingDone.New(), "no request succeeded") }

// NothingDue returns the error that ends a run whose stages ended before the first request was due.
func NothingDue() error { return NewEndError(noteNothingDue.New(), "no request was due") }

// BudgetEnds is the error that ends a run whose budget leaves no time for a stage.
func BudgetEnds(budget time.Duration, stage string) error {
	return NewEndError(noteBudgetOver.New(budget, stage), fmt.Sprintf("the budget of %v ran out before %s", budget, stage))
}

// BudgetOver reports whether a run ended because its budget left no time for the next stage.
func BudgetOver(err error) bool {
	var planned *EndError
	return errors.As(err, &planned) && planned.Why.Is(noteBudgetOver)
}

func spendLimit(stage string) error {
	return NewEndError(noteSpendLimit.New(stage), "the limit on tokens or cost was reached in "+stage)
}

// ErrInterrupted is the cause to cancel an experiment's context with when it is to stop and keep what it has.
var ErrInterrupted = errors.New("interrupted")

// Interrupted reports whether an error is an interruption.
func Interrupted(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrInterrupted)
}

// Failure returns why a run failed.
func Failure(err error) note.Note {
	var planned *EndError
	if errors.As(err, &planned) {
		return planned.Why
	}
	return noteFailed.New(err)
}
