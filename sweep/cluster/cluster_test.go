package cluster_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
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
	ups  []cluster.Uplink
}

// assemble starts ranks that send with the doers given for each. wrong is by how much each clock is wrong; nil for not at all.
func assemble(t *testing.T, ranks int, wrong []time.Duration, work func(rank int) cluster.Work, through func(rank int, up cluster.Uplink) cluster.Uplink) *gang {
	t.Helper()
	g := &gang{Coordinator: cluster.NewCoordinator(ranks, version, rundir.SourceFlags, cluster.NewRankClock(0))}
	for r := range ranks {
		down, up := cluster.Pipe()
		if through != nil {
			up = through(r, up)
		}
		c, end := g.Clock, make(chan error, 1)
		if r > 0 {
			c = cluster.NewRankClock(0)
			if wrong != nil {
				c = cluster.NewRankClock(wrong[r])
			}
		}
		go g.Admit(down)
		go func() {
			s, _, err := cluster.Join(t.Context(), up, c, &cluster.Hello{Rank: r, Ranks: ranks, Version: version, Host: fmt.Sprintf("n%d", r)})
			if err == nil {
				err = s.Serve(t.Context(), work(r))
			}
			end <- err
		}()
		g.ends, g.ups = append(g.ends, end), append(g.ups, up)
	}
	g.Welcome(nil)
	if err := g.Gather(t.Context(), func([]int) {}); err != nil {
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
	sent func(prompt string, at time.Time)
}

func (n noted) Do(ctx context.Context, p *client.Prepared, res *client.Result) {
	n.sent(p.Request.Messages[0].Content, time.Now())
	n.Doer.Do(ctx, p, res)
}

// synthetic is a workload whose prompts all differ. The same nonce gives the same prompts.
func synthetic(nonce uint64) *workload.Synthetic {
	w := workload.NewSynthetic(rundir.Lengths{Mean: 64, Std: 10}, rundir.Lengths{Mean: 16, Std: 4}, 42, workload.Guess)
	w.Nonce = nonce
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
				g := assemble(t, ranks, nil, func(int) cluster.Work {
					return cluster.Work{Doer: d, Sources: c.Sources, Dir: t.TempDir()}
				}, nil)
				g.Seed = c.Seed
				c.Hold, c.Ranks = g.Hold, ranks
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
		t.Logf("%d ranks: capacity %.2f, found %.2f (%.2f-%.2f), %d stages", ranks, truth, s.Rate.Value(), s.Low.Value(), s.High.Value(), len(run.Stages))
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
		doer := noted{d, func(prompt string, _ time.Time) {
			mu.Lock()
			defer mu.Unlock()
			prompts[prompt] = true
		}}
		texts := synthetic(7)
		c := sweep.Defaults()
		c.Doer, c.Log, c.Sources, c.Warmup = doer, log, texts.Stage, experiment.Warmup{}
		if ranks > 1 {
			g := assemble(t, ranks, nil, func(rank int) cluster.Work {
				own := texts
				if rank > 0 {
					own = synthetic(uint64(rank)) // a process of its own draws a nonce of its own
				}
				return cluster.Work{Doer: doer, Sources: own.Stage, Numbers: own, Dir: t.TempDir()}
			}, nil)
			g.Seed, g.Numbers = c.Seed, texts
			c.Hold = g.Hold
			defer g.dismiss()
		}
		run := &rundir.Run{}
		if err := sweep.Run(t.Context(), c, []experiment.Stage{experiment.NewStage(l, requests, 0)}, run); err != nil {
			t.Fatal(err)
		}
		if run.State != rundir.Complete || len(run.Warnings) > 0 {
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
		arrival.Poisson{Rate: 20}, arrival.Constant{Rate: 20}, arrival.Gamma{Rate: 20, Shape: 0.5}, arrival.Closed{Concurrency: 6}, arrival.Closed{Concurrency: 1},
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

// leash is the connection of a rank that can be cut, or held up.
type leash struct {
	cluster.Uplink
	free chan struct{} // receives a token for each message that may pass
	cut  chan struct{} // closed when the connection is
	once sync.Once
}

func (l *leash) Send(m cluster.FromRank) error {
	select {
	case <-l.free:
	case <-l.cut:
	}
	return l.Uplink.Send(m)
}

func (l *leash) Close() {
	l.once.Do(func() { close(l.cut) })
	l.Uplink.Close()
}

// A rank that is lost, or stands still, makes the stage void, and is named. The stage is repeated with the whole load.
func TestFaultsOfARankAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		fault func(up *leash, hold func(time.Duration))
		code  string
		ranks int // that send in the end
	}{
		"lost":    {func(up *leash, _ func(time.Duration)) { up.Close() }, "cluster.lost", 2},
		"stalled": {func(_ *leash, hold func(time.Duration)) { hold(5 * time.Second) }, "cluster.stalled", 3},
		"hung":    {func(_ *leash, hold func(time.Duration)) { hold(time.Minute) }, "cluster.stalled", 2},
	} {
		t.Run(name, func(t *testing.T) {
			run, log := &rundir.Run{}, &store.Memory{}
			simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
				w := simtest.SameInAll(64, 16)
				cfg := sweep.Defaults()
				cfg.Doer, cfg.Log, cfg.Warmup = d, log, experiment.Warmup{}
				cfg.Sources = func(string) load.Source { return w }
				var victim *leash
				pause := make(chan time.Duration, 1)
				g := assemble(t, 3, nil, func(int) cluster.Work { return cluster.Work{Doer: d, Sources: cfg.Sources, Dir: t.TempDir()} },
					func(rank int, up cluster.Uplink) cluster.Uplink {
						if rank != 2 {
							return up
						}
						victim = &leash{Uplink: up, free: make(chan struct{}), cut: make(chan struct{})}
						go func() {
							for {
								select {
								case d := <-pause:
									select {
									case <-time.After(d):
									case <-victim.cut:
									}
								case victim.free <- struct{}{}:
								case <-victim.cut:
									return
								}
							}
						}()
						return victim
					})
				g.Seed, cfg.Hold = cfg.Seed, g.Hold
				defer func() { g.dismiss(); victim.Close() }()
				time.AfterFunc(4*time.Second, func() {
					c.fault(victim, func(d time.Duration) { pause <- d })
				})
				run.Cluster = g.Describe()
				if err := sweep.Run(t.Context(), cfg, []experiment.Stage{experiment.NewStage(arrival.Poisson{Rate: 20}, 0, 10*time.Second)}, run); err != nil {
					t.Fatal(err)
				}
			})
			if run.State != rundir.Complete || len(run.Warnings) != 1 || run.Warnings[0].Code != c.code || fmt.Sprint(run.Warnings[0].Args["rank"]) != "2" {
				t.Fatalf("%s, %v, %v", run.State, run.Failure, run.Warnings)
			}
			st := run.Stages[0]
			if st.Ranks.N != c.ranks || !st.Invalid.IsZero() {
				t.Errorf("%d ranks sent, want %d; %v", st.Ranks.N, c.ranks, st.Invalid)
			}
			seen := map[int]bool{}
			for r := range log.Records(st.Name) {
				if seen[r.Seq] {
					t.Fatalf("request %d is there twice", r.Seq)
				}
				seen[r.Seq] = true
			}
			for seq := range len(seen) {
				if !seen[seq] {
					t.Fatalf("request %d of %d is missing: the load was lighter than asked", seq, len(seen))
				}
			}
			t.Logf("%s: %v; %d requests by %d ranks", name, run.Warnings[0], len(seen), st.Ranks.N)
		})
	}
}

