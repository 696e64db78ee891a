package flags

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/workload"
)

// Workload holds the flags of what each request asks for.
type Workload struct {
	PromptTokens string `name:"prompt-tokens" placeholder:"N" help:"Prompt length in tokens (512), or a distribution." group:"What is sent"`
	OutputTokens string `name:"output-tokens" placeholder:"N" xor:"answer" help:"Answer length in tokens (128), or a distribution." group:"What is sent"`
	AnswerLimit  int    `name:"max-tokens" placeholder:"N" positive:"" xor:"answer" help:"Let answers end by themselves, after N tokens at most." group:"What is sent"`
	Dataset      string `type:"path" placeholder:"FILE" help:"Prompts from a file: ShareGPT JSON, JSONL or CSV." group:"What is sent"`
	Preset       string `name:"workload" placeholder:"NAME" help:"Conversations of a kind: chat, agent or rag." group:"What is sent"`
	Prompt       string `placeholder:"TEXT" help:"Send this text in each request. A prefix cache then answers." hidden:"" group:"What is sent"`
	DatasetRows  int    `name:"dataset-rows" default:"10000" placeholder:"N" help:"Draw at most N rows of the dataset (${default})." hidden:"" group:"What is sent"`
	MultiTurn    bool   `name:"multi-turn" help:"Take whole conversations of the dataset." hidden:"" group:"What is sent"`
	PrefixTokens int    `name:"prefix-tokens" placeholder:"N" positive:"" help:"Let the prompts of a group begin with the same N tokens." hidden:"" group:"What is sent"`
	CacheHits    string `name:"cache-hits" placeholder:"P" help:"Share of each prompt that was sent before, such as 60%." hidden:"" group:"What is sent"`
	PrefixGroups int    `name:"prefix-groups" placeholder:"N" positive:"" help:"Number of groups of --prefix-tokens (1), or of --cache-hits (64)." hidden:"" group:"What is sent"`
	Turns        string `placeholder:"N" help:"Conversations of N turns, or a distribution." hidden:"" group:"What is sent"`
	TurnTokens   string `name:"turn-tokens" placeholder:"N" help:"Length in tokens of each user message after the first (64), or a distribution." hidden:"" group:"What is sent"`
	ThinkTime    string `name:"think-time" placeholder:"T" help:"Pause between an answer and the next turn (1s), or a distribution." hidden:"" group:"What is sent"`
	Tokenizer    string `type:"path" placeholder:"FILE" help:"tokenizer.json to count tokens with, where the server does not count them." hidden:"" group:"What is sent"`
	Seed         uint64 `default:"42" placeholder:"N" help:"Seed of arrivals, lengths and prompts (${default})." hidden:"" group:"What is sent"`
}

// WorkloadOptions holds the parsed values of [Workload].
type WorkloadOptions struct {
	*Workload
	PromptLengths, OutputLengths rundir.Lengths
	Talk                         workload.Talk
	Tokenize                     workload.TokenizerFunc // nil without --tokenizer
	Graded                       bool                   // answers to rows that tell what is right are graded
	hits                         float64                // share of each prompt sent before; 0 without --cache-hits
}

// Parse parses the flags, and refuses combinations that make no sense.
func (l *Workload) Parse() (*WorkloadOptions, error) {
	l, err := l.preset()
	if err != nil {
		return nil, err
	}
	p := &WorkloadOptions{Workload: l}
	if p.PromptLengths, err = workload.ParseLengths(cmp.Or(l.PromptTokens, "512")); err != nil {
		return nil, fmt.Errorf("--prompt-tokens: %w", err)
	}
	if p.OutputLengths, err = workload.ParseLengths(cmp.Or(l.OutputTokens, "128")); err != nil {
		return nil, fmt.Errorf("--output-tokens: %w", err)
	}
	if l.AnswerLimit > 0 {
		p.OutputLengths = rundir.Lengths{Mean: float64(l.AnswerLimit)}
	}
	if p.Talk.Later, err = workload.ParseLengths(cmp.Or(l.TurnTokens, "64")); err != nil {
		return nil, fmt.Errorf("--turn-tokens: %w", err)
	}
	if p.Talk.Think, err = workload.ParseThink(cmp.Or(l.ThinkTime, "1s")); err != nil {
		return nil, fmt.Errorf("--think-time: %w", err)
	}
	if l.Turns != "" {
		if p.Talk.Turns, err = workload.ParseLengths(l.Turns); err != nil {
			return nil, fmt.Errorf("--turns: %w", err)
		}
	}
	if l.Tokenizer != "" {
		if p.Tokenize, err = workload.TokenizerFile(l.Tokenizer); err != nil {
			return nil, err
		}
	}
	if l.CacheHits != "" {
		if p.hits, err = parseHits(l.CacheHits); err != nil {
			return nil, err
		}
	}
	p.Talk.First, p.Talk.Output = p.PromptLengths, p.OutputLengths
	return p, p.check()
}

