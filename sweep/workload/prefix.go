package workload

import (
	"fmt"
	mathrand "math/rand/v2"
	"strconv"
	"strings"

	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/seed"
)

// Prefixed makes prompts that begin alike in groups, as the users of one system prompt do: a prefix that all of a group
// share, then a text of their own. A server that caches prefixes computes each group's once.
type Prefixed struct {
	Tokens         int            // of the prefix, what the chat template puts before it included
	Groups         int            // how many prefixes there are; each prompt's is drawn at random, all alike likely
	Prompt, Output rundir.Lengths // of what follows the prefix; of the answer
	Seed           uint64
	Costs          Calibration
	Numbering
}

// NewPrefixed returns a workload of groups prefixes of so many tokens. A prompt has tokens + prompt tokens in all.
func NewPrefixed(tokens, groups int, prompt, output rundir.Lengths, seed uint64, costs Calibration) (*Prefixed, error) {
	const mostGroups = 10_000_000
	switch {
	case tokens < 1 || tokens > mostTokens:
		return nil, fmt.Errorf("a shared prefix of %d tokens: it must have at least 1 and at most %d", tokens, mostTokens)
	case groups < 1 || groups > mostGroups:
		return nil, fmt.Errorf("%d groups share a prefix: there must be at least 1 and at most %d", groups, mostGroups)
	}
	return &Prefixed{
		Tokens: tokens, Groups: groups, Prompt: prompt, Output: output, Seed: seed, Costs: costs.usable(),
		Numbering: newNumbering(groups),
	}, nil
}

// Stage is a source of tasks for one stage. All stages share the prefixes.
func (p *Prefixed) Stage(name string) load.Source {
	return &prefixed{p, seed.Rand(p.Seed, "workload", name)}
}

// Describe is the workload as run.json has it, the prefix counted as part of the prompt.
func (p *Prefixed) Describe() rundir.Workload {
	whole := p.Prompt
	whole.Mean += float64(p.Tokens)
	if whole.Min > 0 {
		whole.Min += p.Tokens
	}
	if whole.Max > 0 {
		whole.Max += p.Tokens
	}
	return rundir.Workload{PromptTokens: whole, OutputTokens: p.Output, Seed: p.Seed}
}

type prefixed struct {
	*Prefixed
	rng *mathrand.Rand
}

// Next fits the prompt as one text, so that the prefix's rounding and its own do not add up. The words of a prefix follow
// from the seed and the group: they are made anew each time, which is quicker than it sounds and keeps nothing.
func (p *prefixed) Next() (load.Session, bool) {
	group := p.rng.IntN(p.Groups)
	tokens := p.Tokens + draw(p.Prompt, p.rng)
	size, fill := p.Costs.fit(tokens)
	shared, _ := p.Costs.fit(p.Tokens)
	shared = min(shared, size)
	text := pick(shared, seed.Rand(p.Seed, "prefix", strconv.Itoa(group)))
	own := p.spelled(p.next())
	own = append(own, pick(max(0, size-shared-len(own)), p.rng)...)
	text = append(text, own[:size-shared]...)
	turn := load.Turn{
		User:         compose(p.opening(uint64(group)), text, strings.Repeat(p.Costs.Filler, fill)),
		PromptTokens: tokens, OutputTokens: draw(p.Output, p.rng),
	}
	return load.Session{Turns: []load.Turn{turn}}, true
}
