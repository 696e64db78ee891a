package main

import (
	"bytes"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// mostFrames is how many functions may lie between a command and what holds a stage: who looks for an error goes through all of them.
const mostFrames = 7

// TestFewFramesToAStage counts the functions between llmsweep sweep and what holds its stages.
func TestFewFramesToAStage(t *testing.T) {
	notInShort(t)
	virtually(t, func(t *testing.T, w *world) {
		var seen stacks
		c := w.console(&bytes.Buffer{}, &seen)
		if code := execute([]string{"sweep", "sim:", "--points", "1", "--stage-time", "40s", "--max-concurrency", "2", "--budget", "4m", "--no-selftest"}, c); code != 0 {
			t.Fatalf("exit %d", code)
		}
		if seen.n < 4 {
			t.Fatalf("only %d lines were printed while a stage was held", seen.n)
		}
		t.Logf("%d functions: %s", len(seen.longest), strings.Join(seen.longest, ", "))
		if len(seen.longest) > mostFrames {
			t.Errorf("%d functions lie between command and stage, at most %d may", len(seen.longest), mostFrames)
		}
	})
}

// stacks is written to while stages are held, and keeps the longest way from the command to there.
type stacks struct {
	n       int
	longest []string
}

// Write looks at the stack.
func (s *stacks) Write(b []byte) (int, error) {
	pcs := make([]uintptr, 100)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs)])
	var between []string
	held := false
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		switch name := f.Function[strings.LastIndex(f.Function, "/")+1:]; {
		case name == "load.Run":
			held = true
		case held && name == "llmsweep.(*sweepCmd).Run":
			if s.n++; len(between) > len(s.longest) {
				slices.Reverse(between)
				s.longest = between
			}
		case held:
			between = append(between, name)
		}
	}
	return len(b), nil
}
