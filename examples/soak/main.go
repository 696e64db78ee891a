// Command soak keeps many streams open for a long time and shows that llmsweep stays the same size: memory, goroutines and file
// descriptors each minute. The server runs in a process of its own. It exits with 1 where something grows.
//
//	go run ./examples/soak                                   # an hour with 1000 streams
//	go run ./examples/soak -streams 1000 -duration 10m
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/sweep"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/selftest"
)

// What may grow between the sample after a fifth of the time and the last.
const (
	growHeap       = 16 << 20 // bytes in use after a collection
	growGoroutines = 10
	growFiles      = 10
)

// words is the workload: short prompts, answers of a fixed length.
type words struct{ tokens int }

func (w words) Next() (load.Session, bool) {
	return load.Session{Turns: []load.Turn{{User: "hello", PromptTokens: 1, OutputTokens: w.tokens}}}, true
}

func main() {
	streams := flag.Int("streams", 1000, "streams at once")
	duration := flag.Duration("duration", time.Hour, "how long")
	rate := flag.Float64("rate", 5, "tokens per second of a stream")
	tokens := flag.Int("tokens", 100, "tokens of an answer")
	serve := flag.Bool("serve", false, "be the server; used by the program itself")
	flag.Parse()
	if *serve {
		log.Fatal(server(*rate))
	}
	if err := soak(*streams, *tokens, *rate, *duration); err != nil {
		fmt.Fprintln(os.Stderr, "soak:", err)
		os.Exit(1)
	}
}

// server prints its address and answers until standard input ends.
func server(rate float64) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		l.Close()
	}()
	every := time.Duration(float64(time.Second) / rate)
	s := selftest.NewPaced(selftest.PacedConfig{TTFT: 100 * time.Millisecond, ITL: every, Phase: selftest.PacedUniform, Model: "soak"})
	return s.Serve(l)
}

// startServer starts the server in another process, and returns its URL and what ends it.
func startServer(rate float64) (url string, stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, err
	}
	cmd := exec.Command(self, "-serve", "-rate", fmt.Sprint(rate))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return "", nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", nil, err
	}
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	stop = func() { in.Close(); cmd.Process.Kill(); cmd.Wait() }
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return "", nil, err
	}
	return "http://" + strings.TrimSpace(address), stop, nil
}

// soak measures for the duration, and watches.
func soak(streams, tokens int, rate float64, duration time.Duration) error {
	url, stop, err := startServer(rate)
	if err != nil {
		return err
	}
	defer stop()
	c, err := client.New(client.Options{URL: url, MaxConns: streams, Params: api.Params{Model: "soak", Fields: api.AllFields}})
	if err != nil {
		return err
	}
	defer c.CloseIdle()
	dir, err := os.MkdirTemp("", "llmsweep-soak-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	records, err := store.Create(dir + "/run")
	if err != nil {
		return err
	}
	defer records.Close()

	plan := sweep.Defaults()
	plan.Doer, plan.Log, plan.Warmup = c, records, experiment.Warmup{Requests: 1}
	plan.Sources = func(string) load.Source { return words{tokens} }
	var run rundir.Run
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	watched := make(chan []sample, 1)
	go func() { watched <- watch(ctx, url, duration) }()
	stage := experiment.NewStage(arrival.Closed{Concurrency: streams}, 0, duration)
	err = sweep.Run(ctx, plan, []experiment.Stage{stage}, &run)
	cancel()
	samples := <-watched
	if err != nil {
		return err
	}
	s := run.Stages[len(run.Stages)-1]
	fmt.Printf("%d requests ok, %d failed, %d in flight at the peak\n", s.Requests.OK, s.Requests.Error, s.Concurrency.Peak)
	if s.Requests.Error > 0 || s.Requests.OK == 0 {
		return fmt.Errorf("requests failed: %v", s.Errors)
	}
	return judge(samples)
}

// sample is the size of this process at an instant.
type sample struct {
	at                time.Duration
	resident, heap    uint64 // bytes; heap after a collection
	goroutines, files int
}

// watch samples at least ten times, and prints.
func watch(ctx context.Context, url string, duration time.Duration) (all []sample) {
	began := time.Now()
	fmt.Println("    time   resident       heap  goroutines  descriptors")
	every := min(max(duration/10, time.Second), time.Minute)
	for {
		select {
		case <-ctx.Done():
			return all
		case <-time.After(every):
		}
		if time.Since(began) > duration {
			return all // the stage drains
		}
		if r, err := http.Get(url + "/reset"); err == nil { // the server forgets what it sent
			io.Copy(io.Discard, r.Body)
			r.Body.Close()
		}
		s := now(time.Since(began))
		fmt.Printf("%8s  %6.1f MB  %6.1f MB  %10d  %11d\n", s.at.Round(time.Second), float64(s.resident)/1e6, float64(s.heap)/1e6, s.goroutines, s.files)
		all = append(all, s)
	}
}

// now returns the size of this process.
func now(at time.Duration) sample {
	s := sample{at: at, goroutines: runtime.NumGoroutine()}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s.heap = m.HeapAlloc
	if b, err := os.ReadFile("/proc/self/statm"); err == nil {
		var size, pages uint64
		fmt.Sscan(string(b), &size, &pages)
		s.resident = pages * uint64(os.Getpagesize())
	}
	if files, err := os.ReadDir("/proc/self/fd"); err == nil {
		s.files = len(files)
	}
	return s
}

// judge compares the last sample with the first.
func judge(all []sample) error {
	if len(all) < 3 {
		return fmt.Errorf("%d samples are too few to judge", len(all))
	}
	first, last := all[len(all)/5], all[len(all)-1] // after the warm-up
	fmt.Printf("from %s to %s: heap %+.1f MB, goroutines %+d, descriptors %+d\n", first.at.Round(time.Second), last.at.Round(time.Second),
		(float64(last.heap)-float64(first.heap))/1e6, last.goroutines-first.goroutines, last.files-first.files)
	switch {
	case last.heap > first.heap+growHeap:
		return fmt.Errorf("the heap grew by %d MB", (last.heap-first.heap)>>20)
	case last.goroutines > first.goroutines+growGoroutines:
		return fmt.Errorf("goroutines grew from %d to %d", first.goroutines, last.goroutines)
	case last.files > first.files+growFiles:
		return fmt.Errorf("descriptors grew from %d to %d", first.files, last.files)
	}
	return nil
}
