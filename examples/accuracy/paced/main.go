// Paced is a server of known truth for load generators, on the command line: see package llmsweep/sweep/selftest/paced. It
// serves until it is interrupted, and then prints what it sent.
//
//	GET /truth   what was sent since the start or the last reset, as JSON
//	GET /raw     the same, one JSON line per request
//	GET /reset   forgets it
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"
	"time"

	"llmsweep/sweep/selftest"
)

func main() {
	log.SetFlags(0)
	var c selftest.PacedConfig
	listen := flag.String("listen", "127.0.0.1:18200", "address")
	flag.DurationVar(&c.TTFT, "ttft", 100*time.Millisecond, "time from request to first token")
	flag.DurationVar(&c.ITL, "itl", 30*time.Millisecond, "time from token to token")
	mode := flag.String("mode", "uniform", "phases of streams: arrival, uniform or step")
	flag.DurationVar(&c.Quantum, "quantum", 100*time.Microsecond, "tokens that are due within this are sent together")
	flag.StringVar(&c.Model, "model", "tiny", "name of the model")
	flag.BoolVar(&c.RoleChunk, "role-chunk", false, "send the role in a chunk of its own")
	flag.IntVar(&c.Tokens, "tokens", 128, "length of an answer whose request asks for none")
	flag.Parse()
	var ok bool
	if c.Phase, ok = map[string]string{"arrival": selftest.PacedArrival, "uniform": selftest.PacedUniform, "step": selftest.PacedInStep}[*mode]; !ok {
		log.Fatalf("no mode is called %q", *mode)
	}
	if err := run(c, *listen); err != nil {
		log.Fatal(err)
	}
}

// run serves until it is interrupted.
func run(c selftest.PacedConfig, listen string) error {
	// One thread sleeps in a system call; the connections must run beside it even on one core.
	runtime.GOMAXPROCS(4)
	debug.SetGCPercent(400)
	l, err := selftest.ListenPaced(listen)
	if err != nil {
		return err
	}
	s := selftest.NewPaced(c)
	failed := make(chan error, 1)
	go func() { failed <- s.Serve(l) }()
	fmt.Fprintf(os.Stderr, "paced on http://%s: TTFT %v, ITL %v, %s\n", l.Addr(), c.TTFT, c.ITL, c.Phase)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	select {
	case err := <-failed:
		return err
	case <-stop:
	}
	out := json.NewEncoder(os.Stdout)
	out.SetIndent("", " ")
	return out.Encode(s.Truth(0))
}
