package measure

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"llmsweep/sweep/rundir"
)

// TestIntervalsOfSessions: the turns of a session are alike, so that intervals of percentiles rest on sessions. Of 100
// sessions at a time of ten turns, whose TTFT is lognormal with a spread of 1 between sessions and 0.1 within them,
// most 95 % intervals hold the true value.
func TestIntervalsOfSessions(t *testing.T) {
	const (
		runs, talks, perTalk = 30, 100, 10
		between, within      = 1, 0.1
		scale                = 0.1 // seconds
	)
	spread := math.Hypot(between, within)
	truth := map[string]float64{"p50": scale, "p90": scale * math.Exp(1.2816*spread),
		"mean": scale * math.Exp(spread*spread/2)}
	holds, given := map[bool]map[string]int{true: {}, false: {}}, map[string]int{}
	for seed := range uint64(runs) {
		rng := rand.New(rand.NewPCG(seed, 7))
		w := Window{To: rundir.Duration(1000)}
		m := newMetrics(w, 0, tokenCounter{perChunk: 1}, false, nil, true)
		s := newSessions(w, nil)
		var all []*rundir.Record
		for session := range talks {
			own, start := between*rng.NormFloat64(), 10*rng.Float64()
			for turn := range perTalk {
				due := start + 10*float64(turn)
				first := due + scale*math.Exp(own+within*rng.NormFloat64())
				all = append(all, &rundir.Record{
					Seq: session, Turn: turn, Status: "ok", Due: rundir.Exactly(due), Sent: rundir.Exactly(due),
					FirstToken: rundir.Exactly(first),
					LastToken:  rundir.Exactly(first + 0.1), End: rundir.Exactly(first + 0.1), OutputTokens: rundir.Exactly(1),
				})
			}
		}
		slices.SortFunc(all, func(a, b *rundir.Record) int { return cmp.Compare(a.Due.Value(), b.Due.Value()) })
		for _, r := range all {
			m.add(r)
			s.add(r)
		}
		for _, bySession := range []bool{false, true} {
			var st rundir.Stage
			if m.sessions = nil; bySession {
				m.sessions = s
			}
			m.fill(&st)
			for name, want := range truth {
				ci, ok := st.TTFT.CI[name]
				if ok && ci[0] <= want && want <= ci[1] {
					holds[bySession][name]++
				}
				if ok && bySession {
					given[name]++
				}
			}
		}
	}
	t.Logf("of %d intervals hold the truth: by turns %v, by sessions %v of %v", runs, holds[false], holds[true], given)
	for name := range truth {
		if n, of := holds[true][name], given[name]; of < runs/2 || float64(n) < 0.9*float64(of) {
			t.Errorf("%s: %d of %d intervals hold the truth", name, n, of)
		}
	}
	if holds[false]["p50"] > 0.9*runs {
		t.Error("turns are not alike: the test shows nothing")
	}
}
