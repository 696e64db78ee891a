package compare

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"llmsweep/client/note"
	"llmsweep/client/testkit"
	"llmsweep/report"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/pair"
	"llmsweep/sweep/rundir"
)

// measuredPair is two servers of which B is faster by gain in everything but the first tokens, over so many blocks in
// which rounds differ by noise.
func measuredPair(gain, noise float64, blocks int) (*rundir.Pair, *rundir.Run, *rundir.Run) {
	p := &rundir.Pair{
		Schema: rundir.PairSchema, State: rundir.Complete,
		Loads: []rundir.PairLoad{
			{Key: pair.LoadSync, Name: "synchronous", Kind: "synchronous", MaxConcurrency: 1, Requests: 5},
			{Key: pair.LoadHalf, Name: "poisson@4.00", Kind: "poisson", Rate: rundir.Exactly(4)},
			{Key: pair.LoadHigh, Name: "poisson@6.40", Kind: "poisson", Rate: rundir.Exactly(6.4)},
			{Key: pair.LoadCeiling, Name: "throughput", Kind: "throughput", MaxConcurrency: 64},
		},
	}
	rng := rand.New(rand.NewPCG(5, 6))
	var runs [2]*rundir.Run
	for side := range runs {
		run := &rundir.Run{
			Schema: rundir.Schema, State: rundir.Complete, Client: rundir.Client{Valid: true},
			Target:   rundir.Target{URL: "http://" + rundir.Sides()[side] + ":8000"},
			Workload: rundir.Workload{PromptTokens: rundir.Lengths{Mean: 512}, OutputTokens: rundir.Lengths{Mean: 128}},
		}
		for block := range blocks {
			for half := range 2 {
				wave := float64(side) * noise * rng.NormFloat64()
				k := 1 + gain*float64(side) + wave
				for i := range p.Loads {
					l := &p.Loads[i]
					busy := []float64{1, 1.3, 2, 4}[i]
					run.Stages = append(run.Stages, rundir.Stage{
						Name: l.StageName(2*block + half + 1), Kind: l.Kind, State: rundir.Complete, MaxConcurrency: l.MaxConcurrency,
						Requests:     rundir.Requests{Due: 40, OK: 40},
						TTFT:         rundir.Dist{N: 40, Mean: rundir.Exactly(0.0956 * busy * (1 + wave))},
						Latency:      rundir.Dist{N: 40, Mean: rundir.Exactly(2.7 * busy / k)},
						InterToken:   rundir.Exactly(0.021 * busy / k),
						TokensPerS:   rundir.TokenRates{Output: rundir.Exactly(905 * k)},
						OutputTokens: rundir.TokenStats{N: 40, Mean: rundir.Exactly(128)},
					})
				}
			}
		}
		runs[side] = run
	}
	for i := range blocks {
		p.Orders = append(p.Orders, []string{"ABBA", "BAAB"}[i%2])
	}
	return p, runs[0], runs[1]
}

func TestLiveGolden(t *testing.T) {
	differ := OfPair(measuredPair(0.03, 0.004, 7))
	same := OfPair(measuredPair(0, 0.02, 7))
	p, a, b := measuredPair(0.03, 0.004, 2)
	p.State, p.Failure = rundir.Failed, note.Note{Code: "pair.side-failed", Args: map[string]any{"side": "B",
		"why": []note.Note{{Code: "run.server-gone", Args: map[string]any{"stage": "throughput #5"}}}}}
	b.Stages[5].Latency.Mean = rundir.Over(9)
	b.Stages[6].Requests = rundir.Requests{Due: 40, OK: 37, Error: 3}
	b.Stages[7].OutputTokens.Mean = rundir.Exactly(10)
	a.Stages[3].Invalid = note.Note{Code: "client.sent-late", Args: map[string]any{"lag_p99": 0.08}}
	for name, v := range map[string]*PairComparison{"differ": differ, "same": same, "failed": OfPair(p, a, b)} {
		for _, o := range []struct {
			file, format string
			o            report.Options
		}{
			{"en.md", "markdown", report.Options{}}, {"zh.md", "markdown", report.Options{Lang: lang.Chinese}},
			{"en.txt", "console", report.Options{}}, {"zh.txt", "console", report.Options{Lang: lang.Chinese}},
		} {
			var out bytes.Buffer
			if err := table.WriteSections(&out, o.format, v.Sections(2), table.Style{Width: o.o.Width, Color: o.o.Color,
				Lang: o.o.Lang}); err != nil {
				t.Fatal(err)
			}
			testkit.CheckGolden(t, "live-"+name+"."+o.file, out.Bytes())
		}
		if name == "differ" {
			var out bytes.Buffer
			if err := v.JSON(&out); err != nil {
				t.Fatal(err)
			}
			testkit.CheckGolden(t, "live-differ.json", out.Bytes())
		}
	}
}

