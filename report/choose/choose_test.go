package choose

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"llmsweep/client/testkit"
	"llmsweep/report"
	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// tables are the setups of the published document with that model.
func tables(t *testing.T, model string) []setup.Setup {
	t.Helper()
	f, err := os.Open("../published/testdata/guidellm-tables.md")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := published.ParseText("tables.md", f)
	if err != nil {
		t.Fatal(err)
	}
	var all []setup.Input
	for i := range doc.Runs {
		all = append(all, setup.Input{Path: "tables.md", Run: &doc.Runs[i]})
	}
	var some []setup.Setup
	for _, s := range setup.Load(all) {
		if (LabelFilter{"model", model}).Matches(s.Run.Labels) {
			some = append(some, s)
		}
	}
	return some
}

func wanted(t *testing.T, demand, prices string, terms ...string) Options {
	t.Helper()
	o := Options{Headroom: 0.2}
	var err error
	if o.Terms, err = slo.ParseAll(terms); err != nil {
		t.Fatal(err)
	}
	if o.Demand, err = ParseDemand(demand); err != nil {
		t.Fatal(err)
	}
	if prices != "" {
		if o.Prices, err = ParsePrices(prices); err != nil {
			t.Fatal(err)
		}
	}
	return o
}

func chosen(t *testing.T, setups []setup.Setup, o Options) Choice {
	t.Helper()
	all, err := Of(setups, o)
	if err != nil {
		t.Fatal(err)
	}
	return all[0]
}

// The limits by hand, from the printed rows. SGLang on two L20: TTFT is 183.85 ms at 25.14 offered (24.54 completed)
// and 300.49 ms at 28.19 (24.50): the limit of 200 ms lies between them, where no more than 24.54 was ever completed.
// GPTQ-Int4 on one A100: 124.99 ms at 11.36 completed and 321.97 ms at 12.49.
func TestLimitsByHand(t *testing.T) {
	o := wanted(t, "20rps", "L20=1.2,A100=3.6", "itl:mean<50ms", "ttft:mean<200ms")
	for name, want := range map[string]struct {
		rate           float64
		replicas, gpus int
		where          string
	}{
		"Qwen2-7B-Instruct, 2 x L20 48GB, SGLang": {24.54, 2, 4, "tables.md:73"},
		"Qwen2-7B-Instruct-GPTQ-Int4, 1 x A100 80GB, vLLM": {11.36 + (12.49-11.36)*(200-124.99)/(321.97-124.99), 3, 3,
			"tables.md:154, 155"},
		"Qwen2-7B-Instruct, 1 x A100 80GB, vLLM": {11.66 + (13.13-11.66)*(200-128.75)/(309.98-128.75), 3, 3,
			"tables.md:104, 105"},
		// 44.34 ms at 4.62, 60.59 ms at 5.60
		"Qwen2-7B-Instruct, 1 x L20 48GB, vLLM": {4.62 + (5.60-4.62)*(50-44.34)/(60.59-44.34), 9, 9, "tables.md:18, 19"},
	} {
		c := chosen(t, tables(t, "Qwen2-7B"), o)
		found := false
		for _, k := range c.Ranked {
			if k.Name != name {
				continue
			}
			found = true
			if math.Abs(k.Measured.Or(k.Rate)-want.rate) > 1e-9 || k.Replicas != want.replicas || k.GPUs != want.gpus ||
				k.Where != want.where {
				t.Errorf("%s: %v req/s, %d replicas, %d GPUs, %s; want %+v", name, k.Rate, k.Replicas, k.GPUs, k.Where, want)
			}
		}
		if !found {
			t.Errorf("%s is not ranked", name)
		}
	}
}

