//go:build statistics

package cluster_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// Merging ten million records takes minutes, on one core.
func TestMergeTenMillion(t *testing.T) {
	const ranks, records, rate = 4, 10_000_000, 10_000.0
	dir := t.TempDir()
	l := arrival.Poisson{Rate: rate}
	var dirs []string
	for rank := range ranks {
		path := filepath.Join(dir, fmt.Sprint(rank))
		dirs = append(dirs, path)
		out, err := store.Create(path)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(1, uint64(rank)))
		gaps := make([]int64, 15)
		for seq := rank; seq < records; seq += ranks {
			at := float64(seq) / rate
			first := at + 0.02 + rng.ExpFloat64()*0.005
			last := first
			for i := range gaps {
				gaps[i] = 5000 + rng.Int64N(2000)
				last += float64(gaps[i]) / 1e6
			}
			r := rundir.Record{
				Stage: l.Name(), Seq: seq, Rank: rundir.Exactly(float64(rank)), Due: rundir.Exactly(at), Sent: rundir.Exactly(at + 1e-4), Headers: rundir.Exactly(first - 1e-3),
				FirstToken: rundir.Exactly(first), FirstAnswer: rundir.Exactly(first), LastToken: rundir.Exactly(last), End: rundir.Exactly(last), Status: "ok", HTTP: 200,
				AskedTokens: 16, PromptTokens: rundir.Exactly(64), OutputTokens: rundir.Exactly(16), TokenSource: "server", Finish: "length", GapsUS: gaps,
			}
			if err := out.Append(&r); err != nil {
				t.Fatal(err)
			}
		}
		run := &rundir.Run{
			Schema: rundir.Schema, State: rundir.Complete, Plan: rundir.Plan{Kind: rundir.KindRun, StageTime: 0, Tolerance: 0.05},
			Cluster: &rundir.Cluster{Source: rundir.SourceApart, Of: ranks, Ranks: []rundir.Rank{{Rank: rank, Valid: true, WallError: rundir.Exactly(1e-5)}}},
			Stages: []rundir.Stage{{
				Name: l.Name(), Kind: l.Kind(), Role: rundir.Single, State: rundir.Complete, Rate: rundir.Exactly(rate), Whole: true,
				Ranks: &rundir.StageRanks{N: ranks, Each: []rundir.StageRank{{Rank: rank, Late: rundir.Exactly(0)}}},
			}},
		}
		if err := out.Save(run); err != nil {
			t.Fatal(err)
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	run := merged(t, dirs, filepath.Join(dir, "merged"))
	st := run.Stages[0]
	t.Logf("%d records of %d ranks merged in %.0f s; %s, %.1f req/s, latency p99 %.4f s", st.Requests.Due, ranks, time.Since(began).Seconds(), st.Verdict,
		st.Rates.Completed.Value(), st.Latency.P99.Value())
	if st.Requests.OK != records {
		t.Errorf("%d requests", st.Requests.OK)
	}
}
