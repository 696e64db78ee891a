package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"llmsweep/client/testkit"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// measured is a run whose saturation rate and output are known within noise on either side.
func measured(engine string, rate, noise, output float64, stages ...rundir.Stage) *rundir.Run {
	return &rundir.Run{
		Schema: rundir.Schema, State: rundir.Complete, Client: rundir.Client{Valid: true}, Stages: stages,
		Labels:   rundir.Labels{Model: "m", GPU: "G", GPUs: 1, Engine: engine},
		Workload: rundir.Workload{PromptTokens: rundir.Lengths{Mean: 512}, OutputTokens: rundir.Lengths{Mean: 128}},
		Saturation: &rundir.Saturation{Rate: rundir.Exactly(rate), Low: rundir.Exactly(rate * (1 - noise)),
			High: rundir.Exactly(rate * (1 + noise)), Output: rundir.Exactly(output)},
	}
}

// twoRuns returns two measured runs: the second takes more by gain, and each interval is noise wide on either side.
func twoRuns(gain, noise float64) []setup.Setup {
	var all []setup.Input
	for i, name := range []string{"before", "after"} {
		k := 1 + gain*float64(i)
		run := measured([]string{"old", "new"}[i], 10*k, noise, 1280*k)
		for _, rate := range []float64{0, 4, 7, 9} {
			run.Stages = append(run.Stages, stage(rate, k, noise))
		}
		all = append(all, setup.Input{Path: name, Run: run})
	}
	return setup.Load(all)
}

func stage(rate, k, noise float64) rundir.Stage {
	s := rundir.Stage{
		Name: fmt.Sprintf("poisson@%.2f", rate), Kind: "poisson", Role: rundir.Grid, State: rundir.Complete,
		Verdict: rundir.Stable, Requests: rundir.Requests{Due: 600, Sent: 600, OK: 600}, Window: 60,
		Rate: rundir.Exactly(rate * k), Elapsed: 60,
	}
	if rate == 0 {
		s.Name, s.Kind, s.Role, s.Rate, rate = "synchronous", "synchronous", rundir.Synchronous, rundir.Number{}, 0.7199
	}
	itl, ttft := 0.01*(1+rate/10)/k, 0.05*(1+rate/5)/k
	s.Rates = rundir.Rates{Offered: s.Rate, Completed: rundir.Exactly(rate * k)}
	s.TokensPerS.Output = rundir.Exactly(rate * k * 128)
	s.TTFT, s.ITL = within(600, ttft, noise), within(76800, itl, noise)
	s.Latency = rundir.Dist{N: 600, Mean: rundir.Exactly(ttft + 127*itl)}
	s.InterToken = rundir.Exactly(itl)
	return s
}

// within are n values whose mean is known within noise on either side.
func within(n int, mean, noise float64) rundir.Dist {
	return rundir.Dist{N: n, Mean: rundir.Exactly(mean),
		CI: map[string][2]float64{"mean": {mean * (1 - noise), mean * (1 + noise)}}}
}

func parseGate(text string) Gate { return testkit.Must(ParseGate(text, Keys())) }

func TestIntervals(t *testing.T) {
	for _, x := range []struct {
		gain, noise float64
		shown       bool
	}{{0.05, 0.01, true}, {0.05, 0.1, false}, {0, 0.01, false}, {-0.2, 0.02, true}} {
		c := compared(twoRuns(x.gain, x.noise))
		d := c.difference("m, 1 x G, new", keyOutput)
		// Two relative half-widths of equal size add up as the root of 2.
		high := (1+x.gain)*math.Exp(math.Sqrt2*x.noise) - 1
		if math.Abs(d.Ratio.Value()-x.gain) > 1e-9 || math.Abs(d.High.Value()-high) > 1e-9 || d.Shown == nil ||
			*d.Shown != x.shown || strings.HasPrefix(d.String(), "~") == x.shown {
			t.Errorf("gain %v, noise %v: %v up to %v (want %v), printed %q", x.gain, x.noise, d.Ratio, d.High, high, d)
		}
		if says := c.Factors[0].Says; strings.Contains(says, "may be equal") == x.shown {
			t.Errorf("gain %v, noise %v: concluded %q", x.gain, x.noise, says)
		}
	}
}

