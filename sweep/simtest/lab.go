package simtest

import (
	"fmt"

	"llmsweep/client/sim"
)

// LabServer is one of the LLM servers of the lab.
type LabServer struct {
	*Trial
	Name string // begins with two digits
}

// Lab returns 36 LLM servers as people run them: models of 0.5B to 72B parameters on GPUs of three generations, prompts
// of 64 to 4096 tokens, answers of 16 to 1024, 8 to 256 slots, and some with mixed lengths, jitter, or a KV cache that
// is full before the slots are.
func Lab() (servers []LabServer) {
	model := func(name string, layers, hidden, heads, kv, dim int, params float64) sim.Model {
		return sim.Model{Name: name, Layers: layers, Hidden: hidden, Heads: heads, KVHeads: kv, HeadDim: dim,
			Vocab: 151936, Params: params, ActiveParams: params}
	}
	half := model("0.5B", 24, 896, 14, 2, 64, 0.63e9)
	oneAndHalf := model("1.5B", 28, 1536, 12, 2, 128, 1.777e9)
	for i, k := range []struct {
		preset         string
		model          sim.Model // instead of that of the preset
		prompt, output int
		slots          int // 0 for the default, as below
		chunk, kv      int // tokens
		spread, jitter float64
	}{
		{preset: "Qwen2-7B/L20", prompt: 512, output: 128},
		{preset: "Qwen2-7B/A10", prompt: 512, output: 128},
		{preset: "Qwen2-7B/A100", prompt: 512, output: 128},
		{preset: "Qwen2-7B/H100", prompt: 1024, output: 256},
		{preset: "Qwen2-7B/L20", prompt: 64, output: 256, slots: 64},
		{preset: "Qwen2-7B/L20", prompt: 2048, output: 64},
		{preset: "Qwen2-7B/A10/int4", prompt: 256, output: 512, slots: 32},
		{preset: "Qwen2-7B/L20", prompt: 128, output: 16, slots: 8},
		{preset: "Qwen2.5-14B/L20x2", prompt: 512, output: 128},
		{preset: "Qwen2.5-14B/A100", prompt: 1024, output: 128},
		{preset: "Qwen2.5-14B/H100", prompt: 512, output: 256, slots: 128},
		{preset: "Qwen2.5-14B/A10x2/int8", prompt: 256, output: 128, slots: 16},
		{preset: "Qwen2.5-32B/A100x2", prompt: 512, output: 128},
		{preset: "Qwen2.5-32B/L20x4/int4", prompt: 1024, output: 64},
		{preset: "Qwen2.5-32B/H100x2", prompt: 4096, output: 256},
		{preset: "Qwen2.5-32B/H100/int8", prompt: 256, output: 1024, slots: 64},
		{preset: "Qwen2-57B/A100x4", prompt: 512, output: 128},
		{preset: "Qwen2-57B/H100x4", prompt: 1024, output: 512, slots: 128},
		{preset: "Qwen2-57B/L20x4/int8", prompt: 256, output: 256, slots: 128},
		{preset: "Qwen2-72B/A100x4", prompt: 512, output: 128},
		{preset: "Qwen2-72B/H100x4", prompt: 2048, output: 128},
		{preset: "Qwen2-72B/H200x4", prompt: 1024, output: 64},
		{preset: "Qwen2-72B/L20x8/int4", prompt: 512, output: 256, slots: 64},
		{preset: "Qwen2-7B/A10", model: half, prompt: 1024, output: 128, slots: 64},
		{preset: "Qwen2-7B/L20", model: half, prompt: 256, output: 1024, slots: 128},
		{preset: "Qwen2-7B/A10", model: oneAndHalf, prompt: 2048, output: 128},
		{preset: "Qwen2-7B/L20", model: oneAndHalf, prompt: 256, output: 512, slots: 128},
		{preset: "Qwen2-7B/L20", prompt: 512, output: 128, kv: 25000},
		{preset: "Qwen2.5-14B/L20/int4", prompt: 512, output: 512, kv: 50000},
		{preset: "Qwen2-7B/A100", prompt: 1024, output: 512, chunk: 512},
		{preset: "Qwen2-7B/H100", prompt: 4096, output: 128, chunk: 8192},
		{preset: "Qwen2.5-32B/A100x4/int8", prompt: 64, output: 512},
		{preset: "Qwen2-7B/L20", prompt: 512, output: 128, spread: 0.5},
		{preset: "Qwen2.5-14B/A100", prompt: 1024, output: 256, spread: 0.5, jitter: 0.05},
		{preset: "Qwen2-72B/A100x8/int4", prompt: 256, output: 1024, slots: 256},
		{preset: "Qwen2-7B/A10", prompt: 4096, output: 16, jitter: 0.03},
	} {
		c, err := sim.Preset(k.preset)
		if err != nil {
			panic(err)
		}
		server := sim.MachineConfig{GPU: c.GPU, Model: c.Model, TP: c.TP, Quant: c.Quant, MaxNumSeqs: k.slots,
			MaxBatchedTokens: k.chunk, KVTokens: k.kv, Jitter: k.jitter, Seed: 7}
		if k.model.Name != "" {
			server.Model = k.model
		}
		server = server.WithDefaults()
		servers = append(servers, LabServer{
			&Trial{Server: server, Work: Fixed{k.prompt, k.output}, Spread: k.spread},
			fmt.Sprintf("%02d %s/%sx%d %d-%d s%d", i+1, server.Model.Name, server.GPU.Name, server.TP, k.prompt, k.output,
				server.MaxNumSeqs),
		})
	}
	return servers
}
