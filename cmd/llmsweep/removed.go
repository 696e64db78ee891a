package main

import (
	"errors"
	"regexp"

	"llmsweep/cmd/llmsweep/console"
)

// removedIn is the first version without them.
const removedIn = "0.2.0"

// removed says what to use in place of each removed command ("record"), flag ("--adaptive", or "compare --repaired"
// where only one command lost it) and value of a flag ("--api tgi").
var removed = map[string]string{
	"--sub-agents":                "use --turns, or --workload agent",
	"--session-header":            "use --header for a header that all requests share",
	"run --arrivals clients":      "use gamma:SHAPE; a shape below 1 gives bursts",
	"record":                      "log the traffic in your gateway and write a trace: llmsweep run URL --arrivals trace:FILE replays it",
	"check":                       "llmsweep audit finds figures of other tools that cannot be right",
	"workload":                    "describe sessions with flags, such as --turns, --prompt-tokens and --think-time, or --workload chat",
	"launch":                      "edit the files in examples/cluster: sweep.sbatch for Slurm, sweep.yaml for Kubernetes",
	"schema":                      "llmsweep help schema prints it",
	"version":                     "llmsweep --version prints it",
	"man":                         "llmsweep help lists the manual, --help the flags of a command",
	"completion":                  "llmsweep COMMAND --help lists the flags",
	"--format junit":              "use --format json; --fail-if and --slo set the exit code",
	"compare --junit":             "--fail-if sets the exit code",
	"history --junit":             "--fail-new sets the exit code",
	"help --lang":                 "the manual is in English; reports still speak Chinese with --lang zh",
	"--format guidellm":           "use --format json or --format llm-d; GuideLLM's files are still read",
	"fit":                         "measure the wanted workload; Vidur and BLIS predict from a model of a server",
	"plan":                        "llmsweep choose says how many replicas a demand takes",
	"--for-fit":                   "llmsweep sweep URL --prompt-tokens N --output-tokens N measures one workload",
	"--unchecked":                 "measure the wanted workload",
	"report --twin":               "measure the wanted workload, then: llmsweep compare",
	"choose --prompt-tokens":      "give results that were measured with the wanted lengths",
	"choose --output-tokens":      "give results that were measured with the wanted lengths",
	"choose --trace":              "give results that were measured with the trace: llmsweep run URL --arrivals trace:FILE",
	"sim --predict":               "measure a simulated server: llmsweep sweep sim:Qwen2-7B/L20",
	"sim --only":                  "name what to simulate: --preset Qwen2-7B/L20",
	"sim --prompt-tokens":         "llmsweep sweep sim: --prompt-tokens N",
	"sim --output-tokens":         "llmsweep sweep sim: --output-tokens N",
	"sim --format":                "it was of --predict: llmsweep sweep sim: measures",
	"sim --lang":                  "it was of --predict: llmsweep sweep sim: measures",
	"--max-tokens-total":          "use --max-cost with --price-in and --price-out; with both prices 1, a cost of 1 is a million tokens",
	"--price-cached":              "the cost counts cached prompt tokens at --price-in, so it is an upper bound",
	"--api embeddings":            "use an API that generates tokens",
	"--api rerank":                "use an API that generates tokens",
	"--api score":                 "use an API that generates tokens",
	"--api lmdeploy":              "use --api chat or completions, which lmdeploy serves too",
	"--api llamacpp":              "use --api chat or completions, which llama.cpp serves too",
	"--api ollama":                "use --api chat, which Ollama serves too",
	"--api ollama-generate":       "use --api completions, which Ollama serves too",
	"--api tgi":                   "use --api chat, which TGI serves too",
	"--api triton":                "use --api chat or completions with Triton's OpenAI frontend",
	"--api triton-vllm":           "use --api chat or completions with Triton's OpenAI frontend",
	"sim --engine lmdeploy":       "use --engine vllm, which has the same OpenAI API",
	"sim --engine llamacpp":       "use --engine vllm, which has the same OpenAI API",
	"sim --engine ollama":         "use --engine vllm, which has the same OpenAI API",
	"sim --engine tgi":            "use --engine vllm, which has the same OpenAI API",
	"sim --engine triton":         "use --engine vllm, which has the same OpenAI API",
	"sim --engine triton-vllm":    "use --engine vllm, which has the same OpenAI API",
	"sim --engine openai":         "use --engine vllm, which has /v1/responses too",
	"sim --no-logprobs":           "the simulator sends none",
	"--items":                     "use --output-tokens with an API that generates tokens",
	"--json":                      "use --format verdict",
	"--live-any-address":          "--live :8089 here, and ssh -L 8089:localhost:8089 on the other machine",
	"compare --serve-any-address": "the tables are printed when the comparison has ended",
	"compare --serve":             "the tables are printed when the comparison has ended",
	"compare --difference":        "use --budget; a longer time finds smaller differences",
	"compare --repeats":           "llmsweep sweep URL --repeats N --out A for each server, then: llmsweep compare A -- B",
	"compare --drain":             "unfinished requests are cancelled after a minute",
	"compare --max-error-rate":    "a server that fails more than half of a stage's requests ends the comparison",
	"--whole":                     "--repeats N measures whole sweeps",
	"selftest --server":           "llmsweep sweep URL --repeats 5 measures the spread between sweeps",
	"selftest --runs":             "llmsweep sweep URL --repeats 5 measures the spread between sweeps",
	"--precision":                 "a sweep narrows its answer as far as holds do; --budget gives it less time",
	"--adaptive":                  "a sweep finds the answer first; --points 3 measures fewer rates below it",
	"sweep --format json":         "llmsweep report DIR --format json",
	"--fidelity":                  "lm-eval compares answers; rows of a --dataset with an answer are graded",
	"--canaries":                  "lm-eval compares answers; rows of a --dataset with an answer are graded",
	"--canary-share":              "lm-eval compares answers; rows of a --dataset with an answer are graded",
	"--graded":                    "every row of a --dataset with an answer is graded",
	"--baseline":                  "lm-eval compares answers; llmsweep compare compares the accuracy of graded rows",
	"--text":                      "lm-eval measures perplexity",
	"--text-windows":              "lm-eval measures perplexity",
	"--text-bytes":                "lm-eval measures perplexity",
	"--repaired":                  "correct the document; a figure with a finding is left out",
	"history --bisect":            "the tables name the runs between which a step lies",
	"history --html":              "use --format markdown",
	"history --format html":       "use --format markdown",
	"sim --kv-tokens":             "it is what fits into the GPU's memory: name another GPU with --preset",
	"sim --speculate":             "measure a server that decodes speculatively",
}

