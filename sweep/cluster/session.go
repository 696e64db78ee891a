package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

const (
	exchangeEvery = time.Second      // between two looks at rank 0's clock; they are a sign of life as well
	gone          = 10 * time.Second // without a message, rank 0 counts as gone
	burst         = 8                // looks at rank 0's clock before a stage
	burstGap      = 5 * time.Millisecond
)

// ErrGone is the error of a rank that has lost rank 0.
var ErrGone = errors.New("rank 0 is gone")

// Session is a rank that has joined.
type Session struct {
	hello   *Hello
	link    Uplink
	clock   *RankClock
	own     bool // the clock is rank 0's own
	tracker clockTracker

	out  chan FromRank
	in   chan ToRank
	over chan struct{}
	once sync.Once
	err  error // why it is over; set before over is closed

	heard atomic.Int64 // when the last message came, by the clock
}

// Join joins the run of rank 0, and returns its description of server and workload. An error gives the reason for a refusal.
func Join(ctx context.Context, link Uplink, c *RankClock, hello *Hello) (*Session, []byte, error) {
	s := &Session{
		hello: hello, link: link, clock: c, own: hello.Rank == 0,
		out: make(chan FromRank, queued), in: make(chan ToRank, queued), over: make(chan struct{}),
	}
	s.heard.Store(int64(c.Now()))
	s.send(hello)
	go s.sending()
	go s.receiving()
	go s.watching()
	select {
	case m := <-s.in:
		w, err := welcomed(m)
		if err != nil {
			s.end(err)
			return nil, nil, err
		}
		return s, w.Setup, nil
	case <-s.over:
		return nil, nil, s.err
	case <-ctx.Done():
		s.end(context.Cause(ctx))
		return nil, nil, context.Cause(ctx)
	}
}

// welcomed returns what rank 0 answers to Hello, or why this rank does not take part.
func welcomed(m ToRank) (*welcome, error) {
	switch m := m.(type) {
	case *welcome:
		if m.Refusal == "" {
			return m, nil
		}
		return nil, fmt.Errorf("rank 0 refuses this rank: %s", m.Refusal)
	case *bye:
		return nil, cmp.Or(ended(m), errors.New("rank 0 ended the run before this rank joined"))
	}
	return nil, errors.New("rank 0 began a stage before this rank joined")
}

// ErrEnded is the error of a rank whose run rank 0 has ended early. Rank 0 gives the reason.
var ErrEnded = errors.New("rank 0 ended the run")

// ended returns the error of a run that rank 0 ended; nil where it was done.
func ended(b *bye) error {
	if b.Error == "" {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrEnded, b.Error)
}

// end ends the session.
func (s *Session) end(err error) {
	s.once.Do(func() {
		s.err = err
		close(s.over)
		s.link.Close()
	})
}

// send queues a message.
func (s *Session) send(m FromRank) {
	select {
	case s.out <- m:
	case <-s.over:
	}
}

// sending sends what is queued. Instants are read just before they are sent.
func (s *Session) sending() {
	for {
		select {
		case m := <-s.out:
			if c, ok := m.(*messageClock); ok {
				c.Sent = s.clock.Now()
			}
			if err := s.link.Send(m); err != nil {
				return // the receiver finds out why: rank 0 may have said goodbye
			}
		case <-s.over:
			return
		}
	}
}

func (s *Session) receiving() {
	for {
		m, err := s.link.Receive()
		now := s.clock.Now()
		if err != nil {
			s.end(fmt.Errorf("%w: %w", ErrGone, err))
			return
		}
		s.heard.Store(int64(now))
		if c, ok := m.(*messageClock); ok {
			s.tracker.Add(clockExchange{Sent: c.Sent, Received: c.Received, Answered: c.Answered, Back: now})
			continue
		}
		select {
		case s.in <- m:
			if _, bye := m.(*bye); bye {
				return // the end of the connection that follows is no loss
			}
		case <-s.over:
			return
		}
	}
}

// watching looks at rank 0's clock from time to time, and ends the session when nothing more comes. A time in which this process itself was
// stopped does not count.
func (s *Session) watching() {
	ticker := time.NewTicker(exchangeEvery)
	defer ticker.Stop()
	s.look()
	for last := s.clock.Now(); ; {
		select {
		case <-ticker.C:
		case <-s.over:
			return
		}
		now := s.clock.Now()
		if now-last > 3*exchangeEvery { // stopped meanwhile
			s.heard.Store(int64(now))
		}
		last = now
		if now-time.Duration(s.heard.Load()) > gone {
			s.end(fmt.Errorf("%w: nothing was heard of it for %v", ErrGone, gone))
			return
		}
		s.look()
	}
}

// look asks for rank 0's clock.
func (s *Session) look() {
	s.send(&messageClock{})
}

// align looks at rank 0's clock several times, and waits for the answers.
func (s *Session) align() {
	for range burst {
		s.look()
		time.Sleep(burstGap)
	}
	e := s.estimate()
	time.Sleep(min(2*e.RoundTrip, time.Second) + burstGap)
}

// estimate returns what is known of the clock now.
func (s *Session) estimate() ClockEstimate {
	if s.own {
		return ClockEstimate{}
	}
	e, _ := s.tracker.At(s.clock.Now())
	return e
}

// Leave tells rank 0 why this rank cannot take part, and waits until rank 0 has ended the run.
func (s *Session) Leave(err error) {
	s.send(trouble(err, false))
	s.await()
}
