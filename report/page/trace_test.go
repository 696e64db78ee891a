package page

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// traceReal is a run against a real server, with its records.
const traceReal = "../../examples/real/vllm-cpu"

// What is summed up agrees with the records and with run.json.
func TestTraceAgreesWithTheRecords(t *testing.T) {
	run, err := store.Open(traceReal)
	if err != nil {
		t.Fatal(err)
	}
	traces, err := readTrace(traceReal, run, traceLimits{Points: 300, Slowest: 4})
	if err != nil {
		t.Fatal(err)
	}
	records := map[string][]*rundir.Record{}
	for r, err := range store.Records(traceReal) {
		if err != nil {
			t.Fatal(err)
		}
		records[r.Stage] = append(records[r.Stage], r)
	}
	for i := range run.Stages {
		st := &run.Stages[i]
		tr, all := traces[st.Name], records[st.Name]
		if tr == nil || tr.Requests != len(all) || sum(tr.Due) != float64(len(all)) {
			t.Fatalf("%s: %d records are not all in the slices", st.Name, len(all))
		}
		tokens, busy, slowest := 0.0, 0.0, 0.0
		window := measure.WindowOf(st)
		for _, r := range all {
			tokens += r.OutputTokens.Value()
			busy += r.End.Value() - r.Sent.Value()
			if v := measure.SLOValue(traceTTFT, r); window.Holds(r.Due.Value()) && v.Known() {
				slowest = max(slowest, v.Value())
			}
		}
		if got := sum(tr.Tokens); math.Abs(got-tokens) > 1e-6*tokens {
			t.Errorf("%s: %v tokens over time, %v in the records", st.Name, got, tokens)
		}
		if got := sum(tr.InFlight) * tr.Width; math.Abs(got-busy) > 0.01*busy {
			t.Errorf("%s: %v request-seconds in flight, %v in the records", st.Name, got, busy)
		}
		if n := tr.Values[traceTTFT].N; int(n) != st.TTFT.N {
			t.Errorf("%s: the distribution has %v values, run.json %d", st.Name, n, st.TTFT.N)
		}
		if n := tr.Values[traceITL].N; int(n) != st.ITL.N {
			t.Errorf("%s: the distribution of gaps has %v values, run.json %d", st.Name, n, st.ITL.N)
		}
		top := slices.MaxFunc(tr.Slowest,
			func(a, b traceRequest) int { return cmp.Compare(a.TTFT.Value(), b.TTFT.Value()) })
		if top.TTFT.Value() != slowest || slowest != st.TTFT.Max.Value() {
			t.Errorf("%s: the slowest kept has a TTFT of %v, that of the records is %v, run.json's %v", st.Name,
				top.TTFT.Value(), slowest, st.TTFT.Max.Value())
		}
		drawn := slices.MaxFunc(tr.Points, func(a, b TracePoint) int { return cmp.Compare(a.TTFT.Value(), b.TTFT.Value()) })
		if drawn.TTFT.Value() < slowest || len(tr.Points) > 300 {
			t.Errorf("%s: %d points are drawn, the highest at %v; the slowest request is at %v", st.Name, len(tr.Points),
				drawn.TTFT.Value(), slowest)
		}
	}
}

func sum(v []float64) float64 {
	total := 0.0
	for _, x := range v {
		total += x
	}
	return total
}

// A directory without records has no drawings, and that is no error; a damaged line is one, and what came before it is
// kept.
func TestWithoutRecords(t *testing.T) {
	run := &rundir.Run{Stages: []rundir.Stage{{Name: "a", Elapsed: 1}}}
	if got, err := readTrace(t.TempDir(), run, traceLimits{}); got != nil || err != nil {
		t.Error(got, err)
	}
}

// The bins of a distribution hold what was counted; those far below are gathered in the first one that is drawn.
func TestHistogram(t *testing.T) {
	h := &traceHistogram{}
	for _, v := range []float64{0, 2e-6, 0.01, 0.011, 0.5, 12} {
		h.Add(v, 1, v == 12)
	}
	for _, least := range []float64{math.NaN(), 1e-3} {
		bars, below := h.Bars(least)
		total := 0.0
		for _, b := range bars {
			total += b.Count
		}
		if total != 6 || h.Bounded != 1 {
			t.Errorf("bars hold %v values, want 6", total)
		}
		if least > 0 && (below != 2 || bars[0].Count != 2 || bars[0].Low > least || bars[0].High < least) {
			t.Errorf("%v values are below %v: first bar %+v", below, least, bars[0])
		}
		last := bars[len(bars)-1]
		if last.Low > 12 || last.High < 12 {
			t.Errorf("12 s is in the bin from %v to %v", last.Low, last.High)
		}
	}
}
