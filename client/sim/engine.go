package sim

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// ErrTooLong is what a request gets that the server could never serve: longer than the model allows, or than the
// whole KV cache.
var ErrTooLong = errors.New("request too long")

// client hears of a sequence's output tokens, at the end of the step that made them.
type client interface {
	// token reports the n-th output token, n counting from 1, and whether it is the last.
	token(n int, last bool)
}

// sequence is one request inside the engine.
type sequence struct {
	client         client
	prompt, output int      // tokens
	prefix         []uint64 // hashes of leading prompt blocks
	generated      int      // output tokens so far
	computed       int      // tokens whose keys and values are in the cache
	blocks         int      // cache blocks held
	chunk          int      // tokens in the step under way
	cached         int      // prompt tokens found in the prefix cache when first admitted
	preemptions    int
	wait           int // steps until a plain server computes the prompt
	canceled       bool
}

// length is how many tokens must be in the cache before the next can be sampled.
func (s *sequence) length() int { return s.prompt + s.generated }

// engine is the scheduler: pure discrete events, no clock and no goroutine. Its driver calls plan, lets the time pass
// that plan returned, calls complete, and so on; sequences may be added and canceled at any moment in between, and are
// seen by the next plan. It is deterministic for a seed and an order of calls. It follows vLLM V1's scheduler
// (vllm/v1/core/sched/scheduler.py), except that a prompt's blocks are all taken at admission.
type engine struct {
	cfg      Config
	roofline roofline
	jitter   *rand.Rand // nil: none
	prefixes *prefixCache
	blocks   int // of the whole cache
	free     int
	running  []*sequence // oldest admission first
	waiting  queue
	dirty    bool // a sequence was canceled since the last plan
	delays   int  // sequences that wait through the step under way, on a plain server
	totals   totals
}

type totals struct {
	preemptions, prefixQueries, prefixHits, promptTokens, outputTokens int
}

// newEngine wants a Config that has its defaults and is valid.
func newEngine(cfg Config) *engine {
	e := &engine{cfg: cfg, roofline: cfg.roofline(), blocks: cfg.KVTokens / cfg.BlockTokens}
	e.free = e.blocks
	e.running = make([]*sequence, 0, cfg.MaxNumSeqs)
	if cfg.Jitter > 0 {
		e.jitter = rand.New(rand.NewPCG(cfg.Seed, 0))
	}
	if cfg.PrefixCache {
		e.prefixes = newPrefixCache(e.blocks)
	}
	return e
}

// fits says whether a request could be served if it were alone. Its last token is never put into the cache.
func (c Config) fits(prompt, output int) error {
	if prompt+output > c.MaxModelLen {
		return fmt.Errorf("%w: %d prompt and %d output tokens, the model takes %d", ErrTooLong, prompt, output, c.MaxModelLen)
	}
	if c.blocksFor(prompt+output-1) > c.KVTokens/c.BlockTokens {
		return fmt.Errorf("%w: %d prompt and %d output tokens, the KV cache holds %d", ErrTooLong, prompt, output, c.KVTokens)
	}
	return nil
}

func (c Config) blocksFor(tokens int) int { return (tokens + c.BlockTokens - 1) / c.BlockTokens }

// add queues a sequence that fits.
func (e *engine) add(s *sequence) { e.waiting.push(s) }

// cancel ends a sequence early. It hears of no further token; its place is freed by the next plan.
func (e *engine) cancel(s *sequence) {
	s.canceled = true
	e.dirty = true
}

// idle is true when there is nothing to do until a sequence is added.
func (e *engine) idle() bool { return len(e.running) == 0 && e.waiting.n == 0 }

// plan chooses what the next step computes, and returns how long the step takes. It returns false if there is nothing
// to compute.
func (e *engine) plan() (time.Duration, bool) {
	e.dropCanceled()
	var batch Batch
	e.delays = 0
	preemptions := e.totals.preemptions
	budget := e.continueRunning(&batch, e.cfg.MaxBatchedTokens)
	if e.totals.preemptions == preemptions {
		e.admit(&batch, budget)
	}
	if batch.Tokens == 0 && e.delays == 0 {
		return 0, false
	}
	d := e.roofline.stepTime(batch)
	if e.jitter != nil {
		sigma := e.cfg.Jitter // exp(N(-sigma^2/2, sigma)) has mean 1: jitter leaves the capacity alone
		d = time.Duration(float64(d) * math.Exp(sigma*e.jitter.NormFloat64()-sigma*sigma/2))
	}
	return d, true
}

