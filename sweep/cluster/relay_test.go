package cluster_test

import (
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"
)

// way is a direction of a network: how long bytes take, and how often one of them is lost. TCP sends what is lost again after a time, and all that
// was sent after it arrives no sooner.
type way struct {
	delay, jitter time.Duration // jitter is the mean of an exponential distribution
	loss          float64       // share of the writes
}

// retransmission is how long TCP waits before it sends again: the least on Linux.
const retransmission = 200 * time.Millisecond

// relay forwards a connection over a network of its own in each direction.
func relay(a, b net.Conn, there, back way, seed uint64) {
	var both sync.WaitGroup
	both.Go(func() { forward(b, a, there, seed) })
	both.Go(func() { forward(a, b, back, seed+1) })
	both.Wait()
}

// forward copies what is read, delayed and in order, until a side closes.
func forward(to, from net.Conn, w way, seed uint64) {
	type piece struct {
		at time.Time
		b  []byte
	}
	rng, line := rand.New(rand.NewPCG(seed, 7)), make(chan piece, 1024)
	go func() {
		defer close(line)
		var last time.Time
		buffer := make([]byte, 64<<10)
		for {
			n, err := from.Read(buffer)
			if n > 0 {
				at := time.Now().Add(w.delay + time.Duration(rng.ExpFloat64()*float64(w.jitter)))
				for rng.Float64() < w.loss {
					at = at.Add(retransmission)
				}
				if at.Before(last) {
					at = last
				}
				last = at
				line <- piece{at, append([]byte(nil), buffer[:n]...)}
			}
			if err != nil {
				return
			}
		}
	}()
	for p := range line {
		time.Sleep(time.Until(p.at))
		if _, err := to.Write(p.b); err != nil {
			break
		}
	}
	to.Close()
	from.Close()
	for range line { // until the reader has seen that
	}
}

// network is a listener whose connections come over relays.
type network struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newNetwork() *network { return &network{conns: make(chan net.Conn), closed: make(chan struct{})} }

// dial returns a connection over ways of its own.
func (n *network) dial(there, back way, seed uint64) net.Conn {
	near, a := net.Pipe()
	b, far := net.Pipe()
	go relay(a, b, there, back, seed)
	n.conns <- far
	return near
}

func (n *network) Accept() (net.Conn, error) {
	select {
	case c := <-n.conns:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

func (n *network) Close() error   { n.once.Do(func() { close(n.closed) }); return nil }
func (n *network) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// The relay delays each direction by its own time, keeps the order, and holds back what comes after a loss.
func TestRelayDelays(t *testing.T) {
	inVirtualTime(t, func(t *testing.T) {
		n := newNetwork()
		accepted := make(chan net.Conn, 1)
		go func() {
			c, _ := n.Accept()
			accepted <- c
		}()
		near := n.dial(way{delay: 30 * time.Millisecond}, way{delay: 5 * time.Millisecond, loss: 0.999}, 1)
		far := <-accepted
		began := time.Now()
		go near.Write([]byte("there"))
		b := make([]byte, 5)
		if _, err := io.ReadFull(far, b); err != nil || string(b) != "there" || time.Since(began) != 30*time.Millisecond {
			t.Errorf("%q after %v, %v", b, time.Since(began), err)
		}
		began = time.Now()
		go far.Write([]byte("again"))
		if _, err := io.ReadFull(near, b); err != nil || time.Since(began) < retransmission {
			t.Errorf("a loss took %v, %v", time.Since(began), err)
		}
		near.Close()
		far.Close()
		time.Sleep(time.Minute) // what was under way has ended
	})
}
