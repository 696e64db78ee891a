package pair

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client/sim"
	"llmsweep/sweep"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/stats"
)

// slower is the same server with every step taking 1/(1-by) of the time.
func slower(c sim.MachineConfig, by float64) sim.MachineConfig {
	const reduce = 10 * time.Microsecond // an all-reduce of nothing, of which there are two a layer: no setting of its own
	reduces := time.Duration(0)
	if c.TP > 1 {
		reduces = time.Duration(2*c.Model.Layers) * reduce
	}
	fixed := float64(cmp.Or(c.StepOverhead, sim.DefaultStepOverhead) + reduces)
	c.StepOverhead = time.Duration(fixed/(1-by)) - reduces
	for _, speed := range []*float64{&c.GPU.BandwidthBytes, &c.GPU.PeakFP16, &c.GPU.PeakINT8, &c.GPU.InterconnectBytes} {
		*speed *= 1 - by
	}
	return c
}

// The servers that are to be found slower must be so by what was said.
func TestSlowerServers(t *testing.T) {
	for seed := range 30 {
		c := anyPair(seed)
		was, is := c.work.Capacity(c.a), c.work.Capacity(slower(c.a, 0.03))
		for _, ratio := range []float64{is.RequestsPerSecond / was.RequestsPerSecond, float64(was.SyncLatency) / float64(is.SyncLatency)} {
			if math.Abs(ratio-0.97) > 1e-4 {
				t.Errorf("seed %d, %d GPUs: %v of the speed", seed, c.a.TP, ratio)
			}
		}
	}
}

// compared is two simulated servers to be measured against each other.
type compared struct {
	a, b   sim.MachineConfig
	work   simtest.Fixed
	spread float64 // of its lengths
	stage  time.Duration
	seed   uint64
	widths []int
	tune   func(*Config)   // nil for no other settings
	ctx    context.Context // nil for the test's own
}

// outcome is what came of it.
type outcome struct {
	record *rundir.Pair
	runs   [2]*rundir.Run
	took   time.Duration
	logs   [2]experiment.Log
}

func (o *outcome) rows() []Row { return Rows(o.record, o.runs[0], o.runs[1]) }

// run compares in virtual time.
func (c compared) run(t *testing.T) *outcome {
	t.Helper()
	o := &outcome{record: &rundir.Pair{}, runs: [2]*rundir.Run{{}, {}}}
	c.b.Seed++ // its steps jitter otherwise
	synctest.Test(t, func(t *testing.T) {
		p := Config{Difference: 0.03, Widths: c.widths, Save: func(*rundir.Pair) error { return nil }}
		for i, server := range []sim.MachineConfig{c.a, c.b} {
			live, err := sim.Start(server)
			if err != nil {
				t.Fatal(err)
			}
			defer live.Close()
			p.Sides[i] = sideWith(simtest.VirtualDoer{Live: live})
		}
		p.Sides[0].StageTime, p.Sides[0].Seed = c.stage, c.seed
		p.Sides[0].Sources = func(stage string) load.Source {
			return simtest.Varied{Fixed: c.work, Spread: c.spread, Rng: stats.Rand(c.seed, "lengths", stage)}
		}
		if c.tune != nil {
			c.tune(&p)
		}
		o.logs = [2]experiment.Log{p.Sides[0].Log, p.Sides[1].Log}
		began, ctx := time.Now(), t.Context()
		if c.ctx != nil {
			ctx = c.ctx
		}
		if err := Run(ctx, p, o.runs, o.record); err != nil {
			t.Fatal(err)
		}
		o.took = time.Since(began)
	})
	return o
}

// sideWith measures a doer and keeps its records in memory.
func sideWith(d load.Doer) sweep.Config {
	c := sweep.Defaults()
	c.Doer, c.Log = d, &store.Memory{}
	return c
}

// anyPair is a random server, which it is to be compared with itself, in stages so short that chance shows.
func anyPair(seed int) compared {
	k := simtest.Random(uint64(seed))
	k.Server.Jitter = 0.05 + 0.15*rand.New(rand.NewPCG(uint64(seed), 23)).Float64()
	stage := max(time.Second, 2*k.Work.Capacity(k.Server).Latency)
	return compared{a: k.Server, b: k.Server, work: k.Work, spread: k.Spread, stage: stage, seed: uint64(seed)}
}

// Two identical servers must not be called different: not by the conclusion, and not by any row by itself, in more than 7 %
// of comparisons.
func TestIdenticalServersDoNotDiffer(t *testing.T) {
	n := simtest.Evidence(t, 20, 1000)
	different, shown := 0, map[string]int{}
	for seed := range n {
		p := anyPair(seed).run(t)
		differs := false
		for _, r := range p.rows() {
			if !r.Low.Known() {
				t.Fatalf("seed %d: %s has no interval", seed, r.Key)
			}
			differs = differs || r.ShownHolm
			if r.Shown {
				shown[r.Key]++
			}
		}
		if differs {
			different++
		}
	}
	t.Logf("%d of %d pairs of identical servers: no difference; rows that show one by themselves: %v", n-different, n, shown)
	worst := 0
	for _, k := range shown {
		worst = max(worst, k)
	}
	simtest.Claim(t, "identical servers are called different", "at most 7 % of comparisons", "%d of %d", different, n)
	simtest.Claim(t, "a row of identical servers shows a difference by itself", "at most 7 % of comparisons", "%d of %d in the worst row", worst, n)
	allowed := simtest.MayFail(n, 0.07)
	if float64(different) > allowed {
		t.Errorf("%d of %d are called different", different, n)
	}
	for key, k := range shown {
		if float64(k) > allowed {
			t.Errorf("%s shows a difference in %d of %d", key, k, n)
		}
	}
}

// A server that is 3 % slower in every step must be found in four comparisons of five, in the time that was said. In a
// closed loop its output is 3 % less to the digit, so that where steps are unsteady the time is just enough.
func TestASlowerServerIsFound(t *testing.T) {
	for name, widths := range map[string][]int{"loads it finds": nil, "a closed loop": {6}} {
		n := simtest.Evidence(t, 20, 1000)
		found, late, blocks, planned := 0, 0, 0, 0
		for seed := range n {
			c := anyPair(seed)
			if c.widths = widths; widths != nil {
				c.a.Jitter *= 3
			}
			c.b = slower(c.a, 0.03)
			p := c.run(t)
			worse := false
			for _, r := range p.rows() {
				if r.Primary && r.ShownHolm && (r.Metric == MetricOutput) == (r.Ratio.Value() < 0) {
					worse = true
				}
			}
			if worse {
				found++
			}
			plan := p.record.Plan
			blocks += plan.Blocks
			if plan.Needed > plan.Pilot {
				planned++
			}
			if said := plan.Spent + float64(plan.Needed-plan.Pilot)*plan.Block; p.took.Seconds() > 1.1*said {
				late++
				t.Logf("%s, seed %d: said %.0f s, took %.0f", name, seed, said, p.took.Seconds())
			}
		}
		t.Logf("%s: 3 %% found in %d of %d, %d took longer than said by a tenth; %.1f blocks on average, more than the pilot's in %d",
			name, found, n, late, float64(blocks)/float64(n), planned)
		simtest.Claim(t, "a server 3 % slower in every step is found ("+name+")", "in 80 % of comparisons, at most 5 % of them late", "found in %d of %d, late in %d", found, n, late)
		if float64(n-found) > simtest.MayFail(n, 0.2) || float64(late) > simtest.MayFail(n, 0.05) {
			t.Errorf("%s: found in %d of %d, late in %d", name, found, n, late)
		}
	}
}
