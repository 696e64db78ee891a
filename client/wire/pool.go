package wire

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"
)

const (
	dialTimeout = 30 * time.Second // a host that drops packets must not hold a request for its whole time limit
	keepAlive   = 30 * time.Second
	// maxDials is how many connections are dialled at once. More would only fill the server's queue, and at ten
	// thousand arrivals a second they would use up the file descriptors.
	maxDials = 256
)

// DialFunc connects. It is the type of http.Transport.DialContext.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// Pool has the idle connections to one server. It is safe for concurrent use.
type Pool struct {
	address  string
	secure   bool
	dial     DialFunc
	tls      *tls.Config
	idleTime time.Duration
	dials    chan struct{}
	readers  sync.Pool // of *bufio.Reader, for heads
	hangups  hangups
	habit    habit // of the server

	mu      sync.Mutex
	idle    []*Conn // longest idle first
	maxIdle int
	expiry  *time.Timer
}

// NewPool returns a pool of connections to an address, over TLS if secure. A nil dial dials TCP, with timestamps of the
// kernel. At most maxIdle connections are kept, each for idleTime.
func NewPool(address string, secure bool, dial DialFunc, conf *tls.Config, maxIdle int, idleTime time.Duration) *Pool {
	if dial == nil {
		dial = (&net.Dialer{KeepAlive: keepAlive, Control: enableTimestamps}).DialContext
	}
	p := &Pool{
		address: address, secure: secure, dial: dial, tls: conf, maxIdle: maxIdle, idleTime: idleTime,
		dials: make(chan struct{}, maxDials),
	}
	p.readers.New = func() any { return bufio.NewReader(nil) }
	return p
}

// Get returns the connection that was used last and is still open, or a new one.
func (p *Pool) Get(ctx context.Context) (*Conn, error) {
	for c := p.pop(); c != nil; c = p.pop() {
		if p.Check(c) == nil {
			return c, nil
		}
	}
	return p.connect(ctx)
}

// Check returns nil if a request can be sent on a connection, else it closes it.
func (p *Pool) Check(c *Conn) error {
	err := c.Ready()
	if err == ErrGone {
		p.habit.observe(&c.reuse)
	}
	if err != nil {
		c.Close()
	}
	return err
}

// Warm dials until n connections are idle. It returns the first error, after all attempts.
func (p *Pool) Warm(ctx context.Context, n int) error {
	p.mu.Lock()
	missing := n - len(p.idle)
	p.maxIdle = max(p.maxIdle, n)
	p.mu.Unlock()
	var wg sync.WaitGroup
	errs := make(chan error, max(missing, 0))
	for range missing {
		wg.Go(func() {
			c, err := p.connect(ctx)
			if err != nil {
				errs <- err
				return
			}
			c.reuse.dialledAhead = true
			p.put(c)
		})
	}
	wg.Wait()
	select {
	case err := <-errs:
		return err
	default:
		return nil
	}
}

// CloseIdle closes the idle connections.
func (p *Pool) CloseIdle() { p.closeIdleSince(time.Now()) }

// MaxRequests returns the number of requests after which the server was seen to close connections; 0 for none. No
// connection carries more from then on.
func (p *Pool) MaxRequests() int { return p.habit.maxRequests() }

// HasConnection reports whether the connection that was used last can be used again.
func (p *Pool) HasConnection() bool {
	c := p.pop()
	if c == nil || p.Check(c) != nil {
		return false
	}
	p.put(c)
	return true
}

// put keeps an idle connection for idleTime, unless there are enough.
func (p *Pool) put(c *Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) >= p.maxIdle {
		c.Close()
		return
	}
	p.idle = append(p.idle, c)
	if p.expiry == nil {
		p.expiry = time.AfterFunc(p.idleTime, p.expire)
	}
}

// expire schedules itself again while there are idle connections.
func (p *Pool) expire() {
	p.closeIdleSince(time.Now().Add(-p.idleTime))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expiry = nil
	if len(p.idle) > 0 {
		p.expiry = time.AfterFunc(max(time.Until(p.idle[0].reuse.idleSince.Add(p.idleTime)), time.Millisecond), p.expire)
	}
}

func (p *Pool) closeIdleSince(since time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for ; n < len(p.idle) && !p.idle[n].reuse.idleSince.After(since); n++ {
		p.idle[n].Close()
	}
	p.idle = slices.Delete(p.idle, 0, n)
}

func (p *Pool) pop() *Conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	last := len(p.idle) - 1
	if last < 0 {
		return nil
	}
	c := p.idle[last]
	p.idle[last] = nil
	p.idle = p.idle[:last]
	return c
}

// errQueue is for a dial that timed out while it waited for others.
var errQueue = fmt.Errorf("no connection within %v: %d were being made, and did not come about", dialTimeout, maxDials)

// dialSlot waits until fewer than maxDials connections are being made, and limits ctx to dialTimeout in all.
func (p *Pool) dialSlot(ctx context.Context) (limited context.Context, done func(), err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, dialTimeout, errQueue)
	select {
	case p.dials <- struct{}{}:
		return ctx, func() { <-p.dials; cancel() }, nil
	case <-ctx.Done():
		cancel()
		return nil, nil, context.Cause(ctx)
	}
}

// Dial makes a connection that does not belong to the pool.
func (p *Pool) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, done, err := p.dialSlot(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	return p.dial(ctx, network, address)
}

// DialTLS is Dial with TLS. The handshake is complete when it returns.
func (p *Pool) DialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	ctx, done, err := p.dialSlot(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	c, err := p.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return p.handshake(ctx, c, address)
}

func (p *Pool) connect(ctx context.Context) (*Conn, error) {
	ctx, done, err := p.dialSlot(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	c, err := p.dial(ctx, "tcp", p.address)
	if err != nil {
		return nil, err
	}
	s := newSocket(c)
	conn := &Conn{Conn: s, socket: s, pool: p, reuse: reuse{idleSince: time.Now()}}
	if !p.secure {
		p.hangups.add(s)
	} else if conn.Conn, err = p.handshake(ctx, s, p.address); err != nil {
		return nil, err
	}
	return conn, nil
}

// handshake makes a TLS connection over c, which it closes on failure.
func (p *Pool) handshake(ctx context.Context, c net.Conn, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err == nil {
		conf := p.tls.Clone()
		conf.ServerName = cmp.Or(conf.ServerName, host)
		conn := tls.Client(c, conf)
		if err = conn.HandshakeContext(ctx); err == nil {
			return conn, nil
		}
	}
	c.Close()
	return nil, err
}
