// Package probe asks a server about itself before a measurement: its models, the body fields that it accepts, what it
// counts, and its /metrics. It sends a few short requests and never any load. The only precondition is a model that
// answers; everything else may stay unknown.
package probe

import (
	"cmp"
	"context"
	"net/http"
	"sync"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
)

// MaxPaidRequests is how many requests of a preflight can cost something; others are refused, or ask for no tokens. At
// worst completions and responses fail in mid-answer, messages succeeds, and is tried again because its answer came all
// at once.
const MaxPaidRequests = 4

const (
	askTime  = 10 * time.Second // limit for what must be known
	factTime = 5 * time.Second  // limit for what may stay unknown
)

// Prober asks one server. It has its own connections, so it does not disturb a measurement. It is safe for concurrent
// use once Preflight has returned.
type Prober struct {
	options client.Options
	client  *client.Client // for the current options
	source  string         // see CountSource

	texts         []string // to count while the trial goes on
	noPromptUsage bool     // usage has no prompt tokens
	counting      sync.WaitGroup
	mu            sync.Mutex
	counts        map[string]count // so far, by text

	// Pace, if not nil, is called before each request that asks for tokens, with an estimate of how many it takes,
	// prompt and answer together. It may wait.
	Pace func(ctx context.Context, tokens int)

	waited   time.Duration // for a busy server, so far
	nextWait time.Duration // the next wait, where the server names none
}

// New returns a prober for the server in o. API may be "auto" or empty, and Params.Model empty; [Prober.Preflight]
// chooses them.
func New(o client.Options) (*Prober, error) {
	o.API = cmp.Or(o.API, api.Auto)
	p := &Prober{counts: map[string]count{}}
	return p, p.setOptions(o)
}

func (p *Prober) setOptions(o client.Options) error {
	c := o
	if c.API == api.Auto {
		c.API = api.Default()
	}
	c.MaxConns = 2
	made, err := client.New(c)
	if err != nil {
		return err
	}
	if p.client != nil {
		p.client.CloseIdle()
	}
	p.options, p.client = o, made
	return nil
}

// Options returns the options to measure with. After [Prober.Preflight] they have API, model and fields.
func (p *Prober) Options() client.Options { return p.options }

// Close closes the connections.
func (p *Prober) Close() { p.client.CloseIdle() }

func (p *Prober) get(ctx context.Context, path string) (client.Answer, error) {
	a, err := p.client.Fetch(ctx, p.limit(askTime), http.MethodGet, path, nil)
	if err != nil {
		return a, remedy(p.client.URL(path), err)
	}
	return a, nil
}

// reconnectTime is how long Reconnects watches an idle connection. Servers close it with the end of the answer.
const reconnectTime = 50 * time.Millisecond

// Reconnects reports whether each request needs a new connection, because the server closes those that have carried
// one. It sends one short request; call it after Preflight.
func (p *Prober) Reconnects(ctx context.Context) bool {
	c, err := client.New(p.options)
	if err != nil {
		return false
	}
	defer c.CloseIdle()
	if t, err := p.ask(ctx, c, p.options, trialPrompt, 1); err != nil || t.result.Status != client.StatusOK {
		return false
	}
	select {
	case <-time.After(reconnectTime):
	case <-ctx.Done():
	}
	return !c.HasConnection()
}

func (p *Prober) limit(d time.Duration) time.Duration {
	if t := p.options.Timeout; t > 0 {
		return min(t, d)
	}
	return d
}
