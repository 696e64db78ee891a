package cluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"llmsweep/client"
)

// reportEvery is often enough for the shortest stage, and ten messages a second.
const reportEvery = 100 * time.Millisecond

// ErrEnded is the error of a rank whose run rank 0 has ended early. Rank 0 gives the reason.
var ErrEnded = errors.New("rank 0 ended the run")

// order is a request that rank 0 has announced.
type order struct {
	*client.Prepared
	err    error // of its encoding
	stop   context.CancelFunc
	tokens tokens
}

// worker sends what rank 0 orders.
type worker struct {
	*link
	sender Sender
	mu     sync.Mutex
	orders map[uint64]*order
}

// Rank is a rank other than 0.
type Rank struct {
	Hello
	Connect func(setup []byte) (Sender, error) // to the servers, as rank 0 describes them
	Shares  func() (cpu, gc float64)           // of the processors, since the last call; nil where that is unknown
}

// Serve joins the run of rank 0, and sends what that orders until it ends the run, which returns nil. When ctx ends,
// rank 0 is told, and decides.
func (r *Rank) Serve(ctx context.Context, conn net.Conn) error {
	const patience = 30 * time.Second // for rank 0 to end the run after an interrupt
	w := &worker{link: newLink(conn), orders: map[uint64]*order{}}
	defer w.Close()
	if err := w.send(r.Hello); err != nil {
		return fmt.Errorf("rank 0 is gone: %w", err)
	}
	go w.keepAlive()
	go w.report()
	stop := context.AfterFunc(ctx, func() {
		w.send(trouble{})
		time.AfterFunc(patience, func() { w.Close() })
	})
	defer stop()
	inner, cancelAll := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelAll()
	for {
		m, err := w.receive()
		switch m := m.(type) {
		case nil:
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return fmt.Errorf("rank 0 is gone: %w", err)
		case bye:
			if m.Error != "" {
				return fmt.Errorf("%w: %s", ErrEnded, m.Error)
			}
			return nil
		case welcome:
			if w.sender, err = r.Connect(m.Setup); err != nil {
				w.send(trouble{err.Error()})
				w.receive() // the farewell
				return err
			}
		case warm:
			go w.sender.Warm(inner, m.Connections) // where it fails, so do the requests
		case ping:
			p := pong{CPU: -1, GC: -1}
			if r.Shares != nil {
				p.CPU, p.GC = r.Shares()
			}
			go w.send(p)
		case prepare:
			o := &order{}
			o.Prepared, o.err = w.sender.Prepare(&m.Request)
			w.mu.Lock()
			w.orders[m.ID] = o
			w.mu.Unlock()
		case send:
			w.begin(inner, m.ID)
		case cancel:
			w.mu.Lock()
			if o := w.orders[m.ID]; o != nil && o.stop != nil {
				o.stop()
			}
			w.mu.Unlock()
		}
	}
}

func (w *worker) begin(ctx context.Context, id uint64) {
	res := &client.Result{}
	res.Reset(time.Now())
	w.mu.Lock()
	o := w.orders[id]
	if o == nil { // which rank 0 did not announce
		o = &order{err: errors.New("the request was not announced")}
		w.orders[id] = o
	}
	ctx, o.stop = context.WithCancel(ctx)
	w.mu.Unlock()
	go func() {
		defer o.stop()
		res.OnToken = func(n int) {
			w.mu.Lock()
			defer w.mu.Unlock()
			o.tokens = tokens{id, o.tokens.N + n, res.Sent, res.FirstToken}
		}
		if o.err != nil {
			res.Fail(0, client.ClassMalformed, o.err.Error())
		} else {
			w.sender.Do(ctx, o.Prepared, res)
		}
		w.mu.Lock()
		delete(w.orders, id)
		w.mu.Unlock()
		w.send(ended{id, *res})
	}()
}

// report tells rank 0 now and then how many tokens have come.
func (w *worker) report() {
	ticker := time.NewTicker(reportEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
		case <-w.ended:
			return
		}
		var p progress
		w.mu.Lock()
		for _, o := range w.orders {
			if o.tokens.N > 0 {
				p.Calls = append(p.Calls, o.tokens)
				o.tokens.N = 0
			}
		}
		w.mu.Unlock()
		if len(p.Calls) > 0 {
			w.send(p)
		}
	}
}
