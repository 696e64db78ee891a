// Package probe asks a server about itself before it is measured: which models it has, which fields it takes, what it
// counts, what its /metrics say. It sends a handful of short requests and never any load, and what it cannot find
// out it leaves open: only a model that answers is a precondition.
package probe

import (
	"cmp"
	"context"
	"net/http"
	"time"

	"llmsweep/client"
)

const (
	askTime  = 10 * time.Second // for what must be known
	factTime = 5 * time.Second  // for what would be nice to know
)

// Prober asks one server. It has connections of its own, so that it disturbs no measurement's; it is safe for
// concurrent use once Preflight has returned.
type Prober struct {
	options client.Options
	client  *client.Client // for the current options
	source  string         // what the last count rested on
}

// New makes a prober for the server in o. API may be "auto" or empty, and Params.Model empty, until [Prober.Preflight]
// has settled them.
func New(o client.Options) (*Prober, error) {
	o.API = cmp.Or(o.API, "auto")
	p := &Prober{}
	return p, p.use(o)
}

// use makes o the prober's options.
func (p *Prober) use(o client.Options) error {
	c := o
	if c.API == "auto" {
		c.API = "chat"
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

// Options are the options to measure with: after [Prober.Preflight] with API, model and fields settled.
func (p *Prober) Options() client.Options { return p.options }

// Close lets the connections go.
func (p *Prober) Close() { p.client.CloseIdle() }

// get asks for a path. Errors say what to do.
func (p *Prober) get(ctx context.Context, path string) (client.Answer, error) {
	a, err := p.client.Fetch(ctx, p.limit(askTime), http.MethodGet, path, nil)
	if err != nil {
		return a, remedy(p.client.URL(path), err)
	}
	return a, nil
}

// limit is the time for a question: the request's own limit where that is shorter.
func (p *Prober) limit(d time.Duration) time.Duration {
	if t := p.options.Timeout; t > 0 {
		return min(t, d)
	}
	return d
}
