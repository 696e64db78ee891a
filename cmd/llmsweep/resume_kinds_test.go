package main

import (
	"strings"
	"testing"
	"time"

	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/rundir"
)

// TestSpendingLimitsHoldAcrossAResume interrupts a run with a limit and continues it: what both parts spend together
// stays below the limit, and is what the server billed.
func TestSpendingLimitsHoldAcrossAResume(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		const most = 40_000 // tokens, and so many millionths of the currency
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

// TestReportOfARunInProgress prints a run while it is measured: all formats say so, and nothing says that it was
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
