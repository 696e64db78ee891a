package main

import (
	"fmt"
	"strings"

	"llmsweep/client/sim"
	"llmsweep/client/sim/habit"
	simserver "llmsweep/client/sim/server"
)

// simCmd is llmsweep sim.
type simCmd struct {
	Preset     string `default:"demo" placeholder:"NAME" help:"MODEL/GPU[xCOUNT][/QUANT], such as Qwen2-7B/L20x2/int4, or demo, or plain8: 8 slots, a first token after 100 ms, one more each 10 ms. ${presets}"`
	Engine     string `default:"vllm" enum:"vllm,sglang,lmdeploy,llamacpp,ollama,tgi,triton,triton-vllm" help:"Whose APIs to speak: ${enum}."`
	Listen     string `default:"127.0.0.1:8000" placeholder:"ADDR" help:"Where to listen."`
	MaxNumSeqs int    `name:"max-num-seqs" placeholder:"N" help:"Requests that run at once (slots). Default: the preset's."`
	fixedTimes
	KVTokens       int      `name:"kv-tokens" placeholder:"N" help:"Size of the KV cache. Default: what the GPU has room for."`
	Jitter         float64  `placeholder:"SIGMA" help:"Lognormal spread of step times, 0 for none."`
	Seed           uint64   `default:"1" help:"Repeats jitter, answers and faults."`
	PrefixCache    bool     `name:"prefix-cache" help:"Remember prompts' beginnings."`
	APIKey         string   `name:"require-key" env:"LLMSWEEP_SIM_KEY" placeholder:"KEY" help:"Demand this key."`
	Strict         bool     `help:"Reject unknown body fields, as hosted APIs do."`
	ChunkTokens    int      `name:"chunk-tokens" default:"1" help:"Tokens to a chunk."`
	NoUsage        bool     `name:"no-usage" help:"Report no token counts."`
	Think          int      `placeholder:"N" help:"Reasoning tokens before each answer."`
	ReasoningField string   `name:"reasoning-field" default:"" enum:",reasoning_content,reasoning" placeholder:"NAME" help:"Their name in a chat, where the engine's own is not wanted: reasoning_content, reasoning."`
	Texts          string   `default:"" enum:",pieces,cumulative" placeholder:"KIND" help:"Texts of SGLang's and Triton's own streams: pieces, cumulative. Default: the engine's."`
	FullLength     bool     `name:"full-length" help:"Answers are as long as allowed, even where nothing forces them (Ollama, TGI, Triton)."`
	Habit          []string `sep:"none" placeholder:"NAME[:PARAMETERS]" help:"A bad habit of the server, listed above; may be repeated for several at once."`
	Faults         string   `placeholder:"KIND:P,.." help:"Faults and how often: 500:0.01,reset:0.005. A request can ask for one: X-Sim-Fault: KIND."`
	predictFlags
}

// Help is what --help says at its end.
func (simCmd) Help() string {
	return `Examples:
  llmsweep sim
  llmsweep sim --preset Qwen2-7B/L20x2/int4 --listen 127.0.0.1:8001
  llmsweep sim --engine sglang
  llmsweep sim --predict --only Qwen2-7B/L20
  llmsweep sim --faults 500:0.01,stall:0.001
  llmsweep sim --preset plain8 --habit sheds:8
  llmsweep sim --max-num-seqs 4 --first-token 200ms --per-token 20ms --habit drifts:0.05 --habit batches:16

` + habitHelp()
}

// Run serves until interrupted.
func (s *simCmd) Run(c *console) error {
	if s.Predict {
		return s.predict(c)
	}
	config, err := sim.Preset(s.Preset)
	if err != nil {
		return usage(err)
	}
	if s.MaxNumSeqs > 0 {
		config.MaxNumSeqs = s.MaxNumSeqs
	}
	if s.KVTokens > 0 {
		config.KVTokens = s.KVTokens
	}
	if err := s.fixedTimes.apply(&config); err != nil {
		return usage(err)
	}
	if config.Habits, err = habit.ParseList(s.Habit); err != nil {
		return usage(err)
	}
	config.Jitter, config.Seed, config.PrefixCache = s.Jitter, s.Seed, s.PrefixCache
	options := simserver.Options{
		APIKey: s.APIKey, Strict: s.Strict, ChunkTokens: s.ChunkTokens, NoUsage: s.NoUsage, Think: s.Think,
		ReasoningField: s.ReasoningField, Engine: s.Engine, Texts: s.Texts, FullLength: s.FullLength,
	}
	if options.Faults, err = simserver.ParseFaults(s.Faults); err != nil {
		return usage(err)
	}
	live, err := sim.Start(config)
	if err != nil {
		return usage(err)
	}
	defer live.Close()
	url, wait, err := simserver.Serve(c.ctx, s.Listen, simserver.New(live, options))
	if err != nil {
		return usage(fmt.Errorf("cannot listen on %s: %w", s.Listen, err))
	}
	fmt.Fprintf(c.out, "simulating %s as %s serves it on %s\n", s.Preset, s.Engine, url)
	if len(config.Habits) > 0 {
		fmt.Fprintf(c.out, "with the habits %s\n", config.Habits)
	}
	return wait()
}

// presets lists what a preset can be made of.
func presets() string {
	var models, gpus []string
	for _, m := range sim.Models() {
		models = append(models, m.Name)
	}
	for _, g := range sim.GPUs() {
		gpus = append(gpus, g.Name)
	}
	return "Models: " + strings.Join(models, ", ") + ". GPUs: " + strings.Join(gpus, ", ") + ". Quantizations: fp16, int8, int4."
}
