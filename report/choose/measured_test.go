package choose

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

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
	between := setup.Limit{LimitingTerm: &o.Terms[0], Point: half}
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

func sweptOptions(demand string) Options { return wanted(demand, "L20=1.2", "ttft:mean<250ms") }

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

// A demand in tokens and the same demand in requests take the same number of replicas, at the same price a token.
func TestAnswersAreAsLongAsMeasured(t *testing.T) {
	setups := setup.Load([]setup.Input{swept("one", 16, 12, 20)})
	tokens := chosen(setups, sweptOptions("900tok/s")).Ranked[0]
	requests := chosen(setups, sweptOptions("28.125rps")).Ranked[0]
	if tokens.Replicas != requests.Replicas || tokens.MillionDemand != requests.MillionDemand ||
		math.Abs(tokens.Answer.Value()-32) > 0.01 {
		t.Errorf("%+v\n%+v", tokens, requests)
	}
	// Between the rows that were offered 14.1 and 18.4, not between those planned with 10 and 16; 28.125 / (12 x 0.8) and
	// / (20 x 0.8).
	if low := tokens.limit.Point.Low.Stage.Name; low != "poisson@16" || requests.ReplicaRange != [2]int{2, 3} {
		t.Errorf("it rests on %s; replicas %v", low, requests.ReplicaRange)
	}
}

// A limit that a sweep did not locate is counted on with its low end; one between a row that keeps the terms and one
// that misses them, as its report says, is not known.
func TestLimitsThatAreNotLocated(t *testing.T) {
	for _, c := range []struct {
		verdict       rundir.SLOVerdict
		rate          float64
		broken, limit string
	}{
		{"kept", 12, "", "12 req/s, [2 3] replicas: " + endUnknown.In(lang.English, "ttft:mean")},
		{"kept", 12, "poisson@22", "12 req/s, [2 3] replicas: " + endMissed.In(lang.English, "ttft:mean", "asynchronous@22")},
		{rundir.Unsure, 0, "poisson@22",
			"ttft:mean<250ms: met at asynchronous@16, missed at asynchronous@22 (300ms), unknown between"},
		{"broken", 0, "poisson@22",
			"ttft:mean<250ms: met at asynchronous@16, missed at asynchronous@22 (300ms), unknown between"},
	} {
		in := swept("one", 16, 12, 20)
		s := in.Run.SLO
		s.Verdict, s.BrokenStage, s.Rate = c.verdict, c.broken, rundir.Number{}
		if c.rate == 0 {
			s.Low, s.High = rundir.Number{}, rundir.Number{}
		}
		got, choice := "", chosen(setup.Load([]setup.Input{in}), sweptOptions("20rps"))
		for _, k := range choice.Ranked {
			got = fmt.Sprintf("%v req/s, %v replicas: %s", k.Rate, k.ReplicaRange, k.LimitedBy)
		}
		for _, r := range choice.Refused {
			got = r.Why
		}
		if got != c.limit {
			t.Errorf("%s, %s: %q, want %q", c.verdict, c.broken, got, c.limit)
		}
	}
}

// Several sweeps of one configuration are one row: its rate is their geometric mean, its interval has the spread
// between them, and it is refused where one of them is. Other configurations, and other numbers of GPUs, stay apart; so
// do results of documents. Without that, several results of one configuration are named as such.
func TestSweepsOfOneConfigurationAreOneRow(t *testing.T) {
	runs := []setup.Input{swept("one", 17, 15, 19), swept("two", 24, 23, 26), swept("three", 19, 16, 22)}
	runs[1].Run.Labels.Free = map[string]string{"commit": "b"}
	k := chosen(PoolSweeps(setup.Load(runs), lang.English), sweptOptions("30rps")).Ranked[0]
	// (17 x 24 x 19)^(1/3)
	if k.Runs != 3 || k.Name != "m, 1 x L20, e (3 sweeps)" || k.Where != "one, two, three" ||
		math.Abs(k.Rate-19.79) > 0.01 {
		t.Errorf("%+v", k)
	}
	// Deviation of the logarithms 0.1770, t of 2 degrees of freedom 4.303: 19.79 by exp(0.4397)
	if low, high := k.RateLow.Value(), k.RateHigh.Value(); math.Abs(low-12.75) > 0.05 || math.Abs(high-30.7) > 0.1 ||
		k.ReplicaRange[0] >= k.ReplicaRange[1] {
		t.Errorf("%v-%v, %v replicas", low, high, k.ReplicaRange)
	}
	runs[2].Run.SLO = &rundir.SLO{Terms: []string{"ttft:mean<250ms"}, Verdict: "broken", Limiting: "ttft:mean<250ms",
		BrokenStage: "poisson@10"}
	pooled := chosen(PoolSweeps(setup.Load(runs), lang.English), sweptOptions("30rps"))
	if len(pooled.Ranked) != 0 || len(pooled.Refused) != 1 {
		t.Errorf("%+v", pooled.Ranked)
	}
	runs[2] = swept("three", 19, 16, 22)
	runs[2].Run.Labels.GPUs = 2
	if n := len(PoolSweeps(setup.Load(runs), lang.English)); n != 2 {
		t.Errorf("%d configurations", n)
	}
	runs[1].Run.Source = &rundir.Source{File: "results.md"}
	if n := len(PoolSweeps(setup.Load(runs), lang.English)); n != 3 {
		t.Errorf("%d configurations with one of a document", n)
	}
	text := said(setup.Load([]setup.Input{swept("one", 16, 12, 20), swept("two", 10, 9, 11)}), sweptOptions("30rps"))
	if !strings.Contains(text, legendRepeated.In(lang.English, "m, 1 x L20, e")) {
		t.Error(text)
	}
}

