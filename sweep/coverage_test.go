package sweep

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/stats"
)

// trial is a random simulated server, and what it completes.
type trial struct {
	*simtest.Trial
	truth float64 // requests per second in long overloaded runs
}

// config is a sweep of the trial's server.
func (k *trial) config(d load.Doer, runSeed uint64) Config {
	c := experimentWith(d, nil)
	c.Seed = runSeed
	c.Sources = func(stage string) load.Source {
		return simtest.Varied{Fixed: k.Work, Spread: k.Spread, Rng: stats.Rand(runSeed, "lengths", stage)}
	}
	return c
}

// measure is what the server completes per second in long runs in which far more arrive than it takes: the mean of
// several, since equal lengths keep the rhythm in which a run began.
func (k *trial) measure(t *testing.T, runs uint64, waves time.Duration) {
	capacity := k.Work.Capacity(k.Server)
	for seed := range runs {
		server := k.Server
		server.Seed += seed
		simtest.Beside(t, server, func(t *testing.T, d load.Doer) {
			c := k.config(d, 1000+seed)
			c.StageTime, c.Drain = waves*capacity.Latency, 0
			k.truth += oneStage(t, c, func(x *experiment.Experiment) experiment.Stage {
				s := x.Poisson(1.5*capacity.RequestsPerSecond, rundir.Probe)
				s.MaxTime, s.Tail = s.MinTime, 0
				return s
			}).Progress.Rate.Value() / float64(runs)
		})
	}
}

// truths are the measured truths of trials, by their descriptions: several tests use the same servers.
var truths sync.Map

// trials are n random servers, their truths measured.
func trials(t *testing.T, n int) []*trial {
	all := make([]*trial, n)
	for i := range all {
		all[i] = &trial{Trial: simtest.Random(uint64(i))}
	}
	forEach(t, all, func(t *testing.T, k *trial) {
		if truth, ok := truths.Load(k.String()); ok {
			k.truth = truth.(float64)
			return
		}
		if simtest.Full() {
			k.measure(t, 4, 150)
		} else { // a few servers show that the test works
			k.measure(t, 1, 50)
		}
		truths.Store(k.String(), k.truth)
	})
	return all
}

// forEach runs f for all trials side by side.
func forEach(t *testing.T, all []*trial, f func(*testing.T, *trial)) {
	t.Run("trials", func(t *testing.T) {
		for _, k := range all {
			t.Run(strconv.FormatUint(k.Seed, 10), func(t *testing.T) {
				t.Parallel()
				f(t, k)
			})
		}
	})
}

// servers is how many random servers a test runs over that fails with one too where the sweep judges wrongly.
func servers() int { return simtest.SampleSize(1, 200) }

// manyServers is how many random servers a test runs over that shows nothing with one.
func manyServers(t *testing.T) int {
	t.Helper()
	return simtest.Evidence(t, 4, 200)
}

// The printed interval of the saturation rate must hold the capacity, and so must the bracket.
func TestSaturationIntervalsCover(t *testing.T) {
	t.Parallel()
	servers := manyServers(t)
	all := trials(t, servers)
	var mu sync.Mutex
	var interval, bracket, open int
	var errs, widths, spent []float64
	forEach(t, all, func(t *testing.T, k *trial) {
		run := &rundir.Run{}
		took := time.Duration(0)
		simtest.Beside(t, k.Server, func(t *testing.T, d load.Doer) {
			began := time.Now()
			if err := Sweep(t.Context(), k.config(d, k.Seed), run); err != nil {
				t.Fatal(err)
			}
			took = time.Since(began)
		})
		s := run.Saturation
		if s == nil {
			t.Fatalf("%v: no saturation", k)
		}
		mu.Lock()
		defer mu.Unlock()
		errs = append(errs, math.Abs(s.Rate.Value()/k.truth-1))
		widths = append(widths, (s.High.Value()-s.Low.Value())/2/s.Rate.Value())
		spent = append(spent, took.Minutes())
		if s.Low.Value() <= k.truth && k.truth <= s.High.Value() {
			interval++
		} else {
			t.Logf("%v: capacity %.3f, found %.3f (%.3f-%.3f)%s", k, k.truth, s.Rate.Value(), s.Low.Value(), s.High.Value(),
				rows(run, k.truth))
		}
		if s.HighestStable.Value() <= k.truth && (!s.LowestSaturated.Known() || s.LowestSaturated.Value() >= k.truth) {
			bracket++
		} else {
			t.Logf("%v: bracket %.3f-%.3f, capacity %.3f%s", k, s.HighestStable.Value(), s.LowestSaturated.Value(), k.truth,
				rows(run, k.truth))
		}
		if !s.LowestSaturated.Known() {
			open++
		}
	})
	slices.Sort(errs)
	slices.Sort(widths)
	slices.Sort(spent)
	t.Logf("%d servers: the interval holds the capacity in %d, the bracket in %d; none saturated in %d; error median %.1f %%, worst %.1f %%; "+
		"half-width median %.1f %%, p90 %.1f %%, worst %.1f %%; sweep time median %.0f min, worst %.0f min", servers,
		interval, bracket, open,
		stats.Quantile(errs, 0.5)*100, errs[servers-1]*100, stats.Quantile(widths, 0.5)*100, stats.Quantile(widths, 0.9)*100,
		widths[servers-1]*100,
		stats.Quantile(spent, 0.5), spent[servers-1])
	claim := func(what, wanted, format string, args ...any) { simtest.Claim(t, what, wanted, format, args...) }
	of := fmt.Sprintf(" of %d random servers", servers)
	claim("the 95 % interval of the saturation rate holds the capacity", "93 %"+of, "%d", interval)
	claim("the bracket of verdicts holds the capacity", "95 %"+of, "%d", bracket)
	claim("error of the saturation rate, median", "at most 4 %", "%.1f %% (worst %.1f %%)", stats.Quantile(errs, 0.5)*100,
		errs[servers-1]*100)
	claim("no rate was shown saturated", "at most 25 %"+of, "%d", open)
	if float64(servers-interval) > simtest.MayFail(servers, 0.07) || float64(servers-bracket) > simtest.MayFail(servers,
		0.05) {
		t.Error("the intervals promise more than they keep")
	}
	if stats.Quantile(errs, 0.5) > 0.04*few(servers) || float64(open) > simtest.MayFail(servers, 0.25) {
		t.Error("the estimate is off")
	}
}

