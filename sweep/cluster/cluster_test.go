package cluster_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/sweep"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/cluster"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/workload"
)

func TestMain(m *testing.M) { simtest.StatisticsMain(m) }

const version = "test"

// hello is what a rank says of itself.
func hello(rank, ranks int) cluster.Hello {
	return cluster.Hello{Rank: rank, Ranks: ranks, Version: version, Host: fmt.Sprintf("n%d", rank)}
}

// lateConn is a connection whose messages take a time.
type lateConn struct {
	net.Conn
	late time.Duration
}

func (l lateConn) Read(b []byte) (int, error) {
	n, err := l.Conn.Read(b)
	time.Sleep(l.late)
	return n, err
}

// sender is a doer with connections that need no opening.
type sender struct{ load.Doer }

func (sender) Warm(context.Context, int) error { return nil }
func (sender) Timestamps() string              { return "user" }

// gang is a number of ranks in one process, in virtual time.
type gang struct {
	*cluster.Ranks
	late    time.Duration // how long messages to the last rank take
	limiter *client.SpendLimiter
	cpu     float64 // which the last rank uses
	ends    []chan error
	ups     []net.Conn // of the ranks from 1 on
	leave   []func()   // interrupts a rank
}

// assemble starts ranks for a run. The context that it returns ends where one is lost.
func (g *gang) assemble(t *testing.T, c *sweep.Config, ranks int) (ctx context.Context) {
	t.Helper()
	g.Ranks = cluster.NewRanks(ranks, version, "n0")
	ctx, interrupt := context.WithCancelCause(t.Context())
	g.Interrupt = func() { interrupt(experiment.ErrInterrupted) }
	own := sender{c.Doer}
	g.Sender = own
	if g.limiter != nil {
		g.Allowance = g.limiter
	}
	c.Doer, c.Ranks, c.Others = g, ranks, g
	for r := 1; r < ranks; r++ {
		down, up := net.Pipe()
		end := make(chan error, 1)
		g.ends, g.ups = append(g.ends, end), append(g.ups, up)
		if r == ranks-1 && g.late > 0 {
			up = lateConn{up, g.late}
		}
		rankCtx, leave := context.WithCancel(t.Context())
		g.leave = append(g.leave, leave)
		go g.Admit(down)
		go func() {
			rank := cluster.Rank{Hello: hello(r, ranks), Connect: func([]byte) (cluster.Sender, error) { return own, nil }}
			if r == ranks-1 && g.cpu > 0 {
				rank.Meter = func() func() (float64, float64) { return func() (float64, float64) { return g.cpu, 0 } }
			}
			end <- rank.Serve(rankCtx, up)
		}()
	}
	if err := g.Gather(ctx, nil, func(string) {}); err != nil {
		t.Fatal(err)
	}
	ctx, _ = g.Watch(ctx)
	return ctx
}

// dismiss ends the run, and returns how each rank ended.
func (g *gang) dismiss() (all []error) {
	g.Close(nil)
	for _, end := range g.ends {
		all = append(all, <-end)
	}
	time.Sleep(g.late) // its last read ends
	return all
}

// hold runs stages on ranks besides a simulated server; one rank is one machine. begin changes what it runs with.
func hold(t *testing.T, ranks int, stages []experiment.Stage, begin func(*sweep.Config, *gang)) (
	*rundir.Run, *store.Memory,
) {
	t.Helper()
	run, log := &rundir.Run{}, &store.Memory{}
	simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
		w := simtest.SameInAll(64, 16)
		c, g := sweep.Defaults(), &gang{}
		c.Doer, c.Log, c.Warmup = d, log, experiment.Warmup{}
		c.Sources = func(string) load.Source { return w }
		begin(&c, g)
		ctx := t.Context()
		if ranks > 1 {
			ctx = g.assemble(t, &c, ranks)
			defer g.dismiss()
		}
		if err := sweep.Run(ctx, c, stages, run); err != nil {
			t.Fatal(err)
		}
	})
	return run, log
}

func poisson(rate float64, window time.Duration) experiment.Stage {
	return experiment.NewStage(arrival.Poisson{Rate: rate}, 0, window)
}

