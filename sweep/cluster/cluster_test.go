package cluster_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"llmsweep/client"
	"llmsweep/sweep"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/cluster"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/workload"

	"github.com/google/go-cmp/cmp"
)

func TestMain(m *testing.M) { simtest.StatisticsMain(m) }

const version = "test"

// gang is a number of ranks in one process, in virtual time.
type gang struct {
	*cluster.Coordinator
	ends []chan error
	ups  []net.Conn
}

// hello is what a rank says of itself.
func hello(rank, ranks int) cluster.Hello {
	return cluster.Hello{Rank: rank, Ranks: ranks, Version: version, Host: fmt.Sprintf("n%d", rank)}
}

// assemble starts ranks that send with the work given for each.
func assemble(t *testing.T, ranks int, seed uint64, work func(rank int) cluster.Work) *gang {
	t.Helper()
	g := &gang{Coordinator: cluster.NewCoordinator(ranks, version)}
	g.Seed = seed
	for r := range ranks {
		down, up := net.Pipe()
		end := make(chan error, 1)
		go g.Admit(down)
		go func() {
			s, _, err := cluster.Join(t.Context(), up, hello(r, ranks))
			if err == nil {
				err = s.Serve(t.Context(), work(r))
			}
			end <- err
		}()
		g.ends, g.ups = append(g.ends, end), append(g.ups, up)
	}
	if err := g.Gather(t.Context(), nil, func(string) {}); err != nil {
		t.Fatal(err)
	}
	return g
}

// dismiss ends the run, and returns how each rank ended.
func (g *gang) dismiss() (all []error) {
	g.Close(nil)
	for _, end := range g.ends {
		all = append(all, <-end)
	}
	return all
}

// noted is a doer that notes what is sent.
type noted struct {
	load.Doer
	sent func(prompt string)
}

func (n noted) Do(ctx context.Context, p *client.Prepared, res *client.Result) {
	n.sent(p.Request.Messages[0].Content)
	n.Doer.Do(ctx, p, res)
}

// synthetic is a workload whose prompts all differ. The same nonce gives the same prompts.
func synthetic() *workload.Synthetic {
	w := workload.NewSynthetic(rundir.Lengths{Mean: 64, Std: 10}, rundir.Lengths{Mean: 16, Std: 4}, 42, workload.Guess)
	*workload.NonceOf(w) = 7
	return w
}

// A sweep of a server of known capacity gives the same answer, within its interval, with one rank and with four.
func TestFourRanksFindWhatOneFinds(t *testing.T) {
	server := simtest.Preset(t, "demo")
	w := simtest.SameInAll(64, 16)
	truth := w.Capacity(server).RequestsPerSecond
	answers := map[int]*rundir.Saturation{}
	for _, ranks := range []int{1, 4} {
		run := &rundir.Run{}
		simtest.Beside(t, server, func(t *testing.T, d load.Doer) {
			c := sweep.Defaults()
			c.Doer, c.Log, c.StageTime, c.StageMax = d, &store.Memory{}, 10*time.Second, 30*time.Second
			c.Sources = func(string) load.Source { return w }
			if ranks > 1 {
				g := assemble(t, ranks, c.Seed, func(int) cluster.Work { return cluster.Work{Doer: d, Sources: c.Sources} })
				c.RunStage, c.Ranks = g.Hold, ranks
				run.Cluster = g.Describe()
				defer func() {
					for r, err := range g.dismiss() {
						if err != nil {
							t.Errorf("rank %d: %v", r, err)
						}
					}
				}()
			}
			if err := sweep.Sweep(t.Context(), c, run); err != nil {
				t.Fatal(err)
			}
		})
		s := run.Saturation
		if s == nil || run.State != rundir.Complete {
			t.Fatalf("%d ranks: %s, %v, %v", ranks, run.State, run.Failure, run.Warnings)
		}
		t.Logf("%d ranks: capacity %.2f, found %.2f (%.2f-%.2f), %d stages", ranks, truth, s.Rate.Value(), s.Low.Value(),
			s.High.Value(), len(run.Stages))
		answers[ranks] = s
	}
	one, four := answers[1], answers[4]
	if one.Low.Value() > four.High.Value() || four.Low.Value() > one.High.Value() {
		t.Error("the intervals do not overlap")
	}
}

