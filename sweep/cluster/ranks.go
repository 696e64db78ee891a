// Package cluster lets several processes, the ranks, send one load. Rank 0 measures as if it were alone: its [Ranks]
// send each request from one of the processes, as several connections would. The others ([Serve]) know neither the plan
// nor the workload. A rank that is lost is named, and ends the run.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/client/note"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// The notes on ranks. Times are in seconds.
var (
	noteLost = note.Kind{Code: "cluster.lost", Args: []string{"rank", "host", "error"}}
	noteSlow = note.Kind{Code: "cluster.slow", Args: []string{"rank", "host", "time"}}
)

// lateLimit: orders that take longer are named.
const lateLimit = 10 * time.Millisecond

// Sender sends the requests of a rank.
type Sender interface {
	load.Doer
	Warm(ctx context.Context, connections int) error
	Timestamps() string
}

// Ranks is rank 0's side: a [Sender] that shares requests out over all ranks.
type Ranks struct {
	Sender                         // of rank 0 itself
	Allowance     client.Allowance // is asked for what the other ranks send; nil for no limit
	Interrupt     func()           // called when a rank was interrupted, so that the whole run is
	ranks         int
	version, host string
	closing       chan struct{} // closed when the run ends
	serving       sync.WaitGroup

	mu      sync.Mutex
	members []*member // those that have joined, by rank; nil for rank 0, and where one has not
	joined  chan struct{}
	calls   map[*client.Prepared]*call // that are not due yet
	nextID  uint64
	lost    error // a rank that was lost
}

// member is another rank, as rank 0 sees it.
type member struct {
	*link
	rank int
	host string

	mu    sync.Mutex
	calls map[uint64]*call
	delay time.Duration // half of the shortest round trip
	pings chan time.Time
	cpu   float64
	gc    float64
}

// call is a request of another rank.
type call struct {
	*member
	id     uint64
	events chan any // tokens, or ended
}

// NewRanks returns a number of ranks, which may join at once. Rank 0 is on a host.
func NewRanks(ranks int, version, host string) *Ranks {
	return &Ranks{ranks: ranks, version: version, host: host, Interrupt: func() {}, closing: make(chan struct{}),
		members: make([]*member, ranks), joined: make(chan struct{}, ranks), calls: map[*client.Prepared]*call{}}
}

// Describe returns what run.json has of the ranks.
func (g *Ranks) Describe() *rundir.Cluster {
	all := &rundir.Cluster{Ranks: []rundir.Rank{{Host: g.host}}}
	for _, m := range g.members[1:] {
		all.Ranks = append(all.Ranks, rundir.Rank{Rank: m.rank, Host: m.host})
	}
	return all
}

// Prepare encodes a request, at the rank that will send it too. All turns of a session are of one rank.
func (g *Ranks) Prepare(r *api.Request) (*client.Prepared, error) {
	p, err := g.Sender.Prepare(r)
	m := g.members[r.Session%g.ranks]
	g.mu.Lock()
	lost, id := g.lost, g.nextID
	if err == nil && lost == nil && m != nil {
		g.nextID++
		g.calls[p] = &call{m, id, make(chan any, 1)}
	}
	g.mu.Unlock()
	if err == nil && lost == nil && m != nil {
		m.send(prepare{id, *r}) // where it cannot be reached, it is lost
	}
	return p, errors.Join(err, lost)
}

// Do lets a rank send a prepared request, and follows it.
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
	from := time.Since(res.Epoch) + c.begin()
	defer c.end()
	counted, cancelled := 0, ctx.Done()
	for {
		select {
		case ev := <-c.events:
			if t, ok := ev.(tokens); ok {
				res.Sent, res.FirstToken = from+t.Sent, from+t.First
				if counted += t.N; res.OnToken != nil {
					res.OnToken(t.N)
				}
				continue
			}
			c.finish(res, ev.(*client.Result), from, counted)
			return
		case <-cancelled:
			cancelled = nil
			c.send(cancel{c.id})
		case <-c.ended:
			res.Status = client.StatusIncomplete
			return
		}
	}
}

// begin orders the request, and returns how long the order takes.
func (c *call) begin() time.Duration {
	c.mu.Lock()
	c.calls[c.id] = c
	delay := c.delay
	c.mu.Unlock()
	c.send(send{c.id})
	return delay
}

func (c *call) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, c.id)
}

// finish takes over a result whose instants count from an instant. Tokens that were counted before are not counted
// again.
func (c *call) finish(res, got *client.Result, from time.Duration, counted int) {
	got.Epoch, got.OnToken, got.Rank = res.Epoch, res.OnToken, res.Rank
	for _, at := range []*time.Duration{&got.Sent, &got.Headers, &got.FirstToken, &got.FirstAnswer, &got.LastToken, &got.End} {
		if *at != client.Absent {
			*at += from
		}
	}
	*res = *got
	all := res.Chunks()
	for _, n := range res.Counts {
		all += int(n) - 1
	}
	if all > counted && res.OnToken != nil {
		res.OnToken(all - counted)
	}
}

// Warm opens connections from all ranks, spread evenly.
func (g *Ranks) Warm(ctx context.Context, connections int) error {
	each := (connections + g.ranks - 1) / g.ranks
	for _, m := range g.members[1:] {
		m.send(warm{each})
	}
	return g.Sender.Warm(ctx, each)
}

// Shares returns the largest part of their processors that other ranks use.
func (g *Ranks) Shares() (cpu, gc float64) {
	for _, m := range g.members[1:] {
		m.mu.Lock()
		cpu, gc = max(cpu, m.cpu), max(gc, m.gc)
		m.mu.Unlock()
	}
	return cpu, gc
}

