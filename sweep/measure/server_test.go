package measure

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

func TestServerLoadCountsInTheWindow(t *testing.T) {
	nan := math.NaN()
	look := func(second int, running, waiting, kv, preempted float64) load.Reading {
		return load.Reading{At: time.Duration(second) * time.Second, Gauges: client.Gauges{
			Running: running, Waiting: waiting, KVUsage: kv, Preemptions: preempted, PrefixQueries: nan, PrefixHits: nan,
		}}
	}
	gauges := []load.Reading{look(1, 99, 99, 1, 0), look(11, 8, 0, 0.5, 3), look(12, 10, 2, 0.75, 3),
		look(13, 9, 4, 0.7, 8), look(21, 99, 99, 1, 99)}
	s := serverLoad(gauges, Window{From: 10 * time.Second, To: 20 * time.Second})
	near(t, "running", s.Running, 9)
	near(t, "most running", s.RunningMax, 10)
	near(t, "waiting", s.Waiting, 2)
	near(t, "KV cache", s.KVUsageMax, 0.75)
	near(t, "preemptions", s.Preemptions, 5)
	if !s.PrefixHitRate.IsZero() {
		t.Errorf("a hit rate of %v, and the server told none", s.PrefixHitRate)
	}
	if got := serverLoad(gauges, Window{From: 30 * time.Second, To: 40 * time.Second}); got != nil {
		t.Errorf("gauges out of nothing: %+v", got)
	}
}

// The engine's own means are of what came in the window; a server that does not tell has none.
func TestTheEnginesOwnView(t *testing.T) {
	look := func(second int, steps, sum, n float64) load.Reading {
		return load.Reading{At: time.Duration(second) * time.Second, Gauges: client.Gauges{
			Steps: steps, TTFT: client.Tally{Sum: sum, Count: n}, Queue: client.Tally{Sum: sum / 10, Count: n},
			ITL:     client.Tally{Sum: 2 * sum, Count: 20 * n},
			Latency: client.Tally{Sum: 3 * sum, Count: n},
		}}
	}
	w := Window{From: 10 * time.Second, To: 20 * time.Second}
	s := serverLoad([]load.Reading{look(1, 0, 0, 0), look(11, 400, 2, 10), look(15, 500, 9, 50), look(19, 720, 17, 70),
		look(21, 9999, 999, 99)}, w)
	near(t, "steps/s", s.Steps, 40)
	near(t, "TTFT", s.TTFT, 0.25)
	near(t, "queue", s.Queue, 0.025)
	near(t, "ITL", s.ITL, 0.025)
	near(t, "latency", s.Latency, 0.75)
	again := serverLoad([]load.Reading{look(11, 400, 2, 10), look(19, 3, 0.1, 1)}, w)
	silent := serverLoad([]load.Reading{{At: w.From}, {At: w.To - 1}}, w)
	if !again.TTFT.IsZero() || !again.Steps.IsZero() || !silent.TTFT.IsZero() || !silent.Steps.IsZero() {
		t.Errorf("began again: %+v; tells nothing: %+v", again, silent)
	}
}

// share returns the metrics of a server with a mean TTFT, within 2 %, and failures.
func share(ttft float64, due, failed int) rundir.ReplicaShare {
	return rundir.ReplicaShare{
		Requests: rundir.Requests{Due: due, Error: failed},
		TTFT:     rundir.Dist{N: due, Mean: rundir.Exactly(ttft), CI: map[string][2]float64{"mean": {0.98 * ttft, 1.02 * ttft}}},
	}
}

