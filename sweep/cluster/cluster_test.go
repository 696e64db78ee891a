package cluster_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/sweep"
	"llmsweep/sweep/cluster"
	"llmsweep/sweep/cluster/clock"
	"llmsweep/sweep/cluster/message"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/workload"
)

func TestMain(m *testing.M) { simtest.Main(m) }

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
	g := &gang{Coordinator: cluster.NewCoordinator(ranks, version, rundir.SourceFlags, clock.New(0))}
	for r := range ranks {
		down, up := cluster.Pipe()
		if through != nil {
			up = through(r, up)
		}
		c, end := g.Clock, make(chan error, 1)
		if r > 0 {
			c = clock.New(0)
			if wrong != nil {
				c = clock.New(wrong[r])
			}
		}
		go g.Admit(down)
		go func() {
			s, _, err := cluster.Join(t.Context(), up, c, &message.Hello{Rank: int32(r), Ranks: int32(ranks), Version: version, Host: fmt.Sprintf("n%d", r)})
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

var _ load.Doer = noted{}

// synthetic is a workload whose prompts all differ. The same nonce gives the same prompts.
func synthetic(nonce uint64) *workload.Synthetic {
	w := workload.NewSynthetic(rundir.Lengths{Mean: 64, Std: 10}, rundir.Lengths{Mean: 16, Std: 4}, 42, workload.Guess)
	w.Nonce = nonce
	return w
}

// plain is a doer's Prepare for any request.
var _ = api.Request{}

// A sweep of a server of known capacity gives the same answer, within its interval, with one rank and with four.
func TestFourRanksFindWhatOneFinds(t *testing.T) {
	server := simtest.Preset(t, "demo")
	w := simtest.Same(64, 16)
	truth := w.Capacity(server).RequestsPerSecond
	answers := map[int]*rundir.Saturation{}
	for _, ranks := range []int{1, 4} {
		run := &rundir.Run{}
		simtest.Beside(t, server, func(t *testing.T, d load.Doer) {
			c := sweep.Defaults()
			c.Doer, c.Log, c.StageTime, c.StageMax = d, &rundir.Memory{}, 10*time.Second, 30*time.Second
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
