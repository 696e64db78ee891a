package main

// exitError is a failure with its own exit code. Its text is empty where everything has been said.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string { return e.err.Error() }

func (e *exitError) Unwrap() error { return e.err }

// usage marks an error as the caller's: exit code 2.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return &exitError{exitUsage, err}
}

// Exit codes.
const (
	exitDone        = 0
	exitFailed      = 1   // the run failed, or every request in it failed
	exitUsage       = 2   // the command line, a file or a URL is wrong
	exitMissed      = 3   // the run succeeded; an SLO, or a limit of --fail-if, was missed
	exitUndecided   = 4   // the run succeeded; it does not show whether an SLO, or a limit of --fail-if, is met
	exitInterrupted = 130 // interrupted, as shells report Ctrl-C; what was measured is kept
)

// exitWith returns an error with an exit code of its own.
func exitWith(code int, err error) error { return &exitError{code, err} }
