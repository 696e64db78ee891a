package sim

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// linear has step times for results by hand: a step takes 1 ms, and 0.1 ms for each token.
var linear = roofline{fixed: 1e-3, bodyToken: 1e-4}

// recorder notes when its tokens arrived.
type recorder struct {
	Sequence
	run  *batch
	at   []time.Duration
	done bool
}

func (l *recorder) token(n int, last bool) {
	if n != len(l.at)+1 || l.done {
		panic("a token is out of order")
	}
	l.at = append(l.at, l.run.now)
	l.done = last
}

// batch drives a scheduler through virtual time.
type batch struct {
	*Scheduler
	now time.Duration
}

func newBatch(cfg MachineConfig) *batch { return &batch{Scheduler: NewScheduler(cfg.WithDefaults())} }

// newLinear returns a batch with linear step times, and a large cache unless the configuration says otherwise.
func newLinear(cfg MachineConfig) *batch {
	if cfg.KVTokens == 0 {
		cfg.KVTokens = 1 << 20
	}
	b := newBatch(cfg)
	b.roofline = linear
	return b
}

func (r *batch) request(prompt, output int, prefix ...uint64) *recorder {
	l := &recorder{run: r}
	l.Sequence = Sequence{Token: l.token, Prompt: prompt, Output: output, Prefix: prefix}
	r.Add(&l.Sequence)
	return l
}

func (r *batch) step() bool {
	d, ok := r.Plan()
	r.now += d
	r.Complete()
	return ok
}

func (r *batch) finish() {
	for r.step() {
	}
}

func ms(values ...float64) []time.Duration {
	var out []time.Duration
	for _, v := range values {
		out = append(out, time.Duration(math.Round(v*1e6)))
	}
	return out
}

func wantTimes(t *testing.T, what string, got []time.Duration, want ...float64) {
	t.Helper()
	if diff := cmp.Diff(ms(want...), got); diff != "" {
		t.Errorf("%s: tokens at (-want +got):\n%s", what, diff)
	}
}

// When requests that arrive together get their tokens, worked out by hand.
func TestTokenInstants(t *testing.T) {
	for _, tc := range []struct {
		name        string
		config      MachineConfig
		requests    [][2]int    // prompt, output
		want        [][]float64 // ms
		preemptions int
	}{
		{"chunks of 8, 8 and 4: the first token ends the third step", MachineConfig{MaxBatchedTokens: 8, MaxNumSeqs: 4},
			[][2]int{{20, 3}}, [][]float64{{1.8 + 1.8 + 1.4, 6.1, 7.2}}, 0},
		{"all of the first, then it decodes beside chunks of 3, 3 and 2", MachineConfig{MaxBatchedTokens: 4, MaxNumSeqs: 4},
			[][2]int{{4, 5}, {8, 2}}, [][]float64{{1.4, 2.8, 4.2, 5.5, 6.7}, {5.5, 6.7}}, 0},
		{"the second waits for the first's 4 blocks", MachineConfig{BlockTokens: 4, KVTokens: 16},
			[][2]int{{12, 2}, {8, 1}}, [][]float64{{2.2, 3.3}, {3.3 + 1.8}}, 0},
		{"first come, first served, in two slots", MachineConfig{MaxNumSeqs: 2}, [][2]int{{4, 2}, {4, 2}, {4, 1}},
			[][]float64{{1.8, 3.0}, {1.8, 3.0}, {4.4}}, 0},
		// Step 1 takes both prompts. In step 2 the first needs a third block: none is free, the second goes, with one token
		// made. Its 8 tokens fit again only when the first is gone, after step 6; step 7 computes them anew.
		{"the youngest is preempted", MachineConfig{BlockTokens: 4, KVTokens: 16}, [][2]int{{8, 6}, {7, 4}},
			[][]float64{{2.5, 3.6, 4.7, 5.8, 6.9, 8.0}, {2.5, 8.0 + 1.8, 9.8 + 1.1, 10.9 + 1.1}}, 1},
	} {
		r := newLinear(tc.config)
		var all []*recorder
		for _, q := range tc.requests {
			all = append(all, r.request(q[0], q[1]))
		}
		r.finish()
		for i, l := range all {
			wantTimes(t, fmt.Sprint(tc.name, ": ", i), l.at, tc.want[i]...)
		}
		if last := all[len(all)-1]; r.totals.preemptions != tc.preemptions || last.Preemptions != tc.preemptions ||
			r.cache.Free() != r.cache.total {
			t.Errorf("%s: %d preemptions, %d of the last; %d blocks free", tc.name, r.totals.preemptions, last.Preemptions,
				r.cache.Free())
		}
	}
}