func parseHits(text string) (float64, error) {
	digits, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	v, err := strconv.ParseFloat(digits, 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= 0 && v < 1) {
		return 0, fmt.Errorf("--cache-hits %s: write a share from 0%% to below 100%%, such as 60%%", text)
	}
	return v, nil
}

// MeanTurns returns the mean number of turns of a session.
func (l *Workload) MeanTurns() (float64, error) {
	l, err := l.preset()
	if err != nil {
		return 0, err
	}
	if l.Turns == "" {
		return 0, errors.New("--session-rate needs the turns of a session: give --turns or --workload; else use --rate, " +
			"which counts turns")
	}
	n, err := workload.ParseLengths(l.Turns)
	if err != nil {
		return 0, fmt.Errorf("--turns: %w", err)
	}
	return max(1, n.Mean), nil
}

// prefix returns the tokens that the prompts of a group share, and the number of groups.
func (l *WorkloadOptions) prefix() (tokens, groups int) {
	const hitsGroups = 64
	if l.hits == 0 {
		return l.PrefixTokens, max(1, l.PrefixGroups)
	}
	return int(math.Round(l.hits * l.PromptLengths.Mean)), cmp.Or(l.PrefixGroups, hitsGroups)
}

// Plain reports whether all requests draw their lengths from the same distributions.
func (l *WorkloadOptions) Plain() bool {
	return l.Prompt == "" && l.Dataset == "" && l.PrefixTokens == 0 && l.hits == 0 && l.Turns == ""
}

// Untouched reports whether no flag says what a request asks for.
func (l *WorkloadOptions) Untouched() bool {
	return l.Plain() && l.Workload.PromptTokens == "" && l.Workload.OutputTokens == "" && l.AnswerLimit == 0
}

// BuiltIn returns the workload with the built-in texts in place of random words, and answers that end by themselves.
func (l *WorkloadOptions) BuiltIn() *WorkloadOptions {
	w, o := *l.Workload, *l
	w.Dataset, w.AnswerLimit = workload.BuiltIn, workload.BuiltInAnswer
	o.Workload, o.OutputLengths = &w, rundir.Lengths{Mean: workload.BuiltInAnswer}
	return &o
}

func (l *WorkloadOptions) check() error {
	sources := 0
	for _, given := range []bool{l.Prompt != "", l.Dataset != "", l.PrefixTokens != 0 || l.Turns != ""} {
		if given {
			sources++
		}
	}
	switch {
	case sources > 1:
		return errors.New("--prompt, --dataset, --workload, and --prefix-tokens or --turns are different workloads: give " +
			"one of them")
	case l.PrefixGroups < 0:
		return errors.New("--prefix-groups must be at least 1")
	case l.CacheHits != "" && (sources > 0 || l.PrefixTokens > 0):
		return errors.New("--cache-hits makes prompts of its own: leave out --prompt, --dataset, --turns and --prefix-tokens")
	case l.DatasetRows < 1:
		return errors.New("--dataset-rows must be at least 1")
	case l.MultiTurn && l.Dataset == "":
		return errors.New("--multi-turn needs --dataset")
	}
	return nil
}

// Grades reports whether rows that tell what is right are graded.
func (w *Workload) Grades() bool { return w.Dataset != "" && !w.MultiTurn }

// Spec returns the workload that the flags ask for; replay is the trace that is replayed, nil for none.
func (l *WorkloadOptions) Spec(replay *workload.Replay) *workload.Spec {
	tokens, groups := l.prefix()
	return &workload.Spec{
		PromptTokens: l.PromptLengths, OutputTokens: l.OutputLengths, PromptSet: l.Workload.PromptTokens != "",
		OutputSet: l.Workload.OutputTokens != "" || l.AnswerLimit > 0,
		Seed:      l.Seed, Prompt: l.Prompt, Dataset: l.Dataset, Rows: l.DatasetRows, MultiTurn: l.MultiTurn,
		Graded: l.Graded, Replay: replay,
		Talk: l.Talk, Talking: l.Turns != "", PrefixTokens: tokens, PrefixGroups: groups, PrefixZipf: l.hits > 0,
	}
}
