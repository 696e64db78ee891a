package measure

import (
	"errors"
	"iter"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"llmsweep/sweep/arrival"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/sample"
)

// listed yields records as a log does.
func listed(records []*rundir.Record) iter.Seq2[*rundir.Record, error] {
	return func(yield func(*rundir.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// synthetic yields n requests of a server with 20 slots, in the order in which they end, as a log would read them.
func synthetic(n, gaps int) iter.Seq2[*rundir.Record, error] {
	return func(yield func(*rundir.Record, error) bool) {
		rng := rand.New(rand.NewPCG(3, 4))
		for i := range n {
			end := float64(i+20) * 0.01
			first := end - 0.01*float64(gaps)
			due := first - 0.05 - 0.02*rng.ExpFloat64()
			r := answer(max(0, due), first, slices.Repeat([]int64{10_000}, gaps)...)
			if r.Stage, r.Seq = "x", i; !yield(r, nil) {
				return
			}
		}
	}
}

// whole is a stage in which n requests counted, in a closed loop, and its account.
func whole(n int, records iter.Seq2[*rundir.Record, error]) (rundir.Stage, *Account, *load.Outcome) {
	end := rundir.Duration(float64(n+20) * 0.01)
	st := rundir.Stage{Name: "x", MaxConcurrency: 20, Whole: true}
	a := NewAccount(Criteria{Concurrency: 20, Whole: true})
	for r := range records {
		if r != nil {
			a.Due(r.AskedTokens)
			a.Ended(r, r.AskedTokens)
		}
	}
	a.Closed(end)
	level := sample.NewLevel(time.Second)
	level.Add(0, 20)
	level.Advance(end)
	return st, a, &load.Outcome{ClosedAt: end, Elapsed: end, CPU: -1, InFlight: level}
}

// What is held while a stage of more requests than a sample keeps is summed up does not grow with them.
func TestSummingUpHoldsNoRecords(t *testing.T) {
	held := func(n int) (most uint64) {
		st, account, seen := whole(n, synthetic(n, 4))
		watched := func(yield func(*rundir.Record, error) bool) {
			for r, err := range synthetic(n, 4) {
				if !yield(r, err) {
					return
				}
			}
			runtime.GC()
			var s runtime.MemStats
			runtime.ReadMemStats(&s)
			most = max(most, s.HeapAlloc)
		}
		st, err := account.Summarize(st, seen, watched)
		if err != nil {
			t.Fatal(err)
		}
		all := st.WholeRun
		if all.TTFT.N != n || all.ITL.N != 4*n || all.Requests.OK != n || all.TTFT.Neff.Value() < 0.9*float64(n) {
			t.Errorf("%+v", all)
		}
		near(t, "mean gap", all.ITL.Mean, 0.01)
		return most
	}
	few, many := held(70_000), held(110_000)
	if many > few+1<<18 {
		t.Errorf("40,000 requests more take %d bytes", many-few)
	}
}

var errTorn = errors.New("torn")

// A cut or damaged log gives the metrics of what can be read, and an error.
func TestADamagedLogIsSummedUpAsFarAsItGoes(t *testing.T) {
	torn := func(n int) iter.Seq2[*rundir.Record, error] {
		return func(yield func(*rundir.Record, error) bool) {
			synthetic(n, 2)(yield)
			yield(nil, errTorn)
		}
	}
	st, account, seen := whole(100, synthetic(100, 2))
	got, err := account.Summarize(st, seen, torn(100))
	if err == nil || got.WholeRun.Requests.OK != 100 {
		t.Errorf("%v, %+v", err, got.Requests)
	}
	if got, err = account.Summarize(st, seen, torn(0)); err == nil ||
		!gocmp.Equal(got, st, cmpopts.EquateComparable(rundir.Number{})) {
		t.Errorf("%v, %+v", err, got)
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

func failure(at float64, class string) *rundir.Record {
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

// summed is a stage of one request per second measured over its first ten seconds.
func summed(records ...*rundir.Record) rundir.Stage { return summedAs("", records...) }

func summedAs(role rundir.Role, records ...*rundir.Record) rundir.Stage {
	st := rundir.Stage{Name: "x", Kind: "poisson", Rate: rundir.Exactly(1), State: rundir.Complete, Role: role}
	p := newReplay(&st, 0.05, nil)
	for _, r := range records {
		p.add(r)
	}
	p.end = 10 * time.Second
	seen := p.outcomeSeen()
	p.ticks.Sums, p.ticks.Ends = slices.Repeat([]float64{1}, 100), make([]float64, 100) // steady from the start
	st, err := p.Summarize(st, seen, listed(records))
	if err != nil {
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
	again := answer(1, 2, 1e6, 1e6) // all of it in the window
	again.Resent = 3
	st := summed(
		again,
		answer(8, 9, 500e3, 600e3), // its third token at 10.1: after the window
		answer(11, 11.5, 1e6, 1e6), // after the window: load that is kept on
		failure(3, "http_5xx"),
	)
	near(t, "completed", st.Rates.Completed, 3*5/9.0/10) // five of the nine tokens of three answers
	near(t, "offered", st.Rates.Offered, 0.3)
	near(t, "output", st.TokensPerS.Output, 0.5)
	near(t, "input", st.TokensPerS.Input, 2)
	if q := st.Requests; q != (rundir.Requests{Due: 3, Sent: 3, Resent: 1, OK: 2, Error: 1}) {
		t.Errorf("requests %+v", q)
	}
	if st.Latency.N != 2 || st.Errors["http_5xx"] != 1 || st.Examples["http_5xx"] == "" {
		t.Errorf("latency of %d, errors %v", st.Latency.N, st.Errors)
	}
	near(t, "latency max", st.Latency.Max, 3)
}

// A row of four requests has no means and no rates, one of five has. A stage that was asked for keeps what it has.
func TestRowsTooShortForMeans(t *testing.T) {
	var records []*rundir.Record
	for i := range 5 {
		records = append(records, answer(float64(i)+3, float64(i)+4, 1e6))
	}
	for _, role := range []rundir.Role{rundir.Grid, rundir.Probe} {
		st := summedAs(role, records[:4]...)
		if !st.TTFT.Mean.IsZero() || !st.Latency.P90.IsZero() || !st.InterToken.IsZero() || !st.Rates.Completed.IsZero() ||
			!st.TokensPerS.Output.IsZero() || st.TTFT.N != 4 || !st.Progress.Rate.Known() {
			t.Errorf("%s of four requests: TTFT %+v, rates %+v", role, st.TTFT, st.Rates)
		}
		if !slices.ContainsFunc(st.Warnings, noteFewRequests.New(4).Equal) {
			t.Errorf("%s of four requests: %v", role, st.Warnings)
		}
		near(t, "TTFT of five", summedAs(role, records...).TTFT.Mean, 1)
	}
	near(t, "TTFT of four that were asked for", summedAs(rundir.Single, records[:4]...).TTFT.Mean, 1)
}

// The window of a row begins and ends where as much is owed and as many have come due as its rate asks for. That of a
// hold, and what the verdict is from, reach from the opening to the close.
func TestLevelWindow(t *testing.T) {
	const rate, tick = 2.0, 250 * time.Millisecond
	counted := arrival.Counted{Poisson: arrival.Poisson{Rate: rate}, By: []time.Duration{10 * time.Second, 100 * time.Second}}
	var changes []float64
	for seed := range uint64(20) {
		a := NewAccount(Criteria{Rate: rate, Extent: Extent{From: 10 * time.Second, MinTime: 100 * time.Second,
			MaxTime: 100 * time.Second}, Arrivals: func() arrival.Schedule { return counted.Schedule(seed, "") }})
		a.ticks = sample.Ticks{Width: tick}
		owed := func(at time.Duration) float64 { // falls, swings, and is full at the close
			return 100*math.Exp(-at.Seconds()/20) + 50*math.Sin(at.Seconds()/3) + 100*max(0, at.Seconds()-90)
		}
		for at := tick; at <= 100*time.Second; at += tick {
			a.ticks.Add(at, 10, owed(at))
		}
		a.due, a.askedTokens = 200, 2000
		whole := a.openWindow(0, 100*time.Second, 0)
		w := a.levelWindow(whole)
		var due float64
		s := counted.Schedule(seed, "")
		for at, _ := s.Next(); at <= w.To; at, _ = s.Next() {
			if w.HoldsAt(at) {
				due++
			}
		}
		if n := rate * w.Length(); math.Abs(due-n) > 1+1e-6 {
			t.Errorf("seed %d: %v arrivals in %v, want %.1f", seed, due, w, n)
		}
		change := math.Abs(owed(w.To) - owed(w.From))
		changes = append(changes, change)
		if most := math.Abs(owed(whole.To) - owed(whole.From)); change > most || w.From < whole.From || w.To > whole.To ||
			w.Length() < whole.Length()/3 {
			t.Errorf("seed %d: %v more owed at the end of %v, %v of %v", seed, change, w, most, whole)
		}
		if a.From = 0; a.levelWindow(whole) != whole {
			t.Errorf("seed %d: the window of a stage from an idle server is %v, not %v", seed, a.levelWindow(whole), whole)
		}
	}
	slices.Sort(changes)
	if usual := changes[len(changes)/2]; usual > 40 { // of 1800 tokens; at the close 940 more are owed than at the opening
		t.Errorf("usually %v more owed at the end", usual)
	}
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
	st := summed(answer(3, 4, 1e6), answer(4, 5, 1e6), unfinished(5, 6, 52, 1e6))
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
	timeout := failure(3, "timeout")
	timeout.End = rundir.Exactly(603)
	if st = summed(answer(1, 2, 1e6), timeout); !st.Latency.Max.Bound() || st.Latency.Max.Value() != 600 ||
		!st.TTFT.Mean.Bound() {
		t.Errorf("a timeout counts as latency %v, TTFT %v", st.Latency.Max, st.TTFT.Mean)
	}
}

func TestTheMeanOfTokensWeighsEachAlike(t *testing.T) {
	st := summed(answer(3, 4, 100e3), answer(4, 5, 10e3, 10e3, 10e3, 10e3, 10e3, 10e3, 10e3, 10e3, 10e3))
	near(t, "inter token", st.InterToken, 0.019)
	near(t, "ITL mean", st.ITL.Mean, 0.019)
	near(t, "TPOT mean", st.TPOT.Mean, 0.055)
}

// TestNearest: of a hundred latencies, p99 is the longest. A stage with a request that has no end keeps its
// percentiles.
func TestNearest(t *testing.T) {
	f := rundir.Exactly
	before := rundir.Dist{P50: f(50.5), P90: f(90.1), P95: f(95.05), P99: f(99.01)}
	stages := []rundir.Stage{{Name: "a", Window: 1000, Latency: before}, {Name: "b", Window: 1000, Latency: before},
		{Name: "c", Latency: before}}
	var records []*rundir.Record
	for i := range 100 {
		for _, stage := range []string{"a", "b"} {
			r := &rundir.Record{Stage: stage, Due: f(float64(i)), Sent: f(float64(i)), End: f(100), Status: "ok"}
			if stage == "b" && i == 7 {
				r.Status = "incomplete"
			}
			records = append(records, r)
		}
	}
	if err := Nearest(stages, listed(records)); err != nil {
		t.Fatal(err)
	}
	nearest := rundir.Dist{P50: before.P50, P90: f(91), P95: f(96), P99: f(100)}
	for i, want := range []rundir.Dist{nearest, before, before} {
		if diff := gocmp.Diff(want, stages[i].Latency, gocmp.AllowUnexported(rundir.Number{})); diff != "" {
			t.Errorf("stage %s (-want +got):\n%s", stages[i].Name, diff)
		}
	}
}