// The servers that differ from the others are named, and no others.
func TestUnlikeReplicas(t *testing.T) {
	mute := rundir.ReplicaShare{Requests: rundir.Requests{Due: 50, Error: 50}}
	for _, c := range []struct {
		name   string
		shares []rundir.ReplicaShare
		want   string // the notes, each with its server
	}{
		{"one", []rundir.ReplicaShare{share(1, 100, 50)}, "[]"},
		{"less than a fifth slower", []rundir.ReplicaShare{share(1, 99, 0), share(1.19, 99, 0)}, "[]"},
		{"a fifth slower", []rundir.ReplicaShare{share(1, 99, 0), share(1.21, 99, 0)}, "[replica.slow 2]"},
		{"bounds of 97.5 % meet", []rundir.ReplicaShare{share(1, 1000, 141), share(1, 1000, 100)}, "[]"},
		{"they do not", []rundir.ReplicaShare{share(1, 1000, 142), share(1, 1000, 100)}, "[replica.fails 1]"},
		{"few requests", []rundir.ReplicaShare{share(1, 2, 1), share(1, 3, 0)}, "[]"},
		{"no answers", []rundir.ReplicaShare{mute, share(1, 50, 0)}, "[replica.fails 1]"},
	} {
		var got []string
		for _, n := range replicaNotes(c.shares) {
			got = append(got, fmt.Sprint(n.Code, " ", n.Args["replica"]))
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A client is unfit beyond each limit. What the server packed is no fault of the client.
func TestUnfit(t *testing.T) {
	late := func(seconds float64) rundir.Dist { return rundir.Dist{P99: rundir.Exactly(seconds)} }
	for name, c := range map[string]struct {
		lag, delay, shared, cpu float64
		want                    string // the note's code; empty: fit
	}{
		"fit":            {0.049, 0.049, 0.9, 0.949, ""},
		"sent late":      {0.051, 0, 0, 0, noteSentLate.Code},
		"read late":      {0, 0.051, 0.21, 0, noteReadLate.Code},
		"each by itself": {0, 0.051, 0.19, 0, ""},
		"busy":           {0, 0, 0, 0.951, noteNoCPULeft.Code},
	} {
		st := rundir.Stage{Lag: late(c.lag), ReadDelay: late(c.delay), SharedChunks: rundir.Exactly(c.shared),
			ClientCPU: rundir.Exactly(c.cpu)}
		if got := unfit(&st); got.Code != c.want {
			t.Errorf("%s: %v, want %q", name, got, c.want)
		}
	}
}

// The server is named for tokens that came together only where the client read them in time.
func TestWhoSendsTokensTogether(t *testing.T) {
	for name, c := range map[string]struct {
		p90, p99, gap float64
		named         bool
	}{
		"read at once":                    {0.001, 0.002, 0.02, true},
		"read later than the next token":  {0.03, 0.04, 0.02, false},
		"the client was the limit":        {0.01, 0.06, 0.02, false},
		"a few reads were late, not many": {0.005, 0.04, 0.02, true},
	} {
		st := &rundir.Stage{
			ReadDelay: rundir.Dist{P90: rundir.Exactly(c.p90), P99: rundir.Exactly(c.p99)}, InterToken: rundir.Exactly(c.gap),
			SharedChunks: rundir.Exactly(0.5),
		}
		if readLate(st) == c.named {
			t.Errorf("%s: the server is named: %v, want %v", name, !c.named, c.named)
		}
	}
}

// The turns of a session are alike, so that intervals of percentiles rest on sessions. Of 100 sessions at a time of ten
// turns, whose TTFT is lognormal with a spread of 1 between sessions and 0.1 within, most 95 % intervals hold the
// truth.
func TestIntervalsOfSessions(t *testing.T) {
	const runs, talks, perTalk, between, within, scale = 30, 100, 10, 1, 0.1, 0.1
	spread := math.Hypot(between, within)
	truth := map[string]float64{"p50": scale, "p90": scale * math.Exp(1.2816*spread),
		"mean": scale * math.Exp(spread*spread/2)}
	holds, given, byTurns := map[string]int{}, map[string]int{}, 0
	for seed := range uint64(runs) {
		rng := rand.New(rand.NewPCG(seed, 7))
		w := Window{To: rundir.Duration(1000)}
		m := newMetrics(w, 0, tokenCounter{perChunk: 1}, false, nil, true)
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
		}
		var turns, sessions rundir.Stage
		s := m.sessions
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