func TestCancel(t *testing.T) {
	r := newLinear(MachineConfig{MaxNumSeqs: 1})
	a, b, c := r.request(10, 50), r.request(10, 5), r.request(10, 1)
	r.step()
	if d, ok := r.Plan(); !ok {
		t.Fatal("nothing to do")
	} else {
		r.now += d
	}
	r.Cancel(&a.Sequence) // in the middle of a step
	r.Cancel(&b.Sequence) // while it waits
	r.Complete()
	if len(r.running) != 1 {
		t.Errorf("%d running before the step boundary, want 1", len(r.running))
	}
	r.finish()
	wantTimes(t, "canceled while running", a.at, 2.0)
	wantTimes(t, "canceled while waiting", b.at)
	wantTimes(t, "next", c.at, 2.0+1.1+2.0)
	if r.cache.Free() != r.cache.total || !r.Idle() {
		t.Errorf("%d of %d blocks free, idle %v", r.cache.Free(), r.cache.total, r.Idle())
	}
}

func TestPrefixCache(t *testing.T) {
	r := newLinear(MachineConfig{BlockTokens: 4, PrefixCache: true})
	a := r.request(10, 1, 1, 2)
	r.finish()
	b := r.request(10, 1, 1, 2) // two blocks known, 2 tokens computed
	r.finish()
	c := r.request(8, 1, 1, 2) // the last block holds the last token: computed
	r.finish()
	d := r.request(10, 1, 9, 2) // another beginning: nothing
	r.finish()
	wantTimes(t, "first", a.at, 2.0)
	wantTimes(t, "same", b.at, 2.0+1.2)
	wantTimes(t, "whole blocks", c.at, 3.2+1.4)
	wantTimes(t, "other", d.at, 4.6+2.0)
	if b.Cached != 8 || c.Cached != 4 || r.totals.prefixHits != 12 || r.totals.prefixQueries != 38 {
		t.Errorf("cached %d, %d; hits %d of %d; want 8, 4; 12 of 38", b.Cached, c.Cached, r.totals.prefixHits,
			r.totals.prefixQueries)
	}
}

// TestTheCacheForgetsWhatWasUsedLeastRecently fills a cache of six blocks by prompts of three.
func TestTheCacheForgetsWhatWasUsedLeastRecently(t *testing.T) {
	r := newLinear(MachineConfig{BlockTokens: 4, KVTokens: 6 * 4, PrefixCache: true})
	ask := func(prefix ...uint64) int {
		l := r.request(13, 1, prefix...) // three blocks that can be found, and one that cannot
		r.finish()
		return l.Cached
	}
	ask(1, 2, 3)
	ask(11, 12, 13) // takes the end of the first
	got := []int{ask(1, 2, 3), ask(1, 2, 3), ask(11, 12, 13)}
	if diff := cmp.Diff([]int{8, 12, 8}, got); diff != "" {
		t.Errorf("cached tokens (-want +got):\n%s", diff)
	}
}

// TestSequencesShareBlocks lets ten prompts that begin alike run in a cache that would hold two of them if each had
// blocks of its own.
func TestSequencesShareBlocks(t *testing.T) {
	r := newLinear(MachineConfig{BlockTokens: 4, KVTokens: 24 * 4, MaxNumSeqs: 10, PrefixCache: true})
	prefix := []uint64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	r.request(41, 1, prefix...)
	r.finish()
	for range 10 {
		r.request(41, 3, prefix...)
	}
	r.Plan()
	if n, used := r.Running(), r.Stats().KVUsage; n != 10 || math.Abs(used-20.0/24) > 1e-9 {
		t.Errorf("%d run, which use %.3f of the cache; want 10, which use 20 of 24 blocks", n, used)
	}
	r.Complete()
	r.finish()
	if r.cache.Free() != 24 {
		t.Errorf("%d of 24 blocks are free at the end", r.cache.Free())
	}
}

