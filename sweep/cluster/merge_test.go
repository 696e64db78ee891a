package cluster_test

import (
	"context"
	"math"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"llmsweep/sweep"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/cluster"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/simtest"
)

func TestMain(m *testing.M) { simtest.StatisticsMain(m) }

// measured runs a stage on one machine, or on ranks that run apart, and returns the directories. change changes the configuration of a rank.
func measured(t *testing.T, dir string, ranks int, l arrival.Load, requests int, known bool, change func(rank int, c *sweep.Config, run *rundir.Run)) (dirs []string) {
	t.Helper()
	simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
		start := time.Now().Add(5 * time.Second)
		var all sync.WaitGroup
		for rank := range max(1, ranks) {
			path := filepath.Join(dir, l.Name(), string(rune('a'+rank)))
			dirs = append(dirs, path)
			all.Go(func() {
				log, err := store.Create(path)
				if err != nil {
					t.Error(err)
					return
				}
				defer log.Close()
				c := sweep.Defaults()
				c.Doer, c.Log, c.Warmup = d, log, experiment.Warmup{}
				c.Sources = func(string) load.Source { return simtest.SameInAll(64, 16) }
				run := &rundir.Run{Workload: rundir.Workload{Seed: c.Seed}}
				if ranks > 0 {
					r := &cluster.ApartRank{Rank: rank, Ranks: ranks, Start: start, Seed: c.Seed, Error: func() (float64, bool) { return 0.0005, known }}
					run.Cluster, c.Hold = r.Describe(), r.Hold
				}
				window := 20 * time.Second
				if requests > 0 {
					window = 0
				}
				if change != nil {
					change(rank, &c, run)
				}
				if err := sweep.Run(context.WithoutCancel(t.Context()), c, []experiment.Stage{experiment.NewStage(l, requests, window)}, run); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
	})
	return dirs
}

// due returns when each request of a run was due, in nanoseconds, and which ranks sent some.
func due(t *testing.T, dir, stage string) (all map[int]int64, ranks map[int]bool) {
	t.Helper()
	all, ranks = map[int]int64{}, map[int]bool{}
	for r, err := range store.Records(dir) {
		if err != nil {
			t.Fatal(err)
		}
		if r.Stage != stage {
			continue
		}
		if _, twice := all[r.Seq]; twice {
			t.Errorf("request %d is there twice", r.Seq)
		}
		all[r.Seq] = int64(math.Round(r.Due.Value() * 1e9))
		if r.Rank.Known() {
			ranks[int(r.Rank.Value())] = true
		}
	}
	return all, ranks
}

func merged(t *testing.T, dirs []string, into string) *rundir.Run {
	t.Helper()
	out, err := store.Create(into)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	run, err := cluster.MergeRun(dirs, 0, out)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// Three ranks that ran apart, merged, sent what one machine sends, and show what it shows.
func TestMergedRanksShowWhatOneMachineShows(t *testing.T) {
	for _, c := range []struct {
		load     arrival.Load
		requests int
	}{
		{arrival.Poisson{Rate: 60}, 0}, {arrival.Constant{Rate: 40}, 400}, {arrival.Closed{Concurrency: 6}, 300},
	} {
		dir := t.TempDir()
		alone := measured(t, filepath.Join(dir, "alone"), 0, c.load, c.requests, true, nil)[0]
		parts := measured(t, filepath.Join(dir, "parts"), 3, c.load, c.requests, true, nil)
		run := merged(t, []string{parts[2], parts[0], parts[1]}, filepath.Join(dir, "merged"))
		one, err := store.Open(alone)
		if err != nil {
			t.Fatal(err)
		}
		a, b := one.Stages[0], run.Stages[0]
		want, _ := due(t, alone, a.Name)
		got, ranks := due(t, filepath.Join(dir, "merged"), a.Name)
		if c.load.MeanRate() == 0 { // a closed loop has no schedule: the number counts, and which
			for seq := range want {
				want[seq], got[seq] = 0, 0
			}
		} else if c.requests == 0 { // after the window, requests only keep the load on
			for _, all := range []map[int]int64{want, got} {
				for seq, at := range all {
					if at > int64(20*time.Second) {
						delete(all, seq)
					}
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || len(ranks) != 3 {
			t.Errorf("%s: ranks %v sent something else:\n%.500s", a.Name, ranks, diff)
		}
		for what, v := range map[string][2]rundir.Number{
			"completed": {a.Rates.Completed, b.Rates.Completed}, "output": {a.TokensPerS.Output, b.TokensPerS.Output}, "latency": {a.Latency.Mean, b.Latency.Mean},
			"TTFT p99": {a.TTFT.P99, b.TTFT.P99}, "ITL": {a.ITL.Mean, b.ITL.Mean}, "in flight": {a.Concurrency.Mean, b.Concurrency.Mean},
		} {
			if x, y := v[0].Value(), v[1].Value(); math.IsNaN(y) || math.Abs(x-y) > 0.05*x {
				t.Errorf("%s: %s is %v alone and %v merged", a.Name, what, x, y)
			}
		}
		if a.Verdict != b.Verdict || !b.Invalid.IsZero() || len(b.Ranks.Each) != 3 || !run.Client.Valid || run.Cluster.Source != rundir.SourceMerged {
			t.Errorf("%s: %s alone, %s merged; %v, %+v", a.Name, a.Verdict, b.Verdict, b.Invalid, b.Ranks)
		}
		if e := b.Ranks.Alignment.Value(); math.Abs(e-0.001) > 1e-9 {
			t.Errorf("clocks that are 0.5 ms off each agree to %v s", e)
		}
		t.Logf("%s: %d requests, %.2f/s alone, %.2f/s merged", a.Name, len(got), a.Rates.Completed.Value(), b.Rates.Completed.Value())
	}
}

// A part by itself is no result, and what clocks would have to show is absent where they are not known.
func TestUnknownClocks(t *testing.T) {
	dir := t.TempDir()
	parts := measured(t, dir, 2, arrival.Poisson{Rate: 40}, 0, false, nil)
	part, err := store.Open(parts[1])
	if err != nil || part.Stages[0].Invalid.Code != "cluster.part" {
		t.Errorf("%v, a part alone is %v", err, part.Stages[0].Invalid)
	}
	st := merged(t, parts, filepath.Join(dir, "merged")).Stages[0]
	if st.Verdict != rundir.Undecided || st.Concurrency.Mean.Known() || st.Drift.Value.Known() || st.Ranks.Alignment.Known() || !st.Latency.Mean.Known() {
		t.Errorf("%s, %v in flight, latency %v", st.Verdict, st.Concurrency.Mean, st.Latency.Mean)
	}
}

// Directories that are not all ranks of one experiment are refused, with the reason.
func TestRefusals(t *testing.T) {
	dir := t.TempDir()
	l := arrival.Poisson{Rate: 40}
	good := measured(t, filepath.Join(dir, "good"), 2, l, 40, true, nil)
	other := func(name string, change func(rank int, c *sweep.Config, run *rundir.Run)) []string {
		return measured(t, filepath.Join(dir, name), 2, l, 40, true, change)
	}
	seed := other("seed", func(_ int, _ *sweep.Config, run *rundir.Run) { run.Workload.Seed = 7 })
	server := other("server", func(_ int, _ *sweep.Config, run *rundir.Run) { run.Target.URL = "http://other" })
	start := other("start", func(_ int, _ *sweep.Config, run *rundir.Run) {
		run.Cluster.StartAt = run.Cluster.StartAt.Add(time.Minute)
	})
	stages := measured(t, filepath.Join(dir, "stages"), 2, arrival.Poisson{Rate: 41}, 40, true, nil)
	alone := measured(t, filepath.Join(dir, "alone"), 0, l, 40, true, nil)
	for _, c := range []struct {
		dirs []string
		why  string
	}{
		{good[:1], "rank 1 of 2 is missing"}, {good[1:], "rank 0 of 2 is missing"}, {[]string{good[0], good[1], good[1]}, "rank 1 is there twice"},
		{[]string{good[0], seed[1]}, "differ in the seed"}, {[]string{good[0], server[1]}, "differ in the server"}, {[]string{good[0], start[1]}, "differ in the start"},
		{[]string{good[0], stages[1]}, "differ in the stages"}, {[]string{good[0], alone[0]}, "not of a rank that ran apart"}, {[]string{dir}, "not a run directory"},
	} {
		if err := cluster.CheckMerge(c.dirs); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%v: %v, want %q", c.dirs, err, c.why)
		}
	}
	if err := cluster.CheckMerge(good); err != nil {
		t.Error(err)
	}
}
