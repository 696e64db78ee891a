package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"llmsweep/client/note"
	"llmsweep/client/sim"
	simserver "llmsweep/client/sim/server"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/simtest"
)

// TestContaminatedSweeps sweeps caching servers with a set of prompts twice: the first sweep is clean, the second finds
// the prompts of the first in the cache. The sets are of random size, and half of them begin alike.
func TestContaminatedSweeps(t *testing.T) {
	notInShort(t)
	t.Parallel()
	for i := range contaminatedSweeps {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			inBubble(t, t.TempDir(), func(t *testing.T, w *world) { contaminate(t, w, uint64(i)) })
		})
	}
}

// contaminate makes a clean sweep and a contaminated one, and reports what each says.
func contaminate(t *testing.T, w *world, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 27))
	config, err := sim.Preset("demo")
	if err != nil {
		t.Fatal(err)
	}
	config.PrefixCache = true
	url, stop := w.server(w.simulation(simtest.Slowed(config, 5), simserver.Options{}))
	defer stop()
	prompts, tokens := 50+rng.IntN(200), 160+rng.IntN(160)
	args := []string{"sweep", url, "--stage-time", "2s", "--points", fmt.Sprint(2 + rng.IntN(2)), "--warmup", "1",
		"--output-tokens", "8", "--max-concurrency", "16",
		"--no-selftest", "--plain", "--budget", "20s", "--seed", fmt.Sprint(1 + rng.IntN(1000)), "--dataset",
		w.promptSet(rng, prompts, tokens)}
	for k, name := range []string{"clean", "contaminated"} {
		w.must(append(slices.Clone(args), "--out", w.path(name))...)
		run := open(t, w.path(name))
		named := slices.ContainsFunc(run.Answer.Cautions,
			func(n note.Note) bool { return n.Code == "cache.contaminated-rows" })
		rows := 0
		for i := range run.Stages {
			if h := run.Stages[i].Hits; h != nil && h.Contaminated.Known() {
				rows++
			}
		}
		if want := k == 1; named != want || rows > 0 != want {
			t.Errorf("%s, %d prompts of %d words: %d of %d rows are contaminated, cautions %v; %s", name, prompts, tokens, rows,
				len(run.Stages), run.Answer.Cautions, hitsIn(run))
		}
	}
}

// promptSet writes a dataset of n prompts of some words, of which the first quarter is the same in all of them for
// every second set.
func (w *world) promptSet(rng *rand.Rand, n, words int) string {
	var set strings.Builder
	shared := rng.IntN(2) * words / 4
	for i := range n {
		var text strings.Builder
		for k := range words {
			number := k
			if k >= shared {
				number = rng.IntN(5000)
			}
			text.WriteString(simserver.Word(7, number))
		}
		fmt.Fprintf(&set, "{\"prompt\":%q}\n", fmt.Sprint(text.String(), i))
	}
	return w.write("set.jsonl", set.String())
}

// hitsIn lists the hits of a run's rows.
func hitsIn(run *rundir.Run) string {
	var all []string
	for i := range run.Stages {
		if h := run.Stages[i].Hits; h != nil {
			all = append(all, fmt.Sprintf("%s: ideal %.2f, reported %.2f, contaminated %.2f", run.Stages[i].Name,
				h.Ideal.Value(), h.Reported.Value(), h.Contaminated.Value()))
		}
	}
	return strings.Join(all, "; ")
}

// TestSweepsWithOneSeedAreClean sweeps a caching server twice with one seed. The words of the prompts are the same but
// the first, so that both sweeps have the block in the cache that the server's chat template fills, 3 % of a prompt,
// and nothing else.
func TestSweepsWithOneSeedAreClean(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		config, err := sim.Preset("demo")
		if err != nil {
			t.Fatal(err)
		}
		config.PrefixCache = true
		url, stop := w.server(w.simulation(config, simserver.Options{}))
		defer stop()
		for _, name := range []string{"first", "second"} {
			w.must("sweep", url, "--stage-time", "2s", "--points", "2", "--budget", "20s", "--no-selftest", "--plain", "--seed",
				"7", "--out", w.path(name))
			if hits := hitsIn(open(t, w.path(name))); !strings.Contains(hits, "reported 0.03, contaminated NaN") {
				t.Errorf("%s: %s", name, hits)
			}
			for r, err := range store.Records(w.path(name)) {
				if err != nil || r.IdealTokens > 0 || r.OK() && r.CachedTokens.Value() != float64(config.BlockTokens) {
					t.Fatalf("%s: %v of %v tokens were cached, want the %d of a block; ideal %d; %v", name, r.CachedTokens,
						r.PromptTokens, config.BlockTokens, r.IdealTokens, err)
				}
			}
		}
	})
}
