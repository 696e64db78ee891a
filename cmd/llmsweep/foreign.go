package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// foreignFlag is a flag of another tool, and ours in its place.
type foreignFlag struct {
	names []string // theirs, without dashes; one letter is a short flag
	flag  string   // ours, without dashes; empty where there is none
	value string   // that stands for the one given, in examples; VALUE is the one given
	note  string   // where there is no flag of ours: what to do
}

// foreignFlags are flags of vllm bench serve, SGLang's bench_serving, GuideLLM, AIPerf, oha, k6, wrk and vegeta.
var foreignFlags = []foreignFlag{
	{names: []string{"request-rate", "qps", "q", "r"}, flag: "rate", value: "VALUE"},
	{names: []string{"num-prompts", "num-prompt", "num-requests", "max-requests", "request-count", "n", "iterations"},
		flag: "requests", value: "VALUE"},
	{names: []string{"max-seconds", "benchmark-duration", "z", "d"}, flag: "duration", value: "VALUE"},
	{names: []string{"input-len", "random-input-len", "random-input", "sonnet-input-len", "isl",
		"synthetic-input-tokens-mean"}, flag: "prompt-tokens", value: "VALUE"},
	{names: []string{"output-len", "random-output-len", "random-output", "sonnet-output-len", "sharegpt-output-len",
		"custom-output-len", "osl", "output-tokens-mean",
		"max-new-tokens"}, flag: "output-tokens", value: "VALUE"},
	{names: []string{"random-range-ratio"}, flag: "prompt-tokens", value: "mean=512,min=256,max=768"},
	{names: []string{"random-prefix-len", "prefix-repetition-prefix-len"}, flag: "prefix-tokens", value: "VALUE"},
	{names: []string{"burstiness"}, flag: "arrivals", value: "gamma:VALUE"},
	{names: []string{"ramp-up-strategy", "ramp-up-start-rps", "ramp-up-end-rps"}, flag: "arrivals", value: "ramp:1-20"},
	{names: []string{"fixed-schedule"}, flag: "arrivals", value: "trace:FILE"},
	{names: []string{"c", "vus", "connections"}, flag: "concurrency", value: "VALUE"},
	{names: []string{"rate-type"}, note: "the command says it: llmsweep sweep URL, or llmsweep run URL with --rate R " +
		"or --concurrency N"},
	{names: []string{"target", "base-url", "url", "host", "port"},
		note: "the URL is an argument without a name, as in llmsweep sweep http://localhost:8000"},
	{names: []string{"backend", "backend-type", "endpoint", "endpoint-type", "request-type"},
		note: "the API is found out; --api NAME names it"},
	{names: []string{"dataset-path", "dataset-name", "input-file"}, flag: "dataset", value: "FILE"},
	{names: []string{"data"}, note: "lengths are --prompt-tokens 512 --output-tokens 128; a file is --dataset FILE"},
	{names: []string{"processor"}, flag: "tokenizer", value: "FILE"},
	{names: []string{"served-model-name"}, flag: "model", value: "NAME"},
	{names: []string{"extra-body", "extra-request-body", "extra-inputs", "backend-kwargs", "backend-args"}, flag: "body",
		value: "JSON"},
	{names: []string{"top-p", "top-k", "min-p", "frequency-penalty", "repetition-penalty"}, flag: "body",
		value: `'{"top_p": 0.9}'`},
	{names: []string{"goodput"}, flag: "slo", value: "'ttft:p99<500ms'"},
	{names: []string{"percentile-metrics", "metric-percentiles"},
		note: "leave it out: all metrics and percentiles are always measured"},
	{names: []string{"save-result", "save-detailed", "append-result"},
		note: "leave it out: each run writes a directory, which --out DIR names"},
	{names: []string{"result-dir", "result-filename", "output-path", "output-dir", "output-file", "artifact-dir",
		"outputs"}, flag: "out", value: "DIR"},
	{names: []string{"num-warmups", "warmup-requests", "warmup-request-count"}, flag: "warmup", value: "VALUE"},
	{names: []string{"warmup-percent", "cooldown-percent"},
		note: "leave it out: start and end of a stage are found and left out"},
	{names: []string{"random-seed"}, flag: "seed", value: "VALUE"},
	{names: []string{"ignore-eos"}, note: "leave it out: servers that know ignore_eos are always asked for it"},
	{names: []string{"streaming", "stream"}, note: "leave it out: answers are always streamed"},
	{names: []string{"disable-tqdm"}, flag: "plain"},
	{names: []string{"conversation-turn-mean", "session-turns-mean"}, flag: "turns", value: "VALUE"},
}

