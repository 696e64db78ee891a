package main

import (
	"testing"
	"time"

	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/fidelity"
	"llmsweep/sweep/grade"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// TestResumedAnswers interrupts a run with canaries and graded questions, and continues it: what was answered alone and in whole stages is kept, and not asked
// again.
func TestResumedAnswers(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		url, _ := w.server(w.differing(simserver.Options{}, "errs:20%,20%", "confuses:20%"))
		dir, began := w.path("cut"), time.Now()
		args := []string{"run", url, "--concurrency", "2,4,8", "--requests", "120", "--dataset", w.sums(30), "--graded", "30", "--warmup", "1", "--no-selftest",
			"--fidelity", "--canaries", tinyCanaries(w, 15), "--out"}
		w.must(append(args, w.path("whole"))...)
		took, last := time.Since(began), open(t, w.path("whole")).Stages[2]
		w.interruptAfter(took - time.Duration((last.Ended-last.Started)/2*float64(time.Second)))
		code, _, errs := w.llmsweep(append(args, dir)...)
		if code != console.Interrupted {
			t.Fatalf("exit %d\n%s", code, errs)
		}
		cut := open(t, dir)
		w.again()
		w.must("resume", dir)
		got := open(t, dir)
		if got.State != rundir.Complete || len(got.Stages) != 3 || len(cut.Stages) < 2 || len(cut.Stages) == 3 && cut.Stages[2].State == rundir.Complete {
			t.Fatalf("%s, %d stages after %d", got.State, len(got.Stages), len(cut.Stages))
		}
		if got.Fidelity == nil || got.Grades == nil {
			t.Fatal("no answers were judged")
		}
		if a, b := got.Fidelity.Alone, cut.Fidelity.Alone; a.Answers != 15 || a.Same != b.Same || a.Changes != b.Changes {
			t.Errorf("alone again: %+v, before %+v", a, b)
		}
		if a, b := got.Grades.Alone, cut.Grades.Alone; a != b || a.Answers+a.Cut != 30 {
			t.Errorf("graded alone: %+v, before %+v", a, b)
		}
		for i, s := range cut.Stages {
			now := got.Stages[i]
			if s.State != rundir.Complete {
				continue
			}
			if a, b := now.Fidelity, s.Fidelity; a == nil || a.Answers != b.Answers || a.Changes != b.Changes || a.Same != b.Same {
				t.Errorf("%s: canaries %+v, before %+v", s.Name, a, b)
			}
			if a, b := now.Graded, s.Graded; a == nil || a.Answers != b.Answers || a.Right != b.Right || a.Difference != b.Difference {
				t.Errorf("%s: graded %+v, before %+v", s.Name, a, b)
			}
		}
		asked := map[string]int{}
		for line, err := range store.Canaries(dir) {
			if err != nil {
				t.Fatal(err)
			}
			asked[line.Stage]++
		}
		for line, err := range store.Grades(dir) {
			if err != nil {
				t.Fatal(err)
			}
			asked[line.Stage]++
		}
		if asked[fidelity.Alone] != 15 || asked[fidelity.Again] != 15 || asked[grade.Alone] != 30 {
			t.Errorf("asked %v", asked)
		}
		for _, s := range got.Stages {
			if want := s.Fidelity.Answers + s.Fidelity.Failed + s.Graded.Answers + s.Graded.Cut + s.Graded.Failed; asked[s.Name] != want {
				t.Errorf("%s: %d lines of %d answers", s.Name, asked[s.Name], want)
			}
		}
	})
}
