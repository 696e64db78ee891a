// Package cluster lets several processes, the ranks, send one load. Rank 0 plans: its [Coordinator] hands out each
// stage and its start, takes in the records as they come, and decides when the stage ends. Every rank, rank 0 included,
// sends its part ([Session]). A rank that is lost is named, and ends the run.
package cluster

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/rundir"
)

// Coordinator is rank 0's side: it lets ranks join, and holds stages with all of them.
type Coordinator struct {
	Ranks        int
	Version      string // of llmsweep; ranks of another one are refused
	Seed         uint64
	SpendLimiter *client.SpendLimiter // of the whole run; nil where spending is neither counted nor limited
	Interrupt    func()               // called when a rank was interrupted, so that the whole run is

	events  chan event
	closing chan struct{} // closed when the run ends
	serving sync.WaitGroup

	mu      sync.Mutex
	members []*member // those that have joined, by rank; nil where one has not
	joined  chan struct{}
}

// member is a rank, as rank 0 sees it.
type member struct {
	*link
	rank int
	host string
}

// event is a message of a rank, or the end of its connection.
type event struct {
	from *member
	m    any
	err  error
}

// NewCoordinator returns a coordinator of a number of ranks, which may join at once.
func NewCoordinator(ranks int, version string) *Coordinator {
	return &Coordinator{
		Ranks: ranks, Version: version, Interrupt: func() {}, events: make(chan event, 1024), closing: make(chan struct{}),
		members: make([]*member, ranks), joined: make(chan struct{}, ranks),
	}
}

// Describe returns what run.json has of the ranks.
func (c *Coordinator) Describe() *rundir.Cluster {
	all := &rundir.Cluster{}
	for _, m := range c.members {
		all.Ranks = append(all.Ranks, rundir.Rank{Rank: m.rank, Host: m.host})
	}
	return all
}

// Admit serves the connection of a rank until it ends.
func (c *Coordinator) Admit(conn net.Conn) {
	c.serving.Add(1)
	defer c.serving.Done()
	l := newLink(conn)
	defer l.Close()
	first, err := l.receive()
	if err != nil {
		return
	}
	hello, ok := first.(Hello)
	if !ok {
		return
	}
	m := &member{link: l, rank: hello.Rank, host: hello.Host}
	if refusal := c.addMember(m, &hello); refusal != "" {
		l.send(bye{"rank 0 refuses this rank: " + refusal})
		l.receive() // until the rank has read that and closes
		return
	}
	go l.keepAlive()
	for {
		ev := event{from: m}
		ev.m, ev.err = l.receive()
		select {
		case c.events <- ev:
		case <-c.closing: // keep reading, so that the farewell arrives
		}
		if ev.err != nil {
			return
		}
	}
}

func (c *Coordinator) addMember(m *member, h *Hello) (refusal string) {
	switch {
	case h.Version != c.Version:
		return fmt.Sprintf("it is llmsweep %s, and rank 0 is %s", h.Version, c.Version)
	case h.Ranks != c.Ranks:
		return fmt.Sprintf("it was started as one of %d ranks, and rank 0 as one of %d", h.Ranks, c.Ranks)
	case h.Rank < 0 || h.Rank >= c.Ranks:
		return fmt.Sprintf("there is no rank %d among %d", h.Rank, c.Ranks)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.members[h.Rank] != nil {
		return fmt.Sprintf("another process has joined as rank %d", h.Rank)
	}
	c.members[h.Rank] = m
	c.joined <- struct{}{}
	return ""
}

// joinTime is how long ranks may take to join: pods may have to fetch an image.
const joinTime = 5 * time.Minute

// Gather waits until all ranks have joined, and sends them the setup. waiting is called with those that have not, when
// that takes long.
func (c *Coordinator) Gather(ctx context.Context, setup []byte, waiting func(missing string)) error {
	if err := c.await(ctx, waiting); err != nil {
		return err
	}
	for _, m := range c.members {
		m.send(welcome{setup}) // a rank that is gone by now is lost in the first stage
	}
	return nil
}

func (c *Coordinator) await(ctx context.Context, waiting func(missing string)) error {
	const patience = 10 * time.Second
	timer, slow := time.NewTimer(joinTime), time.NewTimer(patience)
	defer timer.Stop()
	defer slow.Stop()
	for {
		missing := c.missing()
		if missing == "" {
			return nil
		}
		select {
		case <-c.joined:
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

func (c *Coordinator) missing() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []string
	for i, m := range c.members {
		if m == nil {
			all = append(all, fmt.Sprint("rank ", i))
		}
	}
	return strings.Join(all, ", ")
}

const farewellTime = 2 * time.Second

// Close ends the run and tells all ranks why, those that join only now too; err is nil for a complete run.
func (c *Coordinator) Close(err error) {
	end := bye{}
	if err != nil {
		end.Error = err.Error()
	}
	ctx, cancel := context.WithTimeout(context.Background(), farewellTime)
	c.await(ctx, func(string) {})
	cancel()
	close(c.closing)
	c.mu.Lock()
	members := c.members
	c.mu.Unlock()
	for _, m := range members {
		if m != nil {
			m.send(end)
		}
	}
	served := make(chan struct{})
	go func() { c.serving.Wait(); close(served) }()
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
