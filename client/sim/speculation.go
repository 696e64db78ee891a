package sim

import (
	"errors"
	"math"
	"math/rand/v2"
)

// Speculation is speculative decoding: a step drafts further tokens of each answer, which count up to the first that
// the model rejects. Drafting and verifying take no time.
type Speculation struct {
	Draft  int     // tokens drafted in a step; 0 for none
	Accept float64 // probability of each to be accepted, if those before it are
}

const maxDraft = 12 // tokens: fewer than a block of the KV cache

func (s Speculation) validate() error {
	if s.Draft < 0 || s.Draft > maxDraft || !(s.Accept >= 0 && s.Accept <= 1) {
		return errors.New("a draft is too long, or its probability to be accepted is none")
	}
	return nil
}

// Acceptance returns the expected share of drafted tokens that are accepted.
func (s Speculation) Acceptance() float64 {
	sum := 0.0
	for i := 1; i <= s.Draft; i++ {
		sum += math.Pow(s.Accept, float64(i))
	}
	return sum / float64(s.Draft)
}

// drafter draws how many tokens of drafts are accepted, and counts them.
type drafter struct {
	Speculation
	rng                       *rand.Rand
	drafts, drafted, accepted int
}

func newDrafter(c MachineConfig) drafter {
	const stream = 0x5bec
	return drafter{Speculation: c.Speculation, rng: rand.New(rand.NewPCG(c.Seed, stream))}
}

// next returns how many tokens of the next draft are accepted.
func (d *drafter) next() (n int) {
	if d.Draft == 0 {
		return 0
	}
	for n < d.Draft && d.rng.Float64() < d.Accept {
		n++
	}
	d.drafts++
	d.drafted += d.Draft
	d.accepted += n
	return n
}
