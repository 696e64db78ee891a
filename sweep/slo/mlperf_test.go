package slo

import (
	"testing"

	"llmsweep/sweep/rundir"
)

// TestEarlyStopping compares the rule with the tables of distribution-free tolerance limits (Wilks, 1941; Hahn and
// Meeker, "Statistical Intervals", table J.1): the fewest requests of which 0, 1, 2 or 3 may be beyond the limit at a
// confidence of 99 %.
func TestEarlyStopping(t *testing.T) {
	for text, fewest := range map[string][]int{"ttft:p90<1s": {44, 64, 81, 97}, "latency:p95<1s": {90, 130, 165, 198},
		"tpot:p99<1s": {459, 662, 838, 1001}} {
		term := terms(t, text)[0]
		for beyond, n := range fewest {
			for _, c := range []struct {
				requests int
				passes   bool
			}{{n - 1, false}, {n, true}} {
				s := &rundir.Stage{Goodput: &rundir.Goodput{Terms: []rundir.TermResult{{Term: text,
					Beyond: &rundir.Beyond{Count: beyond, Of: c.requests}}}}}
				e, ok := term.EarlyStopping(s)
				if !ok || e.Passes() != c.passes || e.Needs != n || e.Passes() != (e.Allowed == beyond) || !c.passes &&
					e.Allowed != beyond-1 {
					t.Errorf("%s, %d of %d: %+v, want %v from %d on", text, beyond, c.requests, e, c.passes, n)
				}
			}
		}
	}
}

// TestEarlyStoppingOfOthers tests that requests that were cut off count as beyond the limit, and that what is no
// percentile of requests has no verdict.
func TestEarlyStoppingOfOthers(t *testing.T) {
	for text, want := range map[string]bool{"ttft:p99<1s": true, "ttft:mean<1s": false, "errors<1%": false,
		"itl:p99<1s": false} {
		term := terms(t, text)[0]
		s := &rundir.Stage{Goodput: &rundir.Goodput{Terms: []rundir.TermResult{{Term: text, Beyond: &rundir.Beyond{Count: 1,
			Open: 2, Of: 838}}}}}
		if e, ok := term.EarlyStopping(s); ok != want || ok && (e.Passes() || e.Beyond != 3 || e.Allowed != 2 ||
			e.Needs != 1001) {
			t.Errorf("%s: %+v, %v", text, e, ok)
		}
		if _, ok := term.EarlyStopping(&rundir.Stage{}); ok {
			t.Errorf("%s: a verdict on a stage that was not judged", text)
		}
	}
}
