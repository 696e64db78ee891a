package client

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// runNetHTTP is run over HTTP/2 and through proxies. Instants are those at which this program wrote and read.
func (x *exchange) runNetHTTP() {
	var dialStart time.Time
	var wrote atomic.Pointer[time.Time] // net/http writes on another goroutine
	var began atomic.Bool
	c := x.client
	r := &http.Request{ // without GetBody, so that net/http cannot send it again without our knowledge
		Method: http.MethodPost, URL: c.endpoint, Host: c.host, Header: c.header,
		Body: io.NopCloser(bytes.NewReader(x.prepared.Body)), ContentLength: int64(len(x.prepared.Body)),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}
	resp, err := c.roundTrip(r.WithContext(httptrace.WithClientTrace(x.ctx, &httptrace.ClientTrace{
		GetConn: func(string) { dialStart = time.Now() },
		GotConn: func(info httptrace.GotConnInfo) {
			x.connected = true
			if !info.Reused {
				x.res.Dial += time.Since(dialStart)
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
	if x.res.Status != StatusOK || c.slowEnds.Load() >= maxSlowEnds {
		return
	}
	stop := time.AfterFunc(endTime, x.cancel)
	defer stop.Stop()
	if _, err := io.CopyN(io.Discard, resp.Body, maxBody); err == io.EOF { // the connection can be used again
		c.slowEnds.Store(0)
	} else {
		c.slowEnds.Add(1)
	}
}