// rows are the stages near the edge, as shares of the capacity.
func rows(run *rundir.Run, truth float64) string {
	line := ""
	for _, st := range run.Stages {
		if p := st.Progress; p.Rate.Value() > 0.85*truth || st.Rate.Value() > 0.85*truth {
			line += fmt.Sprintf("\n    %s %.3f: %.3f (%.3f-%.3f, %d) %s drift %.3f (%.3f-%.3f) %.0f s of %.0f", st.Kind,
				st.Rate.Value()/truth, p.Rate.Value()/truth, p.Low.Value()/truth, p.High.Value()/truth,
				p.Batches, st.Verdict, st.Drift.Value.Value(), st.Drift.Low.Value(), st.Drift.High.Value(), st.Window, st.Elapsed)
		}
	}
	return line
}

// Verdicts well below and well above the capacity must be right, or honestly undecided.
func TestVerdictsOnRandomServers(t *testing.T) {
	t.Parallel()
	all := trials(t, servers())
	var mu sync.Mutex
	count := map[string]int{}
	forEach(t, all, func(t *testing.T, k *trial) {
		for _, share := range []float64{0.8, 1.2} {
			var st rundir.Stage
			simtest.Beside(t, k.Server, func(t *testing.T, d load.Doer) {
				st = oneStage(t, k.config(d, k.Seed),
					func(x *experiment.Experiment) experiment.Stage { return x.Poisson(share*k.truth, rundir.Grid) })
			})
			right := rundir.Stable
			if share > 1 {
				right = rundir.Saturated
			}
			mu.Lock()
			count[fmt.Sprint(share, " ", st.Verdict)]++
			mu.Unlock()
			if st.Verdict != right {
				t.Logf("%v at %.0f %%: %s drift %.3f (%.3f-%.3f) latency %.1f s, window %.0f s of %.0f", k, share*100, st.Verdict,
					st.Drift.Value.Value(),
					st.Drift.Low.Value(), st.Drift.High.Value(), st.Latency.Mean.Value(), st.Window, st.Elapsed)
			}
		}
	})
	t.Logf("%d servers: %v", len(all), count)
	wrong, undecided := count["0.8 saturated"]+count["1.2 stable"], count["0.8 undecided"]+count["1.2 undecided"]
	simtest.Claim(t, "wrong verdicts at 80 % and 120 % of the capacity", "at most 1 %", "%d of %d", wrong, 2*len(all))
	simtest.Claim(t, "undecided at 80 % and 120 % of the capacity", "at most 5 %", "%d of %d", undecided, 2*len(all))
	if n := 2 * len(all); wrong*100 > n || float64(undecided) > simtest.MayFail(n, 0.05) {
		t.Errorf("%d wrong and %d undecided of %d", wrong, undecided, n)
	}
}

