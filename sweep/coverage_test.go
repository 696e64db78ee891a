package sweep

import (
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"llmsweep/client/sim"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// anyServer is a random simulated server with a workload that it can hold.
func anyServer(rng *rand.Rand) (sim.Config, fixed) {
	gpus, models := sim.GPUs(), sim.Models()
	for {
		c := sim.Config{
			GPU: gpus[rng.IntN(len(gpus))], Model: models[rng.IntN(len(models))], TP: 1 << rng.IntN(3),
			Quant:      []sim.Quant{sim.FP16, sim.INT8, sim.INT4}[rng.IntN(3)],
			MaxNumSeqs: 8 << rng.IntN(5), Jitter: 0.05 * rng.Float64(), Seed: rng.Uint64(),
		}
		w := fixed{32 << rng.IntN(6), 16 << rng.IntN(5)}
		if k := w.capacity(c); k.RequestsPerSecond > 0.5 && k.RequestsPerSecond < 60 {
			if live, err := sim.Start(c); err == nil {
				live.Close()
				return c, w
			}
		}
	}
}

// overloaded is what a server completes per second in a long run in which far more arrive than it takes. The closed form of
// the simulator's capacity is for a burst: equal lengths keep the rhythm in which they began, and arrivals at random find
// another one.
func overloaded(t *testing.T, server sim.Config, w fixed) float64 {
	var rate float64
	virtually(t, server, func(t *testing.T, d Doer) {
		c := experimentWith(d, w)
		k := w.capacity(server)
		c.StageTime, c.Drain = max(20*time.Minute, 100*k.Latency), 0
		rate = oneStage(t, c, func(x *experiment) *Spec {
			s := x.open(1.5*k.RequestsPerSecond, rundir.Probe)
			s.MaxTime, s.Tail = s.MinTime, 0
			return s
		}).Progress.Rate.Value()
	})
	return rate
}

// The printed interval of the saturation rate must hold the capacity, and so must the bracket, give or take 2 %. LLMSWEEP_SERVERS=200 is the
// long way.
func TestSaturationIntervalsCover(t *testing.T) {
	servers := 4
	if n, err := strconv.Atoi(os.Getenv("LLMSWEEP_SERVERS")); err == nil {
		servers = n
	}
	var interval, bracket, undecided int
	var errs []float64
	for seed := range servers {
		server, w := anyServer(rand.New(rand.NewPCG(uint64(seed), 11)))
		truth, run := overloaded(t, server, w), &rundir.Run{}
		virtually(t, server, func(t *testing.T, d Doer) {
			c := experimentWith(d, w)
			c.Seed = uint64(seed)
			if err := Sweep(t.Context(), c, run); err != nil {
				t.Fatal(err)
			}
		})
		s := run.Saturation
		if s == nil {
			t.Fatalf("seed %d: no saturation", seed)
		}
		off := s.Rate.Value()/truth - 1
		errs = append(errs, math.Abs(off))
		if s.Low.Value() <= truth && truth <= s.High.Value() {
			interval++
		} else {
			t.Logf("seed %d: %s/%sx%d/%s seqs %d %v jitter %.3f: capacity %.3f, found %.3f (%.3f-%.3f)", seed, server.Model.Name, server.GPU.Name,
				server.TP, server.Quant, server.MaxNumSeqs, w, server.Jitter, truth, s.Rate.Value(), s.Low.Value(), s.High.Value())
		}
		if s.HighestStable.Value() <= truth*1.02 && (!s.LowestSaturated.Known() || s.LowestSaturated.Value() >= truth*0.98) {
			bracket++
		} else {
			t.Logf("seed %d: bracket %.3f-%.3f, capacity %.3f", seed, s.HighestStable.Value(), s.LowestSaturated.Value(), truth)
		}
		if !s.LowestSaturated.Known() {
			undecided++
		}
	}
	slices.Sort(errs)
	t.Logf("%d servers: the interval holds the capacity in %d, the bracket in %d; none saturated in %d; median error %.1f %%, worst %.1f %%",
		servers, interval, bracket, undecided, stats.Quantile(errs, 0.5)*100, errs[servers-1]*100)
	if servers >= 40 && (float64(interval) < 0.85*float64(servers) || float64(bracket) < 0.85*float64(servers)) {
		t.Error("the intervals promise more than they keep")
	}
	if stats.Quantile(errs, 0.5) > 0.04 || undecided*4 > servers {
		t.Error("the estimate is off")
	}
}
