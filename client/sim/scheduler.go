package sim

import "time"

// Sequence is a request in the scheduler. The caller sets the first fields, and may read the next ones between steps.
type Sequence struct {
	Prompt, Output int      // tokens
	Prefix         []uint64 // hashes of leading prompt blocks
	// Token, if not nil, is called with the number, from 1, of an output token at the end of the step that generated it;
	// of several tokens of a step, with the last.
	Token func(n int, last bool)

	Generated   int // output tokens so far
	Cached      int // prompt tokens found in the prefix cache when first admitted
	Preemptions int
	Canceled    bool

	computed int       // tokens whose keys and values are in the cache
	blocks   int       // of the cache, pages included
	pages    []*kvPage // of the prompt's beginning, which other sequences may share
	chunk    int       // tokens in the step under way
	wait     int       // steps without work, on a plain server
}

// length is the number of tokens that must be in the cache before the next can be sampled.
func (s *Sequence) length() int { return s.Prompt + s.Generated }

// Scheduler forms batches. It is a pure discrete-event model, without a clock or a goroutine. Its driver calls Plan,
// lets the time that Plan returned pass, calls Complete, and repeats. Sequences may be added and cancelled at any
// moment; the next Plan takes them into account. It is deterministic for a seed and an order of calls. It follows vLLM
// V1's scheduler (vllm/v1/core/sched/scheduler.py), except that a prompt's blocks are all taken at admission.
type Scheduler struct {
	cfg      MachineConfig
	roofline roofline
	jitter   *jitter
	cache    *kvCache
	running  []*Sequence // oldest admission first
	waiting  queue
	dirty    bool // a sequence was canceled since the last plan
	delays   int  // sequences without work in the step under way, on a plain server
	totals   totals
	drafter  drafter
}

type totals struct {
	preemptions, prefixQueries, prefixHits, promptTokens, outputTokens int
}

// SchedulerStats is the state of a server and its totals so far.
type SchedulerStats struct {
	Running, Waiting               int     // sequences
	KVUsage                        float64 // share of the KV cache in use, 0 to 1
	Preemptions                    int
	PrefixQueries, PrefixHits      int // prompt tokens looked up in the prefix cache, and found there
	PromptTokens, GenerationTokens int // prompt tokens computed or found in the cache; output tokens sampled
	Drafts, Drafted, Accepted      int // of speculative decoding: drafts, their tokens, and those that were accepted
}

// NewScheduler wants a valid configuration that has its defaults.
func NewScheduler(cfg MachineConfig) *Scheduler {
	return &Scheduler{
		cfg: cfg, roofline: cfg.roofline(), jitter: newJitter(cfg), drafter: newDrafter(cfg),
		cache:   newKVCache(cfg.Blocks(), cfg.PrefixCache),
		running: make([]*Sequence, 0, cfg.MaxNumSeqs),
	}
}

// Stats returns the state of the scheduler between two steps.
func (sc *Scheduler) Stats() SchedulerStats {
	return SchedulerStats{
		Running:          len(sc.running),
		Waiting:          sc.waiting.n,
		KVUsage:          1 - float64(sc.cache.Free())/float64(sc.cache.total),
		Preemptions:      sc.totals.preemptions,
		PrefixQueries:    sc.totals.prefixQueries,
		PrefixHits:       sc.totals.prefixHits,
		PromptTokens:     sc.totals.promptTokens,
		GenerationTokens: sc.totals.outputTokens,
		Drafts:           sc.drafter.drafts, Drafted: sc.drafter.drafted, Accepted: sc.drafter.accepted,
	}
}

// Running returns how many sequences have a slot.
func (sc *Scheduler) Running() int { return len(sc.running) }

// Waiting returns how many sequences are in the queue.
func (sc *Scheduler) Waiting() int { return sc.waiting.n }

// Slots returns how many sequences may run at once.
func (sc *Scheduler) Slots() int { return sc.cfg.MaxNumSeqs }

// Resize changes the number of slots and the token budget, from the next Plan on.
func (sc *Scheduler) Resize(slots, budget int) {
	sc.cfg.MaxNumSeqs, sc.cfg.MaxBatchedTokens = slots, budget
}

// Add queues a sequence that fits.
func (sc *Scheduler) Add(s *Sequence) { sc.waiting.push(s) }

// Cancel ends a sequence early. The next Plan frees its place.
func (sc *Scheduler) Cancel(s *Sequence) {
	s.Canceled = true
	sc.dirty = true
}

// Idle reports whether there is nothing to do until a sequence is added.
func (sc *Scheduler) Idle() bool { return len(sc.running) == 0 && sc.waiting.n == 0 }

// Plan chooses what the next step computes, and returns how long the step takes. It returns false where there is
// nothing to compute.
func (sc *Scheduler) Plan() (time.Duration, bool) {
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
	return sc.jitter.apply(sc.roofline.time(batch)), true
}

