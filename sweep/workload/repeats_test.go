package workload

import (
	"math"
	"strings"
	"testing"

	"llmsweep/sweep/simtest"
	"llmsweep/sweep/stats"
)

// Prefixes of a hit rate are drawn by Zipf's law, and their share of the prompts is the rate once each was sent.
func TestPrefixesByZipfsLaw(t *testing.T) {
	const groups, n = 8, 20_000
	counts := make([]float64, groups)
	rng := stats.Rand(1, "zipf", "a")
	sum := 0.0
	for i := range n {
		counts[zipf(groups, rng)]++
		if i < groups {
			sum += 1 / float64(i+1)
		}
	}
	for k, got := range counts {
		want := n / float64(k+1) / sum
		if math.Abs(got-want) > 5*math.Sqrt(want) {
			t.Errorf("group %d is drawn %v times, not %.0f", k, got, want)
		}
	}
	w := newPrefixes(t, 300, groups, mean(500), 1, Guess)
	w.Zipf = true
	ideal, prompts := 0, 0
	for _, s := range simtest.TakeTexts(t, w.Stage("a"), 1000) {
		ideal, prompts = ideal+s.Repeats, prompts+s.Turns[0].PromptTokens
	}
	if share := float64(ideal) / float64(prompts); share < 0.59 || share >= 0.6 {
		t.Errorf("ideally %v of the prompts are hits, not just below 0.6", share)
	}
}

// After the server's cache was emptied, what was sent before counts as new, of all workloads that repeat themselves.
func TestForgottenRepeats(t *testing.T) {
	prefixes := &Spec{PromptTokens: mean(256), OutputTokens: mean(8), PrefixTokens: 128, PrefixGroups: 1}
	talk := *prefixes
	talk.Talking, talk.Talk = true, Talk{Turns: mean(2), First: mean(256), Later: mean(16), Output: mean(8)}
	set := file(t, "dataset.jsonl", `{"prompt": "`+strings.Repeat("river stone market ", 40)+`"}`)
	for name, spec := range map[string]*Spec{
		"prefixes": prefixes, "conversations": &talk, "dataset": {OutputTokens: mean(8), Dataset: set, Rows: 10},
		"trace": {PromptTokens: mean(512), OutputTokens: mean(8), Replay: &Replay{File: file(t, "trace.jsonl", mooncake)}},
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
		if file := o.Describe().Dataset; file != "" && file != name+".jsonl" {
			t.Errorf("the %s is called %s", name, file)
		}
	}
}