func TestJitterIsSeededAndHasMeanOne(t *testing.T) {
	total := func(seed uint64) time.Duration {
		r := newLinear(MachineConfig{Jitter: 0.3, Seed: seed})
		r.request(1, 5000)
		r.finish()
		return r.now
	}
	if a, b := total(1), total(1); a != b {
		t.Errorf("the same seed gives %v and %v", a, b)
	}
	if a, b := total(1), total(2); a == b {
		t.Errorf("two seeds give %v both", a)
	}
	// 5000 steps: the mean's standard error is 0.3/sqrt(5000) = 0.4 %.
	if mean := total(3).Seconds() / 5000; math.Abs(mean/1.1e-3-1) > 0.01 {
		t.Errorf("mean step %.4f ms, want 1.1", mean*1e3)
	}
}

// TestSchedulerInvariants gives random requests and cancellations to random schedulers, and checks invariants after
// each step.
func TestSchedulerInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := MachineConfig{MaxNumSeqs: rapid.IntRange(1, 6).Draw(t, "seqs"), BlockTokens: rapid.IntRange(1, 5).Draw(t,
			"block")}
		cfg.MaxBatchedTokens = cfg.MaxNumSeqs + rapid.IntRange(0, 20).Draw(t, "budget")
		cfg.KVTokens = cfg.BlockTokens * rapid.IntRange(1, 20).Draw(t, "blocks")
		cfg.PrefixCache = rapid.Bool().Draw(t, "prefixes")
		r := newLinear(cfg)
		var all []*recorder
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			prompt, output := rapid.IntRange(1, 30).Draw(t, "prompt"), rapid.IntRange(1, 10).Draw(t, "output")
			if r.cfg.Fits(prompt, output) == nil && rapid.Bool().Draw(t, "arrival") {
				all = append(all, r.request(prompt, output, someone(rapid.IntRange(0, 2).Draw(t, "who"),
					prompt/cfg.BlockTokens)...))
			}
			if len(all) > 0 && rapid.IntRange(0, 9).Draw(t, "cancel") == 0 {
				if l := all[rapid.IntRange(0, len(all)-1).Draw(t, "which")]; !l.done {
					r.Cancel(&l.Sequence)
				}
			}
			r.Plan()
			checkBooks(t, r.Scheduler)
			r.Complete()
		}
		r.finish()
		for i, l := range all {
			if !l.Canceled && len(l.at) != l.Output {
				t.Errorf("request %d got %d of %d tokens", i, len(l.at), l.Output)
			}
		}
		if r.cache.Free() != r.cache.total || !r.Idle() {
			t.Errorf("at the end %d of %d blocks are free, idle %v", r.cache.Free(), r.cache.total, r.Idle())
		}
	})
}

// someone returns the hashes of a prompt of one of several people: those of one begin alike.
func someone(who, blocks int) (prefix []uint64) {
	for b := range blocks {
		prefix = append(prefix, uint64(100*who+b))
	}
	return prefix
}

func checkBooks(t *rapid.T, e *Scheduler) {
	held, tokens := 0, 0
	shared := map[*kvPage]int{}
	for i, s := range e.running {
		held += s.blocks - len(s.pages)
		for _, p := range s.pages {
			shared[p]++
		}
		tokens += s.chunk
		if s.computed+s.chunk > s.blocks*e.cfg.BlockTokens {
			t.Errorf("%d tokens in %d blocks", s.computed+s.chunk, s.blocks)
		}
		if s.chunk == 0 || s.computed+s.chunk < s.length() && i < len(e.running)-1 {
			t.Errorf("sequence %d of %d is held up with a chunk of %d", i, len(e.running), s.chunk)
		}
	}
	for p, n := range shared {
		if p.users != n || e.cache.pages[p.hash] != p {
			t.Errorf("a page of %d sequences counts %d", n, p.users)
		}
	}
	held += len(shared)
	if held+e.cache.Free() != e.cache.total || len(e.cache.pages) != len(shared)+e.cache.idleCount ||
		tokens > e.cfg.MaxBatchedTokens || len(e.running) > e.cfg.MaxNumSeqs {
		t.Errorf("blocks %d held + %d free of %d; tokens %d; running %d", held, e.cache.Free(), e.cache.total, tokens,
			len(e.running))
	}
}