// A sweep with four ranks finds the known capacity of a server.
func TestFourRanksFindTheCapacity(t *testing.T) {
	server := simtest.Preset(t, "demo")
	w := simtest.SameInAll(64, 16)
	run, g := &rundir.Run{}, &gang{}
	simtest.Beside(t, server, func(t *testing.T, d load.Doer) {
		c := sweep.Defaults()
		c.Doer, c.Log, c.StageTime, c.StageMax = d, &store.Memory{}, 5*time.Second, 15*time.Second
		c.Sources = func(string) load.Source { return w }
		ctx := g.assemble(t, &c, 4)
		run.Cluster = g.Describe()
		if err := sweep.Sweep(ctx, c, run); err != nil {
			t.Fatal(err)
		}
		for r, err := range g.dismiss() {
			if err != nil {
				t.Errorf("rank %d: %v", r, err)
			}
		}
	})
	s := run.Saturation
	if s == nil || run.State != rundir.Complete || len(run.Cluster.Ranks) != 4 {
		t.Fatalf("%s, %v, %v", run.State, run.Failure, run.Warnings)
	}
	truth := w.Capacity(server).RequestsPerSecond
	if s.Low.Value() > truth || s.High.Value() < 0.95*truth {
		t.Errorf("the capacity is %.2f, not %.2f to %.2f", truth, s.Low.Value(), s.High.Value())
	}
}

// notingDoer notes what is sent.
type notingDoer struct {
	load.Doer
	prompts *sync.Map
}

func (n notingDoer) Do(ctx context.Context, p *client.Prepared, res *client.Result) {
	n.prompts.Store(p.Request.Messages[0].Content, true)
	n.Doer.Do(ctx, p, res)
}

// sent returns the requests of a stage that ranks sent, with the times at which they were due, and then their texts,
// and how many each rank sent.
func sent(t *testing.T, ranks int, l arrival.Load, requests int) (all []string, by map[float64]int) {
	t.Helper()
	var prompts sync.Map
	run, log := hold(t, ranks, []experiment.Stage{experiment.NewStage(l, requests, 0)}, func(c *sweep.Config, g *gang) {
		c.Doer = notingDoer{c.Doer, &prompts}
		w := workload.NewSynthetic(rundir.Lengths{Mean: 64, Std: 10}, rundir.Lengths{Mean: 16, Std: 4}, 42, workload.Guess)
		w.Nonce = 7
		c.Sources = w.Stage
	})
	if run.State != rundir.Complete || len(run.Warnings)+len(run.Stages[0].Warnings) > 0 {
		t.Fatalf("%d ranks: %s, %v, %v", ranks, run.State, run.Failure, run.Warnings)
	}
	by = map[float64]int{}
	for r, err := range log.Records(l.Name()) {
		if err != nil {
			t.Fatal(err)
		}
		due := 0.0
		if l.MeanRate() > 0 {
			due = r.Due.Value()
		}
		all = append(all, fmt.Sprintf("%d at %.9f", r.Seq, due))
		by[r.Rank.Value()]++
	}
	prompts.Range(func(prompt, _ any) bool { all = append(all, prompt.(string)); return true })
	return slices.Sorted(slices.Values(all)), by
}

// All ranks together send what one machine sends: the same requests at the same times, with the same texts.
func TestRanksSendOneSchedule(t *testing.T) {
	for _, l := range []arrival.Load{
		arrival.Poisson{Rate: 20}, arrival.Gamma{Rate: 20, Gaps: arrival.Shape(0.5)}, arrival.Closed{Concurrency: 6},
		arrival.Closed{Concurrency: 1}, arrival.Poisson{Rate: 20, MaxConcurrency: 3},
	} {
		const requests = 60
		one, _ := sent(t, 1, l, requests)
		if len(one) != 2*requests {
			t.Fatalf("%s: one machine sent %d requests and texts", l.Name(), len(one))
		}
		for _, ranks := range []int{2, 7} {
			all, by := sent(t, ranks, l, requests)
			if diff := cmp.Diff(one, all); diff != "" {
				t.Errorf("%s: %d ranks send something else:\n%.1000s", l.Name(), ranks, diff)
			}
			if len(by) != ranks {
				t.Errorf("%s: of %d ranks these sent: %v", l.Name(), ranks, by)
			}
		}
	}
}

