package client

import (
	"cmp"
	"context"
	"sync"

	"llmsweep/client/api"
)

// Replica is one of several servers: a [Client].
type Replica interface {
	Prepare(*api.Request) (*Prepared, error)
	Do(context.Context, *Prepared, *Result)
	Warm(ctx context.Context, connections int) error
	Timestamps() string
}

// Replicas is several servers of the same model, without a router. The sessions of a stage go to them in turn; all
// turns of a session go to the same server. It is safe for concurrent use.
type Replicas[S Replica] struct{ servers []S }

// NewReplicas returns the group of some servers, at least one.
func NewReplicas[S Replica](servers []S) *Replicas[S] { return &Replicas[S]{servers} }

// serverIndex returns the server of a request, from 0.
func (g *Replicas[S]) serverIndex(r *api.Request) int { return r.Session % len(g.servers) }

// Prepare encodes a request as its server takes it.
func (g *Replicas[S]) Prepare(r *api.Request) (*Prepared, error) {
	return g.servers[g.serverIndex(r)].Prepare(r)
}

// Do sends a prepared request to its server, as [Client.Do] does, and notes in the result which server that is.
func (g *Replicas[S]) Do(ctx context.Context, p *Prepared, res *Result) {
	i := g.serverIndex(p.Request)
	res.Replica = i + 1
	g.servers[i].Do(ctx, p, res)
}

// Warm opens n connections, as many to each server. The error is that of one that failed.
func (g *Replicas[S]) Warm(ctx context.Context, n int) error {
	each := (n + len(g.servers) - 1) / len(g.servers)
	errs := make([]error, len(g.servers))
	var wg sync.WaitGroup
	for i, s := range g.servers {
		wg.Go(func() { errs[i] = s.Warm(ctx, each) })
	}
	wg.Wait()
	return cmp.Or(errs...)
}

// Timestamps returns "kernel" where the instants of all servers are the kernel's, else "user".
func (g *Replicas[S]) Timestamps() string {
	for _, s := range g.servers {
		if t := s.Timestamps(); t != "kernel" {
			return t
		}
	}
	return "kernel"
}
