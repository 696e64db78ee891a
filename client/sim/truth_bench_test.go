package sim

import (
	"fmt"
	"testing"
)

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
				CapacityOf(c, bc.work)
			}
		})
	}
}
