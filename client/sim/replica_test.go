package sim

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// watched notes the instants of a replica's tokens.
type watched struct {
	gaps  map[time.Duration]int
	ended int
}

func (w *watched) Gaps(_, length time.Duration, n int) { w.gaps[length] += n }
func (w *watched) Answered(*Visit)                     {}
func (w *watched) Ended(*Visit)                        { w.ended++ }

// TestAReplicaDoesWhatASimulationDoes gives both the same random requests, on servers whose slots, budgets or caches are too small: the first
// and the last token of each request come at the same nanosecond, and all gaps between tokens are the same.
func TestAReplicaDoesWhatASimulationDoes(t *testing.T) {
	demo, err := Preset("demo")
	if err != nil {
		t.Fatal(err)
	}
	small, moe := demo, demo
	demo.Jitter = 0.1
	small.KVTokens, small.Jitter = 1600, 0.05 // preempts
	if moe, err = Preset("Qwen2-57B-A14B/A100x2"); err != nil {
		t.Fatal(err)
	}
	moe.MaxNumSeqs, moe.KVTokens = 16, 4096
	caching := small
	caching.PrefixCache = true
	measured := MachineConfig{Costs: &Costs{Read: ReadCosts{Fixed: 5e-3, Context: 1e-6}, Compute: ComputeCosts{Token: 1e-4}}, MaxNumSeqs: 4, Latency: 3 * time.Millisecond}
	even := MachineConfig{Costs: &Costs{Read: ReadCosts{Fixed: 10e-3}}, MaxNumSeqs: 4} // requests arrive at the ends of steps
	for i, c := range []MachineConfig{demo, small, moe, caching, measured, even} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(i), 2))
			s, err := NewSimulation(c)
			if err != nil {
				t.Fatal(err)
			}
			w := &watched{gaps: map[time.Duration]int{}}
			r, err := NewReplica(c, 0, w)
			if err != nil {
				t.Fatal(err)
			}
			want := map[time.Duration]int{}
			var jobs []*Job
			var all []*Visit
			now := time.Duration(0)
			for range 1500 {
				now += time.Duration(rng.ExpFloat64() * 2e7)
				if rng.IntN(200) == 0 {
					now += 3 * time.Second // all may end
				}
				if c.Costs == even.Costs {
					now = now.Round(10 * time.Millisecond)
				}
				v := &Visit{Arrived: now, Prompt: 1 + rng.IntN(400), Output: 1 + rng.IntN(60)}
				if c.PrefixCache {
					for b := range v.Prompt / 16 {
						v.Prefix = append(v.Prefix, uint64(rng.IntN(3)*100+b))
					}
				}
				last := time.Duration(0)
				jobs = append(jobs, s.Add(v.Arrived, Request{PromptTokens: v.Prompt, OutputTokens: v.Output, Prefix: v.Prefix}, func(_ *Job, n int, at time.Duration) {
					if n > 1 {
						want[at-last]++
					}
					last = at
				}))
				r.Until(now)
				r.Add(v)
				all = append(all, v)
			}
			s.Finish()
			r.Finish()
			preempted := 0
			for k, j := range jobs {
				if v := all[k]; j.First != v.First || j.Last != v.Last || j.sequence.Preemptions != v.Preempted {
					t.Fatalf("request %d: %v to %v, want %v to %v", k, v.First, v.Last, j.First, j.Last)
				}
				preempted += j.sequence.Preemptions
			}
			for gap, n := range want {
				if w.gaps[gap] != n {
					t.Fatalf("%d gaps of %v, want %d", w.gaps[gap], gap, n)
				}
			}
			if len(want) != len(w.gaps) || w.ended != len(all) || r.InFlight(r.Now()) != 0 {
				t.Errorf("%d and %d lengths of gaps; %d ended, %d in flight", len(w.gaps), len(want), w.ended, r.InFlight(r.Now()))
			}
			if preempted == 0 && c.KVTokens == small.KVTokens {
				t.Error("nothing was preempted")
			}
		})
	}
}

// nothing is an observer that does nothing.
type nothing struct{}

func (nothing) Gaps(time.Duration, time.Duration, int) {}
func (nothing) Answered(*Visit)                        {}
func (nothing) Ended(*Visit)                           {}

// BenchmarkMillion simulates a million requests of 512 and 128 tokens on a 7B model at four fifths of what it sustains.
func BenchmarkMillion(b *testing.B) {
	for _, name := range []string{"Qwen2-7B/L20", "Qwen2-7B/H100"} {
		b.Run(name, func(b *testing.B) {
			c, err := Preset(name)
			if err != nil {
				b.Fatal(err)
			}
			c.Jitter = 0.05
			rate := 0.8 * CapacityOf(c, Workload{PromptTokens: 512, OutputTokens: 128}).RequestsPerSecond
			for b.Loop() {
				rng := rand.New(rand.NewPCG(1, 1))
				r, err := NewReplica(c, 0, nothing{})
				if err != nil {
					b.Fatal(err)
				}
				at := time.Duration(0)
				for range 1_000_000 {
					at += time.Duration(rng.ExpFloat64() / rate * 1e9)
					r.Until(at)
					r.Add(&Visit{Arrived: at, Prompt: 256 + rng.IntN(512), Output: 64 + rng.IntN(128)})
				}
				r.Finish()
				b.ReportMetric(float64(r.Usage().Steps), "steps")
			}
		})
	}
}
