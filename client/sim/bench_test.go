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
			e := NewScheduler(c)
			for range 2 * batch {
				s := &Sequence{Prompt: 512, Output: 128}
				token := func(_ int, last bool) {
					if last {
						*s = Sequence{Prompt: s.Prompt, Output: s.Output, Token: s.Token}
						e.Add(s)
					}
				}
				s.Token = token
				e.Add(s)
			}
			b.ReportAllocs()
			for b.Loop() {
				e.Plan()
				e.Complete()
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "steps/s")
		})
	}
}
