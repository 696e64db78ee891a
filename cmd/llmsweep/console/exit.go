package console

import "errors"

// exitError is a failure with its own exit code. Its text is empty where everything has been said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }

func (e *exitError) Unwrap() error { return e.err }

// Usage marks an error as the caller's: exit code 2.
func Usage(err error) error {
	if err == nil {
		return nil
	}
	var failure interface{ Failure() }
	if errors.As(err, &failure) { // the command is right, and what it reads is not
		return err
	}
	return &exitError{WrongUsage, err}
}

// Exit codes.
const (
	Done        = 0
	Failed      = 1   // the run failed, or every request in it failed
	WrongUsage  = 2   // the command line, a file or a URL is wrong
	Missed      = 3   // the run succeeded; an SLO, or a limit of --fail-if, was missed
	Undecided   = 4   // the run succeeded; it does not show whether an SLO, or a limit of --fail-if, is met
	Interrupted = 130 // interrupted, as shells report Ctrl-C; what was measured is kept
)

// Code returns the exit code of an error.
func Code(err error) int {
	var e *exitError
	switch {
	case err == nil:
		return Done
	case errors.As(err, &e):
		return e.code
	}
	return Failed
}

// Exit returns an error with an exit code of its own.
func Exit(code int, err error) error { return &exitError{code, err} }
