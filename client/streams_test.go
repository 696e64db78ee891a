package client

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"llmsweep/client/api"
	"llmsweep/client/testkit"
)

// serverProcess, in the environment, makes the test binary a server of streams with the given tokens and tokens per
// second. A server in the client's own process would share its memory and its scheduler.
const serverProcess = "LLMSWEEP_TEST_STREAMS"

func TestMain(m *testing.M) {
	if load := os.Getenv(serverProcess); load != "" {
		if err := serveStreams(load); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	testkit.ClearEnvironment()
	os.Exit(m.Run())
}

// serveStreams serves until standard input ends. It prints its address first.
func serveStreams(load string) error {
	var tokens, rate int
	if _, err := fmt.Sscanf(load, "%d %d", &tokens, &rate); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go stream1(c, tokens, time.Second/time.Duration(rate))
		}
	}()
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

// vllmChunk is a chunk as vLLM 0.9 sends it.
const vllmChunk = `{"id":"chatcmpl-5f0c6c1c1a3f4a0e","object":"chat.completion.chunk","created":1795246897,` +
	`"model":"Qwen2-7B-Instruct","choices":[{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":null}]}`

// stream1 answers one request. The text of each token is the time at which it was written, in ns of the wall clock.
func stream1(c net.Conn, tokens int, every time.Duration) {
	defer c.Close()
	r, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return
	}
	io.Copy(io.Discard, r.Body)
	io.WriteString(c, chunkedHead)
	before, after, _ := strings.Cut("data: "+vllmChunk+"\n\n", " word")
	due := time.Now().Add(rand.N(every))
	var b []byte
	for range tokens {
		due = due.Add(every)
		time.Sleep(time.Until(due))
		b = fmt.Appendf(b[:0], "%x\r\n%s", len(before)+19+len(after), before)
		b = strconv.AppendInt(b, time.Now().UnixNano(), 10)
		if _, err := c.Write(append(append(b, after...), "\r\n"...)); err != nil {
			return
		}
	}
	io.WriteString(c, chunk(events("finish [DONE]"))+"0\r\n\r\n")
}

// streamServer starts such a server in a process of its own.
func streamServer(b *testing.B, tokens, rate int) (url string) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d", serverProcess, tokens, rate))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { in.Close(); cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return "http://" + strings.TrimSpace(line)
}

// resident returns the resident memory of this process, in bytes; 0 where there is no /proc.
func resident() int {
	b, _ := os.ReadFile("/proc/self/statm")
	var size, pages int
	fmt.Sscan(string(b), &size, &pages)
	return pages * os.Getpagesize()
}

// BenchmarkOpenStreams keeps many paced streams open. It reports the memory of each, and the error of the tokens'
// instants: of those in the result, and of those that this program would have taken by itself.
func BenchmarkOpenStreams(b *testing.B) {
	for _, n := range []int{512, 3000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			const tokens, rate = 100, 20
			c, err := New(Options{URL: streamServer(b, tokens, rate), MaxConns: n})
			if err != nil {
				b.Fatal(err)
			}
			defer c.CloseIdle()
			call, _ := c.Prepare(&api.Request{Messages: ask.Messages, KeepText: true})
			for b.Loop() {
				openStreams(b, c, call, n, tokens)
			}
		})
	}
}

// openStreams is one run of BenchmarkOpenStreams.
func openStreams(b *testing.B, c *Client, call *Prepared, n, tokens int) {
	results, read := make([]Result, n), make([][]time.Duration, n)
	for i := range results { // what is kept for the comparison is no stream's memory
		results[i].Gaps, results[i].Text = make([]time.Duration, 0, tokens), make([]byte, 0, 20*tokens)
		read[i] = make([]time.Duration, 0, tokens)
	}
	debug.FreeOSMemory()
	before := resident()
	var wg sync.WaitGroup
	epoch := time.Now()
	for i := range results {
		r := &results[i]
		r.Reset(epoch)
		r.OnToken = func(int) { read[i] = append(read[i], time.Since(epoch)) }
		wg.Go(func() { c.Do(context.Background(), call, r) })
	}
	time.Sleep(2 * time.Second)
	during := resident()
	wg.Wait()
	var stamps, reads []float64
	shared := 0
	for i := range results {
		r := &results[i]
		if r.Status != StatusOK || r.Chunks() != tokens || len(r.Text) != 19*tokens {
			b.Fatalf("%s %s: %d chunks", r.Status, r.Message, r.Chunks())
		}
		shared += r.SharedReads
		at := r.FirstToken
		for k := range tokens {
			if k > 0 {
				at += r.Gaps[k-1]
			}
			wrote, _ := strconv.ParseInt(string(r.Text[19*k:19*k+19]), 10, 64)
			truth := time.Duration(wrote - epoch.UnixNano())
			if !r.Shared.Has(k) { // those are known to be no more than bounds
				stamps = append(stamps, (at-truth).Seconds()*1e6)
			}
			reads = append(reads, (read[i][k]-truth).Seconds()*1e6)
		}
	}
	slices.Sort(stamps)
	slices.Sort(reads)
	b.ReportMetric(float64(during-before)/float64(n), "B/stream")
	b.ReportMetric(stamps[len(stamps)/2], "us-p50")
	b.ReportMetric(stamps[len(stamps)*99/100], "us-p99")
	b.ReportMetric(reads[len(reads)/2], "read-us-p50")
	b.ReportMetric(reads[len(reads)*99/100], "read-us-p99")
	b.ReportMetric(float64(shared)/float64(n*tokens), "shared/token")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkPath is the client's own cost for each token, from the socket through HTTP and its chunks to the result:
// with many events in a read, as for a client that has fallen behind, and with one, as for a client that keeps up.
func BenchmarkPath(b *testing.B) {
	const tokens = 1000
	event := chunk(events(vllmChunk))
	tail := chunk(events("finish [DONE]")) + "0\r\n\r\n"
	single := []string{chunkedHead}
	for range tokens {
		single = append(single, event)
	}
	for name, pieces := range map[string][]string{
		"many events a read": {chunkedHead + strings.Repeat(event, tokens) + tail},
		"one event a read":   append(single, tail),
	} {
		b.Run(name, func(b *testing.B) {
			c := newClient(b, Options{URL: "http://server", Dial: dialPieces(pieces)})
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

// piecewise is a connection without a server: it answers each request with the same pieces, one in each read.
type piecewise struct {
	net.Conn      // a pipe's end, for addresses and deadlines
	pieces, left  []string
	asked, closed chan struct{}
	close         sync.Once
}

func dialPieces(pieces []string) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) {
		near, _ := net.Pipe()
		return &piecewise{Conn: near, pieces: pieces, asked: make(chan struct{}, 8), closed: make(chan struct{})}, nil
	}
}

func (c *piecewise) Write(p []byte) (int, error) {
	c.asked <- struct{}{}
	return len(p), nil
}

func (c *piecewise) Read(p []byte) (int, error) {
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

func (c *piecewise) Close() error {
	c.close.Do(func() { close(c.closed) })
	return c.Conn.Close()
}
