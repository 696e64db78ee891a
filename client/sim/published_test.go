package sim

import (
	"testing"
)

// TestPublishedFloors compares the synchronous rows of published vLLM tables for 512 -> 128 tokens with the model's. A
// roofline model is accurate to about a third.
func TestPublishedFloors(t *testing.T) {
	for _, row := range []struct {
		preset string
		itl    float64 // ms
	}{
		{"Qwen2-7B/L20", 21.01}, {"Qwen2-7B/L20/int4", 7.72}, {"Qwen2-7B/L20x2", 13.28}, {"Qwen2-7B/A100", 11.55},
		{"Qwen2-7B/A100/int8", 7.86}, {"Qwen2.5-14B/L20", 36.43}, {"Qwen2.5-14B/L20x4", 12.72},
	} {
		c, err := Preset(row.preset)
		if err != nil {
			t.Fatal(err)
		}
		got := CapacityOf(c, Workload{512, 128}).SyncITL.Seconds() * 1e3
		if ratio := got / row.itl; ratio < 0.67 || ratio > 1.5 {
			t.Errorf("%s: ITL %.2f ms, published %.2f", row.preset, got, row.itl)
		}
	}
}
