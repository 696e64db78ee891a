package sim

import (
	"math/rand/v2"
	"time"
)

// Workload is a stream of equal requests without common prefixes.
type Workload struct{ PromptTokens, OutputTokens int }

// Capacity is the performance of a server with a queue that never empties, and with one request at a time. It is zero
// for a workload that the server rejects.
type Capacity struct {
	RequestsPerSecond, OutputTokensPerSecond float64

	// Preempts: the KV cache may run out. The throughput then depends on the queue, too: a long one keeps the cache full.
	Preempts bool

	MeanBatch float64       // running sequences
	Latency   time.Duration // mean time from admission to the last token, without the wait in the queue

	SyncTTFT, SyncITL, SyncLatency time.Duration // of a request alone on the server; the ITL is the mean
}

// How long CapacityOf simulates. The bounds on steps keep it below 100 ms or so.
const (
	overloadStarts    = 8   // each with other arrivals
	overloadShare     = 1.1 // of the capacity, that arrives
	overloadRounds    = 4   // at most, until so much arrives
	overloadWarmup    = 4   // turnovers of all slots
	overloadTurnovers = 25  // and after them
	overloadRequests  = 600 // at least
	overloadMaxSteps  = 60_000

	// The same where the scheduler itself is run.
	schedulerWarmup    = 400 // requests
	schedulerRequests  = 3000
	schedulerMaxVisits = 8_000_000 // of a sequence by a step
)

// CapacityOf computes the throughput of a server to which Poisson arrivals come a little faster than it can take, and
// the exact latencies of a request alone. It reads no clock.
//
// Where MaxNumSeqs sequences always fit into the KV cache, equal requests differ only in their age. A step then depends
// on three numbers: how many sequences decode, their tokens in the cache, and the rest of the one prompt that is partly
// computed. cohorts is a recurrence over these and is independent of the scheduler's code. Where the cache can run out,
// the order of preemptions matters. Then the scheduler itself is run, with requests that queue again as they end.
//
// In a queue that never empties, equal requests stay for ever in the phase in which they began, and the throughput
// depends on it: after a burst, all prompts are computed together, and a server with few slots does up to a fifth less.
// The capacity is the mean over several starts; of a server with 8 slots, one differs by 5 % from another.
//
// Jitter has mean 1 and does not change the capacity.
func CapacityOf(c MachineConfig, w Workload) Capacity {
	c = c.WithDefaults()
	if c.Validate() != nil || w.PromptTokens < 1 || w.OutputTokens < 1 || c.Fits(w.PromptTokens, w.OutputTokens) != nil {
		return Capacity{}
	}
	alwaysFits := c.MaxNumSeqs*c.BlocksFor(w.PromptTokens+w.OutputTokens-1) <= c.Blocks()
	regular := alwaysFits && c.Speculation.Draft == 0 // without preemptions and draws
	var t tally
	switch {
	case regular && c.IsPlain():
		return plainCapacity(c.Plain, c.MaxNumSeqs, w)
	case regular:
		t = overload(c, w)
	default:
		t = runScheduler(c, w)
	}
	seconds := t.elapsed.Seconds()
	out := Capacity{
		RequestsPerSecond:     t.tokens / float64(w.OutputTokens) / seconds,
		OutputTokensPerSecond: t.tokens / seconds,
		MeanBatch:             t.sequenceSeconds / seconds,
		Preempts:              !alwaysFits,
	}
	out.Latency = time.Duration(out.MeanBatch / out.RequestsPerSecond * 1e9) // Little's law
	out.SyncTTFT, out.SyncITL, out.SyncLatency = synchronous(c, w)
	return out
}

// plainCapacity is exact under an endless queue: a slot is taken again in the step after an answer's last token.
func plainCapacity(p Plain, slots int, w Workload) Capacity {
	latency := p.FirstToken + time.Duration(w.OutputTokens-1)*p.PerToken
	c := Capacity{
		RequestsPerSecond: float64(slots) / latency.Seconds(),
		MeanBatch:         float64(slots),
		Latency:           latency,
		SyncTTFT:          p.FirstToken,
		SyncLatency:       latency,
	}
	c.OutputTokensPerSecond = c.RequestsPerSecond * float64(w.OutputTokens)
	if w.OutputTokens > 1 {
		c.SyncITL = p.PerToken
	}
	return c
}

type tally struct {
	elapsed         time.Duration
	tokens          float64 // sampled
	sequenceSeconds float64
}

func (t *tally) step(d time.Duration, samples, running int) {
	t.elapsed += d
	t.tokens += float64(samples)
	t.sequenceSeconds += d.Seconds() * float64(running)
}

// cohorts is the state of a server with equal requests and enough cache blocks.
type cohorts struct {
	cfg      MachineConfig
	roofline roofline
	work     Workload
	firsts   []int // ring over the last OutputTokens steps: how many sequences got their first token
	step     int
	decoding int
	context  int // tokens of the decoding sequences, with those to be computed
	partial  int // prompt tokens left of the sequence whose prompt is partly computed; 0 for none
	ended    int

	// The queue, without the sequence whose prompt is partly computed. Times are in seconds.
	waiting       int
	now, next     float64 // next: when the next request arrives
	perSecond     float64 // arrivals
	interarrivals *rand.Rand
}