// Where messages take no time, the rows of two ranks are those of one process, to the last digit. The drift of a
// backlog is not: how many tokens have come is told ten times a second.
func TestTwoRanksMeasureWhatOneMeasures(t *testing.T) {
	stages := []experiment.Stage{
		experiment.NewStage(arrival.Closed{Concurrency: 1}, 5, 0), poisson(10, 20*time.Second),
		experiment.NewStage(arrival.Closed{Concurrency: 32}, 200, 0),
	}
	alone, _ := hold(t, 1, stages, func(*sweep.Config, *gang) {})
	both, _ := hold(t, 2, stages, func(*sweep.Config, *gang) {})
	for i := range alone.Stages {
		one, two := alone.Stages[i], both.Stages[i]
		if one.State != rundir.Complete || one.Requests.OK == 0 {
			t.Fatalf("%s is %s, of %d requests", one.Name, one.State, one.Requests.OK)
		}
		if off := two.Drift.Value.Or(0) - one.Drift.Value.Or(0); math.Abs(off) > 0.001 {
			t.Errorf("%s drifts by %g more", one.Name, off)
		}
		two.Drift = one.Drift
		if diff := cmp.Diff(asJSON(t, one), asJSON(t, two)); diff != "" {
			t.Errorf("%s (-one +two ranks):\n%s", one.Name, diff)
		}
	}
}

func asJSON(t *testing.T, st rundir.Stage) string {
	t.Helper()
	b, err := json.MarshalIndent(st, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// All turns of a conversation are of one rank, with the answers so far.
func TestARankKeepsAConversation(t *testing.T) {
	const sessions, turns = 12, 3
	stages := []experiment.Stage{experiment.NewStage(arrival.Closed{Concurrency: 4}, sessions, 0)}
	run, log := hold(t, 3, stages, func(c *sweep.Config, g *gang) {
		c.Sources = func(string) load.Source { return &talks{left: sessions, turns: turns} }
	})
	rank, n := map[int]float64{}, 0
	for r, err := range log.Records(run.Stages[0].Name) {
		if err != nil || !r.OK() {
			t.Fatalf("%v, %+v", err, r)
		}
		if first, ok := rank[r.Seq]; ok && first != r.Rank.Value() {
			t.Errorf("session %d is of ranks %g and %g", r.Seq, first, r.Rank.Value())
		}
		rank[r.Seq] = r.Rank.Value()
		n++
	}
	if n != sessions*turns {
		t.Errorf("%d requests of %d conversations", n, len(rank))
	}
}

// talks are conversations.
type talks struct{ left, turns int }

func (c *talks) Next() (load.Session, bool) {
	c.left--
	s := load.Session{}
	for range c.turns {
		s.Turns = append(s.Turns, load.Turn{User: "and then?", PromptTokens: 8, OutputTokens: 8, Think: time.Second})
	}
	return s, c.left >= 0
}

// What a rank uses of its processors is in the row of the stage.
func TestABusyRankIsInTheRow(t *testing.T) {
	run, _ := hold(t, 3, []experiment.Stage{poisson(10, 10*time.Second)}, func(_ *sweep.Config, g *gang) { g.cpu = 0.97 })
	if cpu := run.Stages[0].ClientCPU; cpu.Value() != 0.97 {
		t.Errorf("the processors were used to %v", cpu)
	}
}

// A rank that is lost is named, and ends the run at once: what was measured until then is in the log, of all ranks.
func TestALostRankEndsTheRun(t *testing.T) {
	const lostAt = 14 * time.Second
	stages := []experiment.Stage{poisson(20, 10*time.Second), poisson(10, 10*time.Second)}
	run, log := hold(t, 3, stages, func(_ *sweep.Config, g *gang) {
		time.AfterFunc(lostAt, func() { g.ups[1].Close() })
	})
	if took := run.Ended.Sub(run.Started); took > lostAt+time.Second {
		t.Errorf("it ended after %v", took)
	}
	if run.State != rundir.Failed || run.Failure.Code != "cluster.lost" || fmt.Sprint(run.Failure.Args["rank"]) != "2" ||
		len(run.Stages) != 2 {
		t.Fatalf("%s, %v, %d stages", run.State, run.Failure, len(run.Stages))
	}
	if whole, cut := run.Stages[0].State, run.Stages[1].State; whole != rundir.Complete || cut != rundir.Interrupted {
		t.Errorf("the stages are %s and %s", whole, cut)
	}
	for _, st := range run.Stages {
		by := map[float64]int{}
		for r := range log.Records(st.Name) {
			by[r.Rank.Value()]++
		}
		if len(by) != 3 {
			t.Errorf("%s has records of ranks %v", st.Name, by)
		}
	}
}

// A rank is also missed in the last requests of a run, when nothing more is prepared.
func TestARankIsLostAtTheEnd(t *testing.T) {
	stages := []experiment.Stage{experiment.NewStage(arrival.Closed{Concurrency: 2}, 2, 0)}
	run, _ := hold(t, 2, stages, func(_ *sweep.Config, g *gang) {
		time.AfterFunc(20*time.Millisecond, func() { g.ups[0].Close() })
	})
	if run.State != rundir.Failed || run.Failure.Code != "cluster.lost" {
		t.Errorf("%s, %v", run.State, run.Failure)
	}
}

// A rank that was interrupted interrupts the run.
func TestAnInterruptedRankInterruptsTheRun(t *testing.T) {
	run, log := hold(t, 2, []experiment.Stage{poisson(20, time.Minute)}, func(_ *sweep.Config, g *gang) {
		time.AfterFunc(20*time.Second, func() { g.leave[0]() })
	})
	n := 0
	for range log.Records(run.Stages[0].Name) {
		n++
	}
	if run.State != rundir.Interrupted || run.Failure.Code != "" || n < 200 {
		t.Errorf("%s, %v, with %d records", run.State, run.Failure, n)
	}
}

// A stage that ended early leaves nothing behind: rank 0 would else grow with each, and so would the others.
func TestRequestsThatWereNotSentAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, g := sweep.Defaults(), &gang{}
		c.Doer = plainDoer{}
		g.assemble(t, &c, 2)
		stale, err := g.Prepare(&api.Request{Session: 1})
		if err != nil {
			t.Fatal(err)
		}
		g.BeginStage()
		fresh, err := g.Prepare(&api.Request{Session: 1})
		if err != nil {
			t.Fatal(err)
		}
		for p, want := range map[*client.Prepared]int{stale: 1, fresh: 2} { // rank 0 has forgotten whose stale was
			res := &client.Result{OnToken: func(int) {}}
			res.Reset(time.Now())
			if g.Do(t.Context(), p, res); res.Rank != want {
				t.Errorf("rank %d sent it", res.Rank)
			}
		}
		if ends := g.dismiss(); ends[0] != nil {
			t.Error(ends[0])
		}
	})
}