// lostAtReady is the connection of a rank that ends when the rank says that it is ready.
type lostAtReady struct{ cluster.Uplink }

func (l lostAtReady) Send(m cluster.FromRank) error {
	if _, ready := m.(*cluster.Ready); ready {
		l.Close()
	}
	return l.Uplink.Send(m)
}

// watched is the numbers of the texts of a run. It notes a look at them while a rank gets ready.
type watched struct {
	*workload.Synthetic
	preparing, overlap *atomic.Bool
}

func (w watched) Numbers() (nonce, places uint64) {
	if w.preparing.Load() {
		w.overlap.Store(true)
	}
	return w.Synthetic.Numbers()
}

// A rank that is lost while others still get ready does not let the next attempt begin before they have: rank 0's own part shares the numbers of
// the texts with the whole run.
func TestALossBeforeTheStart(t *testing.T) {
	var preparing, overlap atomic.Bool
	run := &rundir.Run{}
	simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
		texts := synthetic(7)
		c := sweep.Defaults()
		c.Doer, c.Log, c.Sources, c.Warmup = d, &store.Memory{}, texts.Stage, experiment.Warmup{}
		g := assemble(t, 3, nil, func(rank int) cluster.Work {
			w := cluster.Work{Doer: d, Sources: texts.Stage, Numbers: texts, Dir: t.TempDir()}
			if rank > 0 {
				own := synthetic(uint64(rank))
				w.Sources, w.Numbers = own.Stage, own
				return w
			}
			w.Warm = func(context.Context, int) error {
				preparing.Store(true)
				time.Sleep(time.Second)
				preparing.Store(false)
				return nil
			}
			return w
		}, func(rank int, up cluster.Uplink) cluster.Uplink {
			if rank == 1 {
				return lostAtReady{up}
			}
			return up
		})
		g.Seed, g.Numbers, c.Hold = c.Seed, watched{texts, &preparing, &overlap}, g.Hold
		defer g.dismiss()
		if err := sweep.Run(t.Context(), c, []experiment.Stage{experiment.NewStage(arrival.Closed{Concurrency: 6}, 60, 0)}, run); err != nil {
			t.Fatal(err)
		}
	})
	if len(run.Warnings) != 1 || run.Warnings[0].Code != "cluster.lost" || len(run.Stages) != 1 || run.Stages[0].Ranks.N != 2 {
		t.Fatalf("%s, %v, %v", run.State, run.Failure, run.Warnings)
	}
	if overlap.Load() {
		t.Error("the next attempt began while a rank got ready for the one before")
	}
}