// What a sweep searched for, for the same terms, is what is chosen by: it and choose must not say two things.
func TestTheLimitIsTheSweeps(t *testing.T) {
	setup := tables(t, "Qwen2-7B-Instruct")[0]
	terms, err := slo.ParseAll([]string{"itl:mean<50ms", "ttft:mean<200ms"})
	if err != nil {
		t.Fatal(err)
	}
	own, refusal := setup.RateLimit(terms)
	if refusal != nil {
		t.Fatal(refusal)
	}
	run := *setup.Run
	run.Plan.Kind, run.Source = "sweep", nil
	run.SLO = &rundir.SLO{Terms: []string{"ttft:mean<200ms", "itl:mean<50ms"}, Rate: rundir.Exactly(own.Rate * 1.03),
		Limiting: "itl:mean<50ms"}
	setup.Run = &run
	found, _ := setup.RateLimit(terms)
	if found.Rate != own.Rate*1.03 || found.LimitingTerm == nil || found.LimitingTerm.Name() != "itl:mean" ||
		found.Backlog ||
		!found.Output.Known() || found.Point.Weight <= 0 {
		t.Errorf("%+v", found)
	}
	if other, _ := setup.RateLimit(terms[:1]); other.Rate == found.Rate {
		t.Error("the limit of other terms was taken")
	}
}

// Two price lists that rank differently.
func TestPricesDecide(t *testing.T) {
	for prices, want := range map[string]string{
		"L20=1.2,A100=3.6": "Qwen2-7B-Instruct, 2 x L20 48GB, SGLang", // 4 x 1.2 = 4.80 against 3 x 3.6 = 10.80
		"L20=1.2,A100=1.5": "Qwen2-7B-Instruct, 1 x A100 80GB, vLLM",  // 3 x 1.5 = 4.50
	} {
		c := chosen(t, tables(t, "Qwen2-7B"), wanted(t, "20rps", prices, "itl:mean<50ms", "ttft:mean<200ms"))
		if got := c.Ranked[0].Name; got != want {
			t.Errorf("%s: %s comes first, want %s", prices, got, want)
		}
		for i := range c.Ranked[1:] {
			if c.Ranked[i].Hour.Value() > c.Ranked[i+1].Hour.Value()+1e-9 {
				t.Errorf("%s: %s is before %s, which is cheaper", prices, c.Ranked[i].Name, c.Ranked[i+1].Name)
			}
		}
	}
}

// The price of a million tokens at the demand follows from the price per hour and the tokens that are asked for; it is
// never below that of replicas loaded to the limit.
func TestThePriceAtTheDemand(t *testing.T) {
	for _, demand := range []string{"20rps", "2500tok/s"} {
		c := chosen(t, tables(t, "Qwen2-7B-Instruct"), wanted(t, demand, "L20=1.2,A100=3.6", "ttft:mean<500ms"))
		for _, k := range c.Ranked {
			tokens := 2500.0
			if demand == "20rps" {
				tokens = 20 * k.Output.Value() / k.Rate
			}
			want := k.Hour.Value() / (tokens * 3600 / 1e6)
			if got := k.MillionDemand.Value(); math.Abs(got-want) > 1e-9*want || got < k.MillionSLO.Value() {
				t.Errorf("%s at %s: %v, want %v, at the SLO %v", k.Name, demand, got, want, k.MillionSLO.Value())
			}
		}
	}
}

// What the audit calls impossible neither ends a limit nor carries one: the TTFT of line 21, printed as 1090 sec, lies
// beyond where its table's rows break ttft:mean<4s; with it in, the limit would end before.
func TestImpossibleRowsDecideNothing(t *testing.T) {
	c := chosen(t, tables(t, "Qwen2-7B"), wanted(t, "5rps", "", "ttft:mean<4s"))
	for _, k := range append(c.Ranked, Candidate{}) {
		if strings.Contains(k.Where, "tables.md:21") {
			t.Errorf("%s rests on an impossible row", k.Name)
		}
		if k.Name == "Qwen2-7B-Instruct, 1 x L20 48GB, vLLM" &&
			math.Abs(k.Measured.Or(k.Rate)-(7.15+(7.20-7.15)*(4-0.12762)/(4.67495-0.12762))) > 1e-9 {
			t.Errorf("%s: %v req/s by %s", k.Name, k.Rate, k.Where)
		}
	}
	if !strings.Contains(fmt.Sprint(c.Marked), "tables.md:21") {
		t.Error("the row with the figures left out is not named")
	}
}

