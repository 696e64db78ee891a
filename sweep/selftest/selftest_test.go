package selftest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client"
	"llmsweep/sweep/rundir"
)

// TestMain lets the test binary play the helper process. It gets an empty environment, so that the arguments say so.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "helper" {
		if err := Serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// small returns the options of a short self-test.
func small(t *testing.T) Options {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Command: []string{self, "helper"}, Streams: []int{3, 20}, Rates: []float64{2000},
		Hold: 80 * time.Millisecond, Decode: time.Millisecond,
	}
}

// A level that needs more descriptors than there are is left out: the others are measured.
func TestRun(t *testing.T) {
	o := small(t)
	o.Streams, o.Descriptors = append(o.Streams, 500), 20+spareFiles
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	childless(t)
	if d := r.Decode; d.Events < burst || d.Events%burst != 0 {
		t.Errorf("%+v", d)
	}
	var got, want []Level
	for _, l := range r.Levels {
		if l.Tokens > 0 && (l.Error.N == 0 || l.Error.N > l.Tokens || !(l.Error.P50.Value() <= l.Error.P99.Value()) ||
			!l.TokensPerS.Known()) {
			t.Errorf("%+v", l)
		}
		kept := Level{Streams: l.Streams, Rate: l.Rate, Phase: l.Phase, Tokens: l.Tokens, Failed: l.Failed}
		if l.Limit == LimitDescriptors {
			kept.Limit = l.Limit
		}
		got = append(got, kept)
	}
	for _, n := range []int{3, 20} {
		for _, phase := range []string{Uniform, InStep} {
			want = append(want, Level{Streams: n, Rate: 50, Phase: phase, Tokens: 4 * n})
		}
	}
	want = append(want, Level{Streams: 500, Rate: 33, Phase: Uniform, Limit: LimitDescriptors})
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(rundir.Number{})); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if r.Trust.Streams > 20 || r.Trust.Limit == "" {
		t.Errorf("%+v", r.Trust)
	}
	if a := r.Arrivals[0]; a.Rate != 2000 || a.Failed != 0 || a.Lag.N != minRequests || a.Lag.P50.Value() < 0 {
		t.Errorf("%+v", a)
	}
}

func TestInterrupted(t *testing.T) {
	for _, after := range []time.Duration{0, 50 * time.Millisecond, 150 * time.Millisecond} {
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("stop")
		o := small(t)
		o.Hold = time.Hour // it does not end by itself
		time.AfterFunc(after, func() { cancel(stop) })
		if _, err := Run(ctx, o); !errors.Is(err, stop) {
			t.Errorf("%v", err)
		}
		childless(t)
	}
}

func TestNoHelper(t *testing.T) {
	for _, command := range [][]string{nil, {"/no/such/program"}, {os.Args[0], "-test.run=^$"}} {
		o := small(t)
		o.Command = command
		if _, err := Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), "self-test") {
			t.Errorf("%q: %v", command, err)
		}
	}
	childless(t)
}

// Timestamps that are wrong by known amounts are compared with the instants in the texts.
func TestKnownErrors(t *testing.T) {
	const n = 1000
	began := time.Now()
	newClient := func(every time.Duration) *levelClient {
		return &levelClient{clock: newPacedClock(), streams: 2, every: every}
	}
	// answer returns the result of tokens that were written every so often, and read too late.
	type delay func(i int) time.Duration
	answer := func(w *levelClient, n int, every time.Duration, late delay, shared ...int) *client.Result {
		r := &client.Result{}
		r.Reset(began)
		for i := range n {
			wrote := time.Duration(i+1) * every
			r.Token(wrote+late(i), 1, false)
			r.Text = fmt.Appendf(r.Text, "%019d", w.clock.At(r.Epoch)+int64(wrote))
		}
		r.Status = client.StatusOK
		for _, i := range shared {
			if r.Shared == nil {
				r.Shared = client.Marks{0}
			}
			r.Shared[0] |= 1 << i
			r.SharedReads++
		}
		return r
	}
	w := newClient(10 * time.Millisecond)
	for _, sign := range []time.Duration{1, -1} { // 1 to 1000 us too late, and as much too early
		late := func(i int) time.Duration { return sign * time.Duration(i+1) * time.Microsecond }
		if sign > 0 {
			w.compare(answer(w, n, w.every, late))
		} else {
			w.compare(answer(w, n, w.every, late, 0, 1))
		}
	}
	l := w.result(100, rundir.Number{})
	if l.Error.N != 2*n-2 || w.behind != 2 || l.Tokens != 2*n || l.Failed != 0 {
		t.Errorf("%+v", l)
	}
	for name, f := range map[string][2]float64{
		"p50": {l.Error.P50.Value(), 501e-6}, "p99": {l.Error.P99.Value(), 990e-6}, "max": {l.Error.Max.Value(), 1000e-6},
		"tokens/s": {l.TokensPerS.Value(), (2*n - 2) / ((n - 1) * 0.01)},
	} {
		if !(math.Abs(f[0]/f[1]-1) <= 2e-3) {
			t.Errorf("%s is %v, want %v", name, f[0], f[1])
		}
	}
	// Where the server itself was late, that is not the client's fault.
	catching := newClient(30 * time.Millisecond)
	catching.compare(answer(catching, 2, 14*time.Millisecond, func(int) time.Duration { return 0 }, 0))
	if catching.behind != 0 || len(catching.errors) != 1 || catching.failed != 0 {
		t.Errorf("%+v", catching.result(1, rundir.Number{}))
	}
	for name, text := range map[string]string{"no instant": strings.Repeat("x", instantDigits), "short": "0", "none": ""} {
		r := answer(w, 1, w.every, func(int) time.Duration { return 0 })
		r.Text = []byte(text)
		before := w.failed
		if w.compare(r); w.failed != before+1 {
			t.Errorf("%s: not told", name)
		}
	}
	if l := w.result(100, rundir.Number{}); l.Limit != LimitFailed {
		t.Errorf("%+v", l)
	}
}

