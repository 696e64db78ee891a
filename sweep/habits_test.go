package sweep

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"llmsweep/client/sim"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/stats"
)

// simulated is a random simulated server, which is swept with lengths of its own.
type simulated struct{ *simtest.Trial }

// config is a sweep of the server.
func (k simulated) config(d load.Doer, runSeed uint64) Config {
	c := experimentWith(d, nil)
	c.Seed = runSeed
	c.Sources = func(stage string) load.Source {
		return simtest.Varied{Fixed: k.Work, Spread: k.Spread, Rng: stats.Rand(runSeed, "lengths", stage)}
	}
	return c
}

// stage measures one stage.
func (k simulated) stage(t *testing.T, seed uint64,
	plan func(*experiment.Experiment) experiment.Stage) (st rundir.Stage) {
	t.Helper()
	simtest.Beside(t, k.Server, func(t *testing.T, d load.Doer) { st = oneStage(t, k.config(d, seed), plan) })
	return st
}

// completes is what the server completes per second in long runs in which far more arrive than it takes: the mean of
// several, since equal lengths keep the rhythm in which a run began.
func (k simulated) completes(t *testing.T, runs uint64, waves time.Duration) (rate float64) {
	capacity := k.Work.Capacity(k.Server)
	for seed := range runs {
		one := *k.Trial
		one.Server.Seed += seed
		rate += simulated{&one}.stage(t, 1000+seed, func(x *experiment.Experiment) experiment.Stage {
			s := x.Poisson(1.5*capacity.RequestsPerSecond, rundir.Probe)
			s.MinTime, s.MaxTime, s.Tail = waves*capacity.Latency, waves*capacity.Latency, 0
			return s
		}).Progress.Rate.Value() / float64(runs)
	}
	return rate
}

// sustains returns between which rates the truth about a server with a habit lies; 0 where it has none, because
// connections that it drops count as failures.
func (k simulated) sustains(t *testing.T, habit string) (low, high float64) {
	bare := *k.Trial
	bare.Server.Habits = sim.Habits{}
	capacity := 0.0
	switch habit {
	case "drops":
		return 0, 0
	case "sheds": // with few slots and places to wait it is idle now and then, at any load
		capacity = simulated{&bare}.completes(t, 1, 150)
		return (1 - tolerated) * min(k.completes(t, 1, 60), capacity), capacity
	}
	h := k.Server.Habits
	capacity = simulated{&bare}.completes(t, 1, 150) / (1 - h.Caches)
	if p := h.Pauses; p.Length > 0 {
		capacity *= 1 - p.Length.Seconds()/p.Every.Seconds()
	}
	if l := h.Limits; l.Tokens {
		capacity = min(capacity, l.PerMinute/60/float64(k.Work.Prompt+k.Work.Output))
	} else if l.PerMinute > 0 {
		capacity = min(capacity, l.PerMinute/60)
	}
	return capacity, capacity
}

// simulations runs f for n random servers side by side, with a habit if that is not empty. FAMILYFROM is the first
// seed, FAMILYN how many.
func simulations(t *testing.T, habit string, n int, f func(t *testing.T, k simulated)) {
	first, _ := strconv.ParseUint(os.Getenv("FAMILYFROM"), 10, 64)
	fmt.Sscan(os.Getenv("FAMILYN"), &n)
	t.Run("servers"+habit, func(t *testing.T) {
		for i := range n {
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				t.Parallel()
				k := simtest.Random(first + uint64(i))
				if habit != "" {
					k = simtest.RandomWith(k.Seed, habit)
				}
				f(t, simulated{k})
			})
		}
	})
}

// fewDrawsFactor is by how much the median of n errors may be larger than that of many: of four servers it is chance.
func fewDrawsFactor(n int) float64 { return 1 + 2/math.Sqrt(float64(n)) }

