// Package cluster lets several processes, the ranks, send one load. Rank 0 measures as if it were alone, with a doer of
// requests that lets each be sent by one of the processes:
//
//	ranks.go    rank 0's doer: which rank sends a request, and its result
//	member.go   another rank as rank 0 sees it
//	join.go     how ranks join, and how the run ends for them
//	rank.go     the other side: a rank sends what rank 0 orders; it knows neither the plan nor the workload
//	clock.go    instants of another rank's clock
//	link.go     messages (message.go) on a connection; tls.go makes connections
//	place.go    which rank this process is
//
// A rank that is lost ends the run, which names it.
package cluster

import (
	"context"
	"sync"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/client/note"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// Sender sends the requests of a rank.
type Sender interface {
	load.Doer
	Warm(ctx context.Context, connections int) error
	Timestamps() string
}

// Ranks is rank 0's side: a [Sender] that shares requests out over all ranks. The fields are set before they are used:
// Interrupt before ranks may join, the others before the first request.
type Ranks struct {
	Sender                     // of rank 0 itself
	Allowance client.Allowance // is asked for what the other ranks send; nil for no limit
	Interrupt func()           // called when a rank was interrupted, so that the whole run is

	ranks         int
	version, host string
	began         time.Time       // of rank 0's clock
	whole         context.Context // ends when a rank is lost, which its cause names
	lose          context.CancelCauseFunc
	serving       sync.WaitGroup

	mu      sync.Mutex
	members []*member // those that have joined, by rank; nil for rank 0, and where one has not
	joined  chan struct{}
	closing bool
	calls   map[*client.Prepared]*call // of this stage, not due yet
	nextID  uint64
}

// NewRanks returns a number of ranks, which may join at once. Rank 0 is on a host.
func NewRanks(ranks int, version, host string) *Ranks {
	g := &Ranks{
		Interrupt: func() {}, ranks: ranks, version: version, host: host, began: time.Now(),
		members: make([]*member, ranks), joined: make(chan struct{}, ranks), calls: map[*client.Prepared]*call{},
	}
	g.whole, g.lose = context.WithCancelCause(context.Background())
	return g
}

// Describe returns what run.json has of the ranks.
func (g *Ranks) Describe() *rundir.Cluster {
	all := &rundir.Cluster{Ranks: []rundir.Rank{{Host: g.host}}}
	for _, m := range g.others() {
		all.Ranks = append(all.Ranks, rundir.Rank{Rank: m.rank, Host: m.host})
	}
	return all
}

// others returns those that have joined.
func (g *Ranks) others() (all []*member) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, m := range g.members {
		if m != nil {
			all = append(all, m)
		}
	}
	return all
}

// Watch returns a context that also ends when a rank is lost. Its cause is then an [experiment.EndError].
func (g *Ranks) Watch(ctx context.Context) (watched context.Context, stop func()) {
	watched, cancel := context.WithCancelCause(ctx)
	detach := context.AfterFunc(g.whole, func() { cancel(context.Cause(g.whole)) })
	return watched, func() {
		detach()
		cancel(nil)
	}
}

// Prepare encodes a request, and lets the rank that will send it do so too. All turns of a session are of one rank.
func (g *Ranks) Prepare(r *api.Request) (*client.Prepared, error) {
	p, err := g.Sender.Prepare(r)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	m, id := g.members[r.Session%g.ranks], g.nextID
	if m != nil {
		g.nextID++
		g.calls[p] = &call{member: m, id: id, events: make(chan any, 1)}
	}
	g.mu.Unlock()
	if m != nil {
		m.send(prepare{id, *r}) // where that fails, the rank is lost
	}
	return p, nil
}

// Do lets the rank of a prepared request send it, and follows it.
func (g *Ranks) Do(ctx context.Context, p *client.Prepared, res *client.Result) {
	g.mu.Lock()
	c := g.calls[p]
	delete(g.calls, p)
	g.mu.Unlock()
	if c == nil {
		res.Rank = 1
		g.Sender.Do(ctx, p, res)
		return
	}
	res.Rank = c.rank + 1
	if g.Allowance != nil {
		reserved := g.Allowance.Reserve(p)
		if reserved == nil {
			res.Status, res.Unpaid = client.StatusIncomplete, true
			return
		}
		defer reserved.Settle(res)
	}
	c.do(ctx, res, g.began)
}

// Warm opens connections from all ranks, spread evenly.
func (g *Ranks) Warm(ctx context.Context, connections int) error {
	each := (connections + g.ranks - 1) / g.ranks
	others := g.others()
	for _, m := range others {
		m.send(warm{each})
	}
	err := g.Sender.Warm(ctx, each)
	for _, m := range others {
		select {
		case <-m.warmed:
		case <-m.ended:
		case <-ctx.Done():
		}
	}
	return err
}

// Timestamps returns "kernel" where the instants of all ranks are the kernel's, else "user".
func (g *Ranks) Timestamps() string {
	for _, m := range g.others() {
		if t := m.state().Timestamps; t != "kernel" && t != "" {
			return t
		}
	}
	return g.Sender.Timestamps()
}

// BeginStage implements [load.Others].
func (g *Ranks) BeginStage() {
	g.mu.Lock()
	clear(g.calls)
	g.mu.Unlock()
	for _, m := range g.others() {
		m.send(stage{})
	}
}

var noteSlow = note.Kind{Code: "cluster.slow", Args: []string{"rank", "host", "time"}} // in seconds

// EndStage implements [load.Others]. A rank that orders reach late is named.
func (g *Ranks) EndStage() (cpu, gc float64, warnings []note.Note) {
	const late = 10 * time.Millisecond
	cpu, gc = -1, -1
	for _, m := range g.others() {
		s := m.state()
		cpu, gc = max(cpu, s.CPU), max(gc, s.GC)
		if s.delay > late {
			warnings = append(warnings, noteSlow.New(m.rank, m.host, s.delay))
		}
	}
	return cpu, gc, warnings
}
