package client

import (
	"io"
	"time"

	"llmsweep/client/wire"
)

// arrivals reads a body and knows when each part of it came, so that a frame can be stamped by the offset of its last
// byte however late it is read and decoded. The connection's watch tells; where it cannot, a read's return has to do.
type arrivals struct {
	body   io.Reader
	watch  *wire.Watch
	epoch  time.Time
	delay  ReadDelay
	total  int64
	reads  int64
	latest wire.Receive   // the newest that was counted
	parts  []wire.Receive // oldest first; those before the last offset asked for are gone
	ended  time.Duration
}

// reset starts on another body, keeping the buffer.
func (a *arrivals) reset(body io.Reader, watch *wire.Watch, epoch time.Time) {
	*a = arrivals{body: body, watch: watch, epoch: epoch, parts: a.parts[:0], ended: Absent}
}

// Read reads from the body and learns when it came. One read may bring parts of several receives, and one receive may
// take several reads.
func (a *arrivals) Read(p []byte) (int, error) {
	n, err := a.body.Read(p)
	a.total += int64(n)
	a.reads++
	known := len(a.parts)
	a.parts = a.watch.Take(a.parts)
	if n > 0 && (len(a.parts) == 0 || a.parts[len(a.parts)-1].End < a.total) {
		a.parts = append(a.parts, wire.Receive{End: a.total, Seq: -a.reads, At: time.Now()})
	}
	for _, r := range a.parts[known:] {
		a.count(r)
	}
	if err != nil {
		a.end(err)
	}
	return n, err
}

// end dates the end of the body: the arrival of what says so, where something does.
func (a *arrivals) end(err error) {
	at, ok := a.watch.End()
	if !ok || err != io.EOF {
		at = time.Now()
	}
	a.ended = at.Sub(a.epoch)
}

// count adds a receive to the delay.
func (a *arrivals) count(r wire.Receive) {
	if r.Seq == a.latest.Seq && r.At.Equal(a.latest.At) { // the rest of one
		return
	}
	a.latest = r
	a.delay.add(r.Delay, r.Kernel)
}

// at is when byte end-1 came, and the number of the receive that brought it. Offsets asked for must have been read, and
// must not go back.
func (a *arrivals) at(end int64) (at time.Duration, receive int64) {
	k := 0
	for a.parts[k].End < end {
		k++
	}
	if k > 0 {
		a.parts = a.parts[:copy(a.parts, a.parts[k:])]
	}
	return a.parts[0].At.Sub(a.epoch), a.parts[0].Seq
}