// Processor time and memory are known where all streams ran at once.
func TestStreamUsage(t *testing.T) {
	at := time.Now()
	w := &levelClient{
		streams: 10, firstUsage: usage{at: at, used: time.Second, known: true, memory: rundir.Exactly(1)},
		lastUsage: usage{at.Add(2 * time.Second), 2500 * time.Millisecond, true, rundir.Exactly(3 << 20)},
	}
	l := w.result(100, rundir.Exactly(1<<20))
	if l.Cores.Value() != 0.75 || l.PerStream.Value() != (2<<20)/10. {
		t.Errorf("%v cores, %v bytes", l.Cores.Value(), l.PerStream.Value())
	}
	w.firstUsage, w.lastUsage = usage{}, usage{}
	if l := w.result(100, rundir.Exactly(1<<20)); l.Cores.Known() || l.PerStream.Known() {
		t.Errorf("%+v", l)
	}
}

// A level of one token too late in fifty, one of half of its tokens, one that was read in lumps, and one without any
// are not trusted.
func TestLimits(t *testing.T) {
	for want, change := range map[string]func(*levelClient){
		"":             func(*levelClient) {},
		LimitError:     func(w *levelClient) { copy(w.errors, slices.Repeat([]int64{int64(2 * time.Millisecond)}, 20)) },
		LimitBehind:    func(w *levelClient) { w.behind = 11 },
		LimitUnreached: func(w *levelClient) { w.span = w.span * 10 / 8 },
		LimitFailed:    func(w *levelClient) { w.failed = 1 },
		LimitUnknown:   func(w *levelClient) { w.errors = nil },
	} {
		w := &levelClient{streams: 10, tokens: 1000, errors: make([]int64, 1000), gaps: 990,
			span: 990 * int64(20*time.Millisecond)}
		change(w)
		if l := w.result(50, rundir.Number{}); l.Limit != want {
			t.Errorf("%q, want %q: %+v", l.Limit, want, l)
		}
	}
}

