package main

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"llmsweep/client/sim"
	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"
)

// simAddress is where sim listens unless told otherwise: where vLLM does.
const simAddress = "127.0.0.1:8000"

// simCmd is llmsweep sim.
type simCmd struct {
	Preset     string `default:"demo" placeholder:"NAME" help:"What to simulate: demo, plain8 (8 slots, a first token after 100 ms, then one each 10 ms), or MODEL/GPU[xCOUNT][/QUANT] such as Qwen2-7B/L20x2/int4. ${presets}"`
	Engine     string `default:"vllm" enum:"${engines}" placeholder:"NAME" help:"Engine whose APIs to speak (${default}): vllm, sglang, anthropic (only /v1/messages)."`
	Listen     string `default:"${listen}" placeholder:"ADDRESS" help:"Address and port to listen on (${default})."`
	MaxNumSeqs int    `name:"max-num-seqs" placeholder:"N" positive:"" help:"Most requests in one batch (slots). Default: the preset's."`
	fixedTimes
	Jitter         float64  `placeholder:"SIGMA" help:"Spread of step times: sigma of a log-normal distribution. Default: 0, none."`
	Seed           uint64   `default:"1" placeholder:"N" help:"Random seed for jitter, answers and faults (${default})."`
	PrefixCache    bool     `name:"prefix-cache" help:"Simulate a prefix cache: prompts that begin alike share blocks of the KV cache, and those used least recently are forgotten first."`
	APIKey         string   `name:"require-key" env:"LLMSWEEP_SIM_KEY" placeholder:"KEY" help:"Refuse requests without this API key."`
	Strict         bool     `help:"Refuse unknown fields in request bodies, as hosted APIs do."`
	ChunkTokens    int      `name:"chunk-tokens" default:"1" placeholder:"N" help:"Tokens per chunk of the stream (${default})."`
	NoUsage        bool     `name:"no-usage" help:"Report no token counts."`
	Think          int      `placeholder:"N" positive:"" help:"Send N reasoning tokens before each answer."`
	NaturalTokens  float64  `name:"natural-tokens" placeholder:"N" positive:"" help:"Mean length in tokens of answers that end by themselves, reasoning left out (log-normal). Default: evenly between a fifth and all of the longest allowed length."`
	ReasoningField string   `name:"reasoning-field" default:"" enum:",reasoning_content,reasoning" placeholder:"NAME" help:"Name of the field that holds them in a chat: reasoning_content or reasoning. Default: the engine's."`
	Texts          string   `default:"" enum:",pieces,cumulative" placeholder:"KIND" help:"Texts in streams of SGLang's /generate: pieces or cumulative. Default: cumulative."`
	FullLength     bool     `name:"full-length" help:"Let answers be as long as allowed, also where the API cannot ask for that (messages)."`
	Habit          []string `sep:"none" placeholder:"NAME:VALUES" help:"Bad habit of the server; see the list above. May be repeated."`
	Faults         string   `placeholder:"KIND:P,.." help:"Faults and their probabilities: 500:0.01,reset:0.005. A request can ask for one with the header X-Sim-Fault: KIND."`
}

// Help returns what --help prints after the purpose.
func (simCmd) Help() string {
	return `Examples:
  llmsweep sim
  llmsweep sim --preset Qwen2-7B/L20x2/int4 --listen 127.0.0.1:8001
  llmsweep sim --engine sglang
  llmsweep sim --faults 500:0.01,stall:0.001
  llmsweep sim --preset plain8 --habit sheds:8
  llmsweep sim --max-num-seqs 4 --first-token 200ms --per-token 20ms --habit drifts:0.05 --habit batches:16

` + sim.HabitHelp
}

// Run serves until interrupted.
func (s *simCmd) Run(c *console.Console) error {
	config, err := sim.Preset(s.Preset)
	if err != nil {
		return console.Usage(err)
	}
	if s.MaxNumSeqs > 0 {
		config.MaxNumSeqs = s.MaxNumSeqs
	}
	if err := s.fixedTimes.apply(&config); err != nil {
		return console.Usage(err)
	}
	if config.Habits, err = sim.ParseHabits(s.Habit); err != nil {
		return console.Usage(err)
	}
	config.Jitter, config.Seed, config.PrefixCache = cmp.Or(s.Jitter, config.Jitter), s.Seed, s.PrefixCache
	options := simserver.Options{
		APIKey: s.APIKey, Strict: s.Strict, ChunkTokens: s.ChunkTokens, NoUsage: s.NoUsage, Think: s.Think,
		ReasoningField: s.ReasoningField, Engine: s.Engine, Texts: s.Texts, FullLength: s.FullLength,
		Natural: simserver.NaturalLength{Tokens: s.NaturalTokens},
	}
	if options.Faults, err = simserver.ParseFaults(s.Faults); err != nil {
		return console.Usage(err)
	}
	live, err := sim.Start(config)
	if err != nil {
		return console.Usage(err)
	}
	defer live.Close()
	url, wait, err := c.World().Serve(c.Ctx, s.Listen, simserver.New(live, options))
	if err != nil {
		return console.Usage(fmt.Errorf("cannot listen on %s: %w; choose another address with --listen", s.Listen, err))
	}
	fmt.Fprintf(c.Out, "simulating %s with the API of %s on %s\n", s.Preset, s.Engine, url)
	if len(s.Habit) > 0 {
		fmt.Fprintf(c.Out, "with the habits %s\n", strings.Join(s.Habit, " "))
	}
	return wait()
}

// presets lists the parts of a preset.
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

// fixedTimes are the flags of a server whose times do not depend on its load.
type fixedTimes struct {
	FirstToken time.Duration `name:"first-token" placeholder:"TIME" help:"Fixed time to the first token, in a slot, instead of the preset's GPU and model; a multiple of a fifth of --per-token, which must be set too."`
	PerToken   time.Duration `name:"per-token" placeholder:"TIME" help:"Fixed time for each further token."`
}

// apply turns a configuration into one of fixed times, where the flags ask for it.
func (f fixedTimes) apply(c *sim.MachineConfig) error {
	if f == (fixedTimes{}) {
		return nil
	}
	first, each := cmp.Or(f.FirstToken, c.Plain.FirstToken), cmp.Or(f.PerToken, c.Plain.PerToken)
	if first == 0 || each == 0 {
		return errors.New("--first-token and --per-token belong together, such as --first-token 100ms --per-token 10ms")
	}
	*c = sim.MachineConfig{
		Plain: sim.Plain{FirstToken: first, PerToken: each}, Model: c.Model, MaxNumSeqs: c.MaxNumSeqs, MaxModelLen: c.MaxModelLen,
	}
	return nil
}
