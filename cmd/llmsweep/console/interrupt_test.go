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
		signals, ended := make(chan os.Signal), 0
		in := &interrupter{exit: func(code int) { ended = code }}
		in.Ctx, in.cancel = context.WithCancelCause(t.Context())
		go in.watch(signals)
		defer close(signals)
		send := func(s os.Signal) { signals <- s; synctest.Wait() }
		send(syscall.SIGTERM)
		if context.Cause(in.Ctx) != experiment.ErrInterrupted {
			t.Error("the first signal does not interrupt")
		}
		send(syscall.SIGTERM)
		send(syscall.SIGHUP) // as a closed terminal sends both
		if ended != 0 {
			t.Errorf("ended with %d by signals that came together", ended)
		}
		time.Sleep(3 * time.Second)
		send(syscall.SIGTERM)
		if ended != Interrupted {
			t.Errorf("a later signal: exit %d", ended)
		}
	})
}