func TestTrust(t *testing.T) {
	f := rundir.Exactly
	level := func(streams int, tokens, p99 float64, limit string) Level {
		return Level{Streams: streams, TokensPerS: f(tokens), Error: Spread{N: 1000, P99: f(p99)}, Limit: limit}
	}
	rate := func(r float64, n int, p50, p99 float64) Arrivals {
		a := Arrivals{Rate: r, Lag: Spread{N: n, P50: f(p50), P99: f(p99)}}
		a.Limit = a.limit()
		return a
	}
	for name, c := range map[string]struct {
		levels []Level
		rates  []Arrivals
		want   rundir.Selftest
	}{
		"all": {
			[]Level{level(100, 5000, 1e-5, ""), level(100, 4900, 2e-5, ""), level(1000, 33000, 1e-5, "")},
			[]Arrivals{rate(10, 10, 1e-4, 2e-2), rate(1000, 1000, 1e-4, 9e-4)},
			rundir.Selftest{Streams: 1000, TokensPerS: f(33000), ArrivalsPerS: f(1000), StampErrorP99: f(2e-5), LagP99: f(9e-4)},
		},
		"inexact in one way": {
			[]Level{level(100, 5000, 1e-5, ""), level(1000, 33000, 1e-5, ""), level(1000, 33000, 1.1e-3, LimitError),
				level(5000, 1e5, 1e-5, "")}, nil,
			rundir.Selftest{Streams: 100, TokensPerS: f(5000), StampErrorP99: f(1e-5), Limit: LimitError, LimitStreams: 1000},
		},
		"none": {[]Level{level(100, 5000, 1e-5, LimitFailed)}, nil, rundir.Selftest{Limit: LimitFailed, LimitStreams: 100}},
		"late from 1000 a second": {
			nil, []Arrivals{rate(100, 1000, 1e-4, 5e-4), rate(1000, 1000, 1e-4, 1.1e-3), rate(5000, 5000, 1e-4, 1e-4)},
			rundir.Selftest{ArrivalsPerS: f(100), LagP99: f(5e-4)},
		},
		"few and late": {nil, []Arrivals{rate(10, 10, 1.1e-3, 2e-3)}, rundir.Selftest{}},
	} {
		r := &Result{Levels: c.levels, Arrivals: c.rates}
		if diff := cmp.Diff(c.want, r.trust(), cmp.AllowUnexported(rundir.Number{})); diff != "" {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
	}
}

func TestQuickTriesWhatThePlanNeeds(t *testing.T) {
	for streams, want := range map[int]int{0: 1000, 512: 1000, 1000: 1000, 1001: 5000, 20000: 5000} {
		if all := Quick(nil, streams).Streams; all[len(all)-1] != want {
			t.Errorf("a plan of %d streams is tried with %v", streams, all)
		}
	}
}

// started starts a server and returns its URL.
func started(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- serveAll(l) }()
	t.Cleanup(func() {
		l.Close()
		if err := <-served; !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
	return "http://" + l.Addr().String()
}

// ask asks for tokens as an order says, and returns the events of the answer.
func ask(t *testing.T, url string, o order, tokens int) []string {
	t.Helper()
	prompt, _ := json.Marshal(o.String())
	body := fmt.Sprintf(`{"messages":[{"role":"user","content":%s}],"stream":true,"max_tokens":%d}`, prompt, tokens)
	r, err := http.Post(url+"/v1/chat/completions", "application/json", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return nil
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	return strings.Split(string(b), "data: ")[1:]
}

// Tokens tell when they were sent, and are followed by usage and [DONE].
func TestOrders(t *testing.T) {
	url := started(t)
	const streams, tokens = 3, 4
	var all sync.WaitGroup
	for range streams {
		all.Go(func() {
			events := ask(t, url, order{Phase: InStep, Every: 3 * time.Millisecond, Streams: streams}, tokens)
			if len(events) != tokens+2 {
				t.Errorf("%q", events)
				return
			}
			last := int64(0)
			for i, e := range events[:tokens] {
				_, text, _ := strings.Cut(e, `"content":"`)
				at, err := strconv.ParseInt(text[:instantDigits], 10, 64)
				if err != nil || at <= last {
					t.Errorf("token %d was sent at %d, after %d: %v", i, at, last, err)
				}
				last = at
			}
		})
	}
	all.Wait()
	if events := ask(t, url, order{}, 100); len(events) != 102 {
		t.Errorf("an answer at once has %d events", len(events))
	}
}

// Streams begin together, spread over their interval or in step.
func TestPhases(t *testing.T) {
	for phase, apart := range map[string]int64{Uniform: int64(10 * time.Millisecond), InStep: 0} {
		p := newPacer(newPacedClock())
		var all []*stream
		for range 4 {
			p.schedule()
			s := &stream{order: order{Phase: phase, Streams: 4, Every: 40 * time.Millisecond}}
			all = append(all, s)
			p.enqueue(s)
		}
		if len(p.running) > 0 {
			t.Fatalf("%s: %d have not waited for the rest", phase, len(p.running))
		}
		p.schedule()
		for i, s := range all {
			if got := s.due - all[0].due; got != int64(i)*apart {
				t.Errorf("%s: stream %d is %d ns behind the first", phase, i, got)
			}
		}
	}
}

// The clock agrees with the system's, which other processes read too.
func TestClock(t *testing.T) {
	c := newPacedClock()
	if before, now, after := monotonic(), c.Now(), monotonic(); now < before-int64(time.Millisecond) || now > after+
		int64(time.Millisecond) {
		t.Errorf("%d is not between %d and %d", now, before, after)
	}
	if got := c.At(c.at.Add(time.Hour)) - c.nanos; got != int64(time.Hour) {
		t.Errorf("an hour is %d ns", got)
	}
}