// The conclusion is never stronger than the metrics: it names no metric whose own interval holds 0.
func TestLiveConclusion(t *testing.T) {
	for _, gain := range []float64{0, 0.01, 0.03, -0.1} {
		for _, noise := range []float64{0.002, 0.02, 0.1} {
			v := OfPair(measuredPair(gain, noise, 6))
			differs := false
			for _, r := range v.Rows {
				differs = differs || r.Shown
				if alone := r.Low.Value() > 0 || r.High.Value() < 0; r.Shown && !alone || alone == strings.HasPrefix(rowChange(&r),
					markNoDifference) {
					t.Errorf("gain %v, noise %v: %s is shown: %v, from %v to %v, printed %s", gain, noise, r.Key, r.Shown,
						r.Low.Value(), r.High.Value(), rowChange(&r))
				}
			}
			if got := strings.HasPrefix(v.Says, markNoDifference); got == differs {
				t.Errorf("gain %v, noise %v: differs %v, says %s", gain, noise, differs, v.Says)
			}
			if gain == 0.03 && noise == 0.002 && !strings.Contains(v.Says, "+3.0 %") {
				t.Errorf("says %s", v.Says)
			}
		}
	}
}

func TestLiveGates(t *testing.T) {
	v := OfPair(measuredPair(-0.06, 0.002, 6))
	for gate, fails := range map[string]bool{
		"tokens_per_s<-5%": true, "tokens_per_s<-7%": false, "latency@50>5%": true, "ttft@80>1%": false, "errors>1%": false,
	} {
		g, err := ParseGate(gate, v.Keys())
		if err != nil {
			t.Fatal(err)
		}
		if len(v.Unjudged(g)) > 0 {
			t.Errorf("%s cannot be judged", gate)
		}
		if got := len(v.Failures(g)) > 0; got != fails {
			t.Errorf("%s fails: %v", gate, got)
		}
	}
	if _, err := ParseGate("itl@4.5rps>5%", pair.Keys([]float64{4.5}, nil)); err != nil {
		t.Error(err)
	}
	if want := pair.Keys(nil, nil); !slices.Equal(v.Keys()[:len(want)], want) {
		t.Errorf("keys %v, announced %v", v.Keys(), want)
	}
}

// TestClientLimitedStagesDoNotCount has stages in which the client was the limit: their blocks are left out, and where
// too few are left there is no conclusion.
func TestClientLimitedStagesDoNotCount(t *testing.T) {
	why := note.Note{Code: "client.sent-late", Args: map[string]any{"lag_p99": 0.08}}
	for spoiled, concludes := range map[int]bool{0: true, 1: true, 5: true, 6: false, 7: false} {
		p, a, b := measuredPair(0.03, 0.004, 7)
		for block := range spoiled {
			for i := range p.Loads {
				st := &b.Stages[8*block+i]
				st.Invalid = why
				st.TokensPerS.Output, st.Latency.Mean = rundir.Exactly(1), rundir.Exactly(1000) // would show in any mean
			}
		}
		v := OfPair(p, a, b)
		for _, l := range lang.All() {
			text := strings.Join(v.conclusion(l), "\n")
			if withheld := text == liveTooFew.In(l); withheld == concludes {
				t.Errorf("%d blocks: %s", spoiled, text)
			}
		}
		for _, r := range v.Rows {
			if r.Spoiled != spoiled {
				t.Errorf("%d blocks: %d of %s are left out", spoiled, r.Spoiled, r.Key)
			}
			if r.Ratio.Known() && (r.Ratio.Value() > 0.1 || r.Ratio.Value() < -0.1) {
				t.Errorf("%d blocks: %s differs by %v", spoiled, r.Key, r.Ratio.Value())
			}
		}
	}
}