// request is what was sent: which, when it was due, and its text.
type request struct {
	seq    int
	due    int64 // nanoseconds, the resolution of records.jsonl
	prompt string
}

// sent returns the requests of a stage that ranks sent, by their place, and how many each rank sent.
func sent(t *testing.T, ranks int, l arrival.Load, requests int) (all []request, by map[int]int) {
	t.Helper()
	var mu sync.Mutex
	prompts := map[string]bool{}
	log := &store.Memory{}
	simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
		doer := noted{d, func(prompt string) {
			mu.Lock()
			defer mu.Unlock()
			prompts[prompt] = true
		}}
		texts := synthetic()
		c := sweep.Defaults()
		c.Doer, c.Log, c.Sources, c.Warmup = doer, log, texts.Stage, experiment.Warmup{}
		if ranks > 1 {
			g := assemble(t, ranks, c.Seed, func(rank int) cluster.Work {
				own := texts
				if rank > 0 {
					own = synthetic()
				}
				return cluster.Work{Doer: doer, Sources: own.Stage}
			})
			c.RunStage = g.Hold
			defer g.dismiss()
		}
		run := &rundir.Run{}
		if err := sweep.Run(t.Context(), c, []experiment.Stage{experiment.NewStage(l, requests, 0)}, run); err != nil {
			t.Fatal(err)
		}
		if run.State != rundir.Complete || len(run.Warnings)+len(run.Stages[0].Warnings) > 0 {
			t.Fatalf("%d ranks: %s, %v, %v", ranks, run.State, run.Failure, run.Warnings)
		}
	})
	by = map[int]int{}
	for r, err := range log.Records(l.Name()) {
		if err != nil {
			t.Fatal(err)
		}
		q := request{seq: r.Seq}
		if l.MeanRate() > 0 {
			q.due = int64(math.Round(r.Due.Value() * 1e9))
		}
		all = append(all, q)
		if r.Rank.Known() {
			by[int(r.Rank.Value())]++
		}
	}
	slices.SortFunc(all, func(a, b request) int { return a.seq - b.seq })
	for i, prompt := range slices.Sorted(maps.Keys(prompts)) {
		if i < len(all) {
			all[i].prompt = prompt // of all together; which belongs to which is not compared
		}
	}
	return all, by
}

// All ranks together send what one machine sends: the same requests at the same times, with the same texts.
func TestRanksSendOneSchedule(t *testing.T) {
	for _, l := range []arrival.Load{
		arrival.Poisson{Rate: 20}, arrival.Constant{Rate: 20}, arrival.Gamma{Rate: 20, Gaps: arrival.Shape(0.5)},
		arrival.Closed{Concurrency: 6}, arrival.Closed{Concurrency: 1},
		arrival.Poisson{Rate: 20, MaxConcurrency: 3},
	} {
		const requests = 120
		one, _ := sent(t, 1, l, requests)
		if len(one) != requests {
			t.Fatalf("%s: one machine sent %d requests", l.Name(), len(one))
		}
		for _, ranks := range []int{2, 4, 7} {
			all, by := sent(t, ranks, l, requests)
			if diff := cmp.Diff(one, all, cmp.AllowUnexported(request{})); diff != "" {
				t.Errorf("%s: %d ranks send something else:\n%.1000s", l.Name(), ranks, diff)
			}
			want := ranks
			if n := l.Limit(); n > 0 {
				want = min(want, n)
			}
			if len(by) != want {
				t.Errorf("%s: of %d ranks these sent: %v", l.Name(), ranks, by)
			}
		}
	}
}

