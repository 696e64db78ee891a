package wire

import (
	"cmp"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"sync"
	"time"
)

const (
	dialTimeout = 30 * time.Second // a host that drops packets must not hold a request for its whole time limit
	keepAlive   = 30 * time.Second
	// maxDials is how many connections are dialled at once. More would only fill the server's queue, and at ten thousand
	// arrivals a second they would use up the file descriptors.
	maxDials = 256
)

// DialFunc connects. It is the type of http.Transport.DialContext.
type DialFunc func(ctx context.Context, network, address string) (net.Conn, error)

// Dialer makes the connections of an http.Transport, which are Conns to one server. It can dial some ahead of time.
type Dialer struct {
	dial  DialFunc
	tls   *tls.Config
	idle  time.Duration
	slots chan struct{}
	habit habit // of the server, once it is known

	mu     sync.Mutex
	ready  []spare // oldest first
	reap   *time.Timer
	newest *Conn // of those that were handed out
}

// spare is a connection that was dialled ahead of time and not used yet.
type spare struct {
	conn *Conn
	made time.Time
}

// NewDialer returns a Dialer over the connections that dial makes; nil dials TCP, with timestamps of the kernel.
// Connections dialled ahead of time are closed after the time idle.
func NewDialer(dial DialFunc, conf *tls.Config, idle time.Duration) *Dialer {
	if dial == nil {
		dial = (&net.Dialer{KeepAlive: keepAlive, Control: stamped}).DialContext
	}
	return &Dialer{dial: dial, tls: conf, idle: idle, slots: make(chan struct{}, maxDials)}
}

// Dial returns a connection that was dialled ahead of time, or a new one.
func (d *Dialer) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	return d.take(ctx, network, address, false)
}

// DialTLS is Dial with TLS. The handshake is complete when it returns.
func (d *Dialer) DialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	return d.take(ctx, network, address, true)
}

// Warm dials until n unused connections are there. It returns the first error, after all attempts.
func (d *Dialer) Warm(ctx context.Context, address string, secure bool, n int) error {
	d.mu.Lock()
	missing := n - len(d.ready)
	d.mu.Unlock()
	var wg sync.WaitGroup
	errs := make(chan error, max(missing, 0))
	for range missing {
		wg.Go(func() {
			c, err := d.connect(ctx, "tcp", address, secure)
			if err != nil {
				errs <- err
				return
			}
			c.ahead = true
			d.keep(c)
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

// CloseIdle closes the unused connections.
func (d *Dialer) CloseIdle() { d.close(time.Now()) }

// MostRequests returns the number of requests after which the server was seen to close connections, 0 if it does not. No
// connection carries more from then on.
func (d *Dialer) MostRequests() int { return d.habit.most() }

// keep stores an unused connection and makes sure that it expires.
func (d *Dialer) keep(c *Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ready = append(d.ready, spare{c, time.Now()})
	if d.reap == nil {
		d.reap = time.AfterFunc(d.idle, d.expire)
	}
}

// expire closes the connections whose time is over, and schedules itself for the rest.
func (d *Dialer) expire() {
	d.close(time.Now().Add(-d.idle))
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reap = nil
	if len(d.ready) > 0 {
		d.reap = time.AfterFunc(max(time.Until(d.ready[0].made.Add(d.idle)), time.Millisecond), d.expire)
	}
}

// close closes the unused connections dialled at the given time or before.
func (d *Dialer) close(before time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for ; n < len(d.ready) && !d.ready[n].made.After(before); n++ {
		d.ready[n].conn.Close()
	}
	d.ready = append(d.ready[:0], d.ready[n:]...)
}

// take returns the newest unused connection that is still open, or a new one.
func (d *Dialer) take(ctx context.Context, network, address string, secure bool) (net.Conn, error) {
	c := d.pop()
	for c != nil && !c.socket.alive(secure) {
		c.Close()
		c = d.pop()
	}
	if c == nil {
		made, err := d.connect(ctx, network, address, secure)
		if err != nil {
			return nil, err // not a nil *Conn
		}
		c = made
	}
	d.mu.Lock()
	d.newest = c
	d.mu.Unlock()
	return c, nil
}

// Kept reports whether the newest connection that was handed out is still open, as far as the kernel knows; true before the first.
func (d *Dialer) Kept() bool {
	d.mu.Lock()
	c := d.newest
	d.mu.Unlock()
	if c == nil {
		return true
	}
	c.reuse.mu.Lock()
	open := c.reuse.closed.IsZero() && !c.reuse.retired
	c.reuse.mu.Unlock()
	return open && !c.shut.Load() && c.socket.alive(true)
}

func (d *Dialer) pop() *Conn {
	d.mu.Lock()
	defer d.mu.Unlock()
	last := len(d.ready) - 1
	if last < 0 {
		return nil
	}
	c := d.ready[last].conn
	d.ready = d.ready[:last]
	return c
}

// errQueue is the error of a dial that timed out while it waited for others.
var errQueue = fmt.Errorf("no connection within %v: %d were being made, and did not come about", dialTimeout, maxDials)

// connect dials as soon as fewer than maxDials others do.
func (d *Dialer) connect(ctx context.Context, network, address string, secure bool) (*Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, dialTimeout, errQueue)
	defer cancel()
	select {
	case d.slots <- struct{}{}:
		defer func() { <-d.slots }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	c, err := d.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	conn := wrap(c)
	conn.habit = &d.habit
	if secure {
		err = conn.secure(ctx, address, d.tls)
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return conn, nil
}

// secure makes a TLS handshake over the socket.
func (c *Conn) secure(ctx context.Context, address string, conf *tls.Config) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	conf = conf.Clone()
	conf.ServerName = cmp.Or(conf.ServerName, host)
	over := tls.Client(c.socket, conf)
	c.Conn = over
	return over.HandshakeContext(ctx)
}
