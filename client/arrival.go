package client

import (
	"io"
	"time"
)

// arrivals reads a body and remembers when each part of it came, so that a frame can be stamped by the offset of its
// last byte however late it is decoded. Better stamps than a read's return need only another way to fill parts.
type arrivals struct {
	body  io.Reader
	epoch time.Time
	total int64
	parts []arrival // oldest first; those before the last offset asked for are gone
	ended time.Duration
}

// arrival says that the bytes before offset end, and after the arrival before, came at an instant.
type arrival struct {
	end int64
	at  time.Duration
}

// reset starts on another body, keeping the buffer.
func (a *arrivals) reset(body io.Reader, epoch time.Time) {
	*a = arrivals{body: body, epoch: epoch, parts: a.parts[:0], ended: Absent}
}

// Read reads from the body and stamps what came.
func (a *arrivals) Read(p []byte) (int, error) {
	n, err := a.body.Read(p)
	now := time.Since(a.epoch)
	if n > 0 {
		a.total += int64(n)
		a.parts = append(a.parts, arrival{a.total, now})
	}
	if err != nil {
		a.ended = now
	}
	return n, err
}

// at is when byte end-1 came. Offsets asked for must have been read, and must not go back.
func (a *arrivals) at(end int64) time.Duration {
	k := 0
	for a.parts[k].end < end {
		k++
	}
	if k > 0 {
		a.parts = a.parts[:copy(a.parts, a.parts[k:])]
	}
	return a.parts[0].at
}
