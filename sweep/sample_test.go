package sweep

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Whatever the censored requests would have come to, a bare figure is the one that the true values give, and a lower
// bound lies below it.
func TestCensoredFiguresNeverLie(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var s sample
		var truth []float64
		for range rapid.IntRange(1, 80).Draw(t, "n") {
			v := rapid.Float64Range(0, 100).Draw(t, "value")
			if rapid.IntRange(0, 4).Draw(t, "censored") == 0 {
				s.exceed(v)
				v += rapid.Float64Range(0, 1000).Draw(t, "more")
			} else {
				s.know(v)
			}
			truth = append(truth, v)
		}
		slices.Sort(truth)
		d := s.dist()
		if d.N != len(truth) || d.Censored != len(s.bounds) {
			t.Fatalf("n %d and %d, want %d and %d", d.N, d.Censored, len(truth), len(s.bounds))
		}
		want := map[string]float64{
			"mean": stats.Mean(truth), "min": truth[0], "max": truth[len(truth)-1], "std": stats.Deviation(truth),
			"p50": stats.Quantile(truth, 0.5), "p90": stats.Quantile(truth, 0.9), "p95": stats.Quantile(truth, 0.95),
			"p99": stats.Quantile(truth, 0.99), "p999": stats.Quantile(truth, 0.999),
		}
		for _, f := range d.Numbers() {
			slack := 1e-9 * (1 + want[f.Name])
			switch {
			case f.Number.Known() && math.Abs(f.Number.Value()-want[f.Name]) > slack:
				t.Fatalf("%s is said to be %v and is %v", f.Name, f.Number.Value(), want[f.Name])
			case f.Number.Bound() && f.Number.Value() > want[f.Name]+slack:
				t.Fatalf("%s is said to be over %v and is %v", f.Name, f.Number.Value(), want[f.Name])
			case f.Number.IsZero() && f.Name != "std":
				t.Fatalf("%s is missing", f.Name)
			}
		}
	})
}

func TestNothingHasNoFigures(t *testing.T) {
	d := (&sample{}).dist()
	for _, f := range d.Numbers() {
		if !f.Number.IsZero() {
			t.Errorf("%s of nothing is %v", f.Name, f.Number.Value())
		}
	}
}

func TestSupportIsMarked(t *testing.T) {
	var s sample
	for i := range 200 {
		s.know(float64(i*7919%200) / 10)
	}
	d := s.distWorth(200)
	if want := []string{"p99", "p999"}; !slices.Equal(d.Unsupported, want) {
		t.Errorf("200 values do not support %v, want %v", d.Unsupported, want)
	}
	if ci, ok := d.CI["p50"]; !ok || ci[0] >= d.P50.Value() || ci[1] <= d.P50.Value() {
		t.Errorf("the median %v has the interval %v", d.P50.Value(), ci)
	}
	if d = s.distWorth(20); d.Supported("p90") || !d.Supported("p50") {
		t.Errorf("worth 20, they do not support %v", d.Unsupported)
	}
}

// answer is a request that ended well: due and sent at an instant, a first token, and gaps.
func answer(at, first float64, gaps ...int64) *rundir.Record {
	last := first
	for _, g := range gaps {
		last += float64(g) / 1e6
	}
	return &rundir.Record{
		Due: rundir.Exactly(at), Sent: rundir.Exactly(at), FirstToken: rundir.Exactly(first), LastToken: rundir.Exactly(last),
		End: rundir.Exactly(last), Status: "ok", OutputTokens: rundir.Exactly(float64(len(gaps) + 1)), GapsUS: gaps,
		AskedTokens: len(gaps) + 1, PromptTokens: rundir.Exactly(10), TokenSource: "server",
	}
}

func failed(at float64, class string) *rundir.Record {
	return &rundir.Record{
		Due: rundir.Exactly(at), Sent: rundir.Exactly(at), End: rundir.Exactly(at + 0.001), Status: "error", Error: class,
		Message: class + " happened", AskedTokens: 3,
	}
}

func unfinished(at, first, until float64, gaps ...int64) *rundir.Record {
	r := answer(at, first, gaps...)
	r.Status, r.End, r.OutputTokens, r.TokenSource = "incomplete", rundir.Exactly(until), rundir.Number{}, ""
	r.AskedTokens = 100
	return r
}

