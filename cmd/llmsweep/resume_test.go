package main

import (
	"strings"
	"testing"
	"time"

	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// plainSweep are the flags of a short sweep of two servers without random numbers.
func plainSweep(out string) []string {
	return []string{"sweep", "sim:plain8", "sim:plain8", "--points", "2", "--stage-time", "2s", "--max-concurrency", "16",
		"--prompt-tokens", "64", "--output-tokens", "16", "--no-selftest", "--out", out}
}

// An interrupted sweep of two servers that is resumed keeps its whole stages, and prints the table of one that was not.
// The directory is refused to other commands meanwhile.
func TestResume(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		began := time.Now()
		w.must(plainSweep(w.path("whole"))...)
		took := time.Since(began)
		table, _ := w.must("report", w.path("whole"), "--format", "markdown")
		w.cut(took*2/3, plainSweep(w.path("cut"))...)
		cut := open(t, w.path("cut"))
		w.exits(console.WrongUsage, "--force", plainSweep(w.path("cut"))...)
		unlock, err := store.OS{}.Lock(w.path("cut"))
		noError(t, err)
		w.exits(console.WrongUsage, "still being measured", "resume", w.path("cut"))
		unlock()
		time.Sleep(time.Hour)
		w.must("resume", w.path("cut"))
		got, _ := w.must("report", w.path("cut"), "--format", "markdown")
		if rows(got) != rows(table) || !strings.Contains(rows(got), "synchronous") {
			t.Errorf("resumed:\n%s\nwhole:\n%s", got, table)
		}
		w.exits(console.Done, "was continued", "report", w.path("cut"), "--all")
		now := open(t, w.path("cut"))
		for i, st := range cut.Stages {
			if again := now.Stages[i]; st.State == rundir.Complete && (again.Started != st.Started ||
				again.Requests != st.Requests || again.Latency.Mean != st.Latency.Mean) {
				t.Errorf("%s was whole, and has changed: %+v, %+v", st.Name, st, again)
			}
		}
		if n := len(cut.Stages); n < 2 || n >= len(now.Stages) || len(now.Target.Replicas) != 2 ||
			len(now.Stages[n].Replicas) != 2 {
			t.Errorf("%d stages of %d, %d replicas: nothing is tested", n, len(now.Stages), len(now.Target.Replicas))
		}
	})
}

// rows returns the tables of a report, without the gauges, which are read at other instants.
func rows(report string) string {
	var all []string
	report, _, _ = strings.Cut(report, "### Server metrics")
	for line := range strings.Lines(report) {
		if strings.HasPrefix(line, "|") {
			all = append(all, line)
		}
	}
	return strings.Join(all, "")
}
