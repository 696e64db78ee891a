package compare

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
)

// tables are the setups of the published document.
func tables(t *testing.T) []setup.Setup {
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
	return setup.Load(all)
}

func compared(t *testing.T, setups []setup.Setup) *Comparison {
	t.Helper()
	c, err := Of(setups, false)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Qwen2-7B on vLLM, one L20 against two: the plateaus as they are printed in lines 23 and 55 or so of the document.
func TestScalingOfThePublishedTables(t *testing.T) {
	c := compared(t, tables(t))
	for _, f := range c.Factors {
		if f.What != ByGPUs || !strings.HasPrefix(f.Equal, "Qwen2-7B-Instruct, L20") || !strings.Contains(f.Equal, "vLLM") {
			continue
		}
		p, ok := f.Steps[0].load(keyRate)
		if !ok || p.Before.Value.Value() != 510.64 || p.After.Value.Value() != 969.20 {
			t.Fatalf("plateaus %v and %v", p.Before.Value, p.After.Value)
		}
		// At least 1.90 x by the rows at arrival rates, which the rows throughput contradict: 990.34 / 826.03.
		if got := fmt.Sprintf("%s %.2f %.2f %v", p.Bound, p.Low.Value(), p.High.Value(),
			p.SpeedUp.Known()); got != BoundRange+" 1.20 1.90 false" {
			t.Errorf("speed-up %s", got)
		}
		if p.Before.Where != "tables.md:23" || p.After.Where != "tables.md:57" {
			t.Errorf("traced to %s and %s", p.Before.Where, p.After.Where)
		}
		for _, want := range []string{"1.20 to 1.90 x", "510.64 tok/s, throughput row 826.03",
			"969.20 tok/s or more, throughput row 990.34"} {
			if !strings.Contains(f.Says, want) {
				t.Errorf("does not say %q: %s", want, f.Says)
			}
		}
		return
	}
	t.Error("no scaling section for Qwen2-7B-Instruct on vLLM")
}

// Each metric of the published document can be found in the lines it names, or between the two of them.
func TestFiguresAreTraceable(t *testing.T) {
	text, err := os.ReadFile("../published/testdata/guidellm-tables.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for _, m := range compared(t, tables(t)).Setups {
		for _, f := range m.Metrics {
			for _, where := range strings.Split(f.Where, ", ") {
				var n int
				if _, err := fmt.Sscanf(strings.TrimPrefix(where, "tables.md:"), "%d", &n); err != nil || n < 1 ||
					n > len(lines) || !strings.Contains(lines[n-1], "|") {
					t.Errorf("%s %s: %q is no line of a table", m.Name, f.Key, where)
				}
			}
			if strings.Contains(f.Where, ", ") || f.Key == KeyPerGPU || f.Key == keyAnswer {
				continue
			}
			var n int
			fmt.Sscanf(f.Where, "tables.md:%d", &n)
			v := f.Value.Value()
			if strings.HasPrefix(f.Key, "ttft") || strings.HasPrefix(f.Key, "itl") {
				v *= 1e3
			}
			if !strings.Contains(strings.ReplaceAll(lines[n-1], ",", ""), fmt.Sprintf("%.2f", v)) {
				t.Errorf("%s %s: %.2f is not in line %d: %s", m.Name, f.Key, v, n, lines[n-1])
			}
		}
	}
}

func TestImportedFiguresHaveNoIntervals(t *testing.T) {
	c := compared(t, tables(t))
	for _, ch := range c.Changes {
		if ch.Shown != nil || !ch.Low.IsZero() && ch.Bound != BoundRange {
			t.Errorf("an interval was invented: %+v", ch)
		}
	}
}

// A row is left out where it is not known what it completed; elsewhere only the figures that contradict others are.
func TestImpossibleFiguresAreLeftOut(t *testing.T) {
	setups := tables(t)
	c := compared(t, setups)
	left, marked := map[string]bool{}, map[string]bool{}
	for _, o := range c.LeftOut {
		left[o.Where] = true
	}
	for _, o := range c.Marked {
		marked[o.Where] = true
	}
	// zeros, more than offered, 6.28 for 6.82
	for _, line := range []string{"tables.md:212", "tables.md:215", "tables.md:38"} {
		if !left[line] {
			t.Errorf("%s was relied on", line)
		}
	}
	if left["tables.md:21"] || !marked["tables.md:21"] || left["tables.md:22"] || left["tables.md:23"] {
		t.Error("a row was left out of which only some figures are wrong, or one beside it")
	}
	for i := range setups {
		for _, r := range setups[i].Rows {
			if st := r.Stage; r.Where == "tables.md:21" && (st.TTFT.Mean.Known() || st.Latency.Mean.Known() ||
				st.InterToken.Known() || st.Rates.Completed.Value() != 7.06) {
				t.Errorf("line 21 has TTFT %v, latency %v, gaps %v, %v completed", st.TTFT.Mean, st.Latency.Mean, st.InterToken,
					st.Rates.Completed)
			}
		}
	}
}

func TestGolden(t *testing.T) {
	published := compared(t, tables(t))
	measured := compared(t, twoRuns(0.05, 0.01))
	bounds := compared(t, []setup.Setup{tables(t)[0], tables(t)[2]})
	for name, c := range map[string]*Comparison{"published": published, "measured": measured, "bounds": bounds} {
		for _, o := range []struct {
			file, format string
			o            report.Options
		}{
			{"en.md", "markdown", report.Options{}}, {"zh.md", "markdown", report.Options{Lang: lang.Chinese}},
			{"en.txt", "console", report.Options{}}, {"zh.txt", "console", report.Options{Lang: lang.Chinese}},
		} {
			var b bytes.Buffer
			if err := table.WriteSections(&b, o.format, c.Report(2), table.Style{Width: o.o.Width, Color: o.o.Color,
				Lang: o.o.Lang}); err != nil {
				t.Fatal(err)
			}
			testkit.CheckGolden(t, name+"."+o.file, b.Bytes())
		}
	}
}

// twoRuns returns two measured runs: the second takes more by gain, and each interval is noise wide on either side.
func twoRuns(gain, noise float64) []setup.Setup {
	var all []setup.Input
	for i, name := range []string{"before", "after"} {
		k := 1 + gain*float64(i)
		run := &rundir.Run{
			Schema: rundir.Schema, State: rundir.Complete, Client: rundir.Client{Valid: true},
			Labels:   rundir.Labels{Model: "m", GPU: "G", GPUs: 1, Engine: []string{"old", "new"}[i]},
			Workload: rundir.Workload{PromptTokens: rundir.Lengths{Mean: 512}, OutputTokens: rundir.Lengths{Mean: 128}},
			Saturation: &rundir.Saturation{
				Rate: rundir.Exactly(10 * k), Low: rundir.Exactly(10 * k * (1 - noise)), High: rundir.Exactly(10 * k * (1 + noise)),
				Output: rundir.Exactly(1280 * k),
			},
		}
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
		Verdict:  rundir.Stable,
		Requests: rundir.Requests{Due: 600, Sent: 600, OK: 600}, Window: 60, Rate: rundir.Exactly(rate * k), Elapsed: 60,
	}
	if rate == 0 {
		s.Name, s.Kind, s.Role, s.Rate, rate = "synchronous", "synchronous", rundir.Synchronous, rundir.Number{}, 0.7199
	}
	itl, ttft := 0.01*(1+rate/10)/k, 0.05*(1+rate/5)/k
	s.Rates = rundir.Rates{Offered: s.Rate, Completed: rundir.Exactly(rate * k)}
	s.TokensPerS.Output = rundir.Exactly(rate * k * 128)
	interval := func(v float64) map[string][2]float64 {
		return map[string][2]float64{"mean": {v * (1 - noise), v * (1 + noise)}}
	}
	s.TTFT, s.ITL = rundir.Dist{N: 600, Mean: rundir.Exactly(ttft), CI: interval(ttft)},
		rundir.Dist{N: 76800, Mean: rundir.Exactly(itl), CI: interval(itl)}
	s.Latency = rundir.Dist{N: 600, Mean: rundir.Exactly(ttft + 127*itl)}
	s.InterToken = rundir.Exactly(itl)
	return s
}

func TestIntervals(t *testing.T) {
	for _, x := range []struct {
		gain, noise float64
		shown       bool
	}{{0.05, 0.01, true}, {0.05, 0.1, false}, {0, 0.01, false}, {-0.2, 0.02, true}} {
		c := compared(t, twoRuns(x.gain, x.noise))
		for _, ch := range c.Changes {
			if ch.Key != keyOutput {
				continue
			}
			if math.Abs(ch.Ratio.Value()-x.gain) > 1e-9 {
				t.Errorf("gain %v: ratio %v", x.gain, ch.Ratio.Value())
			}
			// Two relative half-widths of equal size add up as the root of 2.
			if want := (1+x.gain)*math.Exp(math.Sqrt2*x.noise) - 1; math.Abs(ch.High.Value()-want) > 1e-9 {
				t.Errorf("gain %v, noise %v: upper bound %v, want %v", x.gain, x.noise, ch.High.Value(), want)
			}
			if ch.Shown == nil || *ch.Shown != x.shown {
				t.Errorf("gain %v, noise %v: shown %v", x.gain, x.noise, ch.Shown)
			}
			if strings.HasPrefix(ch.String(), "~") == x.shown {
				t.Errorf("gain %v, noise %v: printed %q", x.gain, x.noise, ch)
			}
		}
		for _, f := range c.Factors {
			if got := !strings.Contains(f.Says, "may be equal"); got != x.shown {
				t.Errorf("gain %v, noise %v: concluded %q", x.gain, x.noise, f.Says)
			}
		}
	}
}

// Two results of different models are compared with a caution, and those of one model without. Among many, only those
// of one model are compared.
func TestOtherModelsAreCautioned(t *testing.T) {
	all := tables(t)
	two := []setup.Setup{all[0], all[slices.IndexFunc(all,
		func(s setup.Setup) bool { return setup.Model(s.Run) == "Qwen2-14B-Instruct" })]}
	if got := lang.In(compared(t, two).Cautions(), lang.English); len(got) != 1 ||
		!strings.Contains(got[0], "Qwen2-7B-Instruct, Qwen2-14B-Instruct") {
		t.Errorf("%q", got)
	}
	if got := compared(t, all).Cautions(); len(got) > 0 {
		t.Errorf("no two models are compared: %q", got)
	}
	one := slices.DeleteFunc(slices.Clone(all),
		func(s setup.Setup) bool { return setup.Model(s.Run) != "Qwen2-7B-Instruct" })
	if got := compared(t, one).Cautions(); len(got) > 0 {
		t.Errorf("one model, quantized or not: %q", got)
	}
}

// Where output and rate disagree about how long answers were, the output is not known better than that.
func TestDisagreeingCountsWiden(t *testing.T) {
	setups := twoRuns(0, 0.01)
	for i := range setups {
		for j := range setups[i].Run.Stages {
			setups[i].Run.Stages[j].OutputTokens = rundir.TokenStats{N: 600, Mean: rundir.Exactly(128)}
		}
	}
	setups[1].Plateau.Output = rundir.Exactly(1280 * 1.12)
	for _, ch := range compared(t, setups).Changes {
		if ch.Key == keyOutput && (ch.Shown == nil || *ch.Shown) {
			t.Errorf("the same rate and the same answers, yet a difference is shown: %s", ch)
		}
	}
}

func TestGates(t *testing.T) {
	for _, x := range []struct {
		gain, noise float64
		gate        string
		fails       bool
	}{
		{-0.1, 0.01, "tokens_per_s<-5%", true}, {-0.03, 0.01, "tokens_per_s<-5%", false}, {-0.1, 0.2, "tokens_per_s<-5%",
			false},
		{-0.2, 0.01, "itl@80>10%", true}, {0.1, 0.01, "itl@80>+10%", false}, {0.1, 0.01, "errors>1%", false},
	} {
		g, err := ParseGate(x.gate, Keys())
		if err != nil {
			t.Fatal(err)
		}
		c := compared(t, twoRuns(x.gain, x.noise))
		if len(c.Unjudged(g)) > 0 {
			t.Errorf("%s cannot be judged", g)
		}
		if got := len(c.Failures(g)) > 0; got != x.fails {
			t.Errorf("gain %v, noise %v: %s fails: %v", x.gain, x.noise, g, got)
		}
	}
	for _, bad := range []string{"tokens_per_s", "pace<-5%", "tokens_per_s=5%", "tokens_per_s<-5"} {
		if _, err := ParseGate(bad, Keys()); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestOtherWorkloadsAreRefused(t *testing.T) {
	setups := twoRuns(0, 0.01)
	setups[1].Run.Workload.OutputTokens.Mean = 256
	if _, err := Of(setups, false); err == nil || !strings.Contains(err.Error(), "--any-workload") ||
		!strings.Contains(err.Error(), "512/256") {
		t.Errorf("error %v", err)
	}
	if _, err := Of(setups, true); err != nil {
		t.Error(err)
	}
	if _, err := Of(setups[:1], false); err == nil {
		t.Error("one run was compared")
	}
}

// The ends of what rows show are no interval: no drawing of differences between published tables has one.
func TestRangesAreNoIntervals(t *testing.T) {
	c := compared(t, tables(t))
	for _, m := range c.Setups {
		_, all := c.Differences(m.Name)
		for _, d := range all {
			if !d.Low.IsZero() || !d.High.IsZero() {
				t.Errorf("%s, %s: %v to %v", m.Name, d.Name.In(lang.English), d.Low, d.High)
			}
		}
	}
}

// TestNoRowExceedsTheHighest: what is called the highest is the output at saturation, also where a row of the run gave
// more.
func TestNoRowExceedsTheHighest(t *testing.T) {
	for _, f := range compared(t, tables(t)).Factors {
		if strings.Contains(f.Says, "highest") && !strings.Contains(f.Says, ": at saturation ") {
			t.Error(f.Says)
		}
	}
	own := twoRuns(0.05, 0.01)
	own[1].Run.Stages[1].TokensPerS.Output = rundir.Exactly(1e6)
	says := compared(t, own).Factors[0].Conclusion(lang.English)
	if !strings.Contains(says, "at saturation") || strings.Contains(says, "measured") {
		t.Error(says)
	}
}

// Two lower bounds leave open which is higher, and no speed-up follows from them.
func TestTwoLowerBounds(t *testing.T) {
	for _, f := range compared(t, tables(t)).Factors {
		for i := range f.Ratios {
			if r := f.Ratios[i]; r.Ratio.IsZero() && r.Bound == "" && strings.Contains(f.Says, " has the highest output") {
				t.Errorf("%s against %s is not known: %s", r.Of, r.To, f.Says)
			}
		}
	}
}

// TestQuantizationInTheModelsName: a run whose model is labelled with its quantization is compared with the unquantized
// one, without a caution.
func TestQuantizationInTheModelsName(t *testing.T) {
	both := twoRuns(0.05, 0.01)
	for i := range both {
		both[i].Run.Labels.Engine = "e"
	}
	both[1].Run.Labels.Model, both[1].Run.Labels.Quant = "m-GPTQ-Int4", "GPTQ-Int4"
	c := compared(t, both)
	if len(c.Factors) != 1 || c.Factors[0].What != byQuant || len(c.Cautions()) > 0 {
		t.Errorf("%+v, %v", c.Factors, c.Cautions())
	}
}
