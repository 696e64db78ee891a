package client

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// runNetHTTP sends the request and reads the answer through net/http, which speaks HTTP/2 and knows how to use proxies.
// Instants are those at which this program wrote and read.
func (x *exchange) runNetHTTP() {
	var asked time.Time
	var wrote atomic.Pointer[time.Time] // net/http writes on another goroutine
	var began atomic.Bool
	c := x.client
	r := &http.Request{ // without GetBody, so that net/http cannot send it again without our knowledge
		Method: http.MethodPost, URL: c.endpoint, Host: c.host, Header: c.header,
		Body: io.NopCloser(bytes.NewReader(x.prepared.Body)), ContentLength: int64(len(x.prepared.Body)),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	resp, err := c.roundTrip(r.WithContext(httptrace.WithClientTrace(x.ctx, &httptrace.ClientTrace{
		GetConn: func(string) { asked = time.Now() },
		GotConn: func(info httptrace.GotConnInfo) {
			if x.connected = true; !info.Reused {
				x.res.Dial += time.Since(asked)
			}
		},
		WroteHeaders:         func() { wrote.CompareAndSwap(nil, new(time.Now())) },
		GotFirstResponseByte: func() { began.Store(true) },
	})))
	if t := wrote.Load(); t != nil {
		x.res.Sent = t.Sub(x.res.Epoch)
	}
	x.answerBegan = began.Load()
	if err != nil {
		x.failConnection(err)
		return
	}
	defer resp.Body.Close()
	x.res.Headers = x.now()
	x.readAnswer(resp, &netHTTPBody{Reader: resp.Body})
	if x.res.Status == StatusOK && c.openEnds.Load() < maxOpenEnds { // so that the connection can be used again
		stop := time.AfterFunc(endTime, x.cancel)
		if _, err := io.CopyN(io.Discard, resp.Body, maxBody); err == io.EOF {
			c.openEnds.Store(0)
		} else {
			c.openEnds.Add(1)
		}
		stop.Stop()
	}
}