// Never beyond the rows, and never better for a stricter promise.
func TestLimitsStayWithinTheRows(t *testing.T) {
	for _, s := range tables(t, "Qwen2-7B") {
		top := 0.0
		for _, r := range s.Rows {
			top = max(top, r.Served)
		}
		before := 0.0
		for ms := 5.0; ms < 20_000; ms *= 1.03 {
			l, refusal := s.RateLimit([]slo.Term{{Metric: slo.ITL, Stat: slo.Mean, Limit: ms / 1e3},
				{Metric: slo.TTFT, Stat: slo.Mean, Limit: 4 * ms / 1e3}})
			if refusal != nil {
				if before > 0 {
					t.Errorf("%s: none at %v ms, %v req/s below it", s.Name, ms, before)
				}
				continue
			}
			if l.Rate > top || l.Rate < before-1e-9 {
				t.Errorf("%s: %v req/s at %v ms, after %v; the rows end at %v", s.Name, l.Rate, ms, before, top)
			}
			before = l.Rate
		}
	}
}

func TestRefusalsSayWhy(t *testing.T) {
	o := wanted(t, "20rps", "L20=1.2", "itl:mean<50ms", "ttft:mean<90ms")
	o.MaxGPUs = 8
	c := chosen(t, tables(t, "Qwen2-7B"), o)
	said := map[string]string{}
	for _, r := range c.Refused {
		said[r.Name] = r.Why
	}
	for name, want := range map[string]string{
		"Qwen2-7B-Instruct-AWQ, 1 x L20 48GB, vLLM": "misses ttft:mean<90ms at synchronous: 137ms",
		"Qwen2-7B-Instruct, 1 x A100 80GB, vLLM":    `no price for the GPU "A100 80GB" (--price)`,
		"Qwen2-7B-Instruct, 2 x L20 48GB, lmdeploy": "takes 8 GPUs",
	} {
		if want == "takes 8 GPUs" { // it fits: it must not be refused
			if said[name] != "" {
				t.Errorf("%s: %s", name, said[name])
			}
			continue
		}
		if said[name] != want {
			t.Errorf("%s: %q, want %q", name, said[name], want)
		}
	}
	o = wanted(t, "20rps", "", "ttft:p99<500ms")
	for _, r := range chosen(t, tables(t, "Qwen2-7B"), o).Refused {
		if r.Why != "ttft:p99 was not measured" {
			t.Errorf("%s: %s", r.Name, r.Why)
		}
	}
}

// steps is a measured setup whose rows keep the terms up to some rate.
func steps(gpu string, gpus int, rates ...float64) setup.Input {
	run := &rundir.Run{State: rundir.Complete, Client: rundir.Client{Valid: true}, Labels: rundir.Labels{Model: "m",
		GPU: gpu, GPUs: gpus, Engine: "e"}}
	for i, r := range rates {
		run.Stages = append(run.Stages, rundir.Stage{
			Name: fmt.Sprintf("poisson@%g", r), Kind: "poisson", Role: rundir.Grid, State: rundir.Complete,
			Rate:  rundir.Exactly(r),
			Rates: rundir.Rates{Completed: rundir.Exactly(r)}, TokensPerS: rundir.TokenRates{Output: rundir.Exactly(100 * r)},
			TTFT: rundir.Dist{Mean: rundir.Exactly(0.1 * float64(i+1))}, InterToken: rundir.Exactly(0.01),
			Verdict: rundir.Stable, Window: 60,
		})
	}
	return setup.Input{Path: gpu, Run: run}
}

func TestSaturatedAndBoundedRowsEndTheLimit(t *testing.T) {
	in := steps("G", 1, 1, 2, 3)
	in.Run.Stages[2].Verdict = rundir.Saturated
	s := setup.Load([]setup.Input{in})
	if l, _ := s[0].RateLimit([]slo.Term{{Metric: slo.TTFT, Stat: slo.Mean, Limit: 9}}); l.Rate != 2 || !l.Backlog {
		t.Errorf("a saturated row was counted on: %+v", l)
	}
	in = steps("G", 1, 1, 2, 3)
	in.Run.Stages[2].TTFT.Mean = rundir.Over(0.25)
	s = setup.Load([]setup.Input{in})
	for _, limit := range []float64{0.24, 9} { // broken for certain, and not known
		if l, _ := s[0].RateLimit([]slo.Term{{Metric: slo.TTFT, Stat: slo.Mean, Limit: limit}}); l.Rate != 2 ||
			l.Unjudged != (limit == 9) {
			t.Errorf("a lower bound was taken for an exact number: %+v", l)
		}
	}
}