// A sweep names the habit of each simulated server, with evidence, and none on a plain server; and it finds what a
// server sustains. FAMILY lists the habits, "plain" among them.
func TestHabitsAreNamed(t *testing.T) {
	t.Parallel()
	const largestMedian = 0.03 // error of an answer
	names := []string{"sheds", "rate-limited", "pauses", "batches", "caches", "drops", "plain"}
	if only := os.Getenv("FAMILY"); only != "" {
		names = strings.Split(only, ",")
	}
	size := simtest.Evidence(t, 2, 100)
	for _, name := range names {
		habit, n := name, size
		if name == "plain" {
			habit, n = "", 2*n
		}
		o, brackets := &outcome{}, 0
		simulations(t, habit, n, func(t *testing.T, k simulated) {
			run := sweepServer(t, k.Server, nil, func(c *Config) { *c = k.config(c.Doer, k.Seed) })
			low, high := k.sustains(t, habit)
			if high > 0 {
				o.add(k.String(), run.Saturation, low, high, run)
			}
			o.mu.Lock()
			defer o.mu.Unlock()
			if high == 0 {
				o.servers++
			}
			if s := run.Saturation; s != nil && s.HighestStable.Value() <= high && s.LowestSaturated.Or(high) >= low {
				brackets++
			}
			others := slices.DeleteFunc(codes(run.Warnings), func(c string) bool { return !strings.HasPrefix(c, "habit.") })
			if named := slices.Index(others, "habit."+habit); named >= 0 {
				others = slices.Delete(others, named, named+1)
			} else if habit != "" {
				o.unnamed++
				o.lines = append(o.lines, fmt.Sprintf("%v: not named%s", k, rows(run, high)))
			}
			if len(others) > 0 {
				o.other++
				o.lines = append(o.lines, fmt.Sprintf("%v: wrongly %v%s", k, others, rows(run, high)))
			}
		})
		line := fmt.Sprintf("%s named in %d, another habit in %d", o.summary(name), o.servers-o.unnamed, o.other)
		t.Log(strings.Join(append(o.lines, line), "\n"))
		what, wanted := "habit "+name+" is named, and the interval holds what the server sustains",
			fmt.Sprintf("named in 95 %%; interval holds in 93 %%, error median at most %.0f %%", largestMedian*100)
		if habit == "" {
			what, wanted = "no habit is named on plain servers",
				"at most 2 % named; interval holds in 93 %, error median at most 3 %"
			simtest.Claim(t, "the bracket of verdicts holds the capacity", "95 % of plain servers", "%d of %d",
				brackets, o.servers)
		}
		simtest.Claim(t, what, wanted, "%s", line)
		must := habit != "rate-limited" // which is seen as a server that refuses
		if asked := len(o.misses); must && float64(o.unnamed) > simtest.MayFail(o.servers, 0.05) ||
			habit == "" && (float64(o.other) > simtest.MayFail(o.servers, 0.02) ||
				float64(o.servers-brackets) > simtest.MayFail(o.servers, 0.05)) ||
			float64(asked-o.held) > simtest.MayFail(asked, 0.07) || o.servers == 0 ||
			o.answered > 0 && quantile(o.errs, 0.5) > largestMedian*fewDrawsFactor(o.answered) {
			t.Errorf("%s; the bracket holds in %d", line, brackets)
		}
	}
}

// The printed intervals of the mean TTFT and of the p95 latency must hold what a long run shows, as often as they say.
func TestLatencyIntervalsCover(t *testing.T) {
	t.Parallel()
	n := simtest.Evidence(t, 4, 200)
	long := time.Duration(simtest.SampleSize(3, 20)) * time.Minute
	var mu sync.Mutex
	holds, printed := map[string]int{}, map[string]int{}
	simulations(t, "", n, func(t *testing.T, k simulated) {
		capacity := k.completes(t, 1, 150)
		for _, share := range []float64{0.3, 0.6, 0.8, 0.85, 0.95} {
			truth := k.stage(t, k.Seed+1, func(x *experiment.Experiment) experiment.Stage {
				s := x.Poisson(share*capacity, rundir.Grid)
				s.MinTime, s.MaxTime = long, long
				return s
			})
			st := k.stage(t, k.Seed,
				func(x *experiment.Experiment) experiment.Stage { return x.Poisson(share*capacity, rundir.Grid) })
			saturation.DropIntervals(&st, share, 0) // as a sweep does that knows the saturation rate
			check := func(name string, ci [2]float64, ok bool, want rundir.Number) {
				if !ok || !want.Known() {
					return
				}
				mu.Lock()
				defer mu.Unlock()
				if printed[name]++; ci[0] <= want.Value() && want.Value() <= ci[1] {
					holds[name]++
				} else {
					t.Logf("%v: %s at %.0f %%: %v, printed %v", k, name, share*100, want, ci)
				}
			}
			mean, ok := st.TTFT.CI["mean"]
			check("mean TTFT", mean, ok, truth.TTFT.Mean)
			p95, ok := st.Latency.CI["p95"]
			check("p95 latency", p95, ok, truth.Latency.P95)
			for _, requests := range []float64{5, 20, 80} { // as rows of a short sweep
				st := k.stage(t, k.Seed, func(x *experiment.Experiment) experiment.Stage {
					s := x.Poisson(share*capacity, rundir.Grid)
					s.From = rundir.Duration(1.5 * truth.Latency.Mean.Value())
					s.MinTime = s.From + rundir.Duration(requests/(share*capacity))
					s.MaxTime, s.MinRequests = s.MinTime, 1
					return s
				})
				saturation.DropIntervals(&st, share, 0)
				mean, ok := st.TTFT.CI["mean"]
				check("mean TTFT of a short row", mean, ok, truth.TTFT.Mean)
			}
		}
	})
	for _, name := range []string{"mean TTFT", "mean TTFT of a short row", "p95 latency"} {
		held, of := float64(holds[name]), float64(printed[name])
		simtest.Claim(t, "the 95 % interval of the "+name+" holds the value of a long run", "92 % to 98 %",
			"%.1f %% of %.0f intervals", held/of*100, of)
		// Few intervals may all hold.
		if of-held > simtest.MayFail(int(of), 0.08) || simtest.Full() && held/of > 0.98 {
			t.Errorf("%s: a 95 %% interval holds in %.1f %%", name, held/of*100)
		}
	}
}

