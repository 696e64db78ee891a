package sim

import (
	"math"
	"math/rand/v2"
	"time"
)

// The shares of the data sheet's peaks that kernels attain, and the shortest time of an all-reduce. They were chosen so
// that Qwen2-7B on an L20 has a synchronous TTFT and ITL within 10 % of a published vLLM table (95.6 and 21.0 ms).
// TestPublishedRows compares more tables.
const (
	bandwidthEfficiency = 0.8
	computeEfficiency   = 0.6
	allReduceLatency    = 10e-6 // seconds
)

// Batch is the work of one step, summed over its sequences.
type Batch struct {
	Tokens  int // computed: one for each decode, a chunk for each prompt
	Samples int // sequences that get an output token from this step
	Context int // tokens whose keys and values are read, the new ones included
	Pairs   int // (query, key) pairs of attention: each new token attends to all up to itself
}

// Add adds n tokens of a sequence after those computed before; samples means that it gets an output token.
func (b *Batch) Add(computed, n int, samples bool) {
	b.Tokens += n
	b.Context += computed + n
	b.Pairs += n*computed + n*(n+1)/2
	if samples {
		b.Samples++
	}
}

// StepTime returns the time of a step by the roofline model (Williams, Waterman, Patterson, CACM 2009): the slower of
// moving the bytes and doing the operations. The counts are those of "Transformer Inference Arithmetic"
// (kipply, 2022), for one of TP equal shares:
//
//	bytes = weights + kv x (Context + Tokens)          read, and written for the new tokens
//	ops   = 2 x body x Tokens + 2 x head x Samples + 4 x Layers x Heads x HeadDim x Pairs
//	time  = max(bytes / (0.8 x bandwidth), ops / (0.6 x peak)) / TP + StepOverhead + all-reduces
//
// body is ActiveParams without the embeddings, head is Vocab x Hidden, kv the bytes of a token in the cache. Attention
// is done in FP16, whatever the weights. The weights read are the checkpoint's without the input embedding; of a
// mixture of experts, those that at least one of n tokens is routed to, by uniform chance: the fraction 1 - (1 -
// ExpertsPerToken/Experts)^n, which grows towards all of them.
//
// Tensor parallelism adds two ring all-reduces a layer over Tokens x Hidden 16-bit values, each
// 10 us + 2 (TP-1)/TP x bytes / interconnect (NCCL's bus bandwidth).
//
// It does not include jitter.
func (c MachineConfig) StepTime(b Batch) time.Duration {
	r := c.WithDefaults().roofline()
	return r.time(b)
}

// roofline is StepTime with its constants computed once: in seconds per unit, TP divided out.
type roofline struct {
	fixed         float64 // overhead, weights excluded
	denseWeights  float64 // reading the weights that every step needs
	expertWeights float64 // reading all routed experts
	expertMiss    float64 // probability that one token does not use a given expert
	kvToken       float64
	bodyToken     float64
	headSample    float64
	attentionPair float64
	reduceToken   float64
}

// roofline wants a valid configuration that has its defaults.
func (c MachineConfig) roofline() roofline {
	if c.IsPlain() {
		return roofline{fixed: c.Plain.step().Seconds()}
	}
	m, tp := c.Model, float64(c.TP)
	bandwidth := c.GPU.BandwidthBytes * bandwidthEfficiency * tp
	fp16 := c.GPU.PeakFP16 * computeEfficiency * tp
	linear := fp16
	if c.Quant == INT8 {
		linear = c.GPU.PeakINT8 * computeEfficiency * tp
	}
	experts := m.ExpertParams * c.Quant.bytes()
	r := roofline{
		fixed:         c.StepOverhead.Seconds(),
		denseWeights:  (c.weightBytes() - experts - m.embedding()*FP16.bytes()) / bandwidth,
		expertWeights: experts / bandwidth,
		kvToken:       m.kvBytes() / bandwidth,
		bodyToken:     2 * (m.ActiveParams - 2*m.embedding()) / linear,
		headSample:    2 * m.embedding() / fp16,
		attentionPair: 4 * float64(m.Layers*m.Heads*m.HeadDim) / fp16,
	}
	if m.Experts > 0 {
		r.expertMiss = 1 - float64(m.ExpertsPerToken)/float64(m.Experts)
	}
	if c.TP > 1 {
		reduces := 2 * float64(m.Layers)
		r.fixed += reduces * allReduceLatency
		r.reduceToken = reduces * 2 * (tp - 1) / tp * 2 * float64(m.Hidden) / c.GPU.InterconnectBytes
	}
	return r
}

func (r *roofline) time(b Batch) time.Duration {
	tokens := float64(b.Tokens)
	memory := r.denseWeights + r.kvToken*float64(b.Context+b.Tokens)
	if r.expertWeights > 0 {
		memory += r.expertWeights * (1 - math.Pow(r.expertMiss, tokens))
	}
	compute := r.bodyToken*tokens + r.headSample*float64(b.Samples) + r.attentionPair*float64(b.Pairs)
	seconds := max(memory, compute) + r.fixed + r.reduceToken*tokens
	return time.Duration(math.Round(seconds * 1e9))
}

// jitter draws the random factors of step times; nil is none.
type jitter struct {
	sigma float64
	rng   *rand.Rand
}

func newJitter(c MachineConfig) *jitter {
	if c.Jitter <= 0 {
		return nil
	}
	return &jitter{c.Jitter, rand.New(rand.NewPCG(c.Seed, jitterStream))}
}

// apply returns the time of a step that takes d without jitter. exp(N(-sigma^2/2, sigma)) has mean 1: jitter does not
// change the capacity.
func (j *jitter) apply(d time.Duration) time.Duration {
	if j == nil {
		return d
	}
	return time.Duration(float64(d) * math.Exp(j.sigma*j.rng.NormFloat64()-j.sigma*j.sigma/2))
}
