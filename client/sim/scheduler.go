package sim

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"
)

// ErrTooLong is the error of a request that is longer than the model allows, or than the whole KV cache.
var ErrTooLong = errors.New("request too long")

// listener receives a sequence's output tokens, at the end of the step that generated them.
type listener interface {
	// token reports the n-th output token, n counting from 1, and whether it is the last.
	token(n int, last bool)
}

// sequence is one request inside the scheduler.
type sequence struct {
	listener       listener
	prompt, output int      // tokens
	prefix         []uint64 // hashes of leading prompt blocks
	generated      int      // output tokens so far
	computed       int      // tokens whose keys and values are in the cache
	blocks         int      // cache blocks held
	chunk          int      // tokens in the step under way
	cached         int      // prompt tokens found in the prefix cache when first admitted
	preemptions    int
	wait           int // steps without work, on a plain server
	canceled       bool
}

// length returns the number of tokens that must be in the cache before the next can be sampled.
func (s *sequence) length() int { return s.prompt + s.generated }

// scheduler forms batches. It is a pure discrete-event model, without a clock or a goroutine. Its driver calls plan, lets
// the time that plan returned pass, calls complete, and repeats. Sequences may be added and cancelled at any moment; the
// next plan takes them into account. It is deterministic for a seed and an order of calls. It follows vLLM V1's scheduler
// (vllm/v1/core/sched/scheduler.py), except that a prompt's blocks are all taken at admission.
type scheduler struct {
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

// newScheduler returns a scheduler for a valid Config that has its defaults.
func newScheduler(cfg Config) *scheduler {
	sc := &scheduler{cfg: cfg, roofline: cfg.roofline(), blocks: cfg.KVTokens / cfg.BlockTokens}
	sc.free = sc.blocks
	sc.running = make([]*sequence, 0, cfg.MaxNumSeqs)
	if cfg.Jitter > 0 {
		sc.jitter = rand.New(rand.NewPCG(cfg.Seed, 0))
	}
	if cfg.PrefixCache {
		sc.prefixes = newPrefixCache(sc.blocks)
	}
	return sc
}

// fits returns an error where a request could not be served even alone. The last token never enters the cache.
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
func (sc *scheduler) add(s *sequence) { sc.waiting.push(s) }

// cancel ends a sequence early. The next plan frees its place.
func (sc *scheduler) cancel(s *sequence) {
	s.canceled = true
	sc.dirty = true
}

// idle reports whether there is nothing to do until a sequence is added.
func (sc *scheduler) idle() bool { return len(sc.running) == 0 && sc.waiting.n == 0 }

// plan chooses what the next step computes, and returns how long the step takes. It returns false where there is nothing
// to compute.
func (sc *scheduler) plan() (time.Duration, bool) {
	sc.dropCanceled()
	var batch Batch
	sc.delays = 0
	preemptions := sc.totals.preemptions
	budget := sc.continueRunning(&batch, sc.cfg.MaxBatchedTokens)
	if sc.totals.preemptions == preemptions {
		sc.admit(&batch, budget)
	}
	if batch.Tokens == 0 && sc.delays == 0 {
		return 0, false
	}
	d := sc.roofline.stepTime(batch)
	if sc.jitter != nil {
		sigma := sc.cfg.Jitter // exp(N(-sigma^2/2, sigma)) has mean 1: jitter leaves the capacity alone
		d = time.Duration(float64(d) * math.Exp(sigma*sc.jitter.NormFloat64()-sigma*sigma/2))
	}
	return d, true
}

// continueRunning gives each running sequence its next token, or the next chunk of its prompt, oldest first, and
// returns the budget left. Only the youngest can have prompt left, since it used up the budget of the step that
// admitted it: decodes come first.
func (sc *scheduler) continueRunning(batch *Batch, budget int) int {
	for i := 0; i < len(sc.running); i++ {
		s := sc.running[i]
		if sc.delayed(s) {
			continue
		}
		n := min(s.length()-s.computed, budget)
		if !sc.reserve(s, s.computed+n) {
			break
		}
		sc.schedule(s, n, batch)
		budget -= n
	}
	return budget
}

// admit takes sequences from the queue, in order, while there are slots, tokens of the budget, and blocks for the whole
// of the first one's prompt.
func (sc *scheduler) admit(batch *Batch, budget int) {
	for budget > 0 && sc.waiting.n > 0 && len(sc.running) < sc.cfg.MaxNumSeqs {
		s := sc.waiting.front()
		need := sc.cfg.blocksFor(s.length())
		if need > sc.free {
			return
		}
		sc.waiting.pop()
		sc.free -= need
		s.blocks = need
		s.computed = sc.cachedTokens(s)
		sc.running = append(sc.running, s)
		if s.wait = sc.cfg.Plain.promptWait(); sc.delayed(s) {
			continue
		}
		n := min(s.length()-s.computed, budget)
		sc.schedule(s, n, batch)
		budget -= n
	}
}

func (sc *scheduler) schedule(s *sequence, n int, batch *Batch) {
	s.chunk = n
	if n > 0 {
		batch.add(s.computed, n, s.computed+n == s.length())
	}
}

// cachedTokens returns how many tokens of a prompt the prefix cache holds. At least the last token is always computed.
func (sc *scheduler) cachedTokens(s *sequence) int {
	if sc.prefixes == nil {
		return 0
	}
	full := (s.length() - 1) / sc.cfg.BlockTokens
	cached := sc.prefixes.match(s.prefix[:min(len(s.prefix), full)]) * sc.cfg.BlockTokens
	if s.preemptions == 0 {
		s.cached = cached
		sc.totals.prefixQueries += s.prompt
		sc.totals.prefixHits += cached
	}
	return cached
}

// reserve makes sure that a running sequence has blocks for the given number of tokens. It preempts the youngest sequence
// while no block is free, and returns false where that is the sequence itself.
func (sc *scheduler) reserve(s *sequence, tokens int) bool {
	if tokens <= s.blocks*sc.cfg.BlockTokens {
		return true
	}
	for sc.free == 0 {
		youngest := sc.running[len(sc.running)-1]
		sc.running = sc.running[:len(sc.running)-1]
		sc.preempt(youngest)
		if youngest == s {
			return false
		}
	}
	sc.free--
	s.blocks++
	return true
}

func (sc *scheduler) preempt(s *sequence) {
	sc.release(s)
	s.computed, s.chunk = 0, 0
	s.preemptions++
	sc.totals.preemptions++
	sc.waiting.pushFront(s)
}

func (sc *scheduler) release(s *sequence) {
	sc.free += s.blocks
	s.blocks = 0
}

// complete ends the step that plan began: sequences advance, tokens are delivered, finished sequences leave.
func (sc *scheduler) complete() {
	kept := sc.running[:0]
	for _, s := range sc.running {
		s.computed += s.chunk
		if s.canceled || s.computed < s.length() {
			kept = append(kept, s)
			continue
		}
		if s.generated == 0 {
			sc.prefilled(s)
		}
		s.generated++
		s.wait = sc.cfg.Plain.tokenWait()
		sc.totals.outputTokens++
		last := s.generated == s.output
		if last {
			sc.release(s)
		} else {
			kept = append(kept, s)
		}
		s.listener.token(s.generated, last)
	}
	clear(sc.running[len(kept):])
	sc.running = kept
}

func (sc *scheduler) prefilled(s *sequence) {
	sc.totals.promptTokens += s.prompt
	if sc.prefixes != nil {
		sc.prefixes.add(s.prefix[:min(len(s.prefix), s.prompt/sc.cfg.BlockTokens)])
	}
}

func (sc *scheduler) dropCanceled() {
	if !sc.dirty {
		return
	}
	sc.dirty = false
	kept := sc.running[:0]
	for _, s := range sc.running {
		if s.canceled {
			sc.release(s)
		} else {
			kept = append(kept, s)
		}
	}
	clear(sc.running[len(kept):])
	sc.running = kept
	sc.waiting.filter(func(s *sequence) bool { return !s.canceled })
}
