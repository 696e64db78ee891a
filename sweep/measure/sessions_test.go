package measure

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"llmsweep/sweep/rundir"
)

// The turns of a session are alike, so that intervals of percentiles rest on sessions. Of 100 sessions at a time of ten
// turns, whose TTFT is lognormal with a spread of 1 between sessions and 0.1 within, most 95 % intervals hold the truth.
func TestIntervalsOfSessions(t *testing.T) {
	const runs, talks, perTalk, between, within, scale = 30, 100, 10, 1, 0.1, 0.1
	spread := math.Hypot(between, within)
	truth := map[string]float64{"p50": scale, "p90": scale * math.Exp(1.2816*spread),
		"mean": scale * math.Exp(spread*spread/2)}
	holds, given, byTurns := map[string]int{}, map[string]int{}, 0
	for seed := range uint64(runs) {
		rng := rand.New(rand.NewPCG(seed, 7))
		w := Window{To: rundir.Duration(1000)}
		m, s := newMetrics(w, 0, tokenCounter{perChunk: 1}, false, nil, true), newSessions(w, nil)
		var all []*rundir.Record
		for session := range talks {
			own, start := between*rng.NormFloat64(), 10*rng.Float64()
			for turn := range perTalk {
				due := start + 10*float64(turn)
				r := answer(due, due+scale*math.Exp(own+within*rng.NormFloat64()))
				r.Seq, r.Turn = session, turn
				all = append(all, r)
			}
		}
		slices.SortFunc(all, func(a, b *rundir.Record) int { return cmp.Compare(a.Due.Value(), b.Due.Value()) })
		for _, r := range all {
			m.add(r)
			s.add(r)
		}
		var turns, sessions rundir.Stage
		m.sessions = nil
		m.fill(&turns)
		m.sessions = s
		m.fill(&sessions)
		covers := func(st rundir.Stage, name string) (n, of int) {
			ci, ok := st.TTFT.CI[name]
			if ok {
				of = 1
			}
			if ok && ci[0] <= truth[name] && truth[name] <= ci[1] {
				n = 1
			}
			return n, of
		}
		n, _ := covers(turns, "p50")
		byTurns += n
		for name := range truth {
			n, of := covers(sessions, name)
			holds[name], given[name] = holds[name]+n, given[name]+of
		}
	}
	for name := range truth {
		if n, of := holds[name], given[name]; of < runs/2 || float64(n) < 0.9*float64(of) {
			t.Errorf("%s: %d of %d intervals hold the truth", name, n, of)
		}
	}
	if byTurns > 0.9*runs {
		t.Error("turns are not alike: the test shows nothing")
	}
}