// follower is told of a sweep as someone who waits for it is.
type follower struct {
	experiment.NoObserver
	began     time.Time
	left      time.Duration   // at most; negative before something is known
	low, high []time.Duration // estimates of the sweep's end, as times since its start
	before    load.Snapshot

	draining, arriving int           // snapshots of a stage that drains while requests end, and those with output
	ended              time.Duration // the longest time for which nothing was said to be left
	zero               time.Time     // since when nothing is
	late, told         int           // snapshots past the planned time of an open window, and those that tell until when
	planned            time.Duration
}

func (f *follower) StageBegins(_ *rundir.Stage, planned time.Duration) {
	f.before, f.planned = load.Snapshot{}, planned
}

func (f *follower) Left(low, high time.Duration) {
	passed := time.Since(f.began)
	f.left, f.low, f.high = high, append(f.low, passed+low), append(f.high, passed+high)
}

func (f *follower) Progress(s load.Snapshot) {
	switch {
	case f.left != 0:
		f.zero = time.Time{}
	case f.zero.IsZero():
		f.zero = time.Now()
	default:
		f.ended = max(f.ended, time.Since(f.zero))
	}
	if s.Phase == load.PhaseDraining && f.before.Phase == load.PhaseDraining && s.Done > f.before.Done {
		f.draining++
		if s.TokensPS > 0 {
			f.arriving++
		}
	}
	if s.Phase == load.PhaseMeasuring && s.Elapsed > f.planned {
		f.late++
		if s.Until >= s.Elapsed-time.Second {
			f.told++
		}
	}
	f.before = s
}

// Who follows a sweep sees output while a stage drains, time left until the end, and until when a stage goes on. The
// estimate of how long it takes, once the throughput is known, holds the truth within a factor of 1.5 of its bounds.
func TestProgress(t *testing.T) {
	t.Parallel()
	const factor = 1.5
	var mu sync.Mutex
	near, n := 0, 0
	simulations(t, "", simtest.SampleSize(1, 100), func(t *testing.T, k simulated) {
		f := follower{left: -1}
		var took time.Duration
		simtest.Beside(t, k.Server, func(t *testing.T, d load.Doer) {
			c := k.config(d, k.Seed)
			f.began, c.Observer = time.Now(), &f
			if err := Sweep(t.Context(), c, &rundir.Run{}); err != nil {
				t.Fatal(err)
			}
			took = time.Since(f.began)
		})
		if f.draining == 0 || f.arriving < f.draining {
			t.Errorf("%d of %d snapshots have an output while requests end in a stage that drains", f.arriving, f.draining)
		}
		if f.ended > 3*time.Second {
			t.Errorf("for %v nothing was left", f.ended)
		}
		const last = 3 // at the tick at which a stage ends, there is nothing to say
		if f.told < f.late-last {
			t.Errorf("%d of %d snapshots past the planned time say until when the stage goes on", f.told, f.late)
		}
		low, high := f.low[len(f.low)/4], f.high[len(f.high)/4]
		mu.Lock()
		defer mu.Unlock()
		if n++; took.Seconds()*factor >= low.Seconds() && took.Seconds() <= factor*high.Seconds() {
			near++
		} else {
			t.Logf("%v: took %v, expected %v to %v", k, took, low, high)
		}
	})
	simtest.Claim(t, "the estimate of a sweep's time, a range, holds the truth",
		"within a factor of 1.5 of its bounds in 90 %", "%d of %d", near, n)
	if float64(n-near) > simtest.MayFail(n, 0.1) {
		t.Errorf("%d of %d estimates hold", near, n)
	}
}
