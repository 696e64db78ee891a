package client

import (
	"cmp"
	"context"
	"sync"

	"llmsweep/client/api"
)

// Replica is what [Replicas] needs of a [Client].
type Replica interface {
	Prepare(*api.Request) (*Prepared, error)
	Do(context.Context, *Prepared, *Result)
	Warm(ctx context.Context, connections int) error
	Timestamps() string
}

// Replicas are several servers of the same model, without a router. The sessions of a stage go to them in turn; all
// turns of a session go to the same server. They are safe for concurrent use.
type Replicas[S Replica] struct{ servers []S }

// NewReplicas returns a group of at least one server.
func NewReplicas[S Replica](servers []S) *Replicas[S] { return &Replicas[S]{servers} }

func (g *Replicas[S]) serverIndex(r *api.Request) int { return r.Session % len(g.servers) }

// Prepare encodes a request for its server.
func (g *Replicas[S]) Prepare(r *api.Request) (*Prepared, error) {
	return g.servers[g.serverIndex(r)].Prepare(r)
}

// Do sends a prepared request to its server, as [Client.Do] does, and sets Result.Replica.
func (g *Replicas[S]) Do(ctx context.Context, p *Prepared, res *Result) {
	i := g.serverIndex(p.Request)
	res.Replica = i + 1
	g.servers[i].Do(ctx, p, res)
}

// Warm opens n connections in all, spread evenly. The error is the first server's that failed.
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