// plainDoer answers at once.
type plainDoer struct{}

func (plainDoer) Prepare(r *api.Request) (*client.Prepared, error) {
	return &client.Prepared{Request: r}, nil
}

func (plainDoer) Do(_ context.Context, _ *client.Prepared, res *client.Result) {
	now := time.Since(res.Epoch)
	res.Status, res.Sent, res.End = client.StatusOK, now, now
}

// A rank that never comes is named once its time is over.
func TestARankThatNeverComesIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, began, waited := cluster.NewRanks(3, version, "n0"), time.Now(), ""
		down, up := net.Pipe()
		go g.Admit(down)
		end := make(chan error, 1)
		go func() {
			r := cluster.Rank{Hello: hello(2, 3)}
			end <- r.Serve(t.Context(), up)
		}()
		err := g.Gather(t.Context(), nil, func(missing string) { waited = missing })
		if err == nil || !strings.HasPrefix(err.Error(), "rank 1 did not join") || waited != "rank 1" {
			t.Errorf("%v; waited for %q", err, waited)
		}
		if took := time.Since(began); took > 6*time.Minute {
			t.Errorf("after %v", took)
		}
		g.Close(err)
		if err := <-end; !errors.Is(err, cluster.ErrEnded) {
			t.Errorf("the rank that came ended with %v", err)
		}
	})
}

// A rank that is lost before all have come is named at once.
func TestARankIsLostBeforeTheRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, began := cluster.NewRanks(3, version, "n0"), time.Now()
		down, up := net.Pipe()
		go g.Admit(down)
		go func() {
			r := cluster.Rank{Hello: hello(2, 3)}
			r.Serve(t.Context(), up)
		}()
		time.AfterFunc(time.Second, func() { up.Close() })
		err := g.Gather(t.Context(), nil, func(string) {})
		if took := time.Since(began); err == nil || !strings.Contains(err.Error(), "rank 2 (n2) was lost") ||
			took > 5*time.Second {
			t.Errorf("%v, after %v", err, took)
		}
		g.Close(err)
	})
}

// A rank that is reached late is named, and the stage counts.
func TestALateRankIsNamed(t *testing.T) {
	run, _ := hold(t, 2, []experiment.Stage{poisson(10, 10*time.Second)}, func(_ *sweep.Config, g *gang) {
		g.late = 30 * time.Millisecond
	})
	st := run.Stages[0]
	if run.State != rundir.Complete || len(st.Warnings) != 1 || st.Warnings[0].Code != "cluster.slow" ||
		fmt.Sprint(st.Warnings[0].Args["rank"]) != "1" {
		t.Fatalf("%s, %v", run.State, st.Warnings)
	}
}

