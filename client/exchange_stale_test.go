package client

import (
	"bufio"
	"fmt"
	"io"
	"llmsweep/client/api"
	"net"
	"net/http"
	"testing"
	"time"
)

// A server that hangs up after each answer without saying so loses no request: the next one goes out again.
func TestAClosedConnectionLosesNoRequest(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go answerOnce(conn)
		}
	}()
	c, err := New(Options{URL: "http://" + listener.Addr().String(), Params: api.Params{Model: "m", Fields: api.AllFields}})
	if err != nil {
		t.Fatal(err)
	}
	call, err := c.Prepare(&api.Request{Messages: []api.Message{{Role: "user", Content: "hi"}}, OutputTokens: 1})
	if err != nil {
		t.Fatal(err)
	}
	resent := 0
	for range 30 {
		var res Result
		res.Reset(time.Now())
		c.Do(t.Context(), call, &res)
		if res.Status != StatusOK {
			t.Fatalf("%s: %s", res.Class, res.Message)
		}
		if res.Sent == Absent || res.FirstToken < res.Sent {
			t.Errorf("sent %v, first token %v", res.Sent, res.FirstToken)
		}
		resent += res.Resent
	}
	t.Logf("%d of 30 requests met a closed connection", resent)
}

// answerOnce answers one request as if the connection were kept, and closes it when the next one comes.
func answerOnce(conn net.Conn) {
	defer conn.Close()
	in := bufio.NewReader(conn)
	r, err := http.ReadRequest(in)
	if err != nil {
		return
	}
	io.Copy(io.Discard, r.Body)
	body := "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
	fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
	in.Peek(1) // the next request is on its way, and is never read
}
