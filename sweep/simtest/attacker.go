package simtest

import (
	"context"
	"math"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"llmsweep/client"
)

// Attacker is a server of 8 slots, first in first out, 50 ms to the first token and 20 ms from each to the next, with
// habits that no engine has. 16 tokens take 0.35 s: it does 22.86 of them a second.
type Attacker struct {
	Unencoded
	Sigma   float64            // of the logarithm of service times, whose mean is kept
	Hangs   float64            // this share of requests is never answered
	Patient time.Duration      // after so long in the queue: one token, finish reason "stop"; 0 for however long
	Shrinks float64            // answers have n/(1 + Shrinks x requests per slot) tokens
	Leads   bool               // the first token is sent at once, before the queue
	Refuses func(seq int) bool // with 429, by the number of the request; nil for none

	slots    chan struct{}
	mu       sync.Mutex
	rng      *rand.Rand
	n        int
	inFlight int
}

const (
	attackerSlots = 8
	hangTime      = 10 * time.Minute // --timeout
)

// NewAttacker returns a server of a seed, without habits. [Attacker.Start] begins it.
func NewAttacker(seed uint64) *Attacker {
	return &Attacker{rng: rand.New(rand.NewPCG(seed, 25))}
}

// Start makes the slots, in the bubble that they are used in.
func (a *Attacker) Start() { a.slots = make(chan struct{}, attackerSlots) }

func (a *Attacker) draw(asked int) (tokens int, scale float64, hangs, refused bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.inFlight++
	tokens = max(1, int(float64(asked)/(1+a.Shrinks*float64(a.inFlight-1)/attackerSlots)))
	scale = math.Exp(a.Sigma*a.rng.NormFloat64() - a.Sigma*a.Sigma/2)
	const warm = 12
	hangs = a.n > warm && a.rng.Float64() < a.Hangs
	refused = a.Refuses != nil && a.Refuses(a.n)
	a.n++
	return tokens, scale, hangs, refused
}

// Do answers a request.
func (a *Attacker) Do(ctx context.Context, p *client.Prepared, res *client.Result) {
	now := func() time.Duration { return time.Since(res.Epoch) }
	res.Sent = now()
	tokens, scale, hangs, refused := a.draw(p.Request.OutputTokens)
	defer func() { a.mu.Lock(); a.inFlight--; a.mu.Unlock() }()
	if refused {
		res.HTTP, res.Headers = http.StatusTooManyRequests, now()
		res.Fail(now(), client.ClassHTTP429, "HTTP 429")
		return
	}
	gone := func() bool {
		if ctx.Err() != nil {
			res.Status, res.End = client.StatusIncomplete, now()
		}
		return ctx.Err() != nil
	}
	sleep := func(d time.Duration) bool {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
		return !gone()
	}
	res.HTTP, res.Headers, res.Finish = http.StatusOK, now(), "length"
	if hangs {
		if sleep(hangTime) {
			res.Fail(now(), client.ClassTimeout, "no answer within the request's limit")
		}
		return
	}
	if a.Leads {
		res.Token(now(), 1, false)
		tokens--
	}
	impatient := make(<-chan time.Time)
	if a.Patient > 0 {
		impatient = time.After(a.Patient)
	}
	select {
	case a.slots <- struct{}{}:
		defer func() { <-a.slots }()
	case <-impatient:
		tokens, scale, res.Finish = 1, 0, "stop"
	case <-ctx.Done():
		gone()
		return
	}
	if !sleep(time.Duration(scale * float64(50*time.Millisecond))) {
		return
	}
	res.Token(now(), 1, false)
	for range tokens - 1 {
		if !sleep(time.Duration(scale * float64(20*time.Millisecond))) {
			return
		}
		res.Token(now(), 1, false)
	}
	res.PromptTokens, res.OutputTokens, res.TokenSource = p.Request.PromptTokens, res.Chunks(), client.SourceServer
	res.End, res.Status = now(), client.StatusOK
}

// Scrape returns what is running and waiting.
func (a *Attacker) Scrape(context.Context) (client.Gauges, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	running := len(a.slots)
	nan := math.NaN()
	return client.Gauges{
		Running: float64(running), Waiting: float64(a.inFlight - running), KVUsage: nan, Preemptions: nan,
		PrefixQueries: nan, PrefixHits: nan,
	}, nil
}

// Idle waits until nothing is in flight.
func (a *Attacker) Idle(ctx context.Context) error {
	for {
		a.mu.Lock()
		n := a.inFlight
		a.mu.Unlock()
		if n == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(100 * time.Millisecond):
		}
	}
}