// Ranks keep a limit on cost together, use most of it, and end the run there.
func TestRanksKeepALimitTogether(t *testing.T) {
	const limit = 0.03
	limiter := client.NewSpendLimiter(client.SpendLimits{Cost: limit, PriceIn: 1, PriceOut: 1})
	stages := []experiment.Stage{experiment.NewStage(arrival.Closed{Concurrency: 1}, 5, 0), poisson(20, time.Minute)}
	run, _ := hold(t, 3, stages, func(c *sweep.Config, g *gang) { g.limiter = limiter })
	if all := limiter.Spent(); all.Cost > limit || all.Cost < 0.5*limit || !all.Refused {
		t.Errorf("%+v", all)
	}
	if len(run.Stages) != 2 || run.Stages[1].State != rundir.Interrupted {
		t.Errorf("%d stages, the last is %s", len(run.Stages), run.Stages[len(run.Stages)-1].State)
	}
}

const token = "0123456789abcdef"

// A rank with the token joins over TLS and gets what rank 0 tells; one with another token gets no connection; one of
// another version is refused, with the reason.
func TestWhoMayJoin(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	c, address := cluster.NewRanks(2, version, "n0"), l.Addr().String()
	if err := c.Listen(l, token); err != nil {
		t.Fatal(err)
	}
	if _, err := cluster.Dial(t.Context(), address, "another token", func(error) {}); err == nil ||
		!strings.Contains(err.Error(), "another token") {
		t.Errorf("a stranger joined: %v", err)
	}
	if r, err := http.Get("http://" + address); err == nil && r.StatusCode == http.StatusOK {
		t.Error("it answers without TLS")
	}
	got := make(chan string, 1)
	serve := func(h cluster.Hello) error {
		conn, err := cluster.Dial(t.Context(), address, token, func(error) {})
		if err != nil {
			t.Fatal(err)
		}
		r := cluster.Rank{Hello: h, Connect: func(setup []byte) (cluster.Sender, error) {
			got <- string(setup)
			return sender{}, nil
		}}
		return r.Serve(t.Context(), conn)
	}
	refuse := func(h cluster.Hello, refusal string) {
		t.Helper()
		if err := serve(h); err == nil || errors.Is(err, cluster.ErrEnded) || !strings.Contains(err.Error(), refusal) {
			t.Fatalf("%v, want %q", err, refusal)
		}
	}
	refuse(cluster.Hello{Rank: 1, Ranks: 2, Version: "v2"}, "it is llmsweep v2")
	refuse(cluster.Hello{Rank: 1, Ranks: 3, Version: version}, "one of 3 ranks")
	refuse(cluster.Hello{Rank: 2, Ranks: 2, Version: version}, "no rank 2 among 2")
	go c.Gather(t.Context(), []byte("setup"), func(string) {})
	ended := make(chan error, 1)
	go func() { ended <- serve(hello(1, 2)) }()
	if setup := <-got; setup != "setup" {
		t.Errorf("it got %q", setup)
	}
	refuse(hello(1, 2), "another process has joined as rank 1")
	c.Close(nil)
	if err := <-ended; err != nil {
		t.Errorf("a rank that rank 0 dismissed ended with %v", err)
	}
}

// cutConn loses what is sent after an instant, and what is received then, or is closed by it.
type cutConn struct {
	net.Conn
	at     time.Time
	silent bool
}

func (c cutConn) Read(b []byte) (int, error) {
	for {
		if n, err := c.Conn.Read(b); err != nil || time.Now().Before(c.at) {
			return n, err
		} else if !c.silent {
			c.Close()
		}
	}
}

func (c cutConn) Write(b []byte) (int, error) {
	if time.Now().Before(c.at) {
		return c.Conn.Write(b)
	}
	return len(b), nil
}

// A rank finds out that rank 0 is gone, also where the connection stays.
func TestRankZeroIsGone(t *testing.T) {
	for _, silent := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c := cluster.NewRanks(2, version, "n0")
			down, up := net.Pipe()
			go c.Admit(down)
			go c.Gather(t.Context(), nil, func(string) {})
			began := time.Now()
			r := cluster.Rank{Hello: hello(1, 2), Connect: func([]byte) (cluster.Sender, error) { return sender{}, nil }}
			err := r.Serve(t.Context(), cutConn{up, began.Add(10 * time.Second), silent})
			took := time.Since(began)
			if err == nil || !strings.Contains(err.Error(), "rank 0 is gone") || took > 40*time.Second {
				t.Errorf("it ended after %v with %v", took, err)
			}
		})
	}
}