// A row with too few samples for its percentile is passed over where a higher load keeps the promise, and is no proof
// of anything where none does.
func TestUnsupportedRowsAreNoProof(t *testing.T) {
	term := []slo.Term{{Metric: slo.TTFT, Stat: "p99", Limit: 1}}
	for name, c := range map[string]struct {
		supported []bool
		rate      float64
	}{"below": {[]bool{false, true, true}, 3}, "above": {[]bool{true, true, false}, 2},
		"all": {[]bool{false, false, false}, 0}} {
		in := steps("G", 1, 1, 2, 3)
		for i := range in.Run.Stages {
			d := &in.Run.Stages[i].TTFT
			if d.P99 = rundir.Exactly(0.5); !c.supported[i] {
				d.Unsupported = []string{"p99"}
			}
		}
		l, refusal := setup.Load([]setup.Input{in})[0].RateLimit(term)
		if l.Rate != c.rate || (refusal != nil) != (c.rate == 0) {
			t.Errorf("%s: %v req/s, %+v", name, l.Rate, refusal)
		}
	}
}

// TestBreakEven tests that the first costs as much as the other at the prices that are named, and is not the first of a
// choice beyond the demands that are named, but on this side of them.
func TestBreakEven(t *testing.T) {
	setups := tables(t, "Qwen2-7B")
	for _, prices := range []string{"L20=1.2,A100=3.6", "L20=1.2,A100=1.5"} {
		o := wanted(t, "20rps", prices, "itl:mean<50ms", "ttft:mean<200ms")
		c := chosen(t, setups, o)
		e, a := c.BreakEven, c.Ranked[0]
		i := slices.IndexFunc(c.Ranked, func(k Candidate) bool { return k.Name == e.Other })
		if i < 1 || math.Abs(e.FirstPrice.Value()*float64(a.GPUs)-c.Ranked[i].Hour.Value()) > 1e-9 ||
			math.Abs(e.OtherPrice.Value()*float64(c.Ranked[i].GPUs)-a.Hour.Value()) > 1e-9 {
			t.Errorf("%s: %+v", prices, e)
		}
		first := func(demand float64) string {
			o.Demand.Amount = demand
			return chosen(t, setups, o).Ranked[0].Name
		}
		if at := e.Above; at.Known() && (first(at.Value()*0.9999) != a.Name || first(at.Value()*1.0001) == a.Name) {
			t.Errorf("%s: just above %v", prices, at)
		}
		if at := e.Below; at.Known() && (first(at.Value()*1.0001) != a.Name || first(at.Value()*0.9999) == a.Name) {
			t.Errorf("%s: at or below %v", prices, at)
		}
		if !e.Above.Known() && !e.Below.Known() {
			t.Errorf("%s: no demand", prices)
		}
	}
}

// The nearest demands at which the second is cheaper, against trying all.
func TestDemandBreakEven(t *testing.T) {
	setups := setup.Load([]setup.Input{steps("small", 1, 1, 3), steps("large", 2, 1, 10)})
	o := wanted(t, "11rps", "small=1,large=1.3", "ttft:mean<1s")
	o.Headroom = 0
	c := chosen(t, setups, o)
	cost := func(gpus float64, price, unit, d float64) float64 { return math.Ceil(d/unit-1e-9) * gpus * price }
	small := func(d float64) float64 { return cost(1, 1, 3, d) }
	large := func(d float64) float64 { return cost(2, 1.3, 10, d) }
	first, second := small, large
	if c.Ranked[0].Name == "m, 2 x large, e" {
		first, second = large, small
	}
	var above, below float64
	for d := 11.0; d < 110 && above == 0; d += 0.001 {
		if second(d) < first(d) {
			above = d
		}
	}
	for d := 11.0; d > 1.1 && below == 0; d -= 0.001 {
		if second(d) < first(d) {
			below = d
		}
	}
	near := func(f rundir.Number, want float64) bool {
		return want == 0 && f.IsZero() || math.Abs(f.Value()-want) < 0.01
	}
	if !near(c.BreakEven.Above, above) || !near(c.BreakEven.Below, below) {
		t.Errorf("above %v, below %v; trying all gives %v and %v", c.BreakEven.Above, c.BreakEven.Below, above, below)
	}
}

