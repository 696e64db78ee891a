package console

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"llmsweep/sweep/experiment"
)

// interrupter ends a command: its context ends at the first Ctrl-C, SIGTERM or SIGHUP. The second ends the process.
type interrupter struct {
	Ctx    context.Context
	cancel context.CancelCauseFunc
	first  time.Time // when the first signal came
	exit   func(code int)

	pipe sync.Once
}

// sameSignal is the time within which a second signal is taken for the first: timeout(1) sends one to the process and
// one to its group, and a terminal that is closed may send several.
const sameSignal = time.Second

// NewInterrupter begins to watch signals; stop ends that. A signal that was ignored when the process began, as nohup
// does it with SIGHUP, stays ignored.
func NewInterrupter() (in *interrupter, stop func()) {
	in = &interrupter{exit: os.Exit}
	in.Ctx, in.cancel = context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(s) {
			signal.Notify(signals, s)
		}
	}
	go in.watch(signals)
	return in, func() {
		signal.Stop(signals)
		in.cancel(nil)
		close(signals)
	}
}

func (in *interrupter) watch(signals <-chan os.Signal) {
	for range signals {
		switch {
		case in.first.IsZero():
			in.first = time.Now()
			in.Interrupt()
		case time.Since(in.first) > sameSignal:
			fmt.Fprintln(os.Stderr) // below the status line
			in.exit(Interrupted)
		}
	}
}

// Interrupt ends the context; what was measured is kept.
func (in *interrupter) Interrupt() { in.cancel(experiment.ErrInterrupted) }

// endByBrokenPipe makes a pipe whose reader has gone (head, a closed terminal) end the command as Ctrl-C does. By
// default it ends the process at the next line, which is right for commands that only print. SIGPIPE then comes for any
// file and socket, such as that of a reader of the live page: only standard output and standard error count.
func (in *interrupter) endByBrokenPipe() {
	in.pipe.Do(func() {
		broken := make(chan os.Signal, 1)
		signal.Notify(broken, syscall.SIGPIPE)
		go func() {
			for range broken {
				if readerGone(os.Stdout) || readerGone(os.Stderr) {
					in.Interrupt()
				}
			}
		}()
	})
}
