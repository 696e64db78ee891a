package sweep_test

import (
	"context"
	"io"
	"math"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/sweep"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// A server that reads each request, works on it and drops every third connection: the losses are the server's. They are
// counted as resets, none is sent again, their time is no lateness of the client, and the row stays valid.
func TestDroppedRequestsAreTheServers(t *testing.T) {
	t.Parallel()
	const work, first = 500 * time.Millisecond, 100 * time.Millisecond
	for _, stage := range []experiment.Stage{
		experiment.NewStage(arrival.Closed{Concurrency: 4}, 300, 0),
		experiment.NewStage(arrival.Constant{Rate: 5}, 300, 0),
	} {
		synctest.Test(t, func(t *testing.T) {
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
			defer web.Close()
			doer, err := client.New(client.Options{
				URL: "http://server", API: "completions", MaxConns: 8, Dial: pipe.dial,
				Params: api.Params{Model: "m", Fields: api.AllFields},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer doer.CloseIdle()
			c, run := sweep.Defaults(), &rundir.Run{}
			c.Doer, c.Log = doer, &store.Memory{}
			c.Sources = func(stage string) load.Source { return newMixed(1, stage) }
			if err := sweep.Run(t.Context(), c, []experiment.Stage{stage}, run); err != nil {
				t.Fatal(err)
			}
			sent, resets := 0, 0
			for _, name := range []string{"warm-up", stage.Name} {
				for r, err := range c.Log.(*store.Memory).Records(name) {
					if err != nil {
						t.Fatal(err)
					}
					sent++
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
			}
			if n := <-received; n != sent || resets != n/3 {
				t.Errorf("the server received %d requests, %d were sent, %d reset", n, sent, resets)
			}
			st := run.Stages[len(run.Stages)-1]
			if q := st.OfWholeRun().Requests; q.Resent != 0 || q.Error < q.Due/3-2 || q.Error > q.Due/3+2 ||
				st.Errors["reset"] != q.Error {
				t.Errorf("%+v, %v", q, st.Errors)
			}
			if !st.Invalid.IsZero() || st.Lag.P99.Value() > 1e-6 || math.Abs(st.TTFT.Max.Value()-first.Seconds()) > 1e-6 {
				t.Errorf("%s: invalid %v, lag %v, TTFT %v", st.Name, st.Invalid, st.Lag.P99, st.TTFT.Max)
			}
		})
	}
}

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