// continueRunning gives each running sequence its next token, or the next chunk of its prompt, oldest first, and
// returns the budget left. Only the youngest can have prompt left, since it used up the budget of the step that
// admitted it: decodes come first.
func (sc *Scheduler) continueRunning(batch *Batch, budget int) int {
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

// admit takes sequences from the queue while there are slots, budget, and blocks for the first one's whole prompt.
func (sc *Scheduler) admit(batch *Batch, budget int) {
	for budget > 0 && sc.waiting.n > 0 && len(sc.running) < sc.cfg.MaxNumSeqs {
		s := sc.waiting.front()
		prefix := s.Prefix[:min(len(s.Prefix), (s.length()-1)/sc.cfg.BlockTokens)] // at least the last token is computed
		known, idle := sc.cache.Match(prefix)
		need := sc.cfg.BlocksFor(s.length())
		if need-known > sc.cache.Free()-idle {
			return
		}
		sc.waiting.pop()
		s.pages, s.blocks = sc.cache.Acquire(prefix[:known]), need
		sc.cache.Allocate(need - known)
		s.computed = known * sc.cfg.BlockTokens
		if sc.cfg.PrefixCache && s.Preemptions == 0 {
			s.Cached = s.computed
			sc.totals.prefixQueries += s.Prompt
			sc.totals.prefixHits += s.Cached
		}
		sc.running = append(sc.running, s)
		s.wait = sc.cfg.Plain.promptWait()
		if sc.delayed(s) {
			continue
		}
		n := min(s.length()-s.computed, budget)
		sc.schedule(s, n, batch)
		budget -= n
	}
}

func (sc *Scheduler) schedule(s *Sequence, n int, batch *Batch) {
	s.chunk = n
	if n > 0 {
		batch.Add(s.computed, n, s.computed+n == s.length())
	}
}

// reserve gets a running sequence the blocks for a number of tokens. It preempts the youngest sequence while no block
// is free, and returns false where that is the sequence itself.
func (sc *Scheduler) reserve(s *Sequence, tokens int) bool {
	if tokens <= s.blocks*sc.cfg.BlockTokens {
		return true
	}
	for sc.cache.Free() == 0 {
		youngest := sc.running[len(sc.running)-1]
		sc.running = sc.running[:len(sc.running)-1]
		sc.preempt(youngest)
		if youngest == s {
			return false
		}
	}
	sc.cache.Allocate(1)
	s.blocks++
	return true
}

func (sc *Scheduler) preempt(s *Sequence) {
	sc.release(s)
	s.computed, s.chunk = 0, 0
	s.Preemptions++
	sc.totals.preemptions++
	sc.waiting.pushFront(s)
}

func (sc *Scheduler) release(s *Sequence) {
	sc.cache.Release(s.pages, s.blocks-len(s.pages))
	s.pages, s.blocks = nil, 0
}

// Complete ends the step that Plan began: sequences advance, tokens are delivered, finished sequences leave.
func (sc *Scheduler) Complete() {
	kept := sc.running[:0]
	for _, s := range sc.running {
		s.computed += s.chunk
		if s.Canceled || s.computed < s.length() {
			kept = append(kept, s)
			continue
		}
		n := 1
		if s.Generated == 0 {
			sc.totals.promptTokens += s.Prompt
			s.pages = sc.cache.Share(s.Prefix[:min(len(s.Prefix), s.Prompt/sc.cfg.BlockTokens)], s.pages)
		} else {
			n += min(sc.drafter.next(), s.Output-s.Generated-1)
		}
		s.Generated += n
		s.computed += n - 1 // with the draft
		s.wait = sc.cfg.Plain.tokenWait()
		sc.totals.outputTokens += n
		last := s.Generated == s.Output
		if last {
			sc.release(s)
		} else {
			kept = append(kept, s)
		}
		if s.Token != nil {
			s.Token(s.Generated, last)
		}
	}
	clear(sc.running[len(kept):])
	sc.running = kept
}

func (sc *Scheduler) dropCanceled() {
	if !sc.dirty {
		return
	}
	sc.dirty = false
	kept := sc.running[:0]
	for _, s := range sc.running {
		if s.Canceled {
			sc.release(s)
		} else {
			kept = append(kept, s)
		}
	}
	clear(sc.running[len(kept):])
	sc.running = kept
	sc.waiting.filter(func(s *Sequence) bool { return !s.Canceled })
}

// delayed counts a step off the wait of a plain server's sequence, and returns false where it is over.
func (sc *Scheduler) delayed(s *Sequence) bool {
	if s.wait == 0 {
		return false
	}
	s.wait--
	s.chunk = 0
	sc.delays++
	return true
}
