package choose

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"llmsweep/client/testkit"
	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/slo"
)

// steps is a measured setup: each rate is completed, with a TTFT of 0.1 s at the first, 0.2 s at the next, and so on.
func steps(gpu string, gpus int, rates ...float64) setup.Input {
	run := &rundir.Run{State: rundir.Complete, Client: rundir.Client{Valid: true},
		Labels: rundir.Labels{Model: "m", GPU: gpu, GPUs: gpus, Engine: "e"}}
	for i, r := range rates {
		run.Stages = append(run.Stages, rundir.Stage{
			Name: fmt.Sprintf("poisson@%g", r), Kind: "poisson", Role: rundir.Grid, State: rundir.Complete,
			Rate: rundir.Exactly(r), Rates: rundir.Rates{Completed: rundir.Exactly(r)},
			TokensPerS: rundir.TokenRates{Output: rundir.Exactly(100 * r)},
			TTFT:       rundir.Dist{Mean: rundir.Exactly(0.1 * float64(i+1))}, InterToken: rundir.Exactly(0.01),
			Verdict: rundir.Stable, Window: 60,
		})
	}
	return setup.Input{Path: gpu, Run: run}
}

// A saturated row ends the limit, one whose time is a lower bound ends it where it is not known, and one with too few
// samples for its percentile is passed over where a higher load keeps the promise, and proves nothing where none does.
func TestWhatEndsTheLimit(t *testing.T) {
	unsupported := func(rows ...int) func(*rundir.Run) {
		return func(run *rundir.Run) {
			for i := range run.Stages {
				if d := &run.Stages[i].TTFT; slices.Contains(rows, i) {
					d.Unsupported = []string{"p99"}
				}
			}
		}
	}
	bound := func(run *rundir.Run) { run.Stages[2].TTFT.Mean = rundir.Over(0.25) }
	for _, c := range []struct {
		change            func(*rundir.Run)
		term              string
		rate              float64
		backlog, unjudged bool
	}{
		{func(run *rundir.Run) { run.Stages[2].Verdict = rundir.Saturated }, "ttft:mean<9s", 2, true, false},
		{bound, "ttft:mean<240ms", 2, false, false}, // broken for certain
		{bound, "ttft:mean<9s", 2, false, true},
		{unsupported(0), "ttft:p99<1s", 3, false, false}, {unsupported(2), "ttft:p99<1s", 2, false, true},
		{unsupported(0, 1, 2), "ttft:p99<1s", 0, false, false},
	} {
		in := steps("G", 1, 1, 2, 3)
		for i := range in.Run.Stages {
			in.Run.Stages[i].TTFT.P99 = rundir.Exactly(0.5)
		}
		c.change(in.Run)
		l, refusal := setup.Load([]setup.Input{in})[0].RateLimit(parseTerms(c.term))
		if l.Rate != c.rate || (refusal != nil) != (c.rate == 0) || l.Backlog != c.backlog || l.Unjudged != c.unjudged {
			t.Errorf("%s: %+v, %+v; want %+v", c.term, l, refusal, c)
		}
	}
}

// A limit is never beyond the rows, and never better for a stricter promise.
func TestLimitsStayWithinTheRows(t *testing.T) {
	for _, s := range tables() {
		top, before := 0.0, 0.0
		for _, r := range s.Rows {
			top = max(top, r.Served)
		}
		for ms := 5.0; ms < 20_000; ms *= 1.1 {
			l, refusal := s.RateLimit([]slo.Term{{Metric: slo.ITL, Stat: slo.Mean, Limit: ms / 1e3},
				{Metric: slo.TTFT, Stat: slo.Mean, Limit: 4 * ms / 1e3}})
			if refusal != nil && before > 0 || refusal == nil && (l.Rate > top || l.Rate < before-1e-9) {
				t.Errorf("%s: %v req/s at %v ms, after %v; the rows end at %v", s.Name, l.Rate, ms, before, top)
			}
			before = max(before, l.Rate)
		}
	}
}