func TestFrontAgainstTryingAll(t *testing.T) {
	setups := tables(t, "Qwen2-7B")
	var all []FrontPoint
	for i := range setups {
		all = append(all, speedPoints(&setups[i])...)
	}
	on := map[string]bool{}
	for _, p := range Front(all) {
		on[p.Where] = true
	}
	for _, p := range all {
		beaten := false
		for _, q := range all {
			beaten = beaten || q.PerUser >= p.PerUser && q.PerGPU >= p.PerGPU && (q.PerUser > p.PerUser || q.PerGPU > p.PerGPU)
		}
		if on[p.Where] == beaten {
			t.Errorf("%s on the front: %v, beaten: %v", p.Where, on[p.Where], beaten)
		}
	}
}

func TestGolden(t *testing.T) {
	for name, prices := range map[string]string{"l20": "L20=1.2,A100=3.6", "a100": "L20=1.2,A100=1.5", "unpriced": ""} {
		c := chosen(t, tables(t, "Qwen2-7B"), wanted(t, "20rps", prices, "itl:mean<50ms", "ttft:mean<200ms"))
		for _, o := range []struct {
			file, format string
			o            report.Options
		}{
			{"en.md", "markdown", report.Options{}}, {"zh.md", "markdown", report.Options{Lang: lang.Chinese}},
			{"en.txt", "console", report.Options{}}, {"zh.txt", "console", report.Options{Lang: lang.Chinese}},
		} {
			var b bytes.Buffer
			if err := table.WriteSections(&b, o.format, c.Sections(2), table.Style{Width: o.o.Width, Color: o.o.Color,
				Lang: o.o.Lang}); err != nil {
				t.Fatal(err)
			}
			testkit.CheckGolden(t, name+"."+o.file, b.Bytes())
		}
	}
}