// The range of repeats is said where they differ by more than 15 %, and the lowest of them counts.
func TestTheRangeOfRepeatsIsSaid(t *testing.T) {
	for highest, want := range map[float64]string{
		14.67: "3 repeats completed 3.90-14.67 req/s; the worst counts.",
		4.6:   "3 repeats completed 3.90-4.60 req/s", 4.4: "",
	} {
		in := steps("A10", 2, highest, 3.9, 4)
		in.Run.Source = &rundir.Source{File: "runs.txt", Line: 1, Format: published.Stress}
		for i := range in.Run.Stages {
			s := &in.Run.Stages[i]
			s.Rate, s.Verdict, s.MaxConcurrency, s.Repeat = rundir.Number{}, rundir.Closed, 30, i+1
			s.Source = &rundir.Source{File: "runs.txt", Line: i + 1}
		}
		setups, o := setup.Load([]setup.Input{in}), wanted("10rps", "", "ttft:mean<1s")
		if text := said(setups, o); !strings.Contains(text, want) || strings.Contains(text, "repeats") != (highest > 4.5) {
			t.Errorf("%v: %s", highest, text)
		}
		if got := chosen(setups, o).Ranked[0].Rate; got != 3.9 {
			t.Errorf("%v req/s", got)
		}
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

// A demand in users is met by as many replicas as carry it, and GPUs are counted and paid as for a rate. What was not
// measured by users is refused.
func TestADemandInUsers(t *testing.T) {
	rates := plain()[0]
	labelled := *rates.Run
	labelled.Labels.Model, rates.Run = "m", &labelled
	o := wanted("500users", "A=1,B=3", "ttft:p95<300ms")
	o.AnyWorkload, o.Headroom = true, 0
	c := chosen([]setup.Setup{carrying("A", 2, 10, 12), carrying("B", 1, 20, 23), rates}, o)
	if len(c.Ranked) != 2 || len(c.Refused) != 1 || !strings.Contains(c.Refused[0].Why, "--by users") {
		t.Fatalf("ranked %+v, refused %+v", c.Ranked, c.Refused)
	}
	for _, k := range c.Ranked {
		users := k.Users.Value()
		if want := saturation.Carried(k.setup.Run.Stages, o.Terms).Users; users != want.Value() {
			t.Errorf("%s carries %v users, not %v as its run says", k.Labels.GPU, users, want)
		}
		replicas := int((500 + users - 1) / users)
		million := k.Hour.Value() / (500 * 10 * 3600) * 1e6
		if k.Replicas != replicas || k.GPUs != replicas*k.Labels.GPUs || math.Abs(k.MillionDemand.Value()/million-1) > 0.01 {
			t.Errorf("%s: %d replicas and %d GPUs for 500 users at %v each; a million tokens cost %v, not %v", k.Labels.GPU,
				k.Replicas, k.GPUs, users, k.MillionDemand, million)
		}
	}
	for l, want := range map[lang.Lang]string{lang.English: "500 users", lang.Chinese: "500 个用户"} {
		if said := strings.Join(lang.In(c.Sections(1)[0].Lines, l), "\n"); !strings.Contains(said, want) {
			t.Errorf("%v: no %q in\n%s", l, want, said)
		}
	}
}

// A configuration of which something is not known is not one that misses the demand.
func TestUnknownIsNotMissed(t *testing.T) {
	for kind, want := range map[reasonKind]bool{noCount: true, noPrice: true, noUsers: true, noOutput: true,
		missesSLO: false, tooMany: false} {
		if c := (Choice{Refused: []Refusal{{why: reason{kind: kind}}}}); c.Undecided() != want {
			t.Errorf("%s: undecided %v, want %v", kind, !want, want)
		}
	}
}
