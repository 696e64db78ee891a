package workload

import (
	"math/rand/v2"
	"time"

	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Think is the time between the end of an answer and the next message, in milliseconds: a user's, or that of the tools
// that an agent calls.
type Think struct{ rundir.Lengths }

// Draw draws one think time.
func (t Think) Draw(rng *rand.Rand) time.Duration {
	return time.Duration(draw(t.Lengths, rng) * float64(time.Millisecond))
}

func (t Think) conversation(turns, later rundir.Lengths) *rundir.Conversation {
	c := &rundir.Conversation{Turns: turns, TurnTokens: later, Pause: t.Mean / 1000,
		RandomPauses: t.Lengths != rundir.Lengths{Mean: t.Mean}}
	if c.RandomPauses && t.Lengths != (rundir.Lengths{Mean: t.Mean, Shape: rundir.ShapeExponential}) {
		c.Pauses = &t.Lengths
	}
	return c
}

// Talk describes conversations.
type Talk struct {
	Turns  rundir.Lengths // user messages in a conversation
	First  rundir.Lengths // tokens of the first prompt, its chat template included
	Later  rundir.Lengths // tokens of each later message, without history and template
	Output rundir.Lengths // tokens of each answer
	Think  Think
}

// Conversations makes conversations of several turns. The request of each turn carries everything before it, the
// server's answers included, so that prompts grow and a prefix cache has something to reuse.
type Conversations struct {
	Talk
	Seed  uint64
	Costs Calibration
	Numbering
	prefixes *Prefixed // with which first prompts begin; nil where no two begin alike
}

// NewConversations returns a workload of conversations; no two of them begin alike.
func NewConversations(talk Talk, seed uint64, costs Calibration) *Conversations {
	return &Conversations{Talk: talk, Seed: seed, Costs: costs.Usable(), Numbering: newNumbering(0)}
}

// Share lets the first prompts of conversations begin with prefixes, as from users of the same system prompt.
func (c *Conversations) Share(tokens, groups int) error {
	p, err := newPrefixed(tokens, groups, c.First, c.Output, c.Seed, c.Costs)
	if err != nil {
		return err
	}
	c.prefixes, c.First, c.Numbering = p, p.Prompt, newNumbering(groups)
	return nil
}

// firstPrompt also returns how many tokens of the prompt the run has sent before.
func (c *Conversations) firstPrompt(tokens int, rng *rand.Rand) (text string, repeats int) {
	if c.prefixes != nil {
		group, repeats := c.prefixes.group(rng)
		return c.prefixes.write(&c.Numbering, group, tokens, rng), repeats
	}
	return c.Costs.Write(c.Opening(c.Place()), tokens, rng), 0
}

func (c *Conversations) forget() {
	if c.prefixes != nil {
		c.prefixes.forget()
	}
}

// Stage returns a source of conversations for one stage.
func (c *Conversations) Stage(name string) load.Source {
	answers := stats.Rand(c.Seed, "answers", name)
	return &conversations{c, stats.Rand(c.Seed, "workload", name),
		func(tokens int) string { return c.Costs.reply(tokens, answers) }}
}

// Describe returns the workload as run.json has it, with the lengths of first prompts.
func (c *Conversations) Describe() rundir.Workload {
	w := rundir.Workload{PromptTokens: c.First, OutputTokens: c.Output, Seed: c.Seed,
		Conversation: c.Think.conversation(c.Turns, c.Later)}
	if c.prefixes != nil {
		w.Prefix = c.prefixes.describe()
	}
	return w
}

type conversations struct {
	*Conversations
	rng    *rand.Rand
	invent func(tokens int) string
}

func (c *conversations) Next() (load.Session, bool) {
	s := load.Session{Turns: make([]load.Turn, Draw(c.Turns, c.rng)), Invent: c.invent}
	for i := range s.Turns {
		t := &s.Turns[i]
		if i == 0 {
			t.PromptTokens = Draw(c.First, c.rng)
			t.User, s.Repeats = c.firstPrompt(t.PromptTokens, c.rng)
		} else {
			t.PromptTokens = Draw(c.Later, c.rng)
			t.User = c.Costs.reply(t.PromptTokens, c.rng)
			t.Think = c.Think.Draw(c.rng)
		}
		t.OutputTokens = Draw(c.Output, c.rng)
	}
	return s, true
}
