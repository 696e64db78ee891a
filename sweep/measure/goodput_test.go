package measure

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// wholeAnswer is a request due at 1 s and sent at 1.1 s, with its first token at 1.3 s and gaps of 10, 10, 10 and 50
// ms.
func wholeAnswer() *rundir.Record {
	return &rundir.Record{
		Due: rundir.Exactly(1), Sent: rundir.Exactly(1.1), FirstToken: rundir.Exactly(1.3), LastToken: rundir.Exactly(1.38),
		End:    rundir.Exactly(1.4),
		Status: "ok", OutputTokens: rundir.Exactly(5), GapsUS: []int64{10000, 10000, 10000, 50000},
	}
}

func TestARequestMeetsATerm(t *testing.T) {
	silent := wholeAnswer() // it ended well without a token
	silent.FirstToken, silent.LastToken, silent.GapsUS, silent.OutputTokens = rundir.Number{}, rundir.Number{}, nil,
		rundir.Exactly(0)
	single := wholeAnswer()
	single.LastToken, single.GapsUS, single.OutputTokens = single.FirstToken, nil, rundir.Exactly(1)
	chunked := wholeAnswer() // the last chunk held five tokens: five gaps of 10 ms
	chunked.Counts, chunked.OutputTokens = []int32{1, 1, 1, 1, 5}, rundir.Exactly(9)
	cut := wholeAnswer()
	cut.Status = "incomplete"
	waiting := wholeAnswer()
	waiting.Status, waiting.FirstToken, waiting.LastToken, waiting.GapsUS = "incomplete", rundir.Number{},
		rundir.Number{}, nil
	uncounted := wholeAnswer()
	uncounted.OutputTokens = rundir.Exactly(0)
	failed := wholeAnswer()
	failed.Status, failed.Error = "error", "timeout"
	requests := map[string]*rundir.Record{
		"whole": wholeAnswer(), "silent": silent, "single": single, "chunked": chunked, "cut": cut, "waiting": waiting,
		"failed": failed, "uncounted": uncounted,
	}
	const kept, broken, unknown = rundir.Met, rundir.Missed, rundir.Unsure
	for text, want := range map[string]map[string]rundir.SLOVerdict{
		"ttft:p99<201ms": {"whole": kept, "silent": unknown, "single": kept, "cut": unknown, "waiting": broken,
			"failed": broken},
		"ttft:p99<199ms":     {"whole": broken, "cut": broken},
		"ttft:p99<1s":        {"waiting": unknown},
		"ttft_due:p99<250ms": {"whole": broken, "waiting": broken},
		"latency:mean<281ms": {"whole": kept, "silent": broken, "cut": broken},
		"latency:mean<301ms": {"silent": kept, "cut": unknown},
		// 44 ms between the last two
		"itl:p95<40ms":  {"whole": broken, "single": kept, "chunked": kept, "cut": unknown},
		"itl:p90<40ms":  {"whole": kept},
		"itl:mean<20ms": {"whole": broken, "chunked": kept},
		"tpot:p50<21ms": {"whole": kept, "single": kept, "silent": unknown},
		"tpot:p50<19ms": {"whole": broken, "uncounted": unknown}, // it was negative, and met each limit
		"errors<1%":     {"whole": kept, "cut": unknown, "failed": broken},
	} {
		term, err := slo.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		g := NewGoodput(Window{}, []slo.Term{term}, false)
		for _, name := range slices.Sorted(maps.Keys(want)) {
			if got := judgeRequest(g.terms, requests[name]); got != want[name] {
				t.Errorf("%s: %s is %v, want %v", text, name, got, want[name])
			}
		}
	}
}