// The first costs as much as the other at the prices that are named, and the second is cheaper at the nearest demands
// that are named, against trying all up to ten times as many or as few.
func TestBreakEven(t *testing.T) {
	for _, x := range []struct{ small, price float64 }{{3, 1.1}, {3, 1.3}, {3, 1.5}, {3, 1.8}, {1, 0.8}} {
		setups := setup.Load([]setup.Input{steps("small", 1, 0.5, x.small), steps("large", 2, 1, 10)})
		o := wanted("11rps", fmt.Sprintf("small=1,large=%v", x.price), "ttft:mean<1s")
		o.Headroom = 0
		c := chosen(setups, o)
		a, b, e := &c.Ranked[0], &c.Ranked[1], c.BreakEven
		if math.Abs(e.FirstPrice.Value()*float64(a.GPUs)-b.Hour.Value()) > 1e-9 ||
			math.Abs(e.OtherPrice.Value()*float64(b.GPUs)-a.Hour.Value()) > 1e-9 {
			t.Errorf("%+v", e)
		}
		first := func(d float64) bool {
			cost := func(k *Candidate) float64 { return math.Ceil(d/k.Rate-1e-9) * float64(k.Labels.GPUs) * k.Price }
			return cost(a) <= cost(b)
		}
		above, below := 11.0, 11.0
		for above < 110 && first(above) {
			above += 0.001
		}
		for below > 1.1 && first(below) {
			below -= 0.001
		}
		near := func(f rundir.Number, want float64) bool {
			return f.IsZero() && (want >= 110 || want <= 1.1) || math.Abs(f.Value()-want) < 0.01
		}
		if !near(e.Above, above) || !near(e.Below, below) {
			t.Errorf("above %v, below %v; trying all gives %v and %v", e.Above, e.Below, above, below)
		}
	}
}

// The mean that is shown at the rate of the SLO is within the term that limits it.
func TestLatencyShownKeepsTheSLO(t *testing.T) {
	o := Options{Terms: parseTerms("itl:mean<100ms ttft:p95<1s")}
	half := setup.Point{Low: &setup.Row{}, High: &setup.Row{}, Weight: 0.5}
	between := setup.Limit{Ending: setup.Ending{LimitingTerm: &o.Terms[0]}, Point: half}
	for _, c := range []struct {
		metric     string
		mean, want float64
		limit      setup.Limit
	}{
		{slo.ITL, 0.128, 0.1, setup.Limit{}}, {slo.ITL, 0.05, 0.05, setup.Limit{}},
		{slo.ITL, math.NaN(), math.NaN(), setup.Limit{}},
		{slo.TTFT, 2, 2, setup.Limit{}}, // a p95 does not limit the mean
		{slo.ITL, 0.0237, 0.1, between}, {slo.TTFT, 0.3, 0.3, between},
	} {
		if got := o.meanAtLimit(c.metric, rundir.Exactly(c.mean), &c.limit); got != rundir.Exactly(c.want) {
			t.Errorf("%s of %v: %v, want %v", c.metric, c.mean, got, c.want)
		}
	}
}

// Beside a latency far below the limit stands the row that misses it; of two terms that end at one rate the one that is
// missed first is named; and no latency beside a term that ends the load between two rows is below its limit.
func TestWhatEndsItIsSaid(t *testing.T) {
	missed := steps("L20", 1, 1, 2, 3)
	for i, itl := range []float64{0.02, 0.03, 0.09} { // row 3 completes no more than row 2: the limit is not between them
		missed.Run.Stages[i].InterToken = rundir.Exactly(itl)
	}
	missed.Run.Stages[2].Rates.Completed = missed.Run.Stages[1].Rates.Completed
	missed.Run.Stages[2].TTFT.Mean = rundir.Exactly(9)
	for _, c := range []struct {
		itl, shown float64
		by         string
	}{{0.03, 0.03, "ttft:mean, missed at asynchronous@3"}, {0.06, 0.05, "itl:mean"}} {
		missed.Run.Stages[1].InterToken = rundir.Exactly(c.itl)
		k := chosen(setup.Load([]setup.Input{missed}), wanted("1rps", "", "ttft:mean<5s itl:mean<50ms")).Ranked[0]
		if k.LimitedBy != c.by || k.ITL.Value() != c.shown {
			t.Errorf("ITL %v, limited by %s, want %+v", k.ITL, k.LimitedBy, c)
		}
	}
	for _, k := range chosen(tables(), wanted("5rps", "", "ttft:mean<2s itl:mean<150ms")).Ranked {
		shown := map[string]float64{"ttft:mean": k.TTFT.Value() / 2, "itl:mean": k.ITL.Value() / 0.15}[k.LimitedBy]
		if shown != 0 && math.Abs(shown-1) > 1e-9 {
			t.Errorf("%s: %s is %.2f of its limit at the rate that it limits", k.Name, k.LimitedBy, shown)
		}
	}
}

