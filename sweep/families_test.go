package sweep

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/slo"
	"llmsweep/sweep/stats"
)

// everyday are the servers that are swept in each run of the tests, by their families: those on which a plateau alone
// is wrong by more than 10 %, and a quota.
var everyday = map[string]uint64{"bucket of requests": 0, "credits": 0, "slow one of five": 0, "quota delays": 0}

// steadyFamilies are the families whose latencies at one rate stay what they are, so that an SLO has a rate.
var steadyFamilies = []string{"plain", "unequal replicas", "lognormal", "shortest first", "priorities", "batches",
	"static batches", "slow one balanced"}

// drawServers returns n servers of some families by their names. FAMILY lists the families to run, FAMILYN says how
// many servers of each, and FAMILYFROM from which seed on.
func drawServers(names []string, n int) map[string][]*drawnServer {
	from, all := 0, map[string][]*drawnServer{}
	if list := os.Getenv("FAMILY"); list != "" {
		names = strings.Split(list, ",")
	}
	fmt.Sscan(os.Getenv("FAMILYN"), &n)
	fmt.Sscan(os.Getenv("FAMILYFROM"), &from)
	for _, name := range names {
		for i := range n {
			all[name] = append(all[name], server(name, uint64(from+i)))
		}
	}
	return all
}

// TestFamilies sweeps servers of known truth and compares the answers with it, as [drawn] chooses them. FAMILYBUDGET
// sets a budget, FAMILYROWS shows all runs, and FAMILYDIR keeps them. It prints the rows of
// examples/evidence/families.md.
func TestFamilies(t *testing.T) {
	t.Parallel()
	skipWithRaces(t)
	all := map[string][]*drawnServer{}
	if simtest.Full() || os.Getenv("FAMILYN") != "" {
		var names []string
		for _, f := range families {
			names = append(names, f.name)
		}
		all = drawServers(names, 200)
	} else {
		for name, seed := range everyday {
			all[name] = []*drawnServer{server(name, seed)}
		}
	}
	sweepFamilies(t, all, func(t *testing.T, o *outcome, k *drawnServer) {
		run := k.cachedSweep(t, nil)
		o.add(k.String(), run.Saturation, k.low, k.high, run)
		if k.quota && run.Saturation != nil && run.Saturation.Quota == nil {
			o.unnamed++
		}
	})
}

// TestSLOFamilies sweeps servers with an SLO whose rate is known, to within 1 % by its own chance at full size. The
// environment is that of [TestFamilies].
func TestSLOFamilies(t *testing.T) {
	unsure := math.Sqrt(10 / float64(longRequests()))
	servers := drawServers(steadyFamilies, simtest.Evidence(t, 1, 20))
	all := sweepFamilies(t, servers, func(t *testing.T, o *outcome, k *drawnServer) {
		p, _ := fromCache(t, fmt.Sprintf("%s-%d-promise", k.family, k.seed), func() *promise { return k.promise(t) })
		if p.Term == "" {
			return
		}
		run := k.cachedSweep(t, simtest.Terms(p.Term))
		s := &rundir.Saturation{Rate: run.SLO.Rate, Low: run.SLO.Low, High: run.SLO.High}
		o.add(k.String()+" "+p.Term, s, p.Rate*(1-unsure), p.Rate*(1+unsure), run)
	})
	simtest.Claim(t, "rate up to which an SLO holds, on servers that the rules were not made for",
		"the interval holds it in 93 %", "%s", all.overall())
}

// sweepFamilies sweeps families of servers, prints a row for each and for all, and demands that intervals hold the
// truth.
func sweepFamilies(t *testing.T, all map[string][]*drawnServer,
	sweep func(*testing.T, *outcome, *drawnServer)) *outcome {
	total := &outcome{}
	for _, f := range families {
		o, name, servers := &outcome{}, f.name, all[f.name]
		if len(servers) == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			for _, k := range servers {
				sweep(t, o, k)
			}
			for _, line := range o.lines {
				t.Log(line)
			}
			fmt.Println(o.summary(name))
			// Of thousands of servers some are missed by more: families.md lists them.
			const worst = 0.1
			if few := len(servers) < 100; few && slices.Max(append(o.misses, 0)) > worst ||
				!few && float64(o.held) < 0.85*float64(o.answered) || float64(o.unnamed) > 0.1*float64(o.servers) {
				t.Errorf("%d of %d intervals hold the truth, missed by up to %.0f %%; quotas not named: %d", o.held, o.answered,
					100*slices.Max(append(o.misses, 0)), o.unnamed)
			}
		})
		total.merge(o)
	}
	fmt.Println(total.overall())
	const share, sigmas = 0.85, 1.64 // one chance in twenty
	if n := float64(total.answered); float64(total.held) < share*n-sigmas*math.Sqrt(share*(1-share)*n) {
		t.Errorf("%d of %d intervals hold the truth", total.held, total.answered)
	}
	return total
}

