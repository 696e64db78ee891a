package sweep

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/slo"
	"llmsweep/sweep/stats"
)

// shortTrial is a random server whose requests are short enough to be simulated for hours.
func shortTrial(seed uint64) *trial {
	for ; ; seed += 1000 {
		if k := (&trial{Trial: simtest.Random(seed)}); k.Work.Output <= 32 && k.Work.Capacity(k.Server).RequestsPerSecond < 40 {
			return k
		}
	}
}

// long is one stage of a number of requests, whatever its verdict.
func (k *trial) long(t *testing.T, rate, requests float64, seed uint64) *rundir.Stage {
	var st rundir.Stage
	simtest.Beside(t, k.Server, func(t *testing.T, d load.Doer) {
		c := k.config(d, seed)
		c.StageTime = rundir.Duration(requests / rate)
		st = oneStage(t, c, func(x *experiment.Experiment) experiment.Stage {
			s := x.Poisson(rate, rundir.Probe)
			s.MaxTime, s.Tail = s.MinTime, time.Minute
			return s
		})
	})
	return &st
}

// bruteForce is the rate at which the first of the terms breaks, with its own relative standard error: for each term a straight line through
// the logarithm of its metric in long stages on a fine grid of rates.
func bruteForce(fine []*rundir.Stage, terms []slo.Term) (lowest, noise float64) {
	lowest = math.Inf(1)
	for _, term := range terms {
		var x, y []float64
		for _, st := range fine {
			f, _ := term.Of(st)
			x, y = append(x, st.Rate.Value()), append(y, math.Log(f.Value()/term.Limit))
		}
		var sxx, sxy float64
		for i := range x {
			sxx += math.Pow(x[i]-stats.Mean(x), 2)
			sxy += (x[i] - stats.Mean(x)) * y[i]
		}
		slope, mean := sxy/sxx, stats.Mean(x)
		root := mean - stats.Mean(y)/slope
		if root >= lowest {
			continue
		}
		off := 0.0 // squared, of the points from the line
		for i := range x {
			off += math.Pow(y[i]-stats.Mean(y)-slope*(x[i]-mean), 2)
		}
		n := float64(len(x))
		lowest, noise = root, math.Sqrt(off/(n-2)*(1/n+math.Pow(root-mean, 2)/sxx))/math.Abs(slope)/root
	}
	return lowest, noise
}

// sloCase is a server, what is promised of it, and the rate up to which that holds.
type sloCase struct {
	*trial
	terms []slo.Term
	truth float64
	noise float64 // of the truth: its relative standard error
}

// limits gives terms limits that are reached somewhere on a coarse grid of long stages. Where a metric hardly grows with the
// rate, no measurement tells where it passes a limit, a long one neither: such places are left out.
func limits(t *testing.T, rng *rand.Rand, names []string, coarse []*rundir.Stage) []slo.Term {
	var terms []slo.Term
	at := 0
	for i, name := range names {
		term, err := slo.Parse(name + "<1s")
		if err != nil {
			t.Fatal(err)
		}
		growth := func(at int) float64 {
			a, _ := term.Of(coarse[at])
			b, _ := term.Of(coarse[at+1])
			return b.Value() / a.Value() / (coarse[at+1].Rate.Value() / coarse[at].Rate.Value())
		}
		for tries := 0; i == 0 && (tries == 0 || growth(at) < 1 && tries < 50); tries++ {
			at = 1 + rng.IntN(len(coarse)-2)
		}
		a, _ := term.Of(coarse[at])
		b, _ := term.Of(coarse[at+1])
		term.Limit = a.Value() * math.Pow(b.Value()/a.Value(), 0.25+0.5*rng.Float64())
		terms = append(terms, term)
	}
	return terms
}

