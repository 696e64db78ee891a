package compare

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"llmsweep/client/note"
	"llmsweep/client/testkit"
	"llmsweep/report/lang"
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
		run := measured("", 0, 0, 0)
		run.Labels, run.Saturation = rundir.Labels{}, nil
		run.Target.URL = "http://" + rundir.Sides()[side] + ":8000"
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

// sentLate is the note of a stage in which the client was the limit.
var sentLate = note.Note{Code: "client.sent-late", Args: map[string]any{"lag_p99": 0.08}}

func TestLiveGolden(t *testing.T) {
	differ := OfPair(measuredPair(0.03, 0.004, 7))
	p, a, b := measuredPair(0.03, 0.004, 2)
	p.State, p.Failure = rundir.Failed, note.Note{Code: "pair.side-failed", Args: map[string]any{"side": "B",
		"why": []note.Note{{Code: "run.server-gone", Args: map[string]any{"stage": "throughput #5"}}}}}
	b.Stages[5].Latency.Mean = rundir.Over(9)
	b.Stages[6].Requests = rundir.Requests{Due: 40, OK: 37, Error: 3}
	b.Stages[7].OutputTokens.Mean = rundir.Exactly(10)
	a.Stages[3].Invalid = sentLate
	checkFormats(t, "live-differ", differ.Sections(2))
	checkFormats(t, "live-same", OfPair(measuredPair(0, 0.02, 7)).Sections(2))
	checkFormats(t, "live-failed", OfPair(p, a, b).Sections(2))
	var out bytes.Buffer
	if err := differ.JSON(&out); err != nil {
		t.Fatal(err)
	}
	testkit.CheckGolden(t, "live-differ.json", out.Bytes())
}

// The conclusion is never stronger than the metrics: it names no metric whose own interval holds 0.
func TestLiveConclusion(t *testing.T) {
	for _, gain := range []float64{0, 0.01, 0.03, -0.1} {
		for _, noise := range []float64{0.002, 0.02, 0.1} {
			v, differs := OfPair(measuredPair(gain, noise, 6)), false
			for _, r := range v.Rows {
				differs = differs || r.Shown
				alone := r.Low.Value() > 0 || r.High.Value() < 0
				if r.Shown && !alone || alone == strings.HasPrefix(rowDifference(&r).String(), markNoDifference) {
					t.Errorf("gain %v, noise %v: %+v is printed as %s", gain, noise, r, rowDifference(&r))
				}
			}
			if strings.HasPrefix(v.Says, markNoDifference) == differs ||
				gain == 0.03 && noise == 0.002 && !strings.Contains(v.Says, "+3.0 %") {
				t.Errorf("gain %v, noise %v: differs %v, says %s", gain, noise, differs, v.Says)
			}
		}
	}
}

func TestLiveGates(t *testing.T) {
	v := OfPair(measuredPair(-0.06, 0.002, 6))
	for gate, fails := range map[string]bool{
		"tokens_per_s<-5%": true, "tokens_per_s<-7%": false, "latency@50>5%": true, "ttft@80>1%": false, "errors>1%": false,
	} {
		g := testkit.Must(ParseGate(gate, v.Keys()))
		failed, unjudged := Judge(v.Changes, []Gate{g})
		if (len(failed) > 0) != fails || len(unjudged) > 0 {
			t.Errorf("%s fails: %v, not judged: %v", gate, failed, unjudged)
		}
	}
	if _, err := ParseGate("itl@4.5rps>5%", pair.Keys([]float64{4.5}, nil)); err != nil {
		t.Error(err)
	}
	if want := pair.Keys(nil, nil); !slices.Equal(v.Keys()[:len(want)], want) {
		t.Errorf("keys %v, announced %v", v.Keys(), want)
	}
}

// Blocks in which the client was the limit are left out, and where too few are left there is no conclusion.
func TestClientLimitedStagesDoNotCount(t *testing.T) {
	for spoiled, concludes := range map[int]bool{0: true, 1: true, 5: true, 6: false, 7: false} {
		p, a, b := measuredPair(0.03, 0.004, 7)
		for block := range spoiled {
			for i := range p.Loads {
				st := &b.Stages[8*block+i]
				st.Invalid = sentLate
				st.TokensPerS.Output, st.Latency.Mean = rundir.Exactly(1), rundir.Exactly(1000) // would show in any mean
			}
		}
		v := OfPair(p, a, b)
		if withheld := v.Says == liveTooFew.In(lang.English); withheld == concludes {
			t.Errorf("%d blocks: %s", spoiled, v.Says)
		}
		for _, r := range v.Rows {
			if r.Spoiled != spoiled || r.Ratio.Known() && math.Abs(r.Ratio.Value()) > 0.1 {
				t.Errorf("%d blocks: %d of %s are left out, which differs by %v", spoiled, r.Spoiled, r.Key, r.Ratio)
			}
		}
	}
}