func (s *cohorts) arrive() {
	if s.decoding == 0 && s.partial == 0 && s.waiting == 0 { // the server rests
		s.now = max(s.now, s.next)
	}
	for s.next <= s.now {
		s.waiting++
		s.next += s.interarrivals.ExpFloat64() / s.perSecond
	}
}

// advance makes one step. Sequences that got their first token OutputTokens-1 steps ago get their last.
func (s *cohorts) advance(t *tally) {
	s.arrive()
	batch := Batch{Tokens: s.decoding, Samples: s.decoding, Context: s.context, Pairs: s.context}
	budget := s.cfg.MaxBatchedTokens - s.decoding
	slots := s.cfg.MaxNumSeqs - s.decoding
	prompt, output := s.work.PromptTokens, s.work.OutputTokens
	first := 0
	for slots > 0 && budget > 0 && s.partial+s.waiting > 0 {
		if s.partial == 0 {
			s.partial = prompt
			s.waiting--
		}
		n := min(s.partial, budget)
		batch.Add(prompt-s.partial, n, n == s.partial)
		budget -= n
		s.partial -= n
		if s.partial == 0 {
			first++
			slots--
		}
	}
	running := s.decoding + first
	if s.partial > 0 {
		running++
	}
	took := s.roofline.time(batch)
	t.step(took, batch.Samples, running)
	s.now += took.Seconds()

	s.context += s.decoding + first*(prompt+1)
	s.decoding += first
	s.firsts[s.step%output] = first
	s.step++
	last := s.firsts[s.step%output]
	s.firsts[s.step%output] = 0
	s.decoding -= last
	s.context -= last * (prompt + output)
	s.ended += last
}

// overload runs the recurrence, with more arrivals each time until they are an overload.
func overload(c MachineConfig, w Workload) (t tally) {
	rate := func() float64 { return t.tokens / float64(w.OutputTokens) / t.elapsed.Seconds() }
	_, _, lone := synchronous(c, w)
	t.run(c, w, overloadShare*float64(c.MaxNumSeqs)/lone.Seconds(), 0) // more than it can be
	for range overloadRounds {
		arriving := overloadShare * rate()
		t = tally{}
		for seed := range uint64(overloadStarts) {
			t.run(c, w, arriving, seed)
		}
		const overloaded = 0.95
		if rate() < overloaded*arriving {
			break
		}
	}
	return t
}

// run adds whole turnovers of the slots, after a warm-up.
func (t *tally) run(c MachineConfig, w Workload, perSecond float64, seed uint64) {
	s := cohorts{
		cfg: c, roofline: c.roofline(), work: w, firsts: make([]int, w.OutputTokens),
		perSecond: perSecond, interarrivals: rand.New(rand.NewPCG(seed, 0)),
	}
	var warmup tally
	for s.ended < overloadWarmup*c.MaxNumSeqs && s.step < overloadMaxSteps/4 {
		s.advance(&warmup)
	}
	turnovers := max(overloadTurnovers, (overloadRequests+c.MaxNumSeqs-1)/c.MaxNumSeqs)
	for goal := s.ended + turnovers*c.MaxNumSeqs; s.ended < goal && s.step < overloadMaxSteps; {
		s.advance(t)
	}
}

// resubmitter queues its sequence again whenever it ends.
type resubmitter struct {
	Sequence
	scheduler *Scheduler
	ended     *int
}

func (l *resubmitter) token(_ int, last bool) {
	if last {
		*l.ended++
		l.Sequence = Sequence{Token: l.Token, Prompt: l.Prompt, Output: l.Output}
		l.scheduler.Add(&l.Sequence)
	}
}

// runScheduler runs the scheduler itself.
func runScheduler(c MachineConfig, w Workload) tally {
	c.Jitter, c.PrefixCache = 0, false
	s := NewScheduler(c)
	ended, visits := 0, 0
	for range c.MaxNumSeqs + 1 {
		l := &resubmitter{scheduler: s, ended: &ended}
		l.Sequence = Sequence{Token: l.token, Prompt: w.PromptTokens, Output: w.OutputTokens}
		s.Add(&l.Sequence)
	}
	advance := func(t *tally) {
		d, _ := s.Plan()
		running, before := s.Running(), s.Stats().GenerationTokens
		visits += running
		s.Complete()
		t.step(d, s.Stats().GenerationTokens-before, running)
	}
	var warmup, steady tally
	for ended < schedulerWarmup && visits < schedulerMaxVisits/4 {
		advance(&warmup)
	}
	for goal := ended + schedulerRequests; ended < goal && visits < schedulerMaxVisits; {
		advance(&steady)
	}
	return steady
}

func synchronous(c MachineConfig, w Workload) (ttft, itl, latency time.Duration) {
	if c.IsPlain() {
		p := plainCapacity(c.Plain, 1, w)
		return p.SyncTTFT, p.SyncITL, p.SyncLatency
	}
	r := c.roofline()
	for computed := 0; computed < w.PromptTokens; {
		n := min(w.PromptTokens-computed, c.MaxBatchedTokens)
		var b Batch
		b.Add(computed, n, computed+n == w.PromptTokens)
		computed += n
		ttft += r.time(b)
	}
	latency = ttft
	for i := range w.OutputTokens - 1 {
		var b Batch
		b.Add(w.PromptTokens+i, 1, true)
		latency += r.time(b)
	}
	if w.OutputTokens > 1 {
		itl = (latency - ttft) / time.Duration(w.OutputTokens-1)
	}
	return ttft, itl, latency
}