// What is due in the window counts in the share, what ends in it in the rate: a server that takes in more than it gets
// done is not good for more than it gets done.
func TestGoodputCountsAsTheRow(t *testing.T) {
	terms, err := slo.ParseAll([]string{"ttft:p50<150ms", "errors<60%"})
	if err != nil {
		t.Fatal(err)
	}
	at := func(due, end, ttft float64, status string) *rundir.Record {
		r := wholeAnswer()
		r.Due, r.Sent, r.FirstToken, r.End, r.Status = rundir.Exactly(due), rundir.Exactly(due), rundir.Exactly(due+ttft),
			rundir.Exactly(end), status
		return r
	}
	st := &rundir.Stage{WindowFrom: 10, Window: 10, Rates: rundir.Rates{Completed: rundir.Exactly(0.3)},
		Requests: rundir.Requests{OK: 3, Error: 1}}
	st.TTFT = rundir.Dist{N: 4, P50: rundir.Exactly(0.1), Neff: rundir.Exactly(4), Unsupported: []string{"p50"}}
	g := NewGoodput(WindowOf(st), terms, false)
	for _, r := range []*rundir.Record{
		at(9, 11, 0.1, "ok"),           // ended in it
		at(10, 20, 0.1, "ok"),          // ended at its end; was due at its beginning, which is not in it
		at(12, 13, 0.1, "ok"),          // both
		at(13, 14, 0.2, "ok"),          // too slow
		at(14, 25, 0.1, "ok"),          // due in it
		at(15, 16, 0.1, "error"),       // failed
		at(16, 26, 0.1, "incomplete"),  // not known
		at(20.5, 20.9, 0.1, "ok"),      // after it
		at(20, 20.000000001, 0, "odd"), // due at its end, of unknown status
	} {
		g.Add(r)
	}
	oneOfFour := &rundir.Beyond{Count: 1, Of: 4, Neff: rundir.Exactly(4), Low: rundir.Exactly(0.0127),
		High: rundir.Exactly(0.7514)}
	// the failed one too
	twoOfFive := &rundir.Beyond{Count: 2, Of: 5, Neff: rundir.Exactly(5), Low: rundir.Exactly(0.0764),
		High: rundir.Exactly(0.8107)}
	want := &rundir.Goodput{
		Rate: rundir.Exactly(0.3), Tokens: rundir.Exactly(1.5), Share: rundir.Over(2.0 / 6), Unknown: 2, Verdict: "unsure",
		Terms: []rundir.TermResult{
			{Term: "ttft:p50<150ms", Verdict: "unsure", Value: rundir.Exactly(0.1), Beyond: twoOfFive, Needs: 59},
			{Term: "errors<60%", Verdict: "unsure", Value: rundir.Exactly(0.25), Beyond: oneOfFour, Needs: 5},
		},
	}
	if diff := cmp.Diff(want, g.result(st), cmp.Comparer(func(a, b rundir.Number) bool {
		return a.IsZero() == b.IsZero() && a.Bound() == b.Bound() && (a.IsZero() || math.Abs(a.Value()-b.Value()) < 1e-4)
	})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Of 100 requests, 90 have a TTFT of 100 to 189 ms, and ten fail: percentiles of all of them are those of the answers
// up to the 90th, and bounds above.
func TestFailedRequestsAreBeyondAllOthers(t *testing.T) {
	terms, err := slo.ParseAll([]string{"ttft:p95<1s", "latency:p90<1s", "ttft:p50<1s", "itl:p95<1s"})
	if err != nil {
		t.Fatal(err)
	}
	m := newMetrics(Window{To: rundir.Duration(100)}, 0, tokenCounter{perChunk: 1}, false, terms, false)
	for i := range 100 {
		r := wholeAnswer()
		r.Due, r.Sent, r.AskedTokens = rundir.Exactly(float64(i)+0.5), rundir.Exactly(float64(i)+0.5), 5
		r.FirstToken = rundir.Exactly(float64(i) + 0.6 + float64(i)*0.001)
		r.LastToken, r.End = rundir.Exactly(r.FirstToken.Value()+0.08), rundir.Exactly(r.FirstToken.Value()+0.08)
		if i >= 90 {
			r.Status, r.Error, r.HTTP = "error", "http_5xx", 503
		}
		m.add(r)
	}
	st := &rundir.Stage{Window: 100}
	m.fill(st)
	if st.All == nil || !st.All.TTFT.P50.Known() || math.Abs(st.All.TTFT.P50.Value()-0.1495) > 1e-6 ||
		!st.All.TTFT.P95.Bound() || st.All.TTFT.Censored != 10 {
		t.Errorf("of all: %+v", st.All)
	}
	if st.TTFT.N != 90 || !st.TTFT.P95.Known() {
		t.Errorf("of the answers: %+v", st.TTFT)
	}
	if st.All.ITL.N != 100*4 || !st.All.ITL.P95.Bound() {
		t.Errorf("gaps: %+v", st.All.ITL)
	}
	st.Goodput = m.goodput.result(st)
	for _, p := range st.Goodput.Terms {
		if kept := p.Verdict == rundir.Met; kept != (p.Term == "ttft:p50<1s") || p.Beyond.Count*10 != p.Beyond.Of {
			t.Errorf("%s is %s: %+v", p.Term, p.Verdict, p.Beyond)
		}
	}
}

// burstsOf is 600 values without one beyond a limit of 0.5, of which those at some places are larger than the others.
func burstsOf(larger float64, at func(i int) bool) exceedances {
	b := exceedances{term: slo.Term{Metric: slo.TTFT, Stat: "p99", Limit: 0.5}, total: 600}
	for i := range 600 {
		v := 0.05 + float64(i%7)/1000
		if at(i) {
			v = larger
		}
		b.sample = append(b.sample, dueValue{due: float64(i), value: v})
	}
	return b
}

// Where none of 600 values is beyond a limit, nor near it, all of them count, also where a busy queue makes small
// bursts far below it: they show that fewer than 1 % are beyond. Where ten come near the limit, they tell how values
// beyond it would cluster.
func TestBurstsFarBelowALimitDoNotCount(t *testing.T) {
	all := func(larger float64, n int) bool { // n values in bursts of five
		b := burstsOf(larger, func(i int) bool { return i%100 < 5 && i/100*5+i%100 < n })
		worth := b.effective()
		if kept := b.result(&rundir.Stage{}).High.Value() < 0.01; kept != (worth == 600) {
			t.Errorf("%v of 600 are independent: fewer than 1 %% are beyond: %v", worth, kept)
		}
		return worth == 600
	}
	bounds{
		"half of the limit": {all(0.249, 30), all(0.251, 30)},
		"ten values":        {all(0.49, 9), all(0.49, 10)},
	}.check(t)
}
