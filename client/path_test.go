package client

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"llmsweep/client/api"
)

// canned is a connection without a server: it answers each request with the same pieces, one in each read.
type canned struct {
	net.Conn // a pipe's end, for addresses and deadlines
	pieces   []string
	left     []string
	asked    chan struct{}
	closed   chan struct{}
}

func (c *canned) Write(p []byte) (int, error) {
	c.asked <- struct{}{}
	return len(p), nil
}

func (c *canned) Read(p []byte) (int, error) {
	if len(c.left) == 0 {
		select {
		case <-c.asked:
			c.left = append(c.left, c.pieces...)
		case <-c.closed:
			return 0, io.EOF
		}
	}
	n := copy(p, c.left[0])
	if c.left[0] = c.left[0][n:]; c.left[0] == "" {
		c.left = c.left[1:]
	}
	return n, nil
}

func (c *canned) Close() error {
	close(c.closed)
	return c.Conn.Close()
}

// BenchmarkPath is the client's own cost for each token, from the socket through net/http and its chunks to the result:
// with many events in a read, as for a client that has fallen behind, and with one, as for a client that keeps up.
func BenchmarkPath(b *testing.B) {
	const tokens = 1000
	event := chunk("data: " + vllmChunk + "\n\n")
	tail := chunk(events(chunkFinish, "[DONE]")) + "0\r\n\r\n"
	for name, pieces := range map[string][]string{
		"many events a read": {truthHead + strings.Repeat(event, tokens) + tail},
		"one event a read":   append(append([]string{truthHead}, repeat(event, tokens)...), tail),
	} {
		b.Run(name, func(b *testing.B) {
			c, err := New(Options{URL: "http://server", Dial: func(context.Context, string, string) (net.Conn, error) {
				near, _ := net.Pipe()
				return &canned{Conn: near, pieces: pieces, left: make([]string, 0, len(pieces)), asked: make(chan struct{}, 8),
					closed: make(chan struct{})}, nil
			}})
			if err != nil {
				b.Fatal(err)
			}
			defer c.CloseIdle()
			call, _ := c.Prepare(&api.Request{Messages: ask.Messages})
			var r Result
			var sent time.Duration
			b.ReportAllocs()
			for b.Loop() {
				r.Reset(time.Now())
				if c.Do(context.Background(), call, &r); r.OutputTokens != tokens || r.Status != StatusOK {
					b.Fatalf("%+v", r)
				}
				sent += r.Sent
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/tokens, "ns/token")
			b.ReportMetric(float64(sent.Nanoseconds())/float64(b.N), "ns-to-sent")
		})
	}
}