// summed is a stage of one Hertz measured over its first ten seconds.
func summed(records ...*rundir.Record) rundir.Stage {
	m, _, err := retrace(listed(records))
	if err != nil {
		panic(err)
	}
	m.closedAt, m.elapsed = duration(10), duration(10)
	m.tokens = slices.Repeat([]float64{1}, 100) // steady from the start
	st := rundir.Stage{Name: "x", Kind: "poisson", Rate: rundir.Exactly(1), State: rundir.Complete}
	if st, err = summarise(st, listed(records), m, 0.05); err != nil {
		panic(err)
	}
	return st
}

func near(t *testing.T, what string, got rundir.Number, want float64) {
	t.Helper()
	if !got.Known() || math.Abs(got.Value()-want) > 1e-9 {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func TestRatesCountInTheWindowAlone(t *testing.T) {
	st := summed(
		answer(1, 2, 1e6, 1e6),     // all of it in the window
		answer(8, 9, 500e3, 2e6),   // its third token at 11.5: after the window
		answer(11, 11.5, 1e6, 1e6), // after the window: load that is kept on
		failed(3, "http_5xx"),
	)
	near(t, "completed", st.Rates.Completed, 0.1)
	near(t, "offered", st.Rates.Offered, 0.3)
	near(t, "output", st.TokensPerS.Output, 0.5)
	near(t, "input", st.TokensPerS.Input, 2)
	if q := st.Requests; q != (rundir.Requests{Due: 3, Sent: 3, OK: 2, Error: 1}) {
		t.Errorf("requests %+v", q)
	}
	if st.Latency.N != 2 || st.Errors["http_5xx"] != 1 || st.Examples["http_5xx"] == "" {
		t.Errorf("latency of %d, errors %v", st.Latency.N, st.Errors)
	}
	near(t, "latency max", st.Latency.Max, 3.5)
}

func TestChunksOfSeveralTokens(t *testing.T) {
	r := answer(1.5, 2, 400e3, 400e3)
	r.Counts, r.OutputTokens, r.AskedTokens = []int32{1, 4, 4}, rundir.Exactly(9), 9
	st := summed(r)
	near(t, "ITL", st.ITL.Mean, 0.1)
	near(t, "chunk gap", st.ChunkGap.Mean, 0.4)
	near(t, "TPOT", st.TPOT.Mean, 0.1)
	near(t, "tokens a chunk", st.TokensPerChunk, 3)
	near(t, "tokens", rundir.Exactly(st.TokensPerS.Output.Value()*st.Window), 9)
	if st.ITL.N != 8 || st.ChunkGap.N != 2 {
		t.Errorf("%d token gaps and %d chunk gaps, want 8 and 2", st.ITL.N, st.ChunkGap.N)
	}
	// The same without the counts: the total is known, and is shared out.
	r.Counts = nil
	st = summed(r)
	near(t, "tokens", rundir.Exactly(st.TokensPerS.Output.Value()*st.Window), 9)
	near(t, "TPOT", st.TPOT.Mean, 0.1)
	near(t, "inter token", st.InterToken, 0.1)
	near(t, "chunk gap", st.ChunkGap.Mean, 0.4)
}

func TestUnfinishedRequestsAreNotDropped(t *testing.T) {
	st := summed(answer(1, 2, 1e6), answer(2, 3, 1e6), unfinished(3, 4, 50, 1e6))
	if m := st.Latency.Mean; !m.Bound() || math.Abs(m.Value()-(2+2+47)/3.0) > 1e-9 {
		t.Errorf("mean latency %v", m)
	}
	near(t, "median latency", st.Latency.P50, 2)
	if p := st.Latency.P99; !p.Bound() {
		t.Errorf("p99 latency %v", p)
	}
	near(t, "TTFT of all three", st.TTFT.Mean, 1)
	if !st.ITL.Max.Bound() || st.ITL.Max.Value() < 44 {
		t.Errorf("the longest gap %v hides that the stream stopped", st.ITL.Max)
	}
	timeout := failed(3, "timeout")
	timeout.End = rundir.Exactly(603)
	if st = summed(answer(1, 2, 1e6), timeout); !st.Latency.Max.Bound() || st.Latency.Max.Value() != 600 || !st.TTFT.Mean.Bound() {
		t.Errorf("a timeout counts as latency %v, TTFT %v", st.Latency.Max, st.TTFT.Mean)
	}
}

func TestTheMeanOfTokensWeighsEachAlike(t *testing.T) {
	st := summed(answer(1, 2, 100e3), answer(2, 3, 10e3, 10e3, 10e3, 10e3, 10e3, 10e3, 10e3, 10e3, 10e3))
	near(t, "inter token", st.InterToken, 0.019)
	near(t, "ITL mean", st.ITL.Mean, 0.019)
	near(t, "TPOT mean", st.TPOT.Mean, 0.055)
}
