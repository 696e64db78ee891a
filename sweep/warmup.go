package sweep

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/rundir"
)

// Warmup says how much is sent before anything is measured: so many requests, for so long, or until they agree.
type Warmup struct {
	Auto     bool
	Requests int
	Time     time.Duration
}

// ParseWarmup reads "auto", a number of requests or a duration.
func ParseWarmup(s string) (Warmup, error) {
	if s == "auto" {
		return Warmup{Auto: true}, nil
	}
	if n, err := strconv.Atoi(s); err == nil && n >= 0 {
		return Warmup{Requests: n}, nil
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return Warmup{Time: d}, nil
	}
	return Warmup{}, fmt.Errorf("%q is no warm-up: auto, a number of requests (5) or a time (10s)", s)
}

// String is what ParseWarmup reads.
func (w Warmup) String() string {
	switch {
	case w.Auto:
		return "auto"
	case w.Time > 0:
		return w.Time.String()
	}
	return strconv.Itoa(w.Requests)
}

// An automatic warm-up ends when this many requests in a row agree within this ratio, or differ by no more than the
// noise of a machine; or at the latest after so many.
const (
	agreeing    = 3
	agreement   = 1.1
	noise       = 5 * time.Millisecond
	mostWarmups = 30
)

// warmUp sends one request after another until the server has got going. They are recorded, but in no row.
func (x *experiment) warmUp(ctx context.Context) error {
	w := x.Warmup
	source := x.Sources("warm-up")
	begun := time.Now()
	var pace []time.Duration // per request: time to first token, and from there to the last
	for n := 0; ; n++ {
		enough := n >= w.Requests && time.Since(begun) >= w.Time
		if w.Auto {
			enough = n >= mostWarmups || time.Since(begun) > x.StageTime || settledDown(pace)
		}
		task, more := Task{}, false
		if !enough {
			task, more = source.Next()
		}
		if !more {
			return nil
		}
		res, err := x.once(ctx, task, n, begun)
		if err != nil {
			return err
		}
		if res.Status != client.StatusOK {
			if n == 2 && len(pace) == 0 {
				return nil // a server that fails is for the stages to report
			}
			continue
		}
		if res.FirstToken != client.Absent {
			pace = append(pace, res.FirstToken-res.Sent, res.LastToken-res.FirstToken)
		}
		x.latency = (res.End - res.Sent).Seconds()
		x.Observer.Progress(Snapshot{Phase: PhaseWarmUp, Elapsed: time.Since(begun), Done: n + 1, TTFT: -1, ITL: -1})
	}
}

// once does one warm-up request.
func (x *experiment) once(ctx context.Context, t Task, seq int, epoch time.Time) (*client.Result, error) {
	req := request(&t, 0, nil, false)
	call, err := x.Doer.Prepare(req)
	if err != nil {
		return nil, err
	}
	res := &client.Result{}
	res.Reset(epoch)
	due := time.Since(epoch)
	x.Doer.Do(ctx, call, res)
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	r := &rundir.Record{}
	record(r, "warm-up", seq, 0, due, 0, req.OutputTokens, res, time.Since(epoch))
	return res, x.Log.Append(r)
}

// settledDown reports whether the latest requests agree in both their figures.
func settledDown(pace []time.Duration) bool {
	if len(pace) < 2*agreeing {
		return false
	}
	last := pace[len(pace)-2*agreeing:]
	for figure := range 2 {
		low, high := last[figure], last[figure]
		for i := figure; i < len(last); i += 2 {
			low, high = min(low, last[i]), max(high, last[i])
		}
		if high-low > noise && float64(high) > agreement*float64(low) {
			return false
		}
	}
	return true
}
