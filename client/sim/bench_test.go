package sim

import (
	"fmt"
	"testing"
)

// BenchmarkStep is the scheduler's cost of one step under load.
func BenchmarkStep(b *testing.B) {
	for _, batch := range []int{32, 256} {
		b.Run(fmt.Sprint(batch), func(b *testing.B) {
			c, err := Preset("Qwen2-7B/H100")
			if err != nil {
				b.Fatal(err)
			}
			c.MaxNumSeqs = batch
			e := newScheduler(c)
			ended := 0
			for range 2 * batch {
				l := &resubmitter{scheduler: e, ended: &ended}
				l.sequence = sequence{listener: l, prompt: 512, output: 128}
				e.add(&l.sequence)
			}
			b.ReportAllocs()
			for b.Loop() {
				e.plan()
				e.complete()
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
		})
	}
}

func BenchmarkCapacity(b *testing.B) {
	for _, bc := range []struct {
		preset string
		work   Workload
	}{
		{"demo", Workload{64, 16}},
		{"Qwen2-7B/L20", Workload{512, 128}},
		{"Qwen2-7B/H200", Workload{32000, 700}},
		{"Qwen2-57B-A14B/A100x2", Workload{512, 16000}},
		{"Qwen2.5-14B/L20", Workload{2000, 2000}},
	} {
		b.Run(fmt.Sprintf("%s/%d-%d", bc.preset, bc.work.PromptTokens, bc.work.OutputTokens), func(b *testing.B) {
			c, err := Preset(bc.preset)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				c.Capacity(bc.work)
			}
		})
	}
}