// Slow names the ranks that orders reach late.
func (g *Ranks) Slow() (all []note.Note) {
	for _, m := range g.members[1:] {
		m.mu.Lock()
		if m.delay > lateLimit {
			all = append(all, noteSlow.New(m.rank, m.host, m.delay))
		}
		m.mu.Unlock()
	}
	return all
}

// Admit serves the connection of a rank until it ends.
func (g *Ranks) Admit(conn net.Conn) {
	g.serving.Add(1)
	defer g.serving.Done()
	l := newLink(conn)
	defer l.Close()
	first, err := l.receive()
	hello, ok := first.(Hello)
	if err != nil || !ok {
		return
	}
	m := &member{link: l, rank: hello.Rank, host: hello.Host, calls: map[uint64]*call{}, pings: make(chan time.Time, 1)}
	if refusal := g.addMember(m, &hello); refusal != "" {
		l.send(bye{"rank 0 refuses this rank: " + refusal})
		l.receive() // until the rank has read that and closes
		return
	}
	go l.keepAlive()
	go m.measureDelay()
	for {
		ev, err := l.receive()
		select {
		case <-g.closing: // keep reading, so that the farewell arrives
			if err != nil {
				return
			}
			continue
		default:
		}
		if err := m.take(ev, err, g.Interrupt); err != nil {
			g.lose(m, err)
			return
		}
	}
}

// take takes a message in. An error ends the rank.
func (m *member) take(ev any, err error, interrupt func()) error {
	deliver := func(id uint64, event any) {
		m.mu.Lock()
		c := m.calls[id]
		m.mu.Unlock()
		if c != nil {
			c.events <- event
		}
	}
	switch ev := ev.(type) {
	case progress:
		for _, t := range ev.Calls {
			deliver(t.ID, t)
		}
	case ended:
		deliver(ev.ID, &ev.Result)
	case pong:
		took := time.Since(<-m.pings)
		m.mu.Lock()
		if m.delay == 0 || took/2 < m.delay {
			m.delay = took / 2
		}
		m.cpu, m.gc = ev.CPU, ev.GC
		m.mu.Unlock()
	case trouble:
		if ev.Error != "" {
			return errors.New(ev.Error)
		}
		interrupt()
	}
	return err
}

func (m *member) measureDelay() {
	ticker := time.NewTicker(aliveEvery)
	defer ticker.Stop()
	for {
		select {
		case m.pings <- time.Now():
			m.send(ping{})
		default: // the last one is under way
		}
		select {
		case <-ticker.C:
		case <-m.ended:
			return
		}
	}
}

// lose ends the run because a rank has gone: nothing more can be prepared.
func (g *Ranks) lose(m *member, err error) {
	m.Close()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.lost == nil {
		g.lost = experiment.NewEndError(noteLost.New(m.rank, m.host, err.Error()),
			fmt.Sprintf("rank %d (%s) was lost: %v", m.rank, m.host, err))
	}
}

func (g *Ranks) addMember(m *member, h *Hello) (refusal string) {
	switch {
	case h.Version != g.version:
		return fmt.Sprintf("it is llmsweep %s, and rank 0 is %s", h.Version, g.version)
	case h.Ranks != g.ranks:
		return fmt.Sprintf("it was started as one of %d ranks, and rank 0 as one of %d", h.Ranks, g.ranks)
	case h.Rank < 1 || h.Rank >= g.ranks:
		return fmt.Sprintf("there is no rank %d among %d", h.Rank, g.ranks)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.members[h.Rank] != nil {
		return fmt.Sprintf("another process has joined as rank %d", h.Rank)
	}
	g.members[h.Rank] = m
	g.joined <- struct{}{}
	return ""
}

// joinTime is how long ranks may take to join: pods may have to fetch an image.
const joinTime = 5 * time.Minute

// Gather waits until all ranks have joined, and sends them the setup. waiting is called with those that have not, when
// that takes long.
func (g *Ranks) Gather(ctx context.Context, setup []byte, waiting func(missing string)) error {
	if err := g.await(ctx, waiting); err != nil {
		return err
	}
	for _, m := range g.members[1:] {
		m.send(welcome{setup})
	}
	return nil
}

func (g *Ranks) await(ctx context.Context, waiting func(missing string)) error {
	const patience = 10 * time.Second
	timer, slow := time.NewTimer(joinTime), time.NewTimer(patience)
	defer timer.Stop()
	defer slow.Stop()
	for {
		missing := g.missing()
		if missing == "" {
			return nil
		}
		select {
		case <-g.joined:
		case <-slow.C:
			waiting(missing)
		case <-timer.C:
			return fmt.Errorf("%s did not join within %v: start them with the same command line, and let them reach this "+
				"machine", missing, joinTime)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func (g *Ranks) missing() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	var all []string
	for i, m := range g.members[1:] {
		if m == nil {
			all = append(all, fmt.Sprint("rank ", i+1))
		}
	}
	return strings.Join(all, ", ")
}

const farewellTime = 2 * time.Second

// Close ends the run and tells all ranks why, those that join only now too; err is nil for a complete run.
func (g *Ranks) Close(err error) {
	farewell := bye{}
	if err != nil {
		farewell.Error = err.Error()
	}
	ctx, stop := context.WithTimeout(context.Background(), farewellTime)
	g.await(ctx, func(string) {})
	stop()
	close(g.closing)
	g.mu.Lock()
	members := g.members[1:]
	g.mu.Unlock()
	for _, m := range members {
		if m != nil {
			m.send(farewell)
		}
	}
	served := make(chan struct{})
	go func() { g.serving.Wait(); close(served) }()
	select {
	case <-served:
	case <-time.After(farewellTime):
		for _, m := range members {
			if m != nil {
				m.Close()
			}
		}
	}
}
