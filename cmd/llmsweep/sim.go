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

type simCmd struct {
	Preset     string `default:"demo" placeholder:"NAME" help:"demo, plain8, or MODEL/GPU[xCOUNT][/QUANT] (${default})."`
	Engine     string `default:"vllm" enum:"${engines}" placeholder:"NAME" help:"APIs to speak: ${engines} (${default})."`
	Listen     string `default:"${listen}" placeholder:"ADDRESS" help:"Address and port (${default})."`
	MaxNumSeqs int    `name:"max-num-seqs" placeholder:"N" positive:"" help:"Most requests in one batch (the preset's)."`
	fixedTimes
	Jitter         float64  `placeholder:"SIGMA" help:"Sigma of log-normal step times (0)."`
	Seed           uint64   `default:"1" placeholder:"N" help:"Seed of jitter, answers and faults (${default})."`
	PrefixCache    bool     `name:"prefix-cache" help:"Keep beginnings of prompts; forget the least used."`
	APIKey         string   `name:"require-key" env:"LLMSWEEP_SIM_KEY" placeholder:"KEY" help:"Refuse others ($$LLMSWEEP_SIM_KEY)."`
	Strict         bool     `help:"Refuse unknown fields, as hosted APIs do."`
	ChunkTokens    int      `name:"chunk-tokens" default:"1" placeholder:"N" help:"Tokens in a chunk (${default})."`
	NoUsage        bool     `name:"no-usage" help:"Report no token counts."`
	Think          int      `placeholder:"N" positive:"" help:"Send N reasoning tokens before each answer."`
	NaturalTokens  float64  `name:"natural-tokens" placeholder:"N" positive:"" help:"Mean length of answers that end by themselves."`
	ReasoningField string   `name:"reasoning-field" default:"" enum:",reasoning_content,reasoning" placeholder:"NAME" help:"reasoning_content or reasoning (the engine's)."`
	Texts          string   `default:"" enum:",pieces,cumulative" placeholder:"KIND" help:"Texts of /generate: cumulative or pieces (the former)."`
	FullLength     bool     `name:"full-length" help:"Make all answers as long as allowed."`
	Habit          []string `sep:"none" placeholder:"NAME:VALUES" help:"A habit listed above; may be repeated."`
	Faults         string   `placeholder:"KIND:P,.." help:"Faults with probabilities, as listed above."`
}

func (simCmd) Help() string {
	return `Examples:
  llmsweep sim
  llmsweep sim --preset Qwen2-7B/L20x2/int4 --listen 127.0.0.1:8001
  llmsweep sim --preset plain8 --habit sheds:8 --faults 500:0.01,stall:0.001

` + presets() + `
plain8 has 8 slots and fixed times.

Faults: 500, 429, 529, html, hang, reset, stall, truncate, error, garbage. A request can
ask for one with the header X-Sim-Fault: KIND.

` + sim.HabitHelp
}

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

func presets() string {
	var models, gpus []string
	for _, m := range sim.Models() {
		models = append(models, m.Name)
	}
	for _, g := range sim.GPUs() {
		gpus = append(gpus, g.Name)
	}
	return "Models: " + strings.Join(models, ", ") + ". GPUs: " + strings.Join(gpus, ", ") +
		". Quantizations: fp16, int8, int4."
}

// fixedTimes are the flags of a server whose times do not depend on its load.
type fixedTimes struct {
	FirstToken time.Duration `name:"first-token" placeholder:"TIME" help:"Fixed time to the first token; with --per-token."`
	PerToken   time.Duration `name:"per-token" placeholder:"TIME" help:"Fixed time for each further token."`
}

func (f fixedTimes) apply(c *sim.MachineConfig) error {
	if f == (fixedTimes{}) {
		return nil
	}
	first, each := cmp.Or(f.FirstToken, c.Plain.FirstToken), cmp.Or(f.PerToken, c.Plain.PerToken)
	if first == 0 || each == 0 {
		return errors.New("--first-token and --per-token belong together, such as --first-token 100ms --per-token 10ms")
	}
	*c = sim.MachineConfig{
		Plain: sim.Plain{FirstToken: first, PerToken: each}, Model: c.Model, MaxNumSeqs: c.MaxNumSeqs,
		MaxModelLen: c.MaxModelLen,
	}
	return nil
}
