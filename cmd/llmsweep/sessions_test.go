package main

import (
	"math"
	"strings"
	"testing"

	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/rundir/store"
)

// TestSessionRate: sessions begin at the rate asked for, and the report has it beside that of turns.
func TestSessionRate(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		url, stop := w.server(w.simulated(simserver.Options{}))
		defer stop()
		args := []string{"run", url, "--session-rate", "2", "--turns", "4", "--think-time", "exp:1s", "--prompt-tokens",
			"16", "--output-tokens", "4", "--no-selftest", "--plain"}
		out, _ := w.must(append(args, "--duration", "100s", "--out", w.path("a"))...)
		if !strings.Contains(out, "sessions/s") {
			t.Error(out)
		}
		records, err := store.Open(w.path("a"))
		if err != nil {
			t.Fatal(err)
		}
		stage := records.Stages[len(records.Stages)-1]
		begun := 0
		for r, err := range store.Records(w.path("a")) {
			if err != nil {
				t.Fatal(err)
			}
			if r.Stage == stage.Name && r.Turn == 0 {
				begun++
			}
		}
		if turns := stage.Rates.Offered.Or(0); math.Abs(turns-8) > 0.8 || begun < 160 || begun > 260 {
			t.Errorf("%.2f turns/s, %d sessions in 100 s; want 8 and 200", turns, begun)
		}
		for _, more := range []string{"--rate 3", "--concurrency 2", "--arrivals ramp:1-2"} {
			if code, _, errs := w.llmsweep(append(args, strings.Fields(more)...)...); code != console.WrongUsage ||
				!strings.Contains(errs, "a load of its own") {
				t.Errorf("%s: exit %d, %s", more, code, errs)
			}
		}
		if code, _, errs := w.llmsweep("run", url, "--session-rate", "2"); code != console.WrongUsage ||
			!strings.Contains(errs, "needs the turns") {
			t.Errorf("exit %d, %s", code, errs)
		}
	})
}