// unknownFlag matches what kong says of a flag that a command does not have.
var unknownFlag = regexp.MustCompile(`^unknown flag (--?)([^ ,]+)(?:, did you mean .*)?$`)

// foreignCommands are the commands of other tools, and ours in their place.
var foreignCommands = map[string]string{
	"benchmark": "llmsweep sweep URL",                               // GuideLLM: benchmark, benchmark run
	"bench":     "llmsweep sweep URL, or llmsweep run URL --rate R", // vLLM: bench serve
	"profile":   "llmsweep sweep URL",                               // AIPerf
	"attack":    "llmsweep run URL --rate R",                        // vegeta
}

// runLoad are flags of run whose values a sweep chooses by itself.
var runLoad = []string{"rate", "concurrency", "requests", "duration"}

// plainValue matches values that hold no secret.
var plainValue = regexp.MustCompile(`^[0-9.]+[a-z]{0,2}$`)

// explainForeign returns the error about an unknown flag that says what to write, or the same error where nothing
// better is known.
func explainForeign(err error, grammar *kong.Application, args []string) error {
	if m := unknownCommand.FindStringSubmatch(err.Error()); m != nil && m[1] == args[0] && foreignCommands[m[1]] != "" {
		return fmt.Errorf("there is no command %q; here it is %s", m[1], foreignCommands[m[1]])
	}
	m := unknownFlag.FindStringSubmatch(err.Error())
	if m == nil {
		return err
	}
	name, _, _ := strings.Cut(m[2], "=")
	shown := m[1] + name
	given := givenValue(args, shown)
	for _, f := range foreignFlags {
		if slices.Contains(f.names, name) {
			return fmt.Errorf("unknown flag %s: %s", shown, f.advice(grammar, args[0], given))
		}
	}
	if args[0] == "sweep" && slices.Contains(runLoad, name) {
		return fmt.Errorf("unknown flag %s: %s", shown, foreignFlag{flag: name, value: "VALUE"}.advice(grammar, args[0],
			given))
	}
	if others := owners(grammar, name); len(others) > 0 {
		return fmt.Errorf("unknown flag %s: %s has none; it is a flag of %s", shown, args[0], strings.Join(others, ", "))
	}
	return err
}

func (f foreignFlag) advice(grammar *kong.Application, command, given string) string {
	switch {
	case f.note != "":
		return f.note
	case f.flag == "rate" && given == "inf":
		return "llmsweep sweep URL measures the throughput; llmsweep run URL --concurrency N keeps N requests in flight"
	}
	if given == "" {
		given = cmp.Or(map[string]string{"rate": "R", "arrivals": "0.5", "duration": "30"}[f.flag], "N")
	}
	value := strings.Replace(f.value, "VALUE", given, 1)
	if f.flag == "duration" && strings.Trim(given, "0123456789.") == "" { // without a unit
		value += "s"
	}
	ours := strings.TrimRight("--"+f.flag+" "+value, " ")
	others := owners(grammar, f.flag)
	switch {
	case slices.Contains(others, command):
		return "here it is " + ours
	case command == "sweep" && (f.flag == "rate" || f.flag == "concurrency"):
		return fmt.Sprintf("sweep finds its own rates; for one %s: llmsweep run URL %s", f.flag, ours)
	case command == "sweep" && f.flag == "duration":
		return fmt.Sprintf("the time of a sweep is --budget TIME; for one load: llmsweep run URL --rate R %s", ours)
	case command == "sweep" && slices.Contains(others, "run"):
		return "sweep has no such flag; for one load: llmsweep run URL --rate R " + ours
	}
	return fmt.Sprintf("here it is %s of %s", ours, strings.Join(others, ", "))
}

// givenValue returns the value of a flag on a command line, if it can be repeated in an error.
func givenValue(args []string, flag string) string {
	for i, a := range args {
		name, value, joined := strings.Cut(a, "=")
		if name != flag {
			continue
		}
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		if plainValue.MatchString(value) || value == "inf" {
			return value
		}
	}
	return ""
}

func owners(grammar *kong.Application, flag string) (names []string) {
	for _, command := range grammar.Children {
		if !command.Hidden && slices.ContainsFunc(command.Flags, func(f *kong.Flag) bool { return f.Name == flag }) {
			names = append(names, command.Name)
		}
	}
	return names
}
