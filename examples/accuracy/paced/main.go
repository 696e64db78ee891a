//go:build linux

// Paced is a server of known truth for load generators: it streams OpenAI chat and text completions whose token k is
// due at the instant t0 + TTFT + k x ITL, t0 being when the kernel received the last byte of the request, and writes down
// when it really sent each token. It does not compute, queue or batch anything.
//
//	GET /truth   what was really sent since the start or the last reset, as JSON
//	GET /raw     the same, one JSON line a request
//	GET /reset   forget
//
// Phases (-mode): "arrival" is the schedule above; "uniform" delays each stream by another fraction of an ITL, so that
// the streams spread evenly over the interval; "step" delays it to the next multiple of the ITL, so that all
// streams get their tokens at once, as a batching engine sends them.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"syscall"
	"time"
)

type config struct {
	ttft, itl time.Duration
	mode      string
	quantum   time.Duration
	model     string
	role      bool // the role in a chunk of its own before the first token, as vLLM sends it
	tokens    int  // of an answer whose request names no number
}

func main() {
	listen := flag.String("listen", "127.0.0.1:18200", "address")
	var c config
	flag.DurationVar(&c.ttft, "ttft", 100*time.Millisecond, "from request to first token")
	flag.DurationVar(&c.itl, "itl", 30*time.Millisecond, "from token to token")
	flag.StringVar(&c.mode, "mode", "uniform", "arrival, uniform or step")
	flag.DurationVar(&c.quantum, "quantum", 100*time.Microsecond, "send together what is due within so long")
	cpuprofile := flag.String("cpuprofile", "", "write a profile of the server here at the end")
	flag.StringVar(&c.model, "model", "tiny", "the model's name")
	flag.BoolVar(&c.role, "role-chunk", false, "send the role in a chunk of its own")
	flag.IntVar(&c.tokens, "tokens", 128, "length of an answer where the request names none")
	flag.Parse()
	if *cpuprofile != "" {
		f, err := os.Create(*cpuprofile)
		if err != nil {
			log.Fatal(err)
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			log.Fatal(err)
		}
		defer pprof.StopCPUProfile()
	}

	// The pacer sleeps in a system call, pinned to a thread, and the connections must run beside it even on one core.
	runtime.GOMAXPROCS(4)
	debug.SetGCPercent(400)

	// Connections inherit the stamping, so that no request comes before it is on.
	stamping := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		e := c.Control(func(fd uintptr) {
			err = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_TIMESTAMPNS, 1)
		})
		return errors.Join(e, err)
	}}
	l, err := stamping.Listen(context.Background(), "tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	truth := newTruth(c)
	p := newPacer(c, truth)
	go p.run()
	go serve(l, &server{config: c, pacer: p, truth: truth})

	fmt.Fprintf(os.Stderr, "paced on http://%s: TTFT %v, ITL %v, %s\n", *listen, c.ttft, c.itl, c.mode)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, os.Interrupt)
	<-stop
	os.Stdout.Write(truth.summary(0))
}

func serve(l net.Listener, s *server) {
	for {
		c, err := l.Accept()
		if err != nil {
			log.Fatal(err)
		}
		go s.connection(c.(*net.TCPConn))
	}
}
