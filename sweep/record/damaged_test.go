package record

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"testing"

	"llmsweep/sweep/simtest"
)

// exchanges are requests and their answers, as they are on a connection.
var exchanges = []struct{ up, down string }{
	{post("/v1/chat/completions", `{"model":"m","stream":true,"messages":[{"role":"user","content":"one two"}]}`), chunked("text/event-stream",
		"data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n", "data: {\"choices\":[{\"delta\":{\"content\":\"three\"}}]}\n\n",
		"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":2,\"completion_tokens\":1}}\n\ndata: [DONE]\n\n")},
	{post("/api/chat", `{"model":"m","messages":[{"role":"user","content":"one"}]}`), chunked("application/x-ndjson",
		"{\"message\":{\"content\":\"two\"},\"done\":false}\n", "{\"message\":{\"content\":\"\"},\"done\":true,\"eval_count\":1,\"prompt_eval_count\":1}\n")},
	{post("/v1/completions", `{"model":"m","prompt":"one"}`), whole("200 OK", `{"choices":[{"text":"two","finish_reason":"length"}],"usage":{"prompt_tokens":1,"completion_tokens":1}}`)},
	{post("/v1/chat/completions", `{"model":"m"}`), whole("429 Too Many Requests", `{"error":{"message":"later"}}`)},
	{"GET /v1/models HTTP/1.1\r\nHost: s\r\n\r\n", whole("200 OK", `{"data":[{"id":"m"}]}`)},
}

func post(path, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: s\r\nAuthorization: Bearer k\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
}

func whole(status, body string) string {
	return fmt.Sprintf("HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)
}

func chunked(kind string, parts ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 200 OK\r\nContent-Type: %s\r\nTransfer-Encoding: chunked\r\n\r\n", kind)
	for _, part := range append(parts, "") {
		fmt.Fprintf(&b, "%x\r\n%s\r\n", len(part), part)
	}
	return b.String()
}

// damaged returns bytes with some of them changed, left out, repeated or cut off; one in four are whole.
func damaged(rng *rand.Rand, b []byte) []byte {
	for range rng.IntN(4) {
		if len(b) == 0 {
			break
		}
		from := rng.IntN(len(b))
		to := min(len(b), from+1+rng.IntN(20))
		switch rng.IntN(5) {
		case 0:
			b[from] = byte(rng.Uint32())
		case 1:
			b = append(b[:from:from], b[to:]...)
		case 2:
			b = append(b[:to:to], b[from:]...)
		case 3:
			b = b[:from]
		case 4:
			b[from] ^= 1 << rng.IntN(8)
		}
	}
	return b
}

// TestDamagedStreamsPass sends streams, most of them damaged, through recorders: they arrive to the byte in both directions.
func TestDamagedStreamsPass(t *testing.T) {
	streams := simtest.SampleSize(400, 1_000_000)
	const workers = 4
	var all sync.WaitGroup
	for worker := range uint64(workers) {
		server, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		r := start(t, "http://"+server.Addr().String(), nil)
		all.Go(func() {
			rng := rand.New(rand.NewPCG(worker, 0))
			for range max(1, streams/workers) {
				var up, down []byte
				for range 1 + rng.IntN(3) {
					e := exchanges[rng.IntN(len(exchanges))]
					up, down = append(up, e.up...), append(down, e.down...)
				}
				if err := passes(server, r.url, damaged(rng, up), damaged(rng, down), rng.Uint64()); err != nil {
					t.Error(err)
					return
				}
			}
			if err := r.stop(); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
}

// passes sends bytes in both directions over a connection through the recorder.
func passes(server net.Listener, url string, up, down []byte, seed uint64) error {
	heard, failed := make(chan []byte, 1), make(chan error, 1)
	go func() {
		c, err := server.Accept()
		if err != nil {
			failed <- err
			return
		}
		b, err := exchange(c, down, seed)
		heard <- b
		failed <- err
	}()
	c, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		return err
	}
	if got, err := exchange(c, up, seed+1); err != nil || !bytes.Equal(got, down) {
		return fmt.Errorf("the client got %q (%w), the server sent %q", got, err, down)
	}
	if err := <-failed; err != nil {
		return err
	}
	if got := <-heard; !bytes.Equal(got, up) {
		return fmt.Errorf("the server got %q, the client sent %q", got, up)
	}
	return nil
}

// exchange sends bytes in pieces, and returns what the other side sends.
func exchange(c net.Conn, b []byte, seed uint64) ([]byte, error) {
	defer c.Close()
	inPieces(c, b, seed)
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		return nil, err
	}
	return io.ReadAll(c)
}
