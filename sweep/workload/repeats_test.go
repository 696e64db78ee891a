package workload

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/stats"
)

// A trace that is replayed against a server shares the prefixes of its hash_ids. By hand: the second prompt repeats
// block 0, 512 tokens; the third blocks 0 and 1, which is all of its 915; the others nothing.
func TestReplaysShareTheirPrefixes(t *testing.T) {
	file := filepath.Join(t.TempDir(), "trace.jsonl")
	if err := os.WriteFile(file, []byte(mooncake), 0o600); err != nil {
		t.Fatal(err)
	}
	spec := &Spec{PromptTokens: rundir.Lengths{Mean: 512}, OutputTokens: rundir.Lengths{Mean: 8},
		Replay: &Replay{File: file}}
	o, err := Open(t.Context(), spec, nil, &Guess)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for i, s := range simtest.TakeTexts(t, o.Stage("a"), 4) {
		if want := []int{0, 512, 915, 0}[i]; s.Repeats != want {
			t.Errorf("request %d repeats %d tokens, not %d", i, s.Repeats, want)
		}
		texts = append(texts, s.Turns[0].User)
	}
	if !strings.HasPrefix(texts[2], texts[0][:len(texts[0])/2]) || texts[3][:9] == texts[0][:9] {
		t.Error("the third prompt does not begin like the first, or the last one does")
	}
}

// Prefixes of a hit rate are drawn by Zipf's law, and their share of the prompts is the rate once each was sent.
func TestPrefixesByZipfsLaw(t *testing.T) {
	const groups, n = 8, 20_000
	counts := make([]float64, groups)
	rng := stats.Rand(1, "zipf", "a")
	for range n {
		counts[zipf(groups, rng)]++
	}
	sum := 0.0
	for k := range groups {
		sum += 1 / float64(k+1)
	}
	for k, got := range counts {
		want := n / float64(k+1) / sum
		if math.Abs(got-want) > 5*math.Sqrt(want) {
			t.Errorf("group %d is drawn %v times, not %.0f", k, got, want)
		}
	}
	w, err := newPrefixed(300, groups, rundir.Lengths{Mean: 500}, rundir.Lengths{Mean: 8}, 1, Guess)
	if err != nil {
		t.Fatal(err)
	}
	w.Zipf = true
	ideal, prompts := 0, 0
	for _, s := range simtest.TakeTexts(t, w.Stage("a"), 1000) {
		ideal, prompts = ideal+s.Repeats, prompts+s.Turns[0].PromptTokens
	}
	if share := float64(ideal) / float64(prompts); share < 0.59 || share >= 0.6 {
		t.Errorf("ideally %v of the prompts are hits, not just below 0.6", share)
	}
}

// The tokens that a hash id stands for follow from the lengths of prompts: 512 in Mooncake's traces, 64 here.
func TestBlocksOfATrace(t *testing.T) {
	for content, want := range map[string]float64{
		mooncake: 512,
		`{"timestamp": 0, "input_length": 250, "output_length": 5, "hash_ids": [1, 2, 3, 4]}
{"timestamp": 9, "input_length": 390, "output_length": 5, "hash_ids": [1, 2, 3, 4, 5, 6, 7]}
`: 64,
	} {
		tr, err := readTrace(t.Context(), text(t, content), traceOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if tr.block != want {
			t.Errorf("a hash id stands for %g tokens, not %g", tr.block, want)
		}
	}
}

// After the server's cache was emptied, what was sent before counts as new, of all workloads that repeat themselves.
func TestForgottenRepeats(t *testing.T) {
	mean := func(n float64) rundir.Lengths { return rundir.Lengths{Mean: n} }
	prefixes := &Spec{PromptTokens: mean(256), OutputTokens: mean(8), PrefixTokens: 128, PrefixGroups: 1}
	talk := *prefixes
	talk.Talking, talk.Talk = true, Talk{Turns: mean(2), First: mean(256), Later: mean(16), Output: mean(8)}
	file := filepath.Join(t.TempDir(), "set.jsonl")
	if err := os.WriteFile(file, []byte(`{"prompt": "`+strings.Repeat("river stone market ", 40)+`"}`),
		0o600); err != nil {
		t.Fatal(err)
	}
	trace := filepath.Join(t.TempDir(), "trace.jsonl")
	if err := os.WriteFile(trace, []byte(mooncake), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, spec := range map[string]*Spec{
		"prefixes": prefixes, "conversations": &talk,
		"dataset": {PromptTokens: mean(512), OutputTokens: mean(8), Dataset: file, Rows: 10},
		"trace":   {PromptTokens: mean(512), OutputTokens: mean(8), Replay: &Replay{File: trace}},
	} {
		o, err := Open(t.Context(), spec, nil, &Guess)
		if err != nil {
			t.Fatal(name, err)
		}
		repeats := func(stage string) (n int) {
			for _, s := range simtest.TakeTexts(t, o.Stage(stage), 2) {
				n += min(s.Repeats, 1)
			}
			return n
		}
		first := repeats("a")
		warm := repeats("b")
		Forget(o.Workload)
		if cold := repeats("c"); first != cold || warm <= first {
			t.Errorf("%s: %d of 2 repeat others at first, then %d, and %d once they are forgotten", name, first, warm, cold)
		}
	}
}