func TestWishes(t *testing.T) {
	for text, want := range map[string]Demand{"20rps": {20, Requests}, "2.5 req/s": {2.5, Requests},
		"2 req/sec": {2, Requests}, "5,000tok/s": {5000, Tokens}, "5000tokens/s": {5000, Tokens}, "500 users": {500, Users}} {
		if got, err := ParseDemand(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, bad := range []string{"20", "rps", "-3rps", "0tok/s", "many tok/s"} {
		if _, err := ParseDemand(bad); err == nil {
			t.Errorf("demand %q was taken", bad)
		}
	}
	for _, bad := range []string{"L20", "L20=", "=3", "L20=-1", "L20=1,L20=2", "L20=x"} {
		if _, err := ParsePrices(bad); err == nil {
			t.Errorf("price %q was taken", bad)
		}
	}
	p, err := ReadPrices("prices.yaml", strings.NewReader("L20: 1.2\nA100 80GB: 3.6 # list price\nA100: 2\n"))
	if err != nil {
		t.Fatal(err)
	}
	for gpu, want := range map[string]float64{"L20 48GB": 1.2, "A100 80GB": 3.6, "A100-40GB": 2, "L2": 0, "L20S": 0} {
		if got, _ := p.GPUHour(rundir.Labels{GPU: gpu}); got != want {
			t.Errorf("%s costs %v, want %v", gpu, got, want)
		}
	}
	for _, bad := range []string{"", "- L20\n", "L20: cheap\n", "L20: 0\n"} {
		if _, err := ReadPrices("p.yaml", strings.NewReader(bad)); err == nil || !strings.Contains(err.Error(), "p.yaml") {
			t.Errorf("prices %q: %v", bad, err)
		}
	}
}

// TestTheLatencyShownKeepsTheSLO: the mean that is shown at the rate of the SLO is within the term that limits it.
func TestTheLatencyShownKeepsTheSLO(t *testing.T) {
	terms, err := slo.ParseAll([]string{"itl:mean<100ms", "ttft:p95<1s"})
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Terms: terms}
	for _, c := range []struct {
		metric     string
		mean, want rundir.Number
		limit      setup.Limit
	}{
		{slo.ITL, rundir.Exactly(0.128), rundir.Exactly(0.1), setup.Limit{}},
		{slo.ITL, rundir.Exactly(0.05), rundir.Exactly(0.05), setup.Limit{}},
		{slo.ITL, rundir.Number{}, rundir.Number{}, setup.Limit{}},
		{slo.TTFT, rundir.Exactly(2), rundir.Exactly(2), setup.Limit{}}, // a p95 does not limit the mean
		{slo.ITL, rundir.Exactly(0.0237), rundir.Exactly(0.1), between(&terms[0])},
		{slo.TTFT, rundir.Exactly(0.3), rundir.Exactly(0.3), between(&terms[0])},
	} {
		if got := o.meanAtLimit(c.metric, c.mean, &c.limit); got != c.want {
			t.Errorf("%s of %v: %v, want %v", c.metric, c.mean, got, c.want)
		}
	}
}

// between is a limit between two rows, where the term reaches its limit.
func between(term *slo.Term) setup.Limit {
	return setup.Limit{LimitingTerm: term, Point: setup.Point{Low: &setup.Row{}, High: &setup.Row{}, Weight: 0.5}}
}

// TestALimitSaysWhatEndsIt: beside a latency far below the limit stands the row that misses it; two terms that end at
// one rate are told apart by which is missed first; and no latency beside a term that ends the load between two rows is
// below the limit of that term.
func TestALimitSaysWhatEndsIt(t *testing.T) {
	missed := steps("L20", 1, 1, 2, 3)
	for i, itl := range []float64{0.02, 0.03, 0.09} { // row 3 completes no more than row 2: the limit is not between them
		missed.Run.Stages[i].InterToken = rundir.Exactly(itl)
	}
	missed.Run.Stages[2].Rates.Completed = missed.Run.Stages[1].Rates.Completed
	missed.Run.Stages[2].TTFT.Mean = rundir.Exactly(9)
	k := chosen(t, setup.Load([]setup.Input{missed}), wanted(t, "1rps", "", "ttft:mean<5s", "itl:mean<50ms")).Ranked[0]
	if name := missed.Run.Stages[2].Name; k.LimitedBy != "ttft:mean, missed at "+lang.StageName(name) ||
		k.ITL.Value() != 0.03 {
		t.Errorf("ITL %v, limited by %s", k.ITL, k.LimitedBy)
	}
	missed.Run.Stages[1].InterToken = rundir.Exactly(0.06)
	k = chosen(t, setup.Load([]setup.Input{missed}), wanted(t, "1rps", "", "ttft:mean<5s", "itl:mean<50ms")).Ranked[0]
	if k.LimitedBy != "itl:mean" || k.ITL.Value() != 0.05 {
		t.Errorf("ITL %v, limited by %s", k.ITL, k.LimitedBy)
	}
	for _, k := range chosen(t, tables(t, "Qwen2-7B"), wanted(t, "5rps", "", "ttft:mean<2s", "itl:mean<150ms")).Ranked {
		for name, shown := range map[string]float64{"ttft:mean": k.TTFT.Value() / 2, "itl:mean": k.ITL.Value() / 0.15} {
			if k.LimitedBy == name && math.Abs(shown-1) > 1e-9 {
				t.Errorf("%s: %s is %.2f of its limit at the rate that it limits", k.Name, name, shown)
			}
		}
	}
}

// TestTheTermMissedFirstEndsIt: line 120 misses ITL alone, at no more completed requests than the row beyond, which
// misses both.
func TestTheTermMissedFirstEndsIt(t *testing.T) {
	for _, k := range chosen(t, tables(t, "Qwen2-7B"), wanted(t, "5rps", "", "ttft:mean<500ms", "itl:mean<100ms")).Ranked {
		if want := "itl:mean, missed at asynchronous@6.07"; strings.Contains(k.Name, "AWQ, 1 x L20") && k.LimitedBy != want {
			t.Errorf("limited by %s, not by %s", k.LimitedBy, want)
		}
	}
}
