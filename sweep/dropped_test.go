package sweep

import (
	"io"
	"math"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/rundir"
)

// A server that reads each request, works on it and drops every third connection: the losses are the server's. They are
// counted as resets, none is sent again, their time is no lateness of the client, and the row stays valid.
func TestDroppedRequestsAreTheServers(t *testing.T) {
	const work, first = 500 * time.Millisecond, 100 * time.Millisecond
	for _, job := range []Job{
		ClosedJob(4, 300, 0),
		OpenJob("constant", 5, NewConstant(5), 0, 300, 0),
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
				Params: client.Params{Model: "m", Fields: client.AllFields},
			})
			if err != nil {
				t.Fatal(err)
			}
			defer doer.CloseIdle()
			c, run := experimentWith(doer, fixed{1, 1}), &rundir.Run{}
			if err := Run(t.Context(), c, []Job{job}, run); err != nil {
				t.Fatal(err)
			}
			sent, resets := 0, 0
			for _, stage := range []string{"warm-up", job.Name} {
				for r, err := range c.Log.(*rundir.Memory).Records(stage) {
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
			if q := st.Requests; q.Resent != 0 || q.Error < q.Due/3-2 || q.Error > q.Due/3+2 || st.Errors["reset"] != q.Error {
				t.Errorf("%+v, %v", q, st.Errors)
			}
			if !st.Invalid.IsZero() || st.Lag.P99.Value() > 1e-6 || math.Abs(st.TTFT.Max.Value()-first.Seconds()) > 1e-6 {
				t.Errorf("%s: invalid %v, lag %v, TTFT %v", st.Name, st.Invalid, st.Lag.P99, st.TTFT.Max)
			}
		})
	}
}

// Requests that were given another connection are counted, each once, and the row says so.
func TestResentRequestsAreCounted(t *testing.T) {
	var q rundir.Requests
	for _, times := range []int{0, 1, 0, 3} {
		countRequest(&q, &rundir.Record{Resent: times, Status: string(client.StatusOK)})
	}
	if q.Resent != 2 || q.OK != 4 {
		t.Errorf("%+v", q)
	}
	st := rundir.Stage{Requests: q}
	warn(&st, false, 0, &measured{})
	if len(st.Warnings) != 1 || !st.Warnings[0].Is(noteResent) || !st.Invalid.IsZero() {
		t.Errorf("%v, %v", st.Warnings, st.Invalid)
	}
}