// swept is a sweep with a searched limit. Random arrivals offered less than was planned, and the windows of tokens and
// requests differ: neither changes how long the answers are, which is 32 tokens each.
func swept(path string, limit, low, high float64) setup.Input {
	in := steps("L20", 1, 10, 16, 22)
	in.Path = path
	in.Run.Plan.Kind = rundir.KindSweep
	for i, offered := range []float64{8.1, 14.1, 18.4} {
		s := &in.Run.Stages[i]
		s.Rates = rundir.Rates{Offered: rundir.Exactly(offered), Completed: rundir.Exactly(offered)}
		s.TokensPerS.Output = rundir.Exactly(offered * 35)
		s.OutputTokens = rundir.TokenStats{N: 500, Mean: rundir.Exactly(32)}
	}
	in.Run.SLO = &rundir.SLO{Terms: []string{"ttft:mean<250ms"}, Verdict: "kept", Rate: rundir.Exactly(limit),
		Low: rundir.Exactly(low), High: rundir.Exactly(high), Limiting: "ttft:mean<250ms"}
	return in
}

// What a sweep searched for, for the same terms in any order, is what is chosen by; the limit of other terms is not.
func TestTheLimitIsTheSweeps(t *testing.T) {
	s := plain()[0]
	terms := parseTerms("itl:mean<50ms ttft:mean<200ms")
	own, _ := s.RateLimit(terms)
	run := *s.Run
	run.Plan.Kind, run.Source = "sweep", nil
	run.SLO = &rundir.SLO{Terms: []string{"ttft:mean<200ms", "itl:mean<50ms"}, Rate: rundir.Exactly(own.Rate * 1.03),
		Limiting: "itl:mean<50ms"}
	s.Run = &run
	found, _ := s.RateLimit(terms)
	if found.Rate != own.Rate*1.03 || found.LimitingTerm == nil || found.LimitingTerm.Name() != "itl:mean" ||
		found.Backlog || !found.Output.Known() || found.Point.Weight <= 0 {
		t.Errorf("%+v", found)
	}
	if other, _ := s.RateLimit(terms[:1]); other.Rate == found.Rate {
		t.Error("the limit of other terms was taken")
	}
}

// carrying is a sweep by users whose time to the first token passes 300 ms between two numbers of users.
func carrying(gpu string, gpus, keeps, misses int) setup.Setup {
	run := &rundir.Run{State: rundir.Complete, Labels: rundir.Labels{Model: "m", GPU: gpu, GPUs: gpus},
		Plan: rundir.Plan{Kind: rundir.KindUsers}}
	for _, users := range []int{1, keeps, misses, 2 * misses} {
		p95 := 0.1
		if users >= misses {
			p95 = 0.9
		}
		const n = 2000
		at := func(share float64) rundir.Number { return rundir.Exactly(share * p95) }
		run.Stages = append(run.Stages, rundir.Stage{
			Name: fmt.Sprintf("users@%d", users), Kind: rundir.KindOfUsers, State: rundir.Complete,
			MaxConcurrency: users, Window: 60, Requests: rundir.Requests{Due: n, Sent: n, OK: n},
			Rates:      rundir.Rates{Completed: rundir.Exactly(float64(users) / 2)},
			TokensPerS: rundir.TokenRates{Output: rundir.Exactly(10 * float64(users))},
			TTFT: rundir.Dist{N: n, Neff: rundir.Exactly(n), Mean: at(0.5), Std: at(0.25), P50: at(0.5), P90: at(0.9),
				P95: at(1), P99: at(1.1), Max: at(1.2)},
		})
	}
	return setup.Load([]setup.Input{{Path: gpu, Run: run}})[0]
}

// repeatedRows is a result with three repeats of one row.
func repeatedRows(rates ...float64) setup.Input {
	in := steps("A10", 2, rates...)
	in.Run.Source = &rundir.Source{File: "runs.txt", Line: 1, Format: published.Stress}
	for i := range in.Run.Stages {
		s := &in.Run.Stages[i]
		s.Rate, s.Verdict, s.MaxConcurrency, s.Repeat = rundir.Number{}, rundir.Closed, 30, i+1
		s.Source = &rundir.Source{File: "runs.txt", Line: i + 1}
	}
	return in
}

// unlocated is a sweep whose limit was not found.
func unlocated(verdict rundir.SLOVerdict, low, high float64, broken string) setup.Input {
	in := swept("one", 16, low, high)
	in.Run.SLO.Verdict, in.Run.SLO.BrokenStage, in.Run.SLO.Rate = verdict, broken, rundir.Number{}
	return in
}

