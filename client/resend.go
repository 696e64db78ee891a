package client

import (
	"io"
	"net/http"
)

// send sends the request. It sends it again, on another connection, only if the server provably has nothing of it: the kept
// connection was found closed before the first byte was written, or the write failed and the kernel had accepted nothing.
// A request of which anything was accepted may have been worked on, whatever RFC 9112, section 9.3.1 allows to assume: its
// failure is the server's, and so is the time until then. A fresh connection is not replaced, so this comes to an end.
func (x *exchange) send() (*http.Response, error) {
	for {
		x.connected, x.reused = false, false
		resp, err := x.client.roundTrip(x.request())
		if !x.reused || x.ctx.Err() != nil {
			return resp, err
		}
		unseen, ours := x.stream.watch.Withdraw()
		if !unseen {
			return resp, err
		}
		if err == nil { // an answer that was not asked for, such as a 408 on an idle connection
			resp.Body.Close()
			x.answered.Store(false)
		}
		if !ours {
			x.res.Resent++
		}
	}
}

// gotByte notes that the answer has begun. net/http calls it on another goroutine.
func (x *exchange) gotByte() { x.answered.Store(true) }

// keepAlive takes in how long the server says it keeps the connection.
func (x *exchange) keepAlive(resp *http.Response) {
	if said := resp.Header["Keep-Alive"]; len(said) > 0 {
		x.stream.watch.KeepAlive(said[0])
	}
}

// lost names the failure of a connection. Net/http calls an end within a header line malformed, and TLS calls an end without
// its close_notify unexpected: only if a part of an answer had come is that an answer cut short.
func (x *exchange) lost(err error) (Class, string) {
	class, cause, message := x.client.classify(err, x.connected)
	if class == ClassMalformed && cause == CauseOther && x.res.Headers == Absent {
		if end := x.stream.watch.CutHead(); end == io.EOF {
			return ClassTruncated, cutShort
		} else if end != nil {
			class, _, message = classify(end, true)
		}
	}
	if class == ClassTruncated && !x.answered.Load() {
		return ClassReset, noAnswer
	}
	return class, message
}
