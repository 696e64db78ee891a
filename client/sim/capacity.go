package sim

import "time"

// Workload is a stream of equal requests without common prefixes.
type Workload struct{ PromptTokens, OutputTokens int }

// Capacity is the performance of a server with a queue that never empties, and with one request at a time. It is zero
// for a workload that the server rejects.
type Capacity struct {
	RequestsPerSecond, OutputTokensPerSecond float64

	MeanBatch float64       // running sequences
	Latency   time.Duration // mean time from admission to the last token, without the wait in the queue

	SyncTTFT, SyncITL, SyncLatency time.Duration // of a request alone on the server; the ITL is the mean
}

// How long CapacityOf simulates the steady state, in turnovers of all slots. The bounds on steps keep it below 100 ms.
const (
	capacityWarmup    = 4
	capacityTurnovers = 200
	capacityMaxSteps  = 500_000

	// The same where the scheduler itself is run, which takes longer to reach a steady state.
	schedulerWarmup    = 400 // requests
	schedulerRequests  = 3000
	schedulerMaxVisits = 8_000_000 // of a sequence by a step
)

// CapacityOf computes the throughput of an endless queue that begins with a burst on an empty server, and the exact
// latencies of a request alone. It reads no clock.
//
// Where MaxNumSeqs sequences always fit into the KV cache, equal requests differ only in their age. A step then depends
// on three numbers: how many sequences decode, their tokens in the cache, and the rest of the one prompt that is partly
// computed. steadyState is a recurrence over these and is independent of the scheduler's code. Where the cache can run
// out, the order of preemptions matters. Then the scheduler itself is run, with requests that queue again as they end.
//
// Jitter has mean 1 and does not change the capacity. The arrivals can: equal requests stay in the phase in which they
// arrived. Where steps are memory-bound in one phase pattern and compute-bound in another, a queue from random arrivals
// has another throughput than a burst. The two agree where all steps are on one side of the roofline, and where all
// steps use the whole token budget, as in the demo preset.
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
		t = steadyState(c, w)
	default:
		t = runScheduler(c, w)
	}
	seconds := t.elapsed.Seconds()
	out := Capacity{
		RequestsPerSecond:     t.tokens / float64(w.OutputTokens) / seconds,
		OutputTokensPerSecond: t.tokens / seconds,
		MeanBatch:             t.sequenceSeconds / seconds,
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

// cohorts is the state of a server with an endless queue of equal requests and enough cache blocks.
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
}

// advance makes one step. Sequences that got their first token OutputTokens-1 steps ago get their last.
func (s *cohorts) advance(t *tally) {
	batch := Batch{Tokens: s.decoding, Samples: s.decoding, Context: s.context, Pairs: s.context}
	budget := s.cfg.MaxBatchedTokens - s.decoding
	slots := s.cfg.MaxNumSeqs - s.decoding
	prompt, output := s.work.PromptTokens, s.work.OutputTokens
	first := 0
	for slots > 0 && budget > 0 {
		if s.partial == 0 {
			s.partial = prompt
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
	t.step(s.roofline.time(batch), batch.Samples, running)

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

// steadyState runs the recurrence over whole turnovers of the slots, after a warm-up.
func steadyState(c MachineConfig, w Workload) tally {
	s := cohorts{cfg: c, roofline: c.roofline(), work: w, firsts: make([]int, w.OutputTokens)}
	var warmup, steady tally
	for s.ended < capacityWarmup*c.MaxNumSeqs && s.step < capacityMaxSteps/4 {
		s.advance(&warmup)
	}
	for turnover := 0; turnover < capacityTurnovers && s.step < capacityMaxSteps; turnover++ {
		for goal := s.ended + c.MaxNumSeqs; s.ended < goal; {
			s.advance(&steady)
		}
	}
	return steady
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

// runScheduler is steadyState with the scheduler itself.
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
