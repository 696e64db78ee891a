package simtest

import (
	"math"
	"math/rand/v2"
	"time"

	"llmsweep/client/sim"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// longRun is a server of a trial, without its habits, under Poisson arrivals that go on for ever.
type longRun struct {
	*simulation
	trial             *Trial
	rate, next        float64
	sent, tokens      int // requests, and the output tokens that they ask for
	arrivals, lengths *rand.Rand
	first             func(request int, wait time.Duration) // told each first token; nil for none
}

func (k *Trial) longRun(rate float64, seed uint64) *longRun {
	s, err := newSimulation(k.Server)
	if err != nil {
		panic(err)
	}
	return &longRun{simulation: s, trial: k, rate: rate, arrivals: stats.Rand(seed, "truth", "arrivals"),
		lengths: stats.Rand(seed, "truth", "lengths")}
}

// advance does a step of the server, and lets the requests arrive that come until its end.
func (l *longRun) advance() {
	for len(l.coming) == 0 || l.coming[len(l.coming)-1].Arrived <= l.now {
		l.next += l.arrivals.ExpFloat64() / l.rate
		p := drawLength(l.lengths, l.trial.Work.Prompt, l.trial.Spread)
		o := drawLength(l.lengths, l.trial.Work.Output, l.trial.Spread)
		var seen func(j *job, n int, at time.Duration)
		if request := l.sent; l.first != nil {
			seen = func(j *job, n int, at time.Duration) {
				if n == 1 {
					l.first(request, at-j.Arrived)
				}
			}
		}
		l.Add(rundir.Duration(l.next), sim.Request{PromptTokens: p, OutputTokens: o}, seen)
		l.sent, l.tokens = l.sent+1, l.tokens+o
	}
	l.Step()
}

// done returns what was generated so far, in requests of mean length.
func (l *longRun) done() float64 {
	return float64(l.scheduler.Stats().GenerationTokens) / float64(max(1, l.tokens)) * float64(l.sent)
}

// requests is how many requests of a long run are measured, and warmUp how many come before them.
func (k *Trial) requests() int { return min(12_000, 3_000_000/k.Work.Output) }
func (k *Trial) warmUp() int   { return 4*k.Server.WithDefaults().MaxNumSeqs + 200 }

// overloaded returns what the server does per second where 1.4 times its computed capacity arrives.
func (k *Trial) overloaded(seed uint64) float64 {
	const over = 1.4
	l := k.longRun(over*k.Work.Capacity(k.Server).RequestsPerSecond, seed)
	warm, n := float64(k.warmUp()), float64(k.requests())
	for l.done() < warm {
		l.advance()
	}
	from, before := l.now, l.done()
	for l.done() < warm+n {
		l.advance()
	}
	return (l.done() - before) / (l.now - from).Seconds()
}

// Growth returns by how much the backlog of a long run at a rate grows, as a share of what arrives; its own error is
// 1 %.
func (k *Trial) Growth(rate float64) float64 {
	l := k.longRun(rate, 1)
	backlog := func(sent int) float64 {
		for l.sent < sent {
			l.advance()
		}
		return float64(l.scheduler.Running() + l.scheduler.Waiting())
	}
	before := backlog(k.warmUp())
	return (backlog(k.warmUp()+k.requests()) - before) / float64(k.requests())
}

// Sustains returns the rates between which lies what the server sustains, in requests per second. It is a range where
// that is a matter of chance: equal requests that come into step in few slots stay so while some wait, and a server of
// 8 slots does 17.3, 18.1, 18.9 or 19.7 per second then. And it is one where an overload costs throughput, as a full KV
// cache does: high is what a server which began idle keeps up with. [Fixed.Capacity] is neither: it lets all slots
// begin at once.
func (k *Trial) Sustains() (low, high float64) {
	const (
		grows, beyond = 0.02, 1.06
		most, near    = 1.4, 1.01
	)
	low = math.Inf(1)
	for seed := range uint64(max(4, 96/k.Server.WithDefaults().MaxNumSeqs)) { // few slots have few ways to be in step
		done := k.overloaded(seed)
		low, high = min(low, done), max(high, done)
	}
	if k.Growth(beyond*high) > grows {
		return low, high
	}
	for bad := most * high; bad > near*high; {
		if middle := (high + bad) / 2; k.Growth(middle) > grows {
			bad = middle
		} else {
			high = middle
		}
	}
	return low, high
}

// MeanTTFT returns the mean time to first token of a long run at a rate that the server sustains, in seconds.
func (k *Trial) MeanTTFT(rate float64) float64 {
	l, sum, left := k.longRun(rate, 1), 0.0, k.requests()
	l.first = func(request int, wait time.Duration) {
		if i := request - k.warmUp(); i >= 0 && i < k.requests() {
			sum, left = sum+wait.Seconds(), left-1
		}
	}
	for left > 0 {
		l.advance()
	}
	return sum / float64(k.requests())
}
