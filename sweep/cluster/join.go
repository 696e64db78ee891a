package cluster

import (
	"context"
	"fmt"
	"net"
	"strings"
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/experiment"
)

var noteLost = note.Kind{Code: "cluster.lost", Args: []string{"rank", "host", "error"}}

// Admit serves the connection of a rank until it ends. Where that is not the end of the run, the rank is lost.
func (g *Ranks) Admit(conn net.Conn) {
	l := newLink(conn)
	defer l.Close()
	first, err := l.receive()
	hello, ok := first.(Hello)
	if err != nil || !ok {
		return
	}
	m := newMember(l, &hello)
	if refusal := g.addMember(m, &hello); refusal != "" {
		l.send(bye{Error: "rank 0 refuses this rank: " + refusal, Refused: true})
		l.drain()
		return
	}
	defer g.serving.Done()
	go l.keepAlive()
	go m.ping(g.began)
	err = m.follow(g.began, g.Interrupt)
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closing {
		g.lose(experiment.NewEndError(noteLost.New(m.rank, m.host, err.Error()),
			fmt.Sprintf("rank %d (%s) was lost: %v", m.rank, m.host, err)))
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
	switch {
	case g.closing:
		return "the run has ended"
	case g.members[h.Rank] != nil:
		return fmt.Sprintf("another process has joined as rank %d", h.Rank)
	}
	g.members[h.Rank] = m
	g.serving.Add(1)
	g.joined <- struct{}{}
	return ""
}

// joinTime is how long ranks may take to join: pods may have to fetch an image.
const joinTime = 5 * time.Minute

// Gather waits until all ranks have joined, and sends them the setup. waiting is called with those that have not, when
// that takes long.
func (g *Ranks) Gather(ctx context.Context, setup []byte, waiting func(missing string)) error {
	ctx, stop := g.Watch(ctx)
	defer stop()
	if err := g.await(ctx, waiting); err != nil {
		return err
	}
	for _, m := range g.others() {
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

// Close ends the run and tells all ranks why, those that join only now too; err is nil for a complete run.
func (g *Ranks) Close(err error) {
	const farewellTime = 2 * time.Second
	farewell := bye{}
	if err != nil {
		farewell.Error = err.Error()
	}
	ctx, stop := context.WithTimeout(context.Background(), farewellTime)
	g.await(ctx, func(string) {})
	stop()
	g.mu.Lock()
	g.closing = true
	g.mu.Unlock()
	others, left := g.others(), make(chan struct{})
	for _, m := range others {
		m.send(farewell)
	}
	go func() { g.serving.Wait(); close(left) }()
	select {
	case <-left:
	case <-time.After(farewellTime):
		for _, m := range others {
			m.Close()
		}
	}
}
