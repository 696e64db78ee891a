package main

import (
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// An interrupted measurement that is resumed keeps its whole stages, and prints the table of one that was not; of a
// sweep one with as many rows. The
// directory is refused to other commands meanwhile.
func TestResume(t *testing.T) {
	each(t, map[string]string{
		"sweep of two servers": "sweep sim:plain8 sim:plain8 --points 2 --stage-time 2s --max-concurrency 16 " +
			"--prompt-tokens 64 --output-tokens 16",
		"run of two servers": "run sim:demo $SLOW --concurrency 2,4,8 --duration 6s --prompt-tokens 64 --output-tokens 16",
		"graded run":         "run sim:plain8 --concurrency 2,4,8 --requests 60 --dataset $SUMS",
	}, func(t *testing.T, w *world, line string) {
		names := strings.NewReplacer("$SUMS", w.sums(30), "$SLOW", w.slow(), "$OUT", w.path("run"))
		args := strings.Fields(names.Replace(line + " --no-selftest --out $OUT"))
		w.must(args...)
		whole := open(t, w.path("run"))
		table, _ := w.must("report", w.path("run"), "--format", "markdown")
		last := whole.Stages[len(whole.Stages)*2/3]
		noError(t, os.RemoveAll(w.path("run")))
		w.cut(rundir.Duration((last.Started+last.Ended)/2), args...)
		cut := open(t, w.path("run"))
		w.exits(console.WrongUsage, "--force", args...)
		unlock, err := store.OS{}.Lock(w.path("run"))
		noError(t, err)
		w.exits(console.WrongUsage, "still being measured", "resume", w.path("run"))
		unlock()
		time.Sleep(time.Hour)
		w.must("resume", w.path("run"))
		got, _ := w.must("report", w.path("run"), "--format", "markdown")
		want, have := rows(table), rows(got)
		if strings.HasPrefix(line, "sweep") { // the row that was cut began on a busy server, and begins on an idle one again
			want, have = strconv.Itoa(strings.Count(want, "\n| ")), strconv.Itoa(strings.Count(have, "\n| "))
		}
		if have != want || !strings.Contains(rows(got), "| ") {
			t.Errorf("resumed:\n%s\nwhole:\n%s", got, table)
		}
		w.exits(console.Done, "was continued", "report", w.path("run"), "--all")
		now, kept, all, slow := open(t, w.path("run")), 0, 0, false
		for i, st := range now.Stages {
			due, completed := 0, 0.0
			for _, share := range st.Replicas {
				due, completed = due+share.Requests.Due, completed+share.Completed.Value()
			}
			if st.Replicas != nil && (due != st.Requests.Due ||
				math.Abs(completed/st.Rates.Completed.Value()-1) > 1e-9) {
				t.Errorf("%s: %d requests of %d, %v completed of %v", st.Name, due, st.Requests.Due, completed, st.Rates.Completed)
			}
			for _, n := range st.Warnings {
				slow = slow || n.Code == "replica.slow"
			}
			if g := st.Graded; g != nil {
				all += g.Answers
			}
			if i >= len(cut.Stages) || cut.Stages[i].State != rundir.Complete {
				continue
			}
			kept++
			if was := cut.Stages[i]; was.Started != st.Started || was.Requests != st.Requests ||
				was.Latency.Mean != st.Latency.Mean || inJSON(t, was.Graded) != inJSON(t, st.Graded) {
				t.Errorf("%s was whole, and has changed: %+v, %+v", st.Name, was, st)
			}
		}
		if slow != strings.Contains(line, "$SLOW") {
			t.Error("the slower server is named where there is none, or not named")
		}
		again := now.Stages[min(kept, len(now.Stages)-1)]
		if kept < 1 || kept == len(now.Stages) || len(again.Replicas) != len(now.Target.Replicas) {
			t.Errorf("%d stages of %d, %d replicas: nothing is tested", kept, len(now.Stages), len(now.Target.Replicas))
		}
		lines := 0
		if now.Grades == nil {
			return
		}
		for _, err := range store.Grades(w.path("run")) {
			noError(t, err)
			lines++
		}
		if g := now.Grades.All; g.Answers != all || g.Answers+g.Cut+g.Failed != lines {
			t.Errorf("%+v, %d answers in the stages, %d lines", g, all, lines)
		}
	})
}

// TestSpendingLimitsHoldAcrossAResume interrupts a run with a limit and continues it: what both parts spend together
// stays below the limit, and is what the server billed.
func TestSpendingLimitsHoldAcrossAResume(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		const most = 40_000 // tokens, each of which costs a millionth
		m, url := w.watched(simserver.Options{})
		args := append(brief("run", url, "--concurrency", "1,2,4,8", "--requests", "250", "--out", w.path("run")),
			"--max-cost", "0.04", "--price-in", "1", "--price-out", "1")
		w.cut(12*time.Second, args...)
		first := m.prompt + m.output
		if first < most/10 || first > most*8/10 {
			t.Fatalf("%d tokens billed in the first part: the interruption tests nothing", first)
		}
		w.must("resume", w.path("run"))
		run, all := open(t, w.path("run")), m.prompt+m.output
		if all > most || all < most*8/10 || run.Spent == nil || !run.Spent.Ended || run.State != rundir.Complete {
			t.Errorf("%d tokens billed, %d of them in the first part; %s, spent %+v", all, first, run.State, run.Spent)
		}
		s := run.Spent
		if told := s.PromptTokens + s.OutputTokens; told+s.UnsureTokens < all || told > all {
			t.Errorf("spent %+v, billed %d", s, all)
		}
		if s.Cost.Value() > 0.04 || s.Cost.Value() < float64(all)/1e6-1e-9 {
			t.Errorf("cost %v, billed %v", s.Cost.Value(), float64(all)/1e6)
		}
	})
}

// TestReportOfARunInProgress prints a run while it is measured: all formats say that it goes on, and none that it was
// killed.
func TestReportOfARunInProgress(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		done := make(chan int)
		go func() {
			code, _, _ := w.llmsweep(plainRun(w.path("run"))...)
			done <- code
		}()
		time.Sleep(6 * time.Second)
		for _, tt := range []struct{ lang, format, want string }{
			{"en", "console", "In progress"}, {"zh", "markdown", "进行中"}, {"en", "html", "In progress"},
		} {
			out, errs := w.must("report", w.path("run"), "--format", tt.format, "--lang", tt.lang)
			if !strings.Contains(out, tt.want) || strings.Contains(out+errs, "was killed") {
				t.Errorf("%s in %s:\n%s\n%s", tt.format, tt.lang, out[:min(len(out), 3000)], errs)
			}
		}
		if code := <-done; code != console.Done {
			t.Errorf("the run: exit %d", code)
		}
		if out, _ := w.must("report", w.path("run")); strings.Contains(out, "In progress") {
			t.Errorf("after its end:\n%s", out)
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