// config returns the configuration of a sweep of the server.
func (k *drawnServer) config(d load.Doer, seed uint64) Config {
	c := experimentWith(d, nil)
	c.Seed = seed
	c.Sources = func(stage string) load.Source { return k.source(seed, stage) }
	return c
}

// sweep sweeps the server in virtual time.
func (k *drawnServer) sweep(t *testing.T, change func(*Config)) *rundir.Run {
	t.Helper()
	run := &rundir.Run{Workload: rundir.Workload{Forced: k.natural == 0}}
	synctest.Test(t, func(t *testing.T) {
		d, end := k.start()
		defer end()
		c := k.config(d, k.seed)
		change(&c)
		if err := Sweep(t.Context(), c, run); err != nil {
			t.Error(err)
		}
	})
	return run
}

// cachedSweep sweeps the server, with an SLO where terms are given. A run that was kept is judged again and not swept
// again, so that a rule can be judged with and without it by the same runs.
func (k *drawnServer) cachedSweep(t *testing.T, terms []slo.Term) *rundir.Run {
	name := fmt.Sprintf("%s-%d", k.family, k.seed)
	if len(terms) > 0 {
		name += "-slo"
	}
	run, old := fromCache(t, name, func() *rundir.Run {
		return k.sweep(t, func(c *Config) {
			c.SLO = terms
			if b, err := time.ParseDuration(os.Getenv("FAMILYBUDGET")); err == nil {
				c.Budget = b
			}
		})
	})
	if old {
		saturation.WriteAnswer(run, terms)
	}
	return run
}