// Where output and rate disagree about how long answers were, the output is not known better than that; and what is
// called the output at saturation is that, also where a row gave more.
func TestOutputAtSaturation(t *testing.T) {
	setups := twoRuns(0, 0.01)
	for i := range setups {
		for j := range setups[i].Run.Stages {
			setups[i].Run.Stages[j].OutputTokens = rundir.TokenStats{N: 600, Mean: rundir.Exactly(128)}
		}
	}
	setups[1].Plateau.Output = rundir.Exactly(1280 * 1.12)
	if d := compared(setups).difference("m, 1 x G, new", keyOutput); !d.hidden() {
		t.Errorf("the same rate and the same answers, yet a difference is shown: %s", d)
	}
	setups = twoRuns(0.05, 0.01)
	setups[1].Run.Stages[1].TokensPerS.Output = rundir.Exactly(1e6)
	says := compared(setups).Factors[0].Says
	if !strings.Contains(says, "at saturation") || strings.Contains(says, "measured") {
		t.Error(says)
	}
}

func TestGates(t *testing.T) {
	for _, x := range []struct {
		gain, noise float64
		gate        string
		fails       bool
	}{
		{-0.1, 0.01, "tokens_per_s<-5%", true}, {-0.03, 0.01, "tokens_per_s<-5%", false},
		{-0.1, 0.2, "tokens_per_s<-5%", false}, {-0.2, 0.01, "itl@80>10%", true}, {0.1, 0.01, "itl@80>+10%", false},
		{0.1, 0.01, "errors>1%", false},
	} {
		c, g := compared(twoRuns(x.gain, x.noise)), parseGate(x.gate)
		if failed, unjudged := Judge(c.Changes, []Gate{g}); (len(failed) > 0) != x.fails || len(unjudged) > 0 {
			t.Errorf("gain %v, noise %v: %s fails: %v, not judged: %v", x.gain, x.noise, g, failed, unjudged)
		}
	}
	for _, bad := range []string{"tokens_per_s", "pace<-5%", "tokens_per_s=5%", "tokens_per_s<-5"} {
		if _, err := ParseGate(bad, Keys()); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// A label that the user made up is one that may differ; and a model that is labelled with its quantization is compared
// with the unquantized one, without a caution.
func TestWhatDiffers(t *testing.T) {
	label := func(router string) map[string]string { return map[string]string{"router": router} }
	for want, labels := range map[string][2]rundir.Labels{
		"router": {{Model: "m", Free: label("golang")}, {Model: "m", Free: label("Rust")}},
		byQuant:  {{Model: "m"}, {Model: "m-GPTQ-Int4", Quant: "GPTQ-Int4"}},
		byEngine: {{Model: "m", Engine: "old"}, {Model: "m", Engine: "new"}},
	} {
		both := twoRuns(0.05, 0.01)
		for i := range both {
			both[i].Run.Labels = labels[i]
		}
		if c := compared(both); len(c.Factors) != 1 || c.Factors[0].What != want || len(c.Cautions()) > 0 {
			t.Errorf("%s: %+v, %v", want, c.Factors, c.Cautions())
		}
	}
}

// Where other differences have an interval, the sentence does not list one without among those that are shown.
func TestDifferencesWithoutAnIntervalAreNotJudged(t *testing.T) {
	yes, no := true, false
	n := rundir.Exactly
	all := []Difference{
		{Setup: "new", From: "old", Key: keyRate, Ratio: n(-0.25), Low: n(-0.3), High: n(-0.2), Shown: &yes},
		{Setup: "new", From: "old", Key: keyOutput, Ratio: n(0.01), Low: n(-0.05), High: n(0.06), Shown: &no},
		{Setup: "new", From: "old", Key: "ttft@80", Ratio: n(0.09)},
		{Setup: "new", From: "old", Key: "itl@80", Ratio: n(0.5), Bound: atLeast},
	}
	for want, changes := range map[string][]Difference{
		"new against old: saturation -25.0 % (-30.0..-20.0), ITL 80 % > +50.0 %, no difference is shown in output " +
			"~ (-5.0..+6.0), without an interval: TTFT 80 % +9.0 %.": all,
		"new against old: TTFT 80 % +9.0 %.": all[2:3], // published results have no intervals
	} {
		if got := (&Comparison{Changes: changes}).setupSentence("new").In(lang.English); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// gridded is a run of a server whose latency is flat while it keeps up and rises where a queue begins (Sakasegawa's
// approximation for several servers), with rows at random rates.
func gridded(rng *rand.Rand, name string, slots float64) setup.Input {
	const capacity, noise = 10.0, 0.02
	run := measured(name, capacity, 0.03, 1280)
	var loads []float64
	for range 3 + rng.IntN(5) {
		loads = append(loads, 0.3+0.68*rng.Float64())
	}
	slices.Sort(loads)
	for i, load := range append([]float64{0}, loads...) {
		wait := math.Pow(load, math.Sqrt(2*(slots+1))-1) / (1 - load) / slots
		s := stage(load*capacity, 1, noise)
		s.Name = fmt.Sprintf("%s-%d", s.Name, i)
		s.TTFT = within(600, 0.025*(1+8*wait)*(1+noise/2*rng.NormFloat64()), noise)
		run.Stages = append(run.Stages, s)
	}
	return setup.Input{Path: name, Run: run}
}

// Two runs of one server with rows at different rates must not fail a gate: across the edge of saturation a latency
// between two rows is either known with an interval or cannot be judged.
func TestInterpolationAcrossTheEdge(t *testing.T) {
	gate := parseGate("ttft@80>10%")
	const trials = 150
	failed, unjudged := 0, 0
	for seed := range uint64(trials) {
		rng := rand.New(rand.NewPCG(seed, 5))
		slots := float64(int(1) << rng.IntN(7))
		c := compared(setup.Load([]setup.Input{gridded(rng, "before", slots), gridded(rng, "after", slots)}))
		fails, unknown := Judge(c.Changes, []Gate{gate})
		failed, unjudged = failed+len(fails), unjudged+len(unknown)
	}
	if failed > trials*4/100 || unjudged > trials*2/3 {
		t.Errorf("of %d pairs of runs of one server %d fail the gate, and %d cannot be judged", trials, failed, unjudged)
	}
}

// A saturation rate is compared with one that is known as a lower bound: the difference is a bound too, and between two
// bounds there is none. A gate judges neither.
func TestDifferencesOfBounds(t *testing.T) {
	gate := parseGate("saturation<-5%")
	for _, c := range []struct {
		bound  [2]bool
		prefix string
	}{
		{[2]bool{false, false}, "~ ("}, {[2]bool{true, false}, "< "}, {[2]bool{false, true}, "> "},
		{[2]bool{true, true}, lang.Absent},
	} {
		rng := rand.New(rand.NewPCG(1, 5))
		inputs := []setup.Input{gridded(rng, "before", 4), gridded(rng, "after", 4)}
		for i := range inputs {
			if c.bound[i] {
				inputs[i].Run.Saturation.Rate = rundir.Over(10)
			}
		}
		v := compared(setup.Load(inputs))
		tab := v.differenceTable(v.groups[0])
		if got := tab.Rows[0][1].In(lang.English); tab.Columns[1].Head == headSaturation.Text() &&
			!strings.HasPrefix(got, c.prefix) || tab.Columns[1].Head != headSaturation.Text() && c.prefix != lang.Absent {
			t.Errorf("%v: %s %q, want %s", c.bound, tab.Columns[1].Head, got, c.prefix)
		}
		legend := strings.Join(lang.In(v.differenceLegend(v.groups[0], true), lang.English), "\n")
		if has := strings.Contains(legend, legendBound.In(lang.English)); has != (c.bound[0] != c.bound[1]) {
			t.Errorf("%v: the bounds are explained: %v", c.bound, has)
		}
		if _, unjudged := Judge(v.Changes, []Gate{gate}); (len(unjudged) > 0) != (c.bound[0] || c.bound[1]) {
			t.Errorf("%v: not judged: %v", c.bound, unjudged)
		}
	}
}

// Where the rows throughput show another ratio than the plateaus, both are said; of lower bounds they tell which side
// may be higher.
func TestRowsThroughputWidenARatio(t *testing.T) {
	member := func(name string, value, burst float64, bound bool) Member {
		m := Figure{Key: keyOutput, Value: rundir.Exactly(value), Burst: rundir.Exactly(burst), Open: bound}
		m.se = math.NaN()
		return Member{name, name, &Configuration{Figures: []Figure{m}}}
	}
	for _, c := range []struct {
		value, burst [2]float64 // of A and B
		bound        bool
		want         string
	}{
		{[2]float64{300, 100}, [2]float64{400, 200}, false, "2.00 to 3.00 x B"},
		{[2]float64{300, 100}, [2]float64{600, 199}, false, "3.00 x B"},
		{[2]float64{104, 100}, [2]float64{104, 100}, false, "B (100.00 tok/s, throughput row 100.00) may be equal"},
		{[2]float64{106, 100}, [2]float64{106, 100}, false, "1.06 x B"}, // single measurements repeat no better than 5 %
		{[2]float64{105.5, 100}, [2]float64{105.5, 100}, false, "1.05 x B"},
		{[2]float64{578, 560}, [2]float64{608, 820}, true, "by the rows throughput 1.35 x A"},
		{[2]float64{578, 560}, [2]float64{820, 608}, true, "by the rows throughput 1.35 x B"},
	} {
		f := Factor{What: byQuant, Members: []Member{member("A", c.value[0], c.burst[0], c.bound),
			member("B", c.value[1], c.burst[1], c.bound)}}
		if got := f.Conclusion(lang.English); !strings.Contains(got, c.want) {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// unsteady returns runs of one server whose speed differs from run to run by a spread, and which have intervals of
// their own of 1 %.
func unsteady(rng *rand.Rand, n int, spread, factor float64) []setup.Setup {
	var all []setup.Input
	for i := range n {
		v := factor * math.Exp(spread*rng.NormFloat64())
		run := measured("", 10*v, 0.01, 1280*v, stage(0, 1, 0.01), stage(5, 1, 0.01), stage(8, 1, 0.01))
		all = append(all, setup.Input{Path: fmt.Sprint("run", i), Run: run})
	}
	return setup.Load(all)
}

func unknown(*setup.Setup, string) stats.Spread { return stats.Spread{} }

// Equal servers whose runs differ by 4 % are called different by their own intervals in most pairs, and by several
// runs, or the known spread, in one of twenty. One run a side shows nothing where no spread is known.
func TestRunsAreTheUnit(t *testing.T) {
	t.Parallel()
	const spread = 0.04
	history := func(*setup.Setup, string) stats.Spread { return stats.Spread{Deviation: spread, DF: 20} }
	rng := rand.New(rand.NewPCG(1, 28))
	sides := func(n int, factor float64) [2][]setup.Setup {
		return [2][]setup.Setup{unsteady(rng, n, spread, 1), unsteady(rng, n, spread, factor)}
	}
	for _, c := range []struct {
		name                string
		compare             func() (*Comparison, error)
		trials, least, most int // how many are called different
	}{
		{"own intervals", func() (*Comparison, error) { return Of(unsteady(rng, 2, spread, 1), false) }, 30, 15, 30},
		{"three a side", func() (*Comparison, error) { return OfRuns(sides(3, 1), false, unknown) }, 100, 0, 8},
		{"known spread", func() (*Comparison, error) { return OfRuns(sides(1, 1), false, history) }, 100, 0, 8},
		{"a fifth faster", func() (*Comparison, error) { return OfRuns(sides(3, 1.2), false, unknown) }, 30, 27, 30},
	} {
		n := 0
		for range c.trials {
			found := testkit.Must(c.compare())
			if found.difference(found.Setups[1].Name, keyRate).shown() {
				n++
			}
		}
		if n < c.least || n > c.most {
			t.Errorf("%s: %d of %d are called different, want %d to %d", c.name, n, c.trials, c.least, c.most)
		}
	}
	c, gate := testkit.Must(OfRuns(sides(1, 0.5), false, unknown)), parseGate("saturation<-10%")
	if failed, unjudged := Judge(c.Changes, []Gate{gate}); len(failed) > 0 || len(unjudged) != 1 {
		t.Errorf("one a side: failures %v, unjudged %v", failed, unjudged)
	}
	both := sides(2, 1)
	if _, err := OfRuns([2][]setup.Setup{both[0], nil}, false, unknown); err == nil {
		t.Error("an empty side")
	}
	both[1][0].Run.Workload.PromptTokens.Mean = 64
	if _, err := OfRuns(both, false, unknown); !Incomparable(err) {
		t.Error(err)
	}
}

// hitting is a run of a speed whose rows have a hit rate; a negative one is not reported.
func hitting(name string, speed, hits float64) setup.Setup {
	run := unsteady(rand.New(rand.NewPCG(1, 2)), 1, 0, speed)[0].Run
	run.Labels.GPU = name
	for i := range run.Stages {
		st := &run.Stages[i]
		st.PromptTokens = rundir.TokenStats{N: 100, Mean: rundir.Exactly(512)}
		if hits >= 0 {
			st.Hits = &rundir.Hits{Ideal: rundir.Exactly(hits), Reported: rundir.Exactly(hits), Source: rundir.HitsOfUsage}
		}
	}
	return setup.Load([]setup.Input{{Path: name, Run: run}})[0]
}

// Runs whose hit rates differ are compared at equal uncached tokens, or refused; with like hit rates they are compared
// as others.
func TestRunsOfDifferentHits(t *testing.T) {
	uncached := func(hits float64) float64 { return (640+5*512*(1-hits))/(1280+10*512*0.2) - 1 }
	for _, c := range []struct {
		hits float64 // of B; A has 0.80
		any  bool
		key  string // of the change that is there, and not the other
		want float64
	}{
		{0.75, false, keyRate, -0.5}, {-1, false, keyRate, -0.5}, {0.30, true, keyRate, -0.5},
		{0.30, false, keyUncached, uncached(0.30)}, {0.71, false, keyRate, -0.5}, {0.69, false, keyUncached, uncached(0.69)},
	} {
		found := testkit.Must(Of([]setup.Setup{hitting("A", 1, 0.80), hitting("B", 0.5, c.hits)}, c.any))
		got := map[string]float64{}
		for _, d := range found.Changes {
			got[d.Key] = d.Ratio.Value()
		}
		_, rate := got[keyRate]
		if math.Abs(got[c.key]-c.want) > 1e-9 || rate != (c.key == keyRate) || !rate && len(found.Factors) > 0 {
			t.Errorf("hits of 80 %% and %v: %v, want %v of %s", c.hits, got, c.want, c.key)
		}
		said := fmt.Sprint(found.Cautions())
		for _, want := range []string{"(m, 1 x A 80 %, m, 1 x B 30 %): only uncached tokens per second",
			"30 %）：只比较每秒未命中缓存的 token"} {
			if c.hits == 0.30 && !c.any && !strings.Contains(said, want) {
				t.Errorf("no %q in %s", want, said)
			}
		}
	}
	setups := []setup.Setup{hitting("A", 1, 0.80), hitting("B", 0.5, 0.30)}
	setups[1].Plateau.Rising = true // there is no rate of uncached tokens
	_, unequal := Of(setups, false)
	_, several := OfRuns([2][]setup.Setup{setups[:1], setups[1:]}, false, unknown)
	for err, want := range map[error]string{unequal: "measure both with equal --cache-hits",
		several: "80 % of its prompt tokens"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