// A rank that is lost is named, and ends the run: what was measured until then is in the log, of all ranks.
func TestALostRankEndsTheRun(t *testing.T) {
	run, log := &rundir.Run{}, &store.Memory{}
	simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
		w := simtest.SameInAll(64, 16)
		c := sweep.Defaults()
		c.Doer, c.Log, c.Warmup = d, log, experiment.Warmup{}
		c.Sources = func(string) load.Source { return w }
		g := assemble(t, 3, c.Seed, func(int) cluster.Work { return cluster.Work{Doer: d, Sources: c.Sources} })
		c.RunStage = g.Hold
		defer g.dismiss()
		time.AfterFunc(14*time.Second, func() { g.ups[2].Close() })
		stages := []experiment.Stage{
			experiment.NewStage(arrival.Poisson{Rate: 20}, 0, 10*time.Second), experiment.NewStage(arrival.Poisson{Rate: 10}, 0,
				10*time.Second),
		}
		if err := sweep.Run(t.Context(), c, stages, run); err != nil {
			t.Fatal(err)
		}
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

// slowStart is a connection whose messages take a time.
type slowStart struct {
	net.Conn
	late time.Duration
}

func (s slowStart) Read(b []byte) (int, error) {
	n, err := s.Conn.Read(b)
	time.Sleep(s.late)
	return n, err
}

// A rank that is reached late is named, and the stage counts.
func TestASlowRankIsNamed(t *testing.T) {
	run := &rundir.Run{}
	simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
		w := simtest.SameInAll(64, 16)
		c := sweep.Defaults()
		c.Doer, c.Log, c.Warmup = d, &store.Memory{}, experiment.Warmup{}
		c.Sources = func(string) load.Source { return w }
		g := &gang{Coordinator: cluster.NewCoordinator(2, version)}
		g.Seed, c.RunStage = c.Seed, g.Hold
		for r := range 2 {
			down, up := net.Pipe()
			go g.Admit(down)
			end := make(chan error, 1)
			g.ends = append(g.ends, end)
			go func() {
				s, _, err := cluster.Join(t.Context(), slowStart{up, time.Duration(r) * 30 * time.Millisecond}, hello(r, 2))
				if err == nil {
					err = s.Serve(t.Context(), cluster.Work{Doer: d, Sources: c.Sources})
				}
				end <- err
			}()
		}
		if err := g.Gather(t.Context(), nil, func(string) {}); err != nil {
			t.Fatal(err)
		}
		defer func() { g.dismiss(); time.Sleep(time.Second) }() // the last read of the slow one ends
		if err := sweep.Run(t.Context(), c, []experiment.Stage{experiment.NewStage(arrival.Poisson{Rate: 20}, 0,
			10*time.Second)}, run); err != nil {
			t.Fatal(err)
		}
	})
	st := run.Stages[0]
	if run.State != rundir.Complete || len(st.Warnings) != 1 || st.Warnings[0].Code != "cluster.slow" ||
		fmt.Sprint(st.Warnings[0].Args["rank"]) != "1" {
		t.Fatalf("%s, %v", run.State, st.Warnings)
	}
}

// paid is a doer that spends from a limiter, as a client does.
type paid struct {
	load.Doer
	limiter *client.SpendLimiter
}

func (p paid) Do(ctx context.Context, call *client.Prepared, res *client.Result) {
	r := p.limiter.Reserve(call)
	if r == nil {
		res.Unpaid = true
		return
	}
	p.Doer.Do(ctx, call, res)
	r.Settle(res)
}