// sloCases are a server's, with brute force done in stages of a number of requests; p99 takes twice as many.
func sloCases(t *testing.T, k *trial, sets [][]string, requests, fine float64) []sloCase {
	rng := rand.New(rand.NewPCG(k.Seed, 17))
	capacity := k.Work.Capacity(k.Server).RequestsPerSecond
	var coarse []*rundir.Stage
	for share := 0.3; share < 0.98; share += 0.05 {
		coarse = append(coarse, k.long(t, share*capacity, requests, 100))
	}
	var cases []sloCase
	for _, names := range sets {
		c := sloCase{trial: k, terms: limits(t, rng, names, coarse)}
		size := fine
		if slices.Contains(names, "ttft:p99") {
			size *= 2
		}
		centre := bracketed(slo.Highest(coarse, nil, c.terms))
		for pass, grid := range [][]float64{{0.94, 0.97, 1, 1.03, 1.06}, {0.96, 0.97, 0.98, 0.99, 1, 1.01, 1.02, 1.03, 1.04}} {
			var stages []*rundir.Stage
			for i, f := range grid {
				stages = append(stages, k.long(t, f*centre, []float64{requests, size}[pass], uint64(200*(pass+1)+i)))
			}
			if pass == 0 {
				centre = bracketed(slo.Highest(append(slices.Clone(coarse), stages...), nil, c.terms))
			}
			c.truth, c.noise = bruteForce(stages, c.terms)
		}
		const known = 0.01                                                          // what the truth is to be known to, in full runs, where an error of 3 % counts
		if math.Abs(c.truth/centre-1) > 0.06 || simtest.Full() && c.noise > known { // the metric hardly grows there: brute force cannot tell either
			t.Logf("%v: %v: brute force has no answer about %.3f req/s", k, c.terms, centre)
			continue
		}
		cases = append(cases, c)
	}
	return cases
}

// bracketed is a rate to look about.
func bracketed(s *rundir.SLO) float64 {
	if s.Rate.Known() {
		return s.Rate.Value()
	}
	return (s.Low.Value() + s.High.Value()) / 2
}

// search sweeps with the case's SLO.
func (c sloCase) search(t *testing.T) *rundir.Run {
	run := &rundir.Run{}
	simtest.Beside(t, c.Server, func(t *testing.T, d load.Doer) {
		config := c.config(d, c.Seed)
		config.SLO = c.terms
		if err := Sweep(t.Context(), config, run); err != nil {
			t.Fatal(err)
		}
	})
	return run
}

