package main

import (
	"fmt"
	"slices"
	"strings"

	"llmsweep/client/sim"
	"llmsweep/report/predict"
	"llmsweep/report/table"
)

// predictFlags are those of sim --predict.
type predictFlags struct {
	Predict      bool   `help:"Serve nothing; list the roofline estimate for each model, GPU, count and quantization instead. A prediction, not a measurement." group:"Prediction"`
	Only         string `placeholder:"MODEL/GPU" help:"With --predict: only that model, or that model and GPU." group:"Prediction"`
	PromptTokens int    `name:"prompt-tokens" default:"512" help:"With --predict: prompt length." group:"Prediction"`
	OutputTokens int    `name:"output-tokens" default:"128" help:"With --predict: answer length." group:"Prediction"`
	Format       string `default:"console" enum:"console,markdown" help:"With --predict: console, markdown." group:"Prediction"`
	Lang         string `default:"en" enum:"en,zh" help:"With --predict: language: en, zh." group:"Prediction"`
}

// predict lists the simulator's estimates.
func (s *simCmd) predict(c *console) error {
	if s.PromptTokens < 1 || s.OutputTokens < 1 {
		return usage(fmt.Errorf("--prompt-tokens and --output-tokens must be at least 1"))
	}
	models, gpus := sim.Models(), sim.GPUs()
	if s.Only != "" {
		model, gpu, both := strings.Cut(s.Only, "/")
		m, err := sim.LookupModel(model)
		if err != nil {
			return usage(fmt.Errorf("--only: %w", err))
		}
		models = []sim.Model{m}
		if both {
			g, err := sim.LookupGPU(gpu)
			if err != nil {
				return usage(fmt.Errorf("--only: %w", err))
			}
			gpus = []sim.GPU{g}
		}
	}
	load := sim.Workload{PromptTokens: s.PromptTokens, OutputTokens: s.OutputTokens}
	var all []predict.Estimate
	for _, m := range models {
		for _, g := range gpus {
			all = slices.Concat(all, predict.List(m, g, load))
		}
	}
	options := consoleOptions(c, &outFlags{Lang: s.Lang}, "")
	return table.WriteSections(c.out, s.Format, []table.Section{predict.Section(all, load, options.Lang)}, table.Style{Width: options.Width, Color: options.Color})
}
