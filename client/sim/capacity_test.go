package sim

import (
	"flag"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"llmsweep/client/testkit"
)

var capacityConfigs = flag.Int("capacity-configs", 45, "random configurations to compare the capacity in")

// draw returns a random server and workload. Every third server has a cache too small for its slots.
func draw(rng *rand.Rand, i int) (MachineConfig, Workload) {
	models, gpus := Models(), GPUs()
	c := MachineConfig{
		GPU:          gpus[rng.IntN(len(gpus))],
		Model:        models[rng.IntN(len(models))],
		Quant:        []Quant{FP16, INT8, INT4}[rng.IntN(3)],
		TP:           1 << rng.IntN(3),
		MaxNumSeqs:   1 + rng.IntN(24),
		BlockTokens:  []int{1, 8, 16, 32}[rng.IntN(4)],
		StepOverhead: time.Duration(rng.IntN(10_000_000) + 1),
	}
	w := Workload{1 + rng.IntN(1<<(4+rng.IntN(8))), 1 + rng.IntN(1<<(1+rng.IntN(7)))}
	c.MaxBatchedTokens = c.MaxNumSeqs + rng.IntN(1<<(4+rng.IntN(8)))
	if i%3 == 0 {
		w = Workload{1 + rng.IntN(200), 16 + rng.IntN(100)}
	}
	need := w.PromptTokens + w.OutputTokens + c.BlockTokens
	c.KVTokens = need * (c.MaxNumSeqs + 1)
	if i%3 == 0 {
		c.KVTokens = need + rng.IntN(need*c.MaxNumSeqs)
	}
	return c, w
}

// measureBurst runs the scheduler with an endless queue, over 100 turnovers and 1000 requests, to compare.
func measureBurst(c MachineConfig, w Workload) (perSecond float64, preemptions int) {
	r := newBatch(c)
	ended := 0
	feed := func() {
		for r.Waiting() < 2*c.MaxNumSeqs {
			r.Add(countingEnds(w, &ended))
		}
	}
	until := func(goal int) {
		for ended < goal {
			feed()
			r.step()
		}
	}
	slots := min(c.MaxNumSeqs, max(1, c.KVTokens/(w.PromptTokens+w.OutputTokens)))
	until(500 + 10*slots)
	from, tokens := r.now, r.Stats().GenerationTokens
	until(ended + 1000 + 100*slots)
	return float64(r.Stats().GenerationTokens-tokens) / float64(w.OutputTokens) / (r.now - from).Seconds(),
		r.Stats().Preemptions
}

// measureOverload runs the scheduler with Poisson arrivals, to compare.
func measureOverload(c MachineConfig, w Workload, arriving float64) float64 {
	tokens, seconds := 0, 0.0
	for seed := range uint64(40) {
		rng, r, ended, next := rand.New(rand.NewPCG(seed, 7)), newBatch(c), 0, 0.0
		until := func(goal int) {
			for ended < goal {
				if r.Idle() {
					r.now = max(r.now, time.Duration(next*1e9)+1)
				}
				for next <= r.now.Seconds() {
					r.Add(countingEnds(w, &ended))
					next += rng.ExpFloat64() / arriving
				}
				r.step()
			}
		}
		until(4 * c.MaxNumSeqs)
		from, before := r.now, r.Stats().GenerationTokens
		until(ended + 300)
		tokens, seconds = tokens+r.Stats().GenerationTokens-before, seconds+(r.now-from).Seconds()
	}
	return float64(tokens) / float64(w.OutputTokens) / seconds
}

// countingEnds returns a request that is counted when it has ended.
func countingEnds(w Workload, ended *int) *Sequence {
	return &Sequence{Prompt: w.PromptTokens, Output: w.OutputTokens, Token: func(_ int, last bool) {
		if last {
			*ended++
		}
	}}
}