// The printed intervals of the mean TTFT and of the p95 latency must hold what a long run shows, as often as they say.
func TestLatencyIntervalsCover(t *testing.T) {
	t.Parallel()
	all := trials(t, manyServers(t))
	long := time.Duration(simtest.SampleSize(3, 20)) * time.Minute
	stageAt := func(t *testing.T, k *trial, share float64, seed uint64, change func(*experiment.Stage)) (st rundir.Stage) {
		simtest.Beside(t, k.Server, func(t *testing.T, d load.Doer) {
			st = oneStage(t, k.config(d, seed), func(x *experiment.Experiment) experiment.Stage {
				s := x.Poisson(share*k.truth, rundir.Grid)
				change(&s)
				return s
			})
		})
		return st
	}
	var mu sync.Mutex
	holds, printed := map[string]int{}, map[string]int{}
	var off []string
	forEach(t, all, func(t *testing.T, k *trial) {
		for _, share := range []float64{0.3, 0.6, 0.8, 0.85, 0.95} {
			truth := stageAt(t, k, share, k.Seed+1, func(s *experiment.Stage) { s.MinTime, s.MaxTime = long, long })
			st := stageAt(t, k, share, k.Seed, func(*experiment.Stage) {})
			saturation.DropIntervals(&st, share) // as a sweep does that knows the saturation rate
			for _, f := range []struct {
				name  string
				got   rundir.Dist
				which string
				want  rundir.Number
			}{{"mean TTFT", st.TTFT, "mean", truth.TTFT.Mean}, {"p95 latency", st.Latency, "p95", truth.Latency.P95}} {
				ci, ok := f.got.CI[f.which]
				if !ok || !f.want.Known() {
					continue
				}
				key := fmt.Sprintf("%s at %.0f %%", f.name, share*100)
				mu.Lock()
				printed[key]++
				if ci[0] <= f.want.Value() && f.want.Value() <= ci[1] {
					holds[key]++
				} else {
					off = append(off, fmt.Sprintf("%v: %s %.4f, printed %.4f-%.4f n %d worth %.0f", k, key, f.want.Value(), ci[0],
						ci[1], f.got.N, f.got.Neff.Value()))
				}
				mu.Unlock()
			}
		}
	})
	slices.Sort(off)
	for _, line := range off {
		t.Log(line)
	}
	for _, key := range slices.Sorted(maps.Keys(printed)) {
		t.Logf("%s: printed in %d of %d, holds in %.1f %%", key, printed[key], len(all),
			float64(holds[key])/float64(printed[key])*100)
	}
	for _, name := range []string{"mean TTFT", "p95 latency"} {
		var held, of float64
		for key := range printed {
			if strings.HasPrefix(key, name) {
				held, of = held+float64(holds[key]), of+float64(printed[key])
			}
		}
		simtest.Claim(t, "the 95 % interval of the "+name+" holds the value of a long run", "92 % to 98 %",
			"%.1f %% of %.0f intervals", held/of*100, of)
		// Few intervals may all hold.
		if of-held > simtest.MayFail(int(of), 0.08) || simtest.Full() && held/of > 0.98 {
			t.Errorf("%s: a 95 %% interval holds in %.1f %%", name, held/of*100)
		}
	}
}

// A sweep within a budget keeps to it, and its answer narrows as the budget grows.
func TestBudgetsAreKept(t *testing.T) {
	t.Parallel()
	all := trials(t, servers())
	var mu sync.Mutex
	widths, held, under := map[time.Duration][]float64{}, map[time.Duration]int{}, map[time.Duration]int{}
	forEach(t, all, func(t *testing.T, k *trial) {
		for _, budget := range []time.Duration{4 * time.Minute, 8 * time.Minute, 16 * time.Minute}[:simtest.SampleSize(2,
			3)] {
			run := &rundir.Run{}
			var took time.Duration
			simtest.Beside(t, k.Server, func(t *testing.T, d load.Doer) {
				c := k.config(d, k.Seed)
				c.Budget = budget
				began := time.Now()
				if err := Sweep(t.Context(), c, run); err != nil {
					t.Fatal(err)
				}
				took = time.Since(began)
			})
			mu.Lock()
			off := took.Seconds()/budget.Seconds() - 1
			if off > 0.01 {
				t.Errorf("%v: a budget of %v took %v", k, budget, took)
			}
			if off < -0.05 {
				under[budget]++
			}
			if s := run.Saturation; s != nil {
				widths[budget] = append(widths[budget], (s.High.Value()-s.Low.Value())/2/s.Rate.Value())
				if s.Low.Value() <= k.truth && k.truth <= s.High.Value() {
					held[budget]++
				}
			}
			mu.Unlock()
		}
	})
	for _, budget := range slices.Sorted(maps.Keys(widths)) {
		w := widths[budget]
		slices.Sort(w)
		t.Logf("%v: %d of %d with an answer, known to %.1f %% (median; p90 %.1f %%); the interval holds the capacity in %d; more than 5 %% left over in %d",
			budget, len(w), len(all), stats.Quantile(w, 0.5)*100, stats.Quantile(w, 0.9)*100, held[budget], under[budget])
		simtest.Claim(t, fmt.Sprintf("a sweep with a budget of %v keeps to it", budget), "never more than 1 % over",
			"%d of %d with an answer, known to %.1f %% (median); its interval holds the capacity in %d", len(w), len(all),
			stats.Quantile(w, 0.5)*100, held[budget])
	}
}
