package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"llmsweep/client/note"
	simserver "llmsweep/client/sim/server"
	"llmsweep/sweep/simtest"
)

// TestContaminatedSweeps sweeps caching servers with a set of prompts twice: the first sweep is clean, the second finds
// the prompts of the first in the cache. The sets are of random size, and half of them begin alike. Two sweeps of words
// with one seed differ in the first word, and are clean.
func TestContaminatedSweeps(t *testing.T) {
	seeds := map[string]int{"words": -1}
	for i := range simtest.SampleSize(2, 100) {
		seeds[fmt.Sprint(i)] = i
	}
	each(t, seeds, func(t *testing.T, w *world, i int) {
		args := []string{"--points", "2"}
		if i >= 0 {
			rng := rand.New(rand.NewPCG(uint64(i), 27))
			prompts, words := 50+rng.IntN(200), 160+rng.IntN(160)
			args = []string{"--points", fmt.Sprint(2 + rng.IntN(2)), "--output-tokens", "8", "--seed",
				fmt.Sprint(1 + rng.IntN(1000)), "--dataset", w.promptSet(rng, prompts, words, rng.IntN(2)*words/4)}
		}
		if clean, contaminated := w.sweptTwice(args...); len(clean) > 0 || (len(contaminated) > 0) != (i >= 0) {
			t.Errorf("%q: the rows %q and %q are contaminated", args, clean, contaminated)
		}
	})
}

// sweptTwice sweeps a caching server twice with one seed, and returns the contaminated rows of each sweep, of which its
// cautions say too.
func (w *world) sweptTwice(flags ...string) (first, second []string) {
	w.t.Helper()
	config := simtest.Slowed(simtest.Preset(w.t, "demo"), 5)
	config.PrefixCache = true
	url, _ := w.server(w.simulation(config, simserver.Options{}))
	rows := func(name string) (all []string) {
		w.must(append([]string{"sweep", url, "--stage-time", "2s", "--warmup", "1", "--max-concurrency", "16", "--budget",
			"20s", "--no-selftest", "--plain", "--seed", "7", "--out", w.path(name)}, flags...)...)
		run := open(w.t, w.path(name))
		for i := range run.Stages {
			if h := run.Stages[i].Hits; h != nil && h.Contaminated.Known() {
				all = append(all, run.Stages[i].Name)
			}
		}
		if named := slices.ContainsFunc(run.Answer.Cautions,
			func(n note.Note) bool { return n.Code == "cache.contaminated-rows" }); named != (len(all) > 0) {
			w.t.Errorf("%s: %q are contaminated, cautions %v", name, all, run.Answer.Cautions)
		}
		return all
	}
	return rows("first"), rows("second")
}

// promptSet writes a dataset of n prompts of some words, of which the first are the same in all of them.
func (w *world) promptSet(rng *rand.Rand, n, words, shared int) string {
	var set strings.Builder
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
