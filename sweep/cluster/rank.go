package cluster

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"llmsweep/client"
)

// ErrEnded is the error of a rank whose run rank 0 has ended early. Rank 0 gives the reason.
var ErrEnded = errors.New("rank 0 ended the run")

// Rank is a rank other than 0.
type Rank struct {
	Hello
	Connect func(setup []byte) (Sender, error) // to the servers, as rank 0 describes them
	// Meter starts a meter of the shares of all cores that this process and its garbage collector use; nil where they
	// are unknown.
	Meter func() (shares func() (cpu, gc float64))
}

// Serve joins the run of rank 0, and sends what that orders until it ends the run, which returns nil. When ctx ends,
// rank 0 is told, and decides.
func (r *Rank) Serve(ctx context.Context, conn net.Conn) error {
	const patience = 30 * time.Second // for rank 0 to end the run after an interrupt
	w := &worker{link: newLink(conn), rank: r, began: time.Now(), orders: map[uint64]*order{}}
	defer w.Close()
	if err := w.send(r.Hello); err != nil {
		return fmt.Errorf("rank 0 is gone: %w", err)
	}
	go w.keepAlive()
	go w.report()
	defer context.AfterFunc(ctx, func() {
		w.send(trouble{})
		time.AfterFunc(patience, w.shut)
	})()
	inner, cancelAll := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelAll()
	for {
		message, err := w.receive()
		if err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return fmt.Errorf("rank 0 is gone: %w", err)
		}
		if farewell, ok := message.(bye); ok {
			switch {
			case farewell.Refused:
				return errors.New(farewell.Error)
			case farewell.Error != "":
				return fmt.Errorf("%w: %s", ErrEnded, farewell.Error)
			}
			return nil
		}
		if err := w.take(inner, message); err != nil {
			w.send(trouble{err.Error()})
			w.drain()
			return err
		}
	}
}

// worker sends what rank 0 orders.
type worker struct {
	*link
	rank   *Rank
	began  time.Time // of its clock
	sender Sender
	shares func() (cpu, gc float64) // since the stage began; nil where unknown

	mu     sync.Mutex
	orders map[uint64]*order
}

// order is a request that rank 0 has announced.
type order struct {
	prepared    func() (*client.Prepared, error) // waits until it is encoded
	stop        context.CancelFunc               // nil until it is sent
	sent, first time.Duration                    // set before tokens
	tokens      atomic.Int64                     // since the last report
}

// take does what a message asks for. An error ends the rank.
func (w *worker) take(ctx context.Context, message any) (err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch m := message.(type) {
	case welcome:
		w.sender, err = w.rank.Connect(m.Setup)
	case warm:
		go func() {
			w.sender.Warm(ctx, m.Connections) // where it fails, so do the requests
			w.send(warmed{})
		}()
	case stage:
		maps.DeleteFunc(w.orders, func(_ uint64, o *order) bool { return o.stop == nil })
		if w.rank.Meter != nil {
			w.shares = w.rank.Meter()
		}
	case ping:
		go w.send(w.answer(m))
	case prepare:
		o := &order{prepared: sync.OnceValues(func() (*client.Prepared, error) { return w.sender.Prepare(&m.Request) })}
		w.orders[m.ID] = o
		go o.prepared()
	case send:
		o := w.orders[m.ID]
		if o == nil {
			return fmt.Errorf("rank 0 orders request %d, which it did not announce", m.ID)
		}
		ctx, o.stop = context.WithCancel(ctx)
		go w.do(ctx, m.ID, o)
	case cancel:
		if o := w.orders[m.ID]; o != nil {
			o.stop()
		}
	}
	return err
}

func (w *worker) answer(p ping) pong {
	answer := pong{Ping: p.At, At: time.Since(w.began), CPU: -1, GC: -1}
	if w.shares != nil {
		answer.CPU, answer.GC = w.shares()
	}
	if w.sender != nil {
		answer.Timestamps = w.sender.Timestamps()
	}
	return answer
}

// do sends a request. Its instants count from the start of this rank's clock.
func (w *worker) do(ctx context.Context, id uint64, o *order) {
	defer o.stop()
	res := &client.Result{}
	res.Reset(w.began)
	res.OnToken = func(n int) {
		if o.first == 0 {
			o.sent, o.first = res.Sent, res.FirstToken
		}
		o.tokens.Add(int64(n))
	}
	if p, err := o.prepared(); err != nil {
		res.Fail(time.Since(w.began), client.ClassMalformed, err.Error())
	} else {
		w.sender.Do(ctx, p, res)
	}
	w.mu.Lock()
	delete(w.orders, id)
	w.mu.Unlock()
	w.send(ended{id, *res})
}

// report tells rank 0 how many tokens have come, as often as the shortest stage needs.
func (w *worker) report() {
	const every = 100 * time.Millisecond
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-w.ended:
			return
		}
		var p progress
		w.mu.Lock()
		for id, o := range w.orders {
			if n := o.tokens.Swap(0); n > 0 {
				p.Requests = append(p.Requests, tokens{id, int(n), o.sent, o.first})
			}
		}
		w.mu.Unlock()
		if len(p.Requests) > 0 {
			w.send(p)
		}
	}
}
