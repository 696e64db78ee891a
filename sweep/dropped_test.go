package sweep

import (
	"context"
	"io"
	"math"
	"net"
	"net/http"
	"testing"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/simtest"
)

// onPipe serves net.Pipe connections: HTTP in virtual time.
type onPipe struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p onPipe) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p onPipe) Close() error   { close(p.closed); return nil }
func (p onPipe) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "unix"} }

func (p onPipe) dial(context.Context, string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	p.conns <- theirs
	return ours, nil
}

// A server that reads each request, works on it and drops every third connection: the losses are the server's. They are
// counted as resets, none is sent again, their time is no lateness of the client, and the row stays valid.
func TestDroppedRequestsAreTheServers(t *testing.T) {
	t.Parallel()
	const work, first = 500 * time.Millisecond, 100 * time.Millisecond
	for _, l := range []arrival.Load{arrival.Closed{Concurrency: 4}, arrival.Constant{Rate: 5}} {
		st, records := stageRecords(t, func(t *testing.T) load.Doer {
			received := make(chan int, 1)
			received <- 0
			pipe := onPipe{make(chan net.Conn), make(chan struct{})}
			web := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				n := <-received + 1
				received <- n
				if n%3 == 0 {
					time.Sleep(work)
					panic(http.ErrAbortHandler)
				}
				time.Sleep(first)
				io.WriteString(w, `data: {"choices":[{"text":"a","finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
			})}
			go web.Serve(pipe)
			doer, err := client.New(client.Options{
				URL: "http://server", API: "completions", MaxConns: 8, Dial: pipe.dial,
				Params: api.Params{Model: "m", Fields: api.AllFields},
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { doer.CloseIdle(); web.Close() })
			return doer
		}, simtest.SameInAll(32, 4), experiment.NewStage(l, 300, 0))
		resets := 0
		for _, r := range records {
			took := r.End.Value() - r.Sent.Value()
			switch {
			case r.Resent != 0 || r.Sent.Value()-r.Due.Value()-r.Queued.Value() > 1e-6:
				t.Errorf("request %d: due %v, sent %v, again %d times", r.Seq, r.Due, r.Sent, r.Resent)
			case r.Error == string(client.ClassReset) && math.Abs(took-work.Seconds()) < 1e-6:
				resets++
			case r.Error != "" || math.Abs(took-first.Seconds()) > 1e-6:
				t.Errorf("request %d: %s after %v: %s", r.Seq, r.Error, took, r.Message)
			}
		}
		q := st.OfWholeRun().Requests
		if resets != 100 || len(records) != 300 || q.Resent != 0 || q.Error != resets || !st.Invalid.IsZero() ||
			st.Lag.P99.Value() > 1e-6 || math.Abs(st.TTFT.Max.Value()-first.Seconds()) > 1e-6 {
			t.Errorf("%s: %d resets in %d records, %+v, invalid %v, lag %v, TTFT %v", st.Name, resets, len(records), q,
				st.Invalid, st.Lag.P99, st.TTFT.Max)
		}
	}
}
