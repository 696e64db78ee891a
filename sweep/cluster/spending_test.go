package cluster_test

import (
	"context"
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
)

// paid is a doer that spends from a purse, as a client does.
type paid struct {
	load.Doer
	purse *client.Purse
}

func (p paid) Do(ctx context.Context, call *client.Prepared, res *client.Result) {
	r := p.purse.Reserve(call)
	if r == nil {
		res.Unpaid = true
		return
	}
	p.Doer.Do(ctx, call, res)
	r.Settle(res)
}

// Ranks keep a limit on tokens together, use most of it, and end the run there. What a rank that is lost can have spent counts.
func TestRanksKeepALimitTogether(t *testing.T) {
	for _, lost := range []bool{false, true} {
		const limit = 30_000
		purses := [3]*client.Purse{}
		for i := range purses {
			purses[i] = client.NewPurse(client.SpendLimits{Cost: limit, PriceIn: 1e6, PriceOut: 1e6}) // a token costs 1
		}
		run, log := &rundir.Run{}, &store.Memory{}
		simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
			w := simtest.SameInAll(64, 16)
			c := sweep.Defaults()
			c.Doer, c.Log, c.Warmup = paid{d, purses[0]}, log, experiment.Warmup{}
			c.Sources = func(string) load.Source { return w }
			g := assemble(t, len(purses), nil, func(rank int) cluster.Work {
				return cluster.Work{Doer: paid{d, purses[rank]}, Sources: c.Sources, Dir: t.TempDir(), Purse: purses[rank]}
			}, nil)
			g.Seed, g.Purse, c.Hold = c.Seed, purses[0], g.Hold
			defer g.dismiss()
			if lost {
				time.AfterFunc(3*time.Second, g.ups[2].Close)
			}
			if err := sweep.Run(t.Context(), c, []experiment.Stage{experiment.NewStage(arrival.Poisson{Rate: 20}, 0, time.Minute)}, run); err != nil {
				t.Fatal(err)
			}
		})
		var sent float64
		for i, p := range purses {
			s := p.Spent()
			if i == 0 {
				continue // it has what the others spent
			}
			sent += s.Cost
		}
		all := purses[0].Spent()
		t.Logf("lost %v: %v of %d tokens, the other ranks' %v", lost, all.Cost, limit, sent)
		if all.Cost > limit || all.Cost < limit*7/10 || sent >= all.Cost || !all.Refused {
			t.Errorf("lost %v: %+v, the others %v", lost, all, sent)
		}
		if st := run.Stages[0]; st.State != rundir.Interrupted {
			t.Errorf("the stage is %s", st.State)
		}
	}
}
