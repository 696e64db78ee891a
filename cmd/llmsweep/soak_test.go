//go:build statistics

package main

import (
	"io"
	"os"
	"runtime"
	"testing"
	"time"

	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/rundir"
)

// TestSoak runs for 24 hours of virtual time, over HTTP, with a server that fails in turn: memory, goroutines and
// descriptors stay the same. In an hour of it there are 7200 requests.
//
//	go test -tags statistics ./cmd/llmsweep -run TestSoak -v -timeout 60m
func TestSoak(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		faults, err := simserver.ParseFaults("500:1/97,429:1/89,reset:1/83,truncate:1/79,error:1/73,garbage:1/71,html:1/67")
		noError(t, err)
		url, _ := w.server(w.simulated(simserver.Options{Faults: faults}))
		type size struct {
			heap              uint64
			goroutines, files int
		}
		var sizes []size
		done := make(chan struct{})
		go func() {
			for {
				select {
				case <-time.After(time.Hour):
				case <-done:
					return
				}
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				s := size{heap: m.HeapAlloc, goroutines: runtime.NumGoroutine()}
				files, _ := os.ReadDir("/proc/self/fd")
				s.files = len(files)
				sizes = append(sizes, s)
			}
		}()
		args := brief("run", url, "--rate", "2", "--duration", "24h", "--max-error-rate", "1")
		if code := executeAgain(args, w.console(io.Discard, io.Discard)); code != console.Done { // it prints megabytes
			t.Errorf("exit %d", code)
		}
		close(done)
		run := open(t, w.path("llmsweep-run"))
		s := run.Stages[0]
		if run.State != rundir.Complete || s.Requests.Sent < 150_000 || s.Requests.Error == 0 || len(sizes) < 24 {
			t.Errorf("state %s, %d requests, %d samples", run.State, s.Requests.Sent, len(sizes))
		}
		// In the first hours each metric counts its values in a histogram of a fixed size in place of a list.
		first, last := sizes[8], sizes[len(sizes)-1]
		if last.heap > first.heap+1<<20 || last.goroutines > first.goroutines+20 || last.files > first.files+5 {
			t.Errorf("grew from %+v to %+v", first, last)
		}
	})
}
