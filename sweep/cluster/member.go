package cluster

import (
	"context"
	"errors"
	"sync"
	"time"

	"llmsweep/client"
)

// member is another rank, as rank 0 sees it.
type member struct {
	*link
	rank   int
	host   string
	warmed chan struct{}

	mu    sync.Mutex
	calls map[uint64]*call // that it sends now
	clock clock
	last  pong
}

func newMember(l *link, h *Hello) *member {
	return &member{link: l, rank: h.Rank, host: h.Host, warmed: make(chan struct{}, 1), calls: map[uint64]*call{},
		last: pong{CPU: -1, GC: -1}}
}

// memberState is what a member said last.
type memberState struct {
	pong
	delay time.Duration // of a message to it
}

func (m *member) state() memberState {
	m.mu.Lock()
	defer m.mu.Unlock()
	return memberState{m.last, m.clock.best().roundTrip / 2}
}

// follow takes in what the member sends, until its connection ends or it is in trouble. began is the start of rank 0's
// clock; interrupt is called when the member was interrupted.
func (m *member) follow(began time.Time, interrupt func()) error {
	for {
		message, err := m.receive()
		if err != nil {
			return err
		}
		switch message := message.(type) {
		case warmed:
			select {
			case m.warmed <- message:
			default: // the last one was not waited for
			}
		case progress:
			for _, t := range message.Requests {
				m.deliver(t.ID, t)
			}
		case ended:
			m.deliver(message.ID, &message.Result)
		case pong:
			m.mu.Lock()
			m.clock.add(message.Ping, message.At, time.Since(began))
			m.last = message
			m.mu.Unlock()
		case trouble:
			if message.Error != "" {
				return errors.New(message.Error)
			}
			interrupt()
		}
	}
}

func (m *member) deliver(id uint64, event any) {
	m.mu.Lock()
	c := m.calls[id]
	m.mu.Unlock()
	if c == nil {
		return
	}
	select {
	case c.events <- event:
	case <-m.ended:
	}
}

// ping asks the member for its clock again and again.
func (m *member) ping(began time.Time) {
	const every = time.Second
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for m.send(ping{time.Since(began)}) == nil {
		select {
		case <-ticker.C:
		case <-m.ended:
			return
		}
	}
}

// call is a request that another rank sends.
type call struct {
	*member
	id     uint64
	events chan any // tokens, and *client.Result at the end
}

// do orders the request, and follows it to its end. began is the start of rank 0's clock.
func (c *call) do(ctx context.Context, res *client.Result, began time.Time) {
	c.mu.Lock()
	c.calls[c.id] = c
	shift := began.Sub(res.Epoch) - c.clock.best().ahead // from the rank's clock to res.Epoch
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		delete(c.calls, c.id)
		c.mu.Unlock()
	}()
	ordered := time.Since(res.Epoch)
	c.send(send{c.id}) // where that fails, the rank is lost
	counted, cancelled := 0, ctx.Done()
	count := func(n int) {
		if counted += n; n > 0 && res.OnToken != nil {
			res.OnToken(n)
		}
	}
	for {
		select {
		case event := <-c.events:
			switch event := event.(type) {
			case tokens:
				shift = max(shift, ordered-event.Sent) // it was sent after the order
				res.Sent, res.FirstToken = event.Sent+shift, event.First+shift
				count(event.N)
			case *client.Result:
				if event.Sent != client.Absent {
					shift = max(shift, ordered-event.Sent)
				}
				takeOver(res, event, shift)
				count(tokenCount(res) - counted)
				return
			}
		case <-cancelled:
			cancelled = nil
			c.send(cancel{c.id})
		case <-c.ended:
			res.Status = client.StatusIncomplete
			if res.Sent == client.Absent {
				res.Sent = ordered // it may have been, and may cost money
			}
			return
		}
	}
}

// takeOver makes res the result that a rank got, with its instants shifted.
func takeOver(res, got *client.Result, shift time.Duration) {
	got.Epoch, got.OnToken, got.Rank = res.Epoch, res.OnToken, res.Rank
	for _, at := range []*time.Duration{
		&got.Sent, &got.Headers, &got.FirstToken, &got.FirstAnswer, &got.LastToken, &got.End,
	} {
		if *at != client.Absent {
			*at += shift
		}
	}
	*res = *got
}

// tokenCount returns how many tokens the chunks of a result have.
func tokenCount(res *client.Result) int {
	n := res.Chunks()
	for _, c := range res.Counts {
		n += int(c) - 1
	}
	return n
}