// Ranks keep a limit on cost together, use most of it, and end the run there.
func TestRanksKeepALimitTogether(t *testing.T) {
	const limit = 0.03
	limiters := [3]*client.SpendLimiter{}
	for i := range limiters {
		limiters[i] = client.NewSpendLimiter(client.SpendLimits{Cost: limit, PriceIn: 1, PriceOut: 1})
	}
	run := &rundir.Run{}
	simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
		w := simtest.SameInAll(64, 16)
		c := sweep.Defaults()
		c.Doer, c.Log, c.Warmup = paid{d, limiters[0]}, &store.Memory{}, experiment.Warmup{}
		c.Sources = func(string) load.Source { return w }
		g := assemble(t, len(limiters), c.Seed, func(rank int) cluster.Work {
			return cluster.Work{Doer: paid{d, limiters[rank]}, Sources: c.Sources, SpendLimiter: limiters[rank]}
		})
		g.SpendLimiter, c.RunStage = limiters[0], g.Hold
		defer g.dismiss()
		stages := []experiment.Stage{experiment.NewStage(arrival.Closed{Concurrency: 1}, 5, 0),
			experiment.NewStage(arrival.Poisson{Rate: 20}, 0, time.Minute)}
		if err := sweep.Run(t.Context(), c, stages, run); err != nil {
			t.Fatal(err)
		}
	})
	all, others := limiters[0].Spent(), limiters[1].Spent().Cost+limiters[2].Spent().Cost
	t.Logf("%.4f of %.4f, the other ranks %.4f", all.Cost, limit, others)
	if all.Cost > limit || all.Cost < 0.7*limit || others < all.Cost/2 || !all.Refused {
		t.Errorf("%+v, the others %g", all, others)
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
	c := cluster.NewCoordinator(1, version)
	if err := c.Listen(l, token); err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, err := cluster.Dial(short, address, "another token", func(error) {}); err == nil {
		t.Error("a stranger joined")
	}
	if conn, err := net.Dial("tcp", address); err != nil {
		t.Error(err)
	} else {
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
		b := make([]byte, 512)
		n, _ := conn.Read(b)
		if strings.Contains(string(b[:n]), "200 OK") {
			t.Errorf("without TLS: %q", b[:n])
		}
		conn.Close()
	}
	join := func(h cluster.Hello) (*cluster.Session, []byte, error) {
		conn, err := cluster.Dial(t.Context(), address, token, func(error) {})
		if err != nil {
			t.Fatal(err)
		}
		return cluster.Join(t.Context(), conn, h)
	}
	for says, h := range map[string]cluster.Hello{
		"it is llmsweep v2": {Ranks: 1, Version: "v2"}, "one of 3 ranks": {Ranks: 3, Version: version},
		"no rank 1 among 1": {Rank: 1, Ranks: 1, Version: version},
	} {
		if _, _, err := join(h); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v, want %q", err, says)
		}
	}
	go c.Gather(t.Context(), []byte("setup"), func(string) {})
	s, setup, err := join(hello(0, 1))
	if err != nil || string(setup) != "setup" {
		t.Fatalf("%q, %v", setup, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(t.Context(), cluster.Work{}) }()
	if _, _, err := join(hello(0, 1)); err == nil || !strings.Contains(err.Error(),
		"another process has joined as rank 0") {
		t.Errorf("a second rank 0: %v", err)
	}
	c.Close(nil)
	if err := <-ended; err != nil {
		t.Errorf("a rank that rank 0 dismissed ended with %v", err)
	}
}

// A rank finds out that rank 0 is gone, also where the connection stays.
func TestRankZeroIsGone(t *testing.T) {
	for _, silent := range []bool{false, true} {
		simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, _ load.Doer) {
			c := cluster.NewCoordinator(1, version)
			down, up := net.Pipe()
			middle, own := net.Pipe()
			cut := make(chan struct{})
			go c.Admit(down)
			pass := func(from, to net.Conn) {
				b := make([]byte, 4096)
				for {
					n, err := from.Read(b)
					if err != nil {
						to.Close()
						return
					}
					select {
					case <-cut:
						continue
					default:
						to.Write(b[:n])
					}
				}
			}
			go pass(up, middle)
			go pass(middle, up)
			go c.Gather(t.Context(), nil, func(string) {})
			s, _, err := cluster.Join(t.Context(), own, hello(0, 1))
			if err != nil {
				t.Fatal(err)
			}
			time.AfterFunc(10*time.Second, func() {
				if close(cut); !silent {
					up.Close()
				}
			})
			began := time.Now()
			if err := s.Serve(t.Context(), cluster.Work{}); err == nil || !strings.Contains(err.Error(), "rank 0 is gone") {
				t.Errorf("it ended with %v", err)
			}
			if took := time.Since(began); took > 30*time.Second {
				t.Errorf("it took %v", took)
			}
			up.Close()
		})
	}
}
