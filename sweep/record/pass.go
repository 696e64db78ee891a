package record

import (
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"llmsweep/client/wire"
)

// connection passes the bytes of a client's connection to the server, over one connection of its own, and back.
type connection struct {
	near *wire.Stamped // the client's
	far  *wire.Stamped // to the server

	asTheClient bool // [Options.Check]

	up, down *pipe
	left     atomic.Pointer[time.Time] // when the client closed or broke its connection; nil before
}

// chunk is how many bytes one read may return.
const chunk = 64 << 10

var chunks = sync.Pool{New: func() any { return new([chunk]byte) }}

// pass passes bytes in both directions until both have ended. ctx ends the connection at once.
func (c *connection) pass(ctx context.Context) {
	stop := context.AfterFunc(ctx, c.breakOff)
	defer stop()
	var both sync.WaitGroup
	both.Go(c.passUp)
	both.Go(c.passDown)
	both.Wait()
	c.near.Close()
	c.far.Close()
}

// passUp passes requests on.
func (c *connection) passUp() {
	buf := chunks.Get().(*[chunk]byte)
	defer chunks.Put(buf)
	for {
		n, err := c.near.Read(buf[:])
		if n > 0 {
			at := c.near.Latest()
			at.Delay = time.Since(at.At)
			if !c.asTheClient {
				at.At = at.At.Add(at.Delay) // before the write: the answer may arrive before it returns
			}
			if _, failed := c.far.Write(buf[:n]); failed != nil {
				c.up.end(failed)
				return // what the server sent before it closed still has to pass
			}
			c.up.put(buf[:n], at)
		}
		if err == nil {
			continue
		}
		c.left.CompareAndSwap(nil, new(time.Now()))
		c.up.end(err)
		if errors.Is(err, io.EOF) {
			c.far.CloseWrite()
		} else {
			c.breakOff()
		}
		return
	}
}

// passDown passes answers back.
func (c *connection) passDown() {
	buf := chunks.Get().(*[chunk]byte)
	defer chunks.Put(buf)
	for {
		n, err := c.far.Read(buf[:])
		if n > 0 {
			at := c.far.Latest()
			if c.asTheClient {
				at.At = time.Now() // nothing arrives before the write
			}
			_, failed := c.near.Write(buf[:n])
			at.Delay = time.Since(at.At) // added by the recorder
			c.down.put(buf[:n], at)
			if failed != nil {
				c.left.CompareAndSwap(nil, &at.At)
				c.down.end(failed)
				c.breakOff()
				return
			}
		}
		if err == nil {
			continue
		}
		c.down.end(err)
		if errors.Is(err, io.EOF) {
			c.near.CloseWrite()
		} else {
			c.breakOff()
		}
		return
	}
}

// breakOff breaks both connections off, as a crash of either end does.
func (c *connection) breakOff() {
	c.near.Reset()
	c.far.Reset()
	c.near.Close()
	c.far.Close()
}
