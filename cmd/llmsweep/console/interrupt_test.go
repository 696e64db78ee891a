package console

import (
	"context"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/sweep/experiment"
)

// TestSignalsTwice checks that timeout's two SIGTERMs are one, and that a signal some time later ends the process.
func TestSignalsTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		signals, ended, released := make(chan os.Signal), 0, false
		in := &interrupter{exit: func(code int) { ended = code }}
		in.Ctx, in.cancel = context.WithCancelCause(t.Context())
		in.onEnd(func() { released = true })
		go in.watch(signals)
		defer close(signals)
		send := func(s os.Signal) { signals <- s; synctest.Wait() }
		send(syscall.SIGTERM)
		if context.Cause(in.Ctx) != experiment.ErrInterrupted {
			t.Error("the first signal does not interrupt")
		}
		send(syscall.SIGTERM)
		send(syscall.SIGHUP) // as a closed terminal sends both
		if ended != 0 || released {
			t.Errorf("ended with %d by signals that came together", ended)
		}
		time.Sleep(3 * time.Second)
		send(syscall.SIGTERM)
		if ended != Interrupted || !released {
			t.Errorf("a later signal: exit %d, terminal given back: %v", ended, released)
		}
	})
}
