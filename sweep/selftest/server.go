package selftest

import (
	"fmt"
	"io"
	"runtime/debug"
	"time"
)

// Phases of the streams of a level.
const (
	Uniform = PacedUniform // tokens spread evenly over the interval
	InStep  = PacedInStep  // all tokens at once, as servers send that batch
)

// model is the name of the model that the server pretends to have.
const model = "selftest"

// Serve runs the server of known truth on any free port of the loopback interface. It writes its address on the first line
// of out and serves until in ends.
func Serve(in io.Reader, out io.Writer) error {
	l, err := ListenPaced("127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	debug.SetGCPercent(400)
	s := NewPaced(PacedConfig{TTFT: 10 * time.Millisecond, Quantum: 200 * time.Microsecond, Model: model})
	go s.Serve(l) // until l is closed
	if _, err := fmt.Fprintln(out, l.Addr()); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, in)
	return err
}