func TestCapacityIsWhatASaturatedEngineGives(t *testing.T) {
	if testing.Short() {
		t.Skip("a long simulation in one goroutine")
	}
	rng := rand.New(rand.NewPCG(7, 7))
	var preempting, spare, chunked int
	for i := range *capacityConfigs {
		c, w := draw(rng, i)
		got := CapacityOf(c, w)
		want, preemptions, most := 0.0, 0, 0.01
		if got.Preempts {
			want, preemptions = measureBurst(c, w)
		} else {
			want, most = measureOverload(c, w, overloadShare*got.RequestsPerSecond), 0.03
		}
		off := math.Abs(got.RequestsPerSecond/want - 1)
		if !(off < most) {
			t.Errorf("%d: capacity %.4f req/s, the scheduler gives %.4f (%.2f %% off)\n%+v\n%+v", i, got.RequestsPerSecond,
				want, off*100, w, c)
		}
		if preemptions > 0 {
			preempting++
		}
		if got.MeanBatch < 0.9*float64(c.MaxNumSeqs) {
			spare++
		}
		if w.PromptTokens > c.MaxBatchedTokens {
			chunked++
		}
	}
	if preempting < *capacityConfigs/10 || spare < *capacityConfigs/10 || chunked < *capacityConfigs/10 {
		t.Error("the configurations do not cover preemption, idle slots and chunked prompts")
	}
}

func TestSynchronousFiguresAreTheEnginesOwn(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	for i := range 25 {
		c, w := draw(rng, i)
		r := newBatch(c)
		var at []time.Duration
		r.Add(&Sequence{Prompt: w.PromptTokens, Output: w.OutputTokens, Token: func(int, bool) { at = append(at, r.now) }})
		for r.step() {
		}
		got := CapacityOf(c, w)
		if got.SyncTTFT != at[0] || got.SyncLatency != at[len(at)-1] {
			t.Errorf("%+v: TTFT %v, latency %v; the scheduler gives %v, %v", w, got.SyncTTFT, got.SyncLatency, at[0],
				at[len(at)-1])
		}
		if n := w.OutputTokens; n > 1 && got.SyncITL != (got.SyncLatency-got.SyncTTFT)/time.Duration(n-1) {
			t.Errorf("%+v: ITL %v does not agree with the others", w, got.SyncITL)
		}
	}
}

func TestCapacityOfAnImpossibleWorkload(t *testing.T) {
	for _, w := range []Workload{{}, {100, 0}, {40000, 10}} {
		if got := CapacityOf(demoConfig(t), w); got != (Capacity{}) {
			t.Errorf("%+v: %+v, want nothing", w, got)
		}
	}
}

// The demo is fast, and has far more slots than a single request can use.
func TestDemoPreset(t *testing.T) {
	k := CapacityOf(demoConfig(t), Workload{64, 16})
	ratio := k.RequestsPerSecond * k.SyncLatency.Seconds()
	if k.RequestsPerSecond < 100 || k.RequestsPerSecond > 200 || k.Latency > 400*time.Millisecond ||
		k.Latency < 2*k.SyncLatency || ratio < 10 || ratio > 15 {
		t.Errorf("%+v, ratio %.1f", k, ratio)
	}
}

// TestPublishedRows compares the synchronous rows of published vLLM tables for 512 -> 128 tokens with the model's. A
// roofline model is accurate to about a third.
func TestPublishedRows(t *testing.T) {
	for _, row := range []struct {
		preset string
		itl    float64 // ms
	}{
		{"Qwen2-7B/L20", 21.01}, {"Qwen2-7B/L20/int4", 7.72}, {"Qwen2-7B/L20x2", 13.28}, {"Qwen2-7B/A100", 11.55},
		{"Qwen2-7B/A100/int8", 7.86}, {"Qwen2.5-14B/L20", 36.43}, {"Qwen2.5-14B/L20x4", 12.72},
	} {
		c := testkit.Must(Preset(row.preset))
		got := CapacityOf(c, Workload{512, 128}).SyncITL.Seconds() * 1e3
		if ratio := got / row.itl; ratio < 0.67 || ratio > 1.5 {
			t.Errorf("%s: ITL %.2f ms, published %.2f", row.preset, got, row.itl)
		}
	}
}
