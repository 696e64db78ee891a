package cluster_test

import (
	"context"
	"fmt"
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
	"llmsweep/client/note"
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
	ends    []chan error
	ups     []net.Conn // of the ranks from 1 on
}

// assemble starts ranks for a run.
func (g *gang) assemble(t *testing.T, c *sweep.Config, ranks int) {
	t.Helper()
	g.Ranks = cluster.NewRanks(ranks, version, "n0")
	own := sender{c.Doer}
	g.Sender = own
	if g.limiter != nil {
		g.Allowance = g.limiter
	}
	c.Doer, c.Ranks = g, ranks
	c.Others = func() (float64, float64, []note.Note) { return -1, -1, g.Slow() }
	for r := 1; r < ranks; r++ {
		down, up := net.Pipe()
		end := make(chan error, 1)
		g.ends, g.ups = append(g.ends, end), append(g.ups, up)
		if r == ranks-1 && g.late > 0 {
			up = lateConn{up, g.late}
		}
		go g.Admit(down)
		go func() {
			rank := cluster.Rank{Hello: hello(r, ranks), Connect: func([]byte) (cluster.Sender, error) { return own, nil }}
			end <- rank.Serve(t.Context(), up)
		}()
	}
	if err := g.Gather(t.Context(), nil, func(string) {}); err != nil {
		t.Fatal(err)
	}
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
		if ranks > 1 {
			g.assemble(t, &c, ranks)
			defer g.dismiss()
		}
		if err := sweep.Run(t.Context(), c, stages, run); err != nil {
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
		g.assemble(t, &c, 4)
		run.Cluster = g.Describe()
		if err := sweep.Sweep(t.Context(), c, run); err != nil {
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
		*workload.NonceOf(w) = 7
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

// A rank that is lost is named, and ends the run: what was measured until then is in the log, of all ranks.
func TestALostRankEndsTheRun(t *testing.T) {
	stages := []experiment.Stage{poisson(20, 10*time.Second), poisson(10, 10*time.Second)}
	run, log := hold(t, 3, stages, func(_ *sweep.Config, g *gang) {
		time.AfterFunc(14*time.Second, func() { g.ups[1].Close() })
	})
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
	short, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := cluster.Dial(short, address, "another token", func(error) {}); err == nil {
		t.Error("a stranger joined")
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
		if err := serve(h); err == nil || !strings.Contains(err.Error(), refusal) {
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
