package main

import (
	"errors"

	"llmsweep/client/sim"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/report/plans"
	"llmsweep/report/table"
)

// predictFlags are the flags of sim --predict.
type predictFlags struct {
	Predict      bool   `help:"Start no server; list the estimated speed of each model, GPU, count and quantization. Estimates are not measurements." group:"Prediction"`
	Only         string `placeholder:"MODEL/GPU" help:"With --predict: only this model, or this model and GPU." group:"Prediction"`
	PromptTokens int    `name:"prompt-tokens" default:"512" placeholder:"N" help:"With --predict: prompt length in tokens (${default})." group:"Prediction"`
	OutputTokens int    `name:"output-tokens" default:"128" placeholder:"N" help:"With --predict: answer length in tokens (${default})." group:"Prediction"`
	Format       string `default:"console" enum:"console,markdown" placeholder:"NAME" help:"With --predict: console or markdown (${default})." group:"Prediction"`
	Lang         string `default:"en" enum:"en,zh" placeholder:"en|zh" help:"With --predict: language: en or zh. Default: zh where LANG starts with zh, else en." group:"Prediction"`
}

// predict prints the simulator's estimates.
func (s *simCmd) predict(c *console.Console) error {
	if s.PromptTokens < 1 || s.OutputTokens < 1 {
		return console.Usage(errors.New("--prompt-tokens and --output-tokens must be at least 1"))
	}
	load := sim.Workload{PromptTokens: s.PromptTokens, OutputTokens: s.OutputTokens}
	all, err := plans.OnlyPairs(s.Only, load)
	if err != nil {
		return console.Usage(err)
	}
	options := c.Options(s.Lang, false, "")
	return table.WriteSections(c.Out, s.Format, []table.Section{plans.PredictedSection(all, load)}, table.Style{Width: options.Width, Color: options.Color, Lang: options.Lang})
}
