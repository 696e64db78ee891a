package sim

import (
	"errors"
	"fmt"
	"time"
)

// Plain is a server of fixed times, whatever runs beside: a request's first token comes FirstToken after a slot takes it, and
// each further one after PerToken. It has no model and no roofline, so that its capacity is a simple division. Steps take
// PerToken; while other requests run, a request waits for the next step, at most one PerToken.
type Plain struct {
	FirstToken time.Duration // a multiple of PerToken
	PerToken   time.Duration
}

// plain8 is the server of known behaviour that tests use: 8 slots, a first token after 100 ms, then one each 10 ms. With 32
// tokens an answer takes 410 ms, and the server completes 19.5 requests a second.
func plain8() Config {
	return Config{
		Plain:      Plain{FirstToken: 100 * time.Millisecond, PerToken: 10 * time.Millisecond},
		Model:      Model{Name: "plain8", Vocab: 152064},
		MaxNumSeqs: 8,
		Seed:       1,
	}
}

func (c Config) isPlain() bool { return c.Plain != Plain{} }

// plainDefaults gives a plain server a cache and a budget that never run out.
func (c Config) plainDefaults() Config {
	if c.isPlain() {
		setDefault(&c.MaxNumSeqs, DefaultMaxNumSeqs)
		setDefault(&c.MaxModelLen, DefaultMaxModelLen)
		setDefault(&c.BlockTokens, DefaultBlockTokens)
		setDefault(&c.KVTokens, c.MaxNumSeqs*(c.MaxModelLen+c.BlockTokens))
		setDefault(&c.MaxBatchedTokens, c.MaxNumSeqs*c.MaxModelLen)
	}
	return c
}

func (p Plain) validate() error {
	switch {
	case p.PerToken <= 0 || p.FirstToken < p.PerToken:
		return errors.New("a plain server needs a time per token above 0, and a first token that takes at least as long")
	case p.FirstToken%p.PerToken != 0:
		return fmt.Errorf("the first token takes %v, which is no multiple of the %v of the others: a plain server works in steps of one token",
			p.FirstToken, p.PerToken)
	}
	return nil
}

// wait is how many steps pass before the one that computes a prompt; 0 where the server is not plain.
func (p Plain) wait() int {
	if p.PerToken == 0 {
		return 0
	}
	return int(p.FirstToken/p.PerToken) - 1
}

// capacity is exact under an endless queue: a slot is taken again in the step after an answer's last token.
func (p Plain) capacity(slots int, w Workload) Capacity {
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

// delayed reports whether a sequence of a plain server computes nothing in this step, because its prompt is not due yet.
func (e *engine) delayed(s *sequence) bool {
	if s.wait == 0 {
		return false
	}
	s.wait--
	s.chunk = 0
	e.delays++
	return true
}