// continueRunning gives each running sequence its next token, or the next chunk of its prompt, oldest first, and
// returns the budget left. Only the youngest can have prompt left, since it used up the budget of the step that
// admitted it: decodes come first.
func (e *engine) continueRunning(batch *Batch, budget int) int {
	for i := 0; i < len(e.running); i++ {
		s := e.running[i]
		if e.delayed(s) {
			continue
		}
		n := min(s.length()-s.computed, budget)
		if !e.reserve(s, s.computed+n) {
			break
		}
		e.schedule(s, n, batch)
		budget -= n
	}
	return budget
}

// admit takes sequences from the queue, in order, while there are slots, tokens of the budget, and blocks for the whole
// of the first one's prompt.
func (e *engine) admit(batch *Batch, budget int) {
	for budget > 0 && e.waiting.n > 0 && len(e.running) < e.cfg.MaxNumSeqs {
		s := e.waiting.front()
		need := e.cfg.blocksFor(s.length())
		if need > e.free {
			return
		}
		e.waiting.pop()
		e.free -= need
		s.blocks = need
		s.computed = e.cachedTokens(s)
		e.running = append(e.running, s)
		if s.wait = e.cfg.Plain.promptWait(); e.delayed(s) {
			continue
		}
		n := min(s.length()-s.computed, budget)
		e.schedule(s, n, batch)
		budget -= n
	}
}

func (e *engine) schedule(s *sequence, n int, batch *Batch) {
	s.chunk = n
	if n > 0 {
		batch.add(s.computed, n, s.computed+n == s.length())
	}
}

// cachedTokens looks up a prompt in the prefix cache. At least its last token is always computed.
func (e *engine) cachedTokens(s *sequence) int {
	if e.prefixes == nil {
		return 0
	}
	full := (s.length() - 1) / e.cfg.BlockTokens
	cached := e.prefixes.match(s.prefix[:min(len(s.prefix), full)]) * e.cfg.BlockTokens
	if s.preemptions == 0 {
		s.cached = cached
		e.totals.prefixQueries += s.prompt
		e.totals.prefixHits += cached
	}
	return cached
}

// reserve makes sure that a running sequence has blocks for so many tokens, preempting the youngest as long as there
// are none free. It returns false if that was the sequence itself.
func (e *engine) reserve(s *sequence, tokens int) bool {
	if tokens <= s.blocks*e.cfg.BlockTokens {
		return true
	}
	for e.free == 0 {
		youngest := e.running[len(e.running)-1]
		e.running = e.running[:len(e.running)-1]
		e.preempt(youngest)
		if youngest == s {
			return false
		}
	}
	e.free--
	s.blocks++
	return true
}

func (e *engine) preempt(s *sequence) {
	e.release(s)
	s.computed, s.chunk = 0, 0
	s.preemptions++
	e.totals.preemptions++
	e.waiting.pushFront(s)
}

func (e *engine) release(s *sequence) {
	e.free += s.blocks
	s.blocks = 0
}

// complete ends the step that plan began: sequences advance, tokens are handed out, finished sequences leave.
func (e *engine) complete() {
	kept := e.running[:0]
	for _, s := range e.running {
		s.computed += s.chunk
		if s.canceled || s.computed < s.length() {
			kept = append(kept, s)
			continue
		}
		if s.generated == 0 {
			e.prefilled(s)
		}
		s.generated++
		s.wait = e.cfg.Plain.tokenWait()
		e.totals.outputTokens++
		last := s.generated == s.output
		if last {
			e.release(s)
		} else {
			kept = append(kept, s)
		}
		s.client.token(s.generated, last)
	}
	clear(e.running[len(kept):])
	e.running = kept
}

func (e *engine) prefilled(s *sequence) {
	e.totals.promptTokens += s.prompt
	if e.prefixes != nil {
		e.prefixes.add(s.prefix[:min(len(s.prefix), s.prompt/e.cfg.BlockTokens)])
	}
}

func (e *engine) dropCanceled() {
	if !e.dirty {
		return
	}
	e.dirty = false
	kept := e.running[:0]
	for _, s := range e.running {
		if s.canceled {
			e.release(s)
		} else {
			kept = append(kept, s)
		}
	}
	clear(e.running[len(kept):])
	e.running = kept
	e.waiting.filter(func(s *sequence) bool { return !s.canceled })
}
