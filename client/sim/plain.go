package sim

import (
	"cmp"
	"errors"
	"fmt"
	"time"
)

// Plain is a server of fixed times, whatever its load: a request's first token comes FirstToken after it gets a slot,
// and each further one after PerToken. It has no model and no roofline, so that its capacity is a simple division. The
// engine works in steps of PerToken/5: while other requests run, an arrival waits for the next step.
type Plain struct {
	FirstToken time.Duration // a multiple of PerToken/5
	PerToken   time.Duration
}

// plain8 is the server of known behaviour that tests use: 8 slots, a first token after 100 ms, then one each 10 ms.
// With 32 tokens an answer takes 410 ms, and the server completes 19.5 requests a second.
func plain8() MachineConfig {
	return MachineConfig{
		Plain:      Plain{FirstToken: 100 * time.Millisecond, PerToken: 10 * time.Millisecond},
		Model:      Model{Name: "plain8", Vocab: 152064},
		MaxNumSeqs: 8,
		Seed:       1,
	}
}

const plainSteps = 5 // for a token: more are more exact, and slower

// IsPlain reports whether the server has fixed times instead of a model.
func (c MachineConfig) IsPlain() bool { return c.Plain != Plain{} }

// plainDefaults gives a plain server a cache and a budget that never run out.
func (c MachineConfig) plainDefaults() MachineConfig {
	if c.IsPlain() {
		c.MaxNumSeqs = cmp.Or(c.MaxNumSeqs, defaultMaxNumSeqs)
		c.MaxModelLen = cmp.Or(c.MaxModelLen, defaultMaxModelLen)
		c.BlockTokens = cmp.Or(c.BlockTokens, defaultBlockTokens)
		c.KVTokens = cmp.Or(c.KVTokens, c.MaxNumSeqs*(c.MaxModelLen+c.BlockTokens))
		c.MaxBatchedTokens = cmp.Or(c.MaxBatchedTokens, c.MaxNumSeqs*c.MaxModelLen)
	}
	return c
}

func (p Plain) validate() error {
	switch {
	case p.PerToken <= 0 || p.FirstToken <= 0:
		return errors.New("a plain server needs a time to the first token and a time per token, above 0")
	case p.PerToken%plainSteps != 0 || p.FirstToken%p.step() != 0:
		return fmt.Errorf("the first token takes %v, which is no multiple of %v: a plain server works in steps of a "+
			"fifth of the %v per token",
			p.FirstToken, p.step(), p.PerToken)
	}
	return nil
}

func (p Plain) step() time.Duration { return p.PerToken / plainSteps }

// promptWait is how many steps pass before the one that computes a prompt; 0 for a server that is not plain.
func (p Plain) promptWait() int {
	if p.PerToken == 0 {
		return 0
	}
	return int(p.FirstToken/p.step()) - 1
}

// tokenWait is how many steps pass before the one that computes a further token; 0 for a server that is not plain.
func (p Plain) tokenWait() int {
	if p.PerToken == 0 {
		return 0
	}
	return plainSteps - 1
}