// fromCache returns what a file of the directory FAMILYDIR holds, or else what is made, which is kept there. old
// reports whether it was there.
func fromCache[T any](t *testing.T, name string, made func() *T) (v *T, old bool) {
	dir := os.Getenv("FAMILYDIR")
	if dir == "" {
		return made(), false
	}
	path, v := filepath.Join(dir, name+".json"), new(T)
	if text, err := os.ReadFile(path); err == nil {
		if err := json.Unmarshal(text, v); err != nil {
			t.Fatal(err)
		}
		return v, true
	}
	v = made()
	text, err := json.Marshal(v)
	if err == nil {
		err = os.WriteFile(path, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v, false
}

// promise is a term, and the rate up to which a server keeps it.
type promise struct {
	Term string
	Rate float64
}

// promise returns a term whose rate is known: its limit is what a long stage at that rate shows. Where the metric
// hardly grows with the rate, no measurement tells where it passes a limit, a long one neither: such rates are not
// taken. Its term is empty where none of several was taken.
func (k *drawnServer) promise(t *testing.T) *promise {
	const tries, nearer, grows = 6, 0.95, 1 // share of the rate; least ratio of the metric's growth to the rate's
	rng := rand.New(rand.NewPCG(k.seed, 23))
	term := simtest.Terms([]string{"ttft:p95", "latency:p90", "ttft:p99"}[k.seed%3] + "<1s")[0]
	for range tries {
		rate := (0.6 + 0.32*rng.Float64()) * k.low
		at, before := k.longStage(t, rate), k.longStage(t, nearer*rate)
		limit, _ := term.Of(at)
		less, _ := term.Of(before)
		if math.Log(limit.Value()/less.Value()) > -grows*math.Log(nearer) {
			term.Limit = limit.Value()
			return &promise{term.String(), slo.Offered(at)}
		}
	}
	return &promise{}
}

// longRequests is the length of a stage that tells the truth.
func longRequests() int { return simtest.SampleSize(10_000, 100_000) }

// longStage measures one long stage at a rate.
func (k *drawnServer) longStage(t *testing.T, rate float64) (st *rundir.Stage) {
	requests := float64(longRequests())
	synctest.Test(t, func(t *testing.T) {
		d, end := k.start()
		defer end()
		c := k.config(d, k.seed+1_000_000)
		c.StageTime = rundir.Duration(requests / rate)
		one := oneStage(t, c, func(x *experiment.Experiment) experiment.Stage {
			s := x.Poisson(rate, rundir.Probe)
			s.MaxTime, s.Tail = s.MinTime, time.Minute
			return s
		})
		st = &one
	})
	return st
}

// outcome is what sweeps of servers of known truth showed.
type outcome struct {
	mu                            sync.Mutex
	servers, answered, held, wide int // wide: not located, between bounds that hold the truth
	unnamed, other                int // a habit that was not named, and one that the server does not have
	errs, widths, misses, minutes []float64
	lines                         []string
}

// add compares an answer with a truth between bounds, and returns the line that is shown where it is wrong.
func (o *outcome) add(name string, s *rundir.Saturation, low, high float64, run *rundir.Run) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.servers++
	if n := len(run.Stages); n > 0 {
		o.minutes = append(o.minutes, run.Stages[n-1].EndsAt().Minutes())
	}
	if s == nil {
		s = &rundir.Saturation{}
	}
	lowest, highest := s.Low.Or(0), s.High.Or(math.Inf(1))
	if s.Rate.Bound() {
		lowest = s.Rate.Value()
	}
	miss := max(0, lowest/high-1, 1-highest/low)
	o.misses = append(o.misses, miss)
	if s.Rate.Known() {
		rate := s.Rate.Value()
		o.answered++
		o.errs = append(o.errs, math.Abs(rate/min(max(rate, low), high)-1))
		o.widths = append(o.widths, (highest-lowest)/2/rate)
		if miss == 0 {
			o.held++
		}
	} else if miss == 0 {
		o.wide++
	}
	if miss > 0 || os.Getenv("FAMILYROWS") != "" {
		o.lines = append(o.lines, fmt.Sprintf("%s: truth %.2f-%.2f, found %v (%v-%v), stable %v, saturated %v, %s%s", name,
			low, high, s.Rate, s.Low, s.High, s.HighestStable, s.LowestSaturated, s.Reason.Code, rows(run, high)))
	}
}

// rows are the stages near the edge, as shares of the capacity.
func rows(run *rundir.Run, truth float64) string {
	line := ""
	for i := range run.Stages {
		st := &run.Stages[i]
		if p := st.Progress; p.Rate.Value() > 0.85*truth || st.Rate.Value() > 0.85*truth {
			line += fmt.Sprintf("\n    %s %.3f: %.3f (%.3f-%.3f) %s drift %+v refused %v, %+v, %.0f s of %.0f", st.Kind,
				st.Rate.Value()/truth, p.Rate.Value()/truth, p.Low.Value()/truth, p.High.Value()/truth, st.Verdict, st.Drift,
				st.Refused, st.Traits, st.Window, st.Elapsed)
		}
	}
	return line
}

// merge adds the medians of a family.
func (o *outcome) merge(f *outcome) {
	o.servers, o.answered, o.held, o.wide = o.servers+f.servers, o.answered+f.answered, o.held+f.held, o.wide+f.wide
	if f.answered > 0 {
		o.errs, o.widths = append(o.errs, quantile(f.errs, 0.5)), append(o.widths, quantile(f.widths, 0.5))
	}
	o.minutes = append(o.minutes, quantile(f.minutes, 0.5))
	o.misses = append(o.misses, quantile(f.misses, 1))
}

// summary returns a row: servers, answers, intervals that hold the truth, bounds without an answer that do, median
// error and half-width, the worst miss, and minutes of a sweep.
func (o *outcome) summary(name string) string {
	return fmt.Sprintf("| %-18s | %3d | %3d | %3d | %3d | %4.1f %% | %4.1f %% | %4.1f %% | %2.0f |", name, o.servers,
		o.answered, o.held, o.wide, quantile(o.errs, 0.5)*100, quantile(o.widths, 0.5)*100, quantile(o.misses, 1)*100,
		quantile(o.minutes, 0.5))
}

// overall returns the cells of a row of all families, which examples/evidence/ablate reads: intervals that hold the
// truth, bounds without an answer that do, means of the families' medians, and the worst miss.
func (o *outcome) overall() string {
	return fmt.Sprintf("all | %d of %d | %d | %.2f %% | %.1f %% | %.1f %% | %.1f |", o.held, o.answered, o.wide,
		stats.Mean(o.errs)*100, stats.Mean(o.widths)*100, quantile(o.misses, 1)*100, stats.Mean(o.minutes))
}

// quantile returns a quantile of values; NaN for none.
func quantile(v []float64, p float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	return stats.Quantile(slices.Sorted(slices.Values(v)), p)
}

// Models that run alone sustain what was computed of them: below the truth their backlog does not grow, above it does.
// Pareto's varies too much to see that, and requests that are refused, or whose lengths vary, leave none.
func TestTruths(t *testing.T) {
	simtest.Evidence(t, 1, 1)
	for _, f := range families {
		if slices.Contains([]string{"pareto", "stubs", "shortens", "wide", "natural lengths", "thousand slots"}, f.name) ||
			strings.Contains(f.name, "refuses") || f.name == "sliding quota" {
			continue
		}
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			k := server(f.name, 3)
			left := func(rate float64) float64 {
				rng, seconds := rand.New(rand.NewPCG(3, 11)), 60_000/rate
				if k.steps != nil {
					return float64(newStepper(k.steps, 3).alone(rate, seconds, rng))
				}
				return float64(k.model(3).alone(rate, seconds, rng))
			}
			if below, above := left(0.95*k.low), left(1.1*k.high); above < 4*below+600 {
				t.Errorf("%v: %.0f are left below the truth, and %.0f above it", k, below, above)
			}
		})
	}
}
