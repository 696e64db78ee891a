package main

import (
	"math"
	"strings"
	"testing"
)

// TestSessionRate: sessions begin at the rate asked for, and the report has it beside that of turns.
func TestSessionRate(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		out, _ := w.must("run", w.slow(), "--session-rate", "2", "--turns", "4", "--think-time", "exp:1s", "--prompt-tokens",
			"16", "--output-tokens", "4", "--no-selftest", "--plain", "--duration", "60s", "--out", w.path("a"))
		if !strings.Contains(out, "sessions/s") {
			t.Error(out)
		}
		stages, begun := open(t, w.path("a")).Stages, 0
		stage := stages[len(stages)-1]
		for _, r := range recordsOf(t, w.path("a")) {
			if r.Stage == stage.Name && r.Turn == 0 {
				begun++
			}
		}
		if turns := stage.Rates.Offered.Or(0); math.Abs(turns-8) > 1 || begun < 90 || begun > 150 {
			t.Errorf("%.2f turns/s, %d sessions in 60 s; want 8 and 120", turns, begun)
		}
	})
}
