package client

import (
	"io"
	"time"

	"llmsweep/client/wire"
)

// timedBody reads an answer's body and knows when each part of it arrived, so that a frame can be timestamped by the
// offset of its last byte, however late it is read and decoded. The instants are those of the connection's Watch. Where
// it has none, they are the instants at which reads returned.
type timedBody struct {
	body   io.Reader
	zipped bool // it is decompressed: the offsets of receives are others than those of the body
	watch  *wire.Watch
	epoch  time.Time
	delay  ReadDelay
	total  int64 // bytes read
	reads  int64
	latest wire.Receive   // the newest that was counted in delay
	newest wire.Receive   // of compressed bytes
	parts  []wire.Receive // oldest first; those before the last offset asked for are gone
	ended  time.Duration  // when the body ended, from epoch; Absent before
}

// reset starts on another body and keeps the buffer.
func (b *timedBody) reset(body io.Reader, zipped bool, watch *wire.Watch, epoch time.Time) {
	*b = timedBody{body: body, zipped: zipped, watch: watch, epoch: epoch, parts: b.parts[:0], ended: Absent}
}

// Read reads from the body and takes in the instants of what it read. One read may return parts of several receives,
// and one receive may take several reads.
func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.body.Read(p)
	b.total += int64(n)
	b.reads++
	known := len(b.parts)
	b.parts = b.watch.Take(b.parts)
	if b.zipped {
		b.parts = b.unzip(known, n)
	}
	if n > 0 && (len(b.parts) == 0 || b.parts[len(b.parts)-1].End < b.total) {
		b.parts = append(b.parts, wire.Receive{End: b.total, Seq: -b.reads, At: time.Now()})
	}
	for _, r := range b.parts[known:] {
		b.count(r)
	}
	if err != nil {
		b.end(err)
	}
	return n, err
}

// unzip replaces the parts after the known ones, which are receives of compressed bytes, by one for the n bytes that came out:
// they arrived with the newest compressed byte.
func (b *timedBody) unzip(known, n int) []wire.Receive {
	for _, raw := range b.parts[known:] {
		b.newest = raw
		b.count(raw)
	}
	if n == 0 || b.newest.At.IsZero() {
		return b.parts[:known]
	}
	r := b.newest
	r.End = b.total
	return append(b.parts[:known], r)
}

// end timestamps the end of the body: the arrival of the bytes that mark it, where there are any, else now.
func (b *timedBody) end(err error) {
	at, ok := b.watch.End()
	if !ok || err != io.EOF {
		at = time.Now()
	}
	b.ended = at.Sub(b.epoch)
}

// count adds a receive to the delay.
func (b *timedBody) count(r wire.Receive) {
	if r.Seq == b.latest.Seq && r.At.Equal(b.latest.At) {
		return // a further part of the same receive
	}
	b.latest = r
	b.delay.add(r.Delay, r.Kernel)
}

// at returns when byte end-1 arrived, and the number of the receive that brought it. The byte must have been read, and
// offsets must not decrease from call to call.
func (b *timedBody) at(end int64) (at time.Duration, receive int64) {
	k := 0
	for b.parts[k].End < end {
		k++
	}
	if k > 0 {
		b.parts = b.parts[:copy(b.parts, b.parts[k:])]
	}
	return b.parts[0].At.Sub(b.epoch), b.parts[0].Seq
}
