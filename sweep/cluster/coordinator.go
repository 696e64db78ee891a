package cluster

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"llmsweep/client"
	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// Coordinator is rank 0's side: it lets ranks join, and holds stages with all of them.
type Coordinator struct {
	Ranks   int
	Version string // of llmsweep; ranks of another one are refused
	Source  string // where the ranks came from
	Clock   *RankClock
	Seed    uint64
	Numbers Numbers       // of the workload; nil where it has none
	Purse   *client.Purse // of the whole run; nil where spending is neither counted nor limited
	// Interrupt is called when a rank was interrupted, so that the whole run is.
	Interrupt func()

	events  chan event
	setup   chan struct{} // closed when welcome is set
	welcome *welcome
	closing chan struct{} // closed when the run ends
	bye     *bye

	mu      sync.Mutex
	members []*member // those that have joined, by rank; nil where one has not
	joined  chan struct{}
	serving sync.WaitGroup

	attempt int
	record  *rundir.Cluster
}

// member is a rank, as rank 0 sees it:
//
//	state     event                                       next
//	unknown   Hello that fits                             joined
//	          Hello of another version, place or number   refused: Welcome says why, and the connection is closed
//	          anything else, or nothing for 10 s          closed without a word
//	joined    rank 0 has found the server                 welcomed: Welcome is sent, and stages may follow
//	          Clock                                       joined: it is answered
//	welcomed  a fault of its own (see stage)              lost: its connection is closed, and no stage has it again
//	any       the run ends                                dismissed: Bye is sent, and the connection is closed
//
// A rank that was lost cannot join again.
type member struct {
	rank  int
	hello *Hello
	out   chan ToRank
	over  chan struct{} // closed when the connection is
	link  Link
	once  sync.Once
}

// event is a message of a rank, or the end of its connection.
type event struct {
	from *member
	m    FromRank
	err  error
}

// NewCoordinator returns a coordinator of a number of ranks. Ranks may join at once; they are welcomed when [Coordinator.Welcome] was called.
func NewCoordinator(ranks int, version, source string, c *RankClock) *Coordinator {
	record := &rundir.Cluster{Source: source, Ranks: make([]rundir.Rank, ranks)}
	for i := range record.Ranks {
		record.Ranks[i].Rank, record.Ranks[i].Valid = i, true
	}
	return &Coordinator{
		Ranks: ranks, Version: version, Source: source, Clock: c, Interrupt: func() {}, events: make(chan event, 16*queued),
		setup: make(chan struct{}), closing: make(chan struct{}), members: make([]*member, ranks), joined: make(chan struct{}, ranks),
		record: record,
	}
}

// Describe returns what run.json has of the ranks. It is kept up to date while stages are held.
func (c *Coordinator) Describe() *rundir.Cluster { return c.record }

// Welcome lets ranks know of server and workload.
func (c *Coordinator) Welcome(setup []byte) {
	c.welcome = &welcome{Setup: setup}
	close(c.setup)
}

// Admit serves the connection of a rank until it ends, or the run does.
func (c *Coordinator) Admit(link Link) {
	c.serving.Add(1)
	defer c.serving.Done()
	defer link.Close()
	first, err := link.Receive()
	if err != nil {
		return
	}
	hello, _ := first.(*Hello)
	m, refusal := c.enter(hello, link)
	if refusal != "" {
		link.Send(&welcome{Refusal: refusal})
		return
	}
	go c.receive(m)
	c.serve(m)
}

