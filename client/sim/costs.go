package sim

import (
	"cmp"
	"errors"
)

// Costs are the step times of a server that was measured. They take the place of a GPU and a model. Like the roofline of
// [Config.StepTime], a step takes the longer of two times, which are sums: in seconds
//
//	read    = Fixed + Context x (Context + Tokens) + Token x Tokens + Experts x (1 - ExpertMiss^Tokens)
//	compute = Fixed + Token x Tokens + Sample x Samples + Pair x Pairs
type Costs struct {
	Read    ReadCosts
	Compute ComputeCosts
}

// ReadCosts are the costs of a step that waits for its memory, in seconds.
type ReadCosts struct {
	Fixed      float64 // of each step
	Context    float64 // per token in the cache
	Token      float64 // per token computed
	Experts    float64 // of all experts; those that no token uses cost nothing
	ExpertMiss float64 // probability that a token does not use a given expert
}

// ComputeCosts are the costs of a step that waits for its arithmetic, in seconds.
type ComputeCosts struct {
	Fixed  float64 // of each step
	Token  float64 // per token computed
	Sample float64 // per output token
	Pair   float64 // per pair of a query and a key
}

// measuredDefaults gives a server of measured costs a cache that never runs out, where its size is not known. It starts no
// check of memory sizes, since there is no GPU.
func (c MachineConfig) measuredDefaults() MachineConfig {
	if c.Costs != nil && c.KVTokens == 0 {
		c.MaxNumSeqs = cmp.Or(c.MaxNumSeqs, defaultMaxNumSeqs)
		c.MaxModelLen = cmp.Or(c.MaxModelLen, defaultMaxModelLen)
		c.BlockTokens = cmp.Or(c.BlockTokens, defaultBlockTokens)
		c.KVTokens = c.MaxNumSeqs * (c.MaxModelLen + c.BlockTokens)
	}
	if c.Costs != nil {
		c.StepOverhead = cmp.Or(c.StepOverhead, 1) // not used: it is part of the costs
		c.Model.Vocab = cmp.Or(c.Model.Vocab, measuredVocab)
		c.Model.Name = cmp.Or(c.Model.Name, "twin")
	}
	return c
}

// measuredVocab is the vocabulary of a server of measured costs: Qwen2's, as the other servers'.
const measuredVocab = 152064

// validate refuses costs with which time would stand still or run backwards.
func (c *Costs) validate() error {
	r, k := c.Read, c.Compute
	if min(r.Fixed, r.Context, r.Token, r.Experts, r.ExpertMiss, k.Fixed, k.Token, k.Sample, k.Pair) < 0 || r.ExpertMiss > 1 {
		return errors.New("a cost of the step time is negative, or a probability above 1")
	}
	if r.Fixed+r.Token+r.Context+k.Fixed+k.Token+k.Sample+k.Pair <= 0 {
		return errors.New("a step of one token takes no time")
	}
	return nil
}

// roofline returns the costs as the scheduler uses them.
func (c *Costs) roofline() Roofline {
	return Roofline{
		denseWeights: c.Read.Fixed, kvToken: c.Read.Context, readToken: c.Read.Token, expertWeights: c.Read.Experts, expertMiss: c.Read.ExpertMiss,
		computeFixed: c.Compute.Fixed, bodyToken: c.Compute.Token, headSample: c.Compute.Sample, attentionPair: c.Compute.Pair,
	}
}