// The rate up to which an SLO holds must be found about where long stages on a fine grid have it.
func TestSLOSearchAgreesWithBruteForce(t *testing.T) {
	t.Parallel()
	sets, requests, fine := [][]string{{"ttft:p95", "tpot:p50"}}, 2000.0, 2000.0
	if simtest.Full() {
		requests, fine = 6000, 30000
		sets = [][]string{{"latency:p90"}, sets[0], {"ttft:p99"}, {"itl:p95"}}
	}
	var errs, noises, widths, costs []float64
	cases, inside, near := 0, 0, 0
	for _, of := range habitTrials(t, "", simtest.SampleSize(1, 8)) {
		for _, c := range sloCases(t, shortTrial(of.Seed), sets, requests, fine) {
			run := c.search(t)
			s, extra, minutes := run.SLO, 0, 0.0
			for _, st := range run.Stages {
				minutes += st.Elapsed / 60
				if st.Role == rundir.Probe {
					extra++
				}
			}
			cases++
			off := math.Abs(s.Rate.Value()/c.truth - 1)
			noises, costs = append(noises, c.noise), append(costs, minutes)
			if s.Rate.Known() {
				errs, widths = append(errs, off), append(widths, (s.High.Value()-s.Low.Value())/2/s.Rate.Value())
			}
			if off <= 0.03 {
				near++
			}
			if own := stats.Z95 * c.noise; s.Low.Value() <= c.truth*(1+own) && c.truth*(1-own) <= s.High.Value() { // brute force's own error
				inside++
			}
			t.Logf("%v: %v: brute force %.3f req/s +-%.1f %% (%.0f %% of capacity), found %.3f (%.3f-%.3f), %.1f %% off, ended by %s; %d stages beside the grid, %.0f min", c.trial,
				c.terms, c.truth, 100*c.noise, 100*c.truth/c.Work.Capacity(c.Server).RequestsPerSecond, s.Rate.Value(), s.Low.Value(), s.High.Value(), off*100, s.Limiting, extra, minutes)
			t.Logf("so far: %d cases, %d answered, %d within 3 %%, the interval holds brute force's in %d", cases, len(errs), near, inside)
			if g := s.Goodput; s.Rate.Known() && !(g.Value() > 0 && g.Value() <= s.Rate.Value()*1.001) {
				t.Errorf("goodput %v at %v req/s", g.Value(), s.Rate.Value())
			}
		}
	}
	slices.Sort(errs)
	slices.Sort(widths)
	slices.Sort(costs)
	n := len(errs)
	t.Logf("%d cases, %d answered: median %.1f %% off, 90th percentile %.1f %%, worst %.1f %%; %d of them are within 3 %%; the interval holds brute force's in %d", cases, n, 100*stats.Quantile(errs, 0.5),
		100*stats.Quantile(errs, 0.9), 100*errs[n-1], near, inside)
	simtest.Claim(t, "error of the rate up to which an SLO holds, against long stages on a fine grid", "28 of 30 within 3 %; the interval holds it in 93 %",
		"%d of %d answered, %d within 3 %%; %d of %d inside; error median %.1f %%, worst %.1f %%; half-width median %.1f %%; a sweep with it takes %.0f min, median", n, cases, near,
		inside, cases, 100*stats.Quantile(errs, 0.5), 100*errs[n-1], 100*stats.Quantile(widths, 0.5), stats.Quantile(costs, 0.5))
	const goal = 0.03
	slices.Sort(noises)
	median := goal + stats.Z95*stats.Quantile(noises, 0.5) // brute force is off as well, by more in everyday runs with their short stages
	const few = 10                                         // cases have no median to speak of
	if n < cases*9/10 || cases >= few && stats.Quantile(errs, 0.5) > median || stats.Quantile(errs, 0.85) > 0.05+median {
		t.Error("the search is off")
	}
	const most = 0.9 // of 30 cases, 27: the goal is 28, and the truth is itself off by up to 1 %
	if simtest.Full() && (float64(near) < most*float64(cases) || float64(inside) < most*float64(cases)) {
		t.Errorf("of %d, %d are within 3 %% and the interval holds %d", cases, near, inside)
	}
}

// The search for the rate that meets an SLO ends after the time that is set, here 20 minutes, or 5 minutes after the rest, with an interval; a precision that was asked
// for takes longer.
func TestTheSearchForAnSLOEnds(t *testing.T) {
	t.Parallel()
	k := shortTrial(3)
	search := func(until time.Duration) (minutes, rest float64, run *rundir.Run) {
		run = &rundir.Run{}
		simtest.Beside(t, k.Server, func(t *testing.T, d load.Doer) {
			c := k.config(d, 1)
			c.SLOUntil, c.Precision = until, 0.01
			term, err := slo.Parse("latency:p90<" + (2 * k.Work.Capacity(k.Server).Latency).String())
			if err != nil {
				t.Fatal(err)
			}
			c.SLO = []slo.Term{term}
			if err := Sweep(t.Context(), c, run); err != nil {
				t.Fatal(err)
			}
		})
		for _, st := range run.Stages {
			if minutes = (st.Started + st.Elapsed) / 60; st.Role == rundir.Grid || st.Role == rundir.Hold {
				rest = minutes
			}
		}
		return minutes, rest, run
	}
	const controls = 1.5
	minutes, rest, run := search(20 * time.Minute)
	long, _, _ := search(0)
	t.Logf("%.1f min, %.1f of them before the search; %.1f min without an end; %v (%v-%v)", minutes, rest, long, run.SLO.Rate, run.SLO.Low, run.SLO.High)
	if minutes > max(20, rest+5)+controls || long < minutes+5 || !run.SLO.Low.Known() || !run.SLO.High.Known() {
		t.Errorf("%.1f min, %.1f of them before the search; %.1f min without an end; %+v", minutes, rest, long, run.SLO)
	}
}