// What becomes of configurations that were measured here. The golden file agrees with what is said by hand.
func TestOutcomesOfRuns(t *testing.T) {
	load := func(all ...setup.Input) []setup.Setup { return setup.Load(all) }
	pooled := func(all ...setup.Input) []setup.Setup { return PoolSweeps(setup.Load(all), lang.English) }
	other := swept("two", 24, 23, 26)
	other.Run.Labels.Free = map[string]string{"commit": "b"}
	broken := unlocated("broken", math.NaN(), math.NaN(), "poisson@10")
	two, imported := swept("three", 19, 16, 22), swept("two", 24, 23, 26)
	two.Run.Labels.GPUs, imported.Run.Source = 2, &rundir.Source{File: "results.md"}
	rates := plain()[0]
	labelled := *rates.Run
	labelled.Labels.Model, rates.Run = "m", &labelled
	users := wanted("500users", "A=1,B=3", "ttft:p95<300ms")
	users.AnyWorkload, users.Headroom = true, 0
	of := func(demand string) Options { return wanted(demand, "L20=1.2", "ttft:mean<250ms") }
	repeats, nan := wanted("10rps", "", "ttft:mean<1s"), math.NaN()
	one := swept("one", 17, 15, 19)
	found := ""
	for _, c := range []struct {
		what   string
		setups []setup.Setup
		o      Options
	}{
		// 28.125 / (12 x 0.8) and / (20 x 0.8) replicas, at rows that were offered 14.1 and 18.4
		{"a demand in tokens", load(swept("one", 16, 12, 20)), of("900tok/s")},
		{"the same in requests", load(swept("one", 16, 12, 20)), of("28.125rps")},
		{"not located: the low end counts", load(unlocated("kept", 12, 20, "")), of("20rps")},
		{"not located, missed at a row", load(unlocated("kept", 12, 20, "poisson@22")), of("20rps")},
		{"no answer: rows are judged as in the report", load(unlocated(rundir.Unsure, nan, nan, "poisson@22")), of("20rps")},
		{"between a row that is met and one far above", load(unlocated("broken", nan, nan, "poisson@22")), of("20rps")},
		// (17 x 24 x 19)^(1/3) = 19.79. Deviation of the logarithms 0.1770, t of 2 degrees of freedom 4.303: by exp(0.4397),
		// about 12.8 to 30.6.
		{"several sweeps are one row", pooled(one, other, swept("three", 19, 16, 22)), of("30rps")},
		{"one of them is refused", pooled(one, other, broken), of("30rps")},
		{"another number of GPUs", pooled(one, other, two), of("30rps")},
		{"one of a document", pooled(one, imported, swept("three", 19, 16, 22)), of("30rps")},
		{"two results of one configuration", load(swept("one", 16, 12, 20), swept("two", 10, 9, 11)), of("30rps")},
		{"repeats far apart", load(repeatedRows(14.67, 3.9, 4)), repeats}, // more than 15 %
		{"repeats apart", load(repeatedRows(4.6, 3.9, 4)), repeats},
		{"repeats alike", load(repeatedRows(4.4, 3.9, 4)), repeats},
		{"users", []setup.Setup{carrying("A", 2, 10, 12), carrying("B", 1, 20, 23), rates}, users},
	} {
		found += c.what + "\n"
		for _, choice := range testkit.Must(Of(c.setups, c.o)) {
			for _, k := range choice.Ranked {
				found += fmt.Sprintf("  %s: %.2f req/s (%.2f-%.2f), %.2f users, %d %v replicas, %d GPUs, %.3f a million tokens, ",
					k.Name, k.Rate, k.RateLow.Value(), k.RateHigh.Value(), k.Users.Or(0), k.Replicas, k.ReplicaRange, k.GPUs,
					k.MillionDemand.Value())
				found += fmt.Sprintf("%.2f tokens; %s, %s; above %s\n", k.Answer.Value(), k.Where, k.LimitedBy,
					k.limit.Point.Low.Stage.Name)
				if want := saturation.UserCapacity(k.setup.Run.Stages, c.o.Terms).Users; k.Users.Known() && k.Users != want {
					t.Errorf("%s carries %v users, not %v as its run says", k.Name, k.Users, want)
				}
			}
			for _, r := range choice.Refused {
				found += fmt.Sprintf("  %s: %s\n", r.Name, r.Why)
			}
		}
		for _, line := range strings.Split(strings.TrimSpace(said(c.setups, c.o)), "\n") {
			found += "  " + line + "\n"
		}
	}
	testkit.CheckGolden(t, "measured.txt", []byte(found))
}

// A configuration of which something is not known is not one that misses the demand. One without a number of GPUs is
// not within a number of GPUs.
func TestUnknownIsNotMissed(t *testing.T) {
	o := wanted("3rps", "", "latency:mean<10s")
	o.MaxGPUs = 8
	if text := said(stress(), o); strings.Contains(text, "Fewest") {
		t.Error(text)
	}
	for kind, want := range map[reasonKind]bool{noCount: true, noPrice: true, noUsers: true, noOutput: true,
		missesSLO: false, tooMany: false} {
		if c := (Choice{Refused: []Refusal{{why: reason{kind: kind}}}}); c.Undecided() != want {
			t.Errorf("%s: undecided %v, want %v", kind, !want, want)
		}
	}
}
