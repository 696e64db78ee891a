package workload

import (
	"fmt"
	"math"
	mathrand "math/rand/v2"
	"strconv"
	"strings"

	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Prefixed makes prompts with shared prefixes, as from users of the same system prompt: all prompts of a group begin
// with the same prefix, and each goes on with its own text. A prefix cache computes the prefix of each group once.
type Prefixed struct {
	Tokens         int            // of the prefix, including what the chat template puts before it
	Groups         int            // number of prefixes; each prompt's is drawn with equal probability
	Prompt, Output rundir.Lengths // of the whole prompt, the prefix included; of the answer
	Seed           uint64
	Costs          Calibration
	Zipf           bool // the k-th prefix is drawn as often as 1/k says, and not as often as the others
	Numbering
}

// group also returns how many tokens of the prompt the run has sent before.
func (p *Prefixed) group(rng *mathrand.Rand) (group, repeats int) {
	if p.Zipf {
		group = zipf(p.Groups, rng)
	} else {
		group = rng.IntN(p.Groups)
	}
	if p.remember(int64(group)) {
		repeats = p.Tokens
	}
	return group, repeats
}

// zipf draws a number below n with a probability proportional to 1/(number+1): Zipf's law, by which the popularity of
// texts is described.
func zipf(n int, rng *mathrand.Rand) int {
	for { // rejection
		x := math.Exp(rng.Float64() * math.Log(float64(n)+1)) // density 1/x from 1 to n+1
		k := math.Floor(x)
		// ln(1+1/k) falls into [k, k+1), and 1/k is wanted. The quotient of the two is largest at 1: 1/ln 2.
		if rng.Float64() < math.Ln2/k/math.Log1p(1/k) {
			return int(k) - 1
		}
	}
}

// minOwnTokens is how many tokens each prompt has after its prefix, at least: they tell it from others of its group.
const minOwnTokens = 8

func newPrefixed(tokens, groups int, prompt, output rundir.Lengths, seed uint64, costs Calibration) (*Prefixed, error) {
	const mostGroups = 10_000_000
	switch {
	case tokens < 1 || tokens > maxTokens:
		return nil, fmt.Errorf("a shared prefix must have 1 to %[2]d tokens, not %[1]d", tokens, maxTokens)
	case groups < 1 || groups > mostGroups:
		return nil, fmt.Errorf("the number of prefix groups must be from 1 to %[2]d, not %[1]d", groups, mostGroups)
	case float64(tokens+minOwnTokens) > prompt.Mean:
		return nil, fmt.Errorf("a shared prefix of %d tokens is a part of the prompt, which must have %d tokens or more, "+
			"not %v: raise --prompt-tokens", tokens, tokens+minOwnTokens, prompt.Mean)
	}
	if prompt.Std > 0 {
		prompt.Min = max(prompt.Min, tokens+minOwnTokens)
	}
	return &Prefixed{
		Tokens: tokens, Groups: groups, Prompt: prompt, Output: output, Seed: seed, Costs: costs.Usable(),
		Numbering: newNumbering(groups),
	}, nil
}

// Stage returns a source of sessions for one stage. All stages share the prefixes.
func (p *Prefixed) Stage(name string) load.Source {
	return &prefixed{p, stats.Rand(p.Seed, "workload", name)}
}

// Describe returns the workload as run.json has it; the prefix counts as part of the prompt.
func (p *Prefixed) Describe() rundir.Workload {
	return rundir.Workload{PromptTokens: p.Prompt, OutputTokens: p.Output, Seed: p.Seed, Prefix: p.describe()}
}

func (p *Prefixed) describe() *rundir.Prefix {
	return &rundir.Prefix{Tokens: p.Tokens, Groups: p.Groups, Zipf: p.Zipf}
}

type prefixed struct {
	*Prefixed
	rng *mathrand.Rand
}

func (p *prefixed) Next() (load.Session, bool) {
	group, repeats := p.group(p.rng)
	tokens := Draw(p.Prompt, p.rng)
	turn := load.Turn{User: p.write(&p.Numbering, group, tokens, p.rng), PromptTokens: tokens,
		OutputTokens: Draw(p.Output, p.rng)}
	return load.Session{Turns: []load.Turn{turn}, Repeats: repeats}, true
}

// write makes the whole prompt of the right length at once, so that the rounding errors of the two parts do not add up.
// The words of a prefix follow from the seed and the group. They are made again for each prompt, which is fast and
// needs no memory.
func (p *Prefixed) write(n *Numbering, group, tokens int, rng *mathrand.Rand) string {
	size, fill := p.Costs.Fit(tokens)
	shared, _ := p.Costs.Fit(p.Tokens)
	shared = min(shared, size)
	text := randomWords(shared, stats.Rand(p.Seed, "prefix", strconv.Itoa(group)))
	own := n.spelled(n.Place())
	own = append(own, randomWords(max(0, size-shared-len(own)), rng)...)
	text = append(text, own[:size-shared]...)
	return compose(n.Opening(uint64(group)), text, strings.Repeat(p.Costs.Filler, fill))
}