// enter registers a rank, or returns why it cannot join.
func (c *Coordinator) enter(h *Hello, link Link) (m *member, refusal string) {
	switch {
	case h == nil:
		return nil, "it did not say who it is"
	case h.Version != c.Version:
		return nil, fmt.Sprintf("it is llmsweep %s, and rank 0 is %s", h.Version, c.Version)
	case h.Ranks != c.Ranks:
		return nil, fmt.Sprintf("it was started as one of %d ranks, and rank 0 as one of %d", h.Ranks, c.Ranks)
	case h.Rank < 0 || h.Rank >= c.Ranks:
		return nil, fmt.Sprintf("there is no rank %d among %d", h.Rank, c.Ranks)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.members[h.Rank] != nil {
		return nil, fmt.Sprintf("another process has joined as rank %d", h.Rank)
	}
	m = &member{rank: h.Rank, hello: h, link: link, out: make(chan ToRank, queued), over: make(chan struct{})}
	c.members[h.Rank] = m
	r := &c.record.Ranks[h.Rank]
	r.Host, r.OS, r.CPUs = h.Host, h.OS, h.CPUs
	c.joined <- struct{}{}
	return m, ""
}

// end ends a member's connection.
func (m *member) end() { m.once.Do(func() { close(m.over); m.link.Close() }) }

// send queues a message.
func (m *member) send(to ToRank) {
	select {
	case m.out <- to:
	case <-m.over:
	}
}

// serve sends what is queued for a member, the welcome before any stage, and at the end of the run the farewell. Looks at the clock are answered
// before the welcome, too: a rank that waits for it would take rank 0 for gone otherwise.
func (c *Coordinator) serve(m *member) {
	defer m.end()
	setup := (<-chan struct{})(c.setup)
	for {
		var next ToRank
		select {
		case next = <-m.out:
		case <-setup:
		case <-c.closing:
			m.link.Send(c.bye)
			return
		case <-m.over:
			return
		}
		k, _ := next.(*messageClock)
		if setup != nil && k == nil {
			setup = nil // closed: rank 0 holds no stage before
			if m.link.Send(c.welcome) != nil {
				return
			}
		}
		if k != nil {
			k.Answered = c.Clock.Now()
		}
		if next != nil && m.link.Send(next) != nil {
			return
		}
	}
}

// receive takes a member's messages in. Looks at the clock are answered at once.
func (c *Coordinator) receive(m *member) {
	for {
		got, err := m.link.Receive()
		now := c.Clock.Now()
		if k, ok := got.(*messageClock); ok {
			k.Received = now
			m.send(k)
			continue
		}
		select {
		case c.events <- event{m, got, err}:
		case <-c.closing:
			return
		}
		if err != nil {
			m.end()
			return
		}
	}
}

// joinTime is how long rank 0 waits for all ranks: pods may have to fetch an image.
const joinTime = 5 * time.Minute

// Gather waits until all ranks have joined. waiting is called with those that have not, when that takes long.
func (c *Coordinator) Gather(ctx context.Context, waiting func(missing []int)) error {
	const tell = 10 * time.Second
	timer, told := time.NewTimer(joinTime), time.NewTimer(tell)
	defer timer.Stop()
	defer told.Stop()
	for {
		missing := c.missing()
		if len(missing) == 0 {
			return nil
		}
		select {
		case <-c.joined:
		case <-told.C:
			waiting(missing)
		case <-timer.C:
			return fmt.Errorf("%s did not join within %v: start them with the same command line, and let them reach this machine",
				Names(missing), joinTime)
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// missing returns the ranks that have not joined.
func (c *Coordinator) missing() (ranks []int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, m := range c.members {
		if m == nil {
			ranks = append(ranks, i)
		}
	}
	return ranks
}

// straggling is how long ranks that have not joined are waited for, to be told that the run has ended.
const straggling = 2 * time.Second

// Close ends the run: all ranks are told, and why where err is not nil.
func (c *Coordinator) Close(err error) {
	c.bye = &bye{}
	if err != nil {
		c.bye.Error = err.Error()
	}
	if len(c.missing()) > 0 {
		ctx, cancel := context.WithTimeout(context.Background(), straggling)
		c.Gather(ctx, func([]int) {})
		cancel()
	}
	close(c.closing)
	done := make(chan struct{})
	go func() { c.serving.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(straggling):
	}
}

// alive returns the ranks that are not lost.
func (c *Coordinator) alive() (all []*member) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, m := range c.members {
		if m != nil && c.record.Ranks[i].Lost.IsZero() {
			all = append(all, m)
		}
	}
	return all
}

// lose leaves a rank out from now on.
func (c *Coordinator) lose(m *member, why note.Note) {
	r := &c.record.Ranks[m.rank]
	if r.Lost.IsZero() {
		r.Lost = why
	}
	m.end()
}

// host returns the name of a member's machine.
func (m *member) host() string { return m.hello.Host }

// keepClock writes what is known of a rank's clock.
func (c *Coordinator) keepClock(m *member, e ClockEstimate) {
	if m.rank == 0 || e.Exchanges == 0 {
		return
	}
	r := rundir.Clock{
		Offset: rundir.Exactly(e.Offset.Seconds()), Low: rundir.Exactly(e.Low.Seconds()), High: rundir.Exactly(e.High.Seconds()),
		RoundTrip: rundir.Exactly(e.RoundTrip.Seconds()), Exchanges: e.Exchanges,
	}
	if d := e.Drift; d.Low < d.High {
		r.Drift, r.DriftLow, r.DriftHigh = rundir.Exactly(d.Value), rundir.Exactly(d.Low), rundir.Exactly(d.High)
	}
	c.record.Ranks[m.rank].Clock = r
}

// firstOf returns the first of which a condition holds; ok is false where there is none.
func firstOf[T any](all []T, is func(T) bool) (found T, ok bool) {
	if i := slices.IndexFunc(all, is); i >= 0 {
		return all[i], true
	}
	return found, false
}