// removedError returns the error about a removed name; nil where no version had it.
func removedError(name string) error {
	instead, ok := removed[name]
	if !ok {
		return nil
	}
	return errors.New(name + " was removed in version " + removedIn + ": " + instead)
}

// badValue matches what kong says of a value that a flag does not have, badFormat what commands say of a format or
// kind.
var (
	badValue  = regexp.MustCompile(`^(--[a-z-]+) must be one of .* but got "(.*)"$`)
	badFormat = regexp.MustCompile(`^(--format|--arrivals):? "?([^\s"]+)"? is (?:unknown; there are|not a kind of arrivals)`)
)

// explainRemoved returns the error about a removed command, flag or value in place of kong's, or the same error.
func explainRemoved(err error, command string) error {
	if err == nil {
		return nil
	}
	var names []string
	if m := unknownFlag.FindStringSubmatch(err.Error()); m != nil {
		names = []string{command + " --" + m[2], "--" + m[2]}
	} else if m := badValue.FindStringSubmatch(err.Error()); m != nil {
		names = []string{command + " " + m[1] + " " + m[2], m[1] + " " + m[2]}
	} else if m := badFormat.FindStringSubmatch(err.Error()); m != nil {
		names = []string{command + " " + m[1] + " " + m[2], m[1] + " " + m[2]}
	} else if m := unknownCommand.FindStringSubmatch(err.Error()); m != nil && m[1] == command {
		names = []string{command}
	}
	for _, name := range names {
		if e := removedError(name); e != nil {
			return console.Usage(e)
		}
	}
	return err
}
