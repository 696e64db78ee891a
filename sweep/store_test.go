package sweep

import (
	"cmp"
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
	"pgregory.net/rapid"

	"llmsweep/client"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// collect reads all records of a stage.
func collect(l Log, stage string) ([]*rundir.Record, error) {
	var records []*rundir.Record
	for r, err := range l.Records(stage) {
		if err != nil {
			return records, err
		}
		records = append(records, r)
	}
	return records, nil
}

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

// close3 says that two figures agree to three significant digits.
func close3(a, b float64) bool { return math.Abs(a-b) <= 1e-3*math.Abs(b)+1e-9 }

var percentiles = map[string]float64{"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}

// A histogram says the same as the values: of a request's figure to three digits, of its kind without exception but for
// values that it cannot tell from the smallest bound, which it takes for bounds.
func TestAHistogramSaysTheSame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		exact, counted := &sample{}, &sample{most: 1}
		for range rapid.IntRange(2, 400).Draw(t, "n") {
			v := math.Pow(10, rapid.Float64Range(-6, 4).Draw(t, "magnitude"))
			if rapid.IntRange(0, 6).Draw(t, "censored") == 0 {
				exact.exceed(v)
				counted.exceed(v)
			} else {
				exact.know(v)
				counted.know(v)
			}
		}
		want, got := exact.dist(), counted.dist()
		if got.Digits != histogramDigits || want.Digits != 0 || counted.known != nil {
			t.Fatalf("%d and %d digits", got.Digits, want.Digits)
		}
		if got.N != want.N || got.Censored != want.Censored {
			t.Fatalf("n %d and %d, want %d and %d", got.N, got.Censored, want.N, want.Censored)
		}
		smallest := math.Inf(1)
		if len(exact.bounds) > 0 {
			smallest = slices.Min(exact.bounds)
		}
		all := exact.complete()
		atBound := func(name string) bool { // the larger order statistic of a percentile
			p, ok := percentiles[name]
			return ok && close3(all.At(int(math.Ceil(p*float64(all.Len()-1)))), smallest)
		}
		for i, f := range got.Numbers() {
			w := want.Numbers()[i].Number
			switch name := f.Name; {
			case name == "min" || name == "max":
				if *f.Number != *w {
					t.Fatalf("%s is %v, want %v", name, *f.Number, *w)
				}
			case f.Number.Bound() && w.Known() && close3(f.Number.Value(), w.Value()) && atBound(name):
			case f.Number.Known() != w.Known() || f.Number.Bound() != w.Bound():
				t.Fatalf("%s is %v, want %v", name, *f.Number, *w)
			case name[0] == 'p' && !close3(f.Number.Value(), w.Value()),
				name[0] != 'p' && !w.IsZero() && math.Abs(f.Number.Value()-w.Value()) > 1e-9*(w.Value()+want.Mean.Value()):
				t.Fatalf("%s is %v, want %v", name, f.Number.Value(), w.Value())
			}
		}
		if !slices.Equal(got.Unsupported, want.Unsupported) || math.Abs(got.Neff.Value()/want.Neff.Value()-1) > 1e-3 {
			t.Fatalf("worth %v, without %v; want %v, without %v", got.Neff.Value(), got.Unsupported, want.Neff.Value(), want.Unsupported)
		}
		for name, w := range want.CI {
			g, ok := got.CI[name]
			same := ok && close3(g[0], w[0]) && close3(g[1], w[1])
			// Values in their order may widen a percentile's interval; a histogram has no order.
			within := ok && name != "mean" && g[0] >= w[0]*(1-1e-3) && g[1] <= w[1]*(1+1e-3)
			if ok && !same && !within || !ok && !close3(w[1], smallest) {
				t.Fatalf("%s lies within %v, want %v", name, g, w)
			}
		}
	})
}

// In which order requests ended makes no difference, as long as few enough are kept as they are.
func TestValuesAreTakenInDueOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type request struct {
			due    float64
			values []float64
			bound  bool
		}
		var ended []request
		for i := range rapid.IntRange(1, 60).Draw(t, "requests") {
			ended = append(ended, request{float64(i), rapid.SliceOfN(rapid.Float64Range(0, 9), 0, 3).Draw(t, "values"), rapid.Bool().Draw(t, "bound")})
		}
		var ordered sample
		for _, r := range ended {
			for _, v := range r.values {
				ordered.know(v)
			}
		}
		var s sample
		for _, r := range rapid.Permutation(ended).Draw(t, "ended") {
			s.of(r.due)
			for _, v := range r.values {
				s.know(v)
			}
			if r.bound {
				s.exceed(1)
			}
		}
		if got := s.series(); !slices.Equal(got, ordered.known) {
			t.Fatalf("%v, want %v", got, ordered.known)
		}
	})
}

// Means of batches tell how many independent values many correlated ones are worth.
func TestEffectiveNByBatches(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, r := range []float64{0, 0.5, 0.9, 0.99} {
		s, v := sample{}, rng.NormFloat64()
		const n = 300_000
		for range n {
			s.know(10 + v)
			v = r*v + math.Sqrt(1-r*r)*rng.NormFloat64()
		}
		d := s.dist()
		if want := n * (1 - r) / (1 + r); math.Abs(d.Neff.Value()/want-1) > 0.15 {
			t.Errorf("correlation %v: %d values are worth %.0f, want about %.0f", r, n, d.Neff.Value(), want)
		}
		if ci := d.CI["mean"]; ci[0] > d.Mean.Value() || ci[1] < d.Mean.Value() || ci[1]-ci[0] > 8*math.Sqrt((1+r)/(1-r)/n) {
			t.Errorf("correlation %v: the mean %v lies within %v", r, d.Mean.Value(), ci)
		}
	}
	var alike sample
	for range 2 * mostExact {
		alike.know(3)
	}
	if d := alike.dist(); d.Neff.Value() != 2*mostExact || d.P99.Value() != 3 || d.Std.Value() != 0 {
		t.Errorf("a constant: %+v", d)
	}
}

// The ends that are kept find the waves that all of them do.
func TestEndsFindTheWaves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(1, 6).Draw(t, "width")
		var all []time.Duration
		e := newEnds(width)
		for _, at := range rapid.SliceOfN(rapid.IntRange(1, 30), 0, 40).Draw(t, "ends") {
			all = append(all, time.Duration(at))
			e.add(time.Duration(at))
		}
		slices.Sort(all)
		var from, to time.Duration
		n := 0
		switch whole := len(all) / width * width; {
		case width == 1 && whole > 0:
			to, n = all[whole-1], whole
		case whole >= 2*width:
			from, to, n = all[width-1], all[whole-1], whole-width
		}
		if f, l, k := e.waves(); f != from || l != to || k != n {
			t.Fatalf("%d in %v-%v, want %d in %v-%v", k, f, l, n, from, to)
		}
		if len(e.first) > width || len(e.latest) > width {
			t.Fatalf("%d and %d are kept of a width of %d", len(e.first), len(e.latest), width)
		}
	})
}

func TestTicksOfALongStageAreMerged(t *testing.T) {
	const tick, n = time.Second, 5*maxTicks + 3
	m := &measured{tick: tick}
	for i := range n {
		m.count(2, float64(i), time.Duration(i+1)*tick)
	}
	sum := 0.0
	for _, k := range m.tokens {
		sum += k
	}
	if last := m.owed[len(m.owed)-1]; last != n-1 || len(m.owed) != len(m.tokens) {
		t.Errorf("%v are owed at the end, want %d", last, n-1)
	}
	if sum != 2*n || len(m.tokens) > maxTicks || m.tick != 8*tick || ticksUntil(m, n*tick) < len(m.tokens)-1 {
		t.Errorf("%v tokens in %d ticks of %v", sum, len(m.tokens), m.tick)
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
			r := &rundir.Record{
				Stage: "x", Seq: i, Status: "ok", Due: rundir.Exactly(max(0, due)), Sent: rundir.Exactly(max(0, due)),
				FirstToken: rundir.Exactly(first), LastToken: rundir.Exactly(end), End: rundir.Exactly(end),
				OutputTokens: rundir.Exactly(float64(gaps + 1)), AskedTokens: gaps + 1, TokenSource: "server",
			}
			for range gaps {
				r.GapsUS = append(r.GapsUS, 10_000)
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

// whole is a stage in which so many requests counted, in a closed loop.
func whole(n int) (rundir.Stage, *measured) {
	end := duration(float64(n+20) * 0.01)
	m := &measured{tick: time.Second, flight: newSeries(time.Second), cpu: -1, closedAt: end, elapsed: end}
	m.flight.add(0, 20)
	m.flight.advance(end)
	return rundir.Stage{Name: "x", MaxConcurrency: 20, Whole: true}, m
}

// The figures of a stage with more requests than are kept are those of all its requests.
func TestAStageOfManyRequests(t *testing.T) {
	const n, gaps = 3 * mostExact, 4
	st, m := whole(n)
	st, err := summarise(st, synthetic(n, gaps), m, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	var ttft []float64
	for r := range synthetic(n, gaps) {
		ttft = append(ttft, r.FirstToken.Value()-r.Sent.Value())
	}
	slices.Sort(ttft)
	if st.TTFT.N != n || st.TTFT.Digits != 3 || st.TTFT.Min.Value() != ttft[0] || st.TTFT.Max.Value() != ttft[n-1] {
		t.Errorf("%+v", st.TTFT)
	}
	for name, p := range percentiles {
		if got, want := st.TTFT.Get(name), stats.Quantile(ttft, p); !got.Known() || !close3(got.Value(), want) {
			t.Errorf("TTFT %s is %v, want %v", name, got.Value(), want)
		}
	}
	if got := st.TTFT.Neff.Value(); got < 0.9*n {
		t.Errorf("%d independent requests are worth %v", n, got)
	}
	near(t, "mean gap", st.ITL.Mean, 0.01)
	if st.ITL.N != n*gaps || !close3(st.ITL.P99.Value(), 0.01) {
		t.Errorf("%+v", st.ITL)
	}
	if st.Requests.OK != n || st.OutputTokens.Total.Value() != n*(gaps+1) {
		t.Errorf("%+v, %+v", st.Requests, st.OutputTokens)
	}
}

// What is held while a stage is summed up does not grow with its requests.
func TestSummingUpHoldsNoRecords(t *testing.T) {
	held := func(n int) (most uint64) {
		st, m := whole(n)
		watched := func(yield func(*rundir.Record, error) bool) {
			for r, err := range synthetic(n, 6) {
				if !yield(r, err) {
					return
				}
			}
			runtime.GC()
			var s runtime.MemStats
			runtime.ReadMemStats(&s)
			most = max(most, s.HeapAlloc)
		}
		if _, err := summarise(st, watched, m, 0.05); err != nil {
			t.Fatal(err)
		}
		return most
	}
	few, many := held(100_000), held(400_000)
	t.Logf("%.1f MB with 100,000 requests, %.1f MB with 400,000", float64(few)/1e6, float64(many)/1e6)
	if many > few+1<<20 {
		t.Errorf("300,000 requests more take %d bytes", many-few)
	}
}

var errTorn = errors.New("torn")

// A cut or damaged log gives the figures of what it has, and says so.
func TestADamagedLogIsSummedUpAsFarAsItGoes(t *testing.T) {
	torn := func(n int) iter.Seq2[*rundir.Record, error] {
		return func(yield func(*rundir.Record, error) bool) {
			for r := range synthetic(n, 2) {
				if !yield(r, nil) {
					return
				}
			}
			yield(nil, errTorn)
		}
	}
	st, m := whole(50)
	got, err := summarise(st, torn(50), m, 0.05)
	if err == nil || got.Requests.OK != 50 {
		t.Errorf("%v, %+v", err, got.Requests)
	}
	if got, err = summarise(st, torn(0), m, 0.05); err == nil || !gocmp.Equal(got, st, cmpopts.EquateComparable(rundir.Number{})) {
		t.Errorf("%v, %+v", err, got)
	}
}

func BenchmarkRecord(b *testing.B) {
	d, err := rundir.Create(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	defer d.Close()
	res := &client.Result{}
	res.Reset(time.Time{})
	res.Status, res.Sent, res.End = client.StatusOK, 0, 2*time.Second
	for i := range 128 {
		res.Token(time.Second+time.Duration(i)*11*time.Millisecond, 1, false)
	}
	r := &rundir.Record{}
	b.ReportAllocs()
	for b.Loop() {
		record(r, "x", 1, 0, 0, 0, 128, res, time.Second)
		if err := d.Append(r); err != nil {
			b.Fatal(err)
		}
	}
}

// A request of 128 tokens, its record read twice from memory.
func BenchmarkSummarise(b *testing.B) {
	st, m := whole(b.N)
	var one *rundir.Record
	for r := range synthetic(1, 127) {
		one = r
	}
	same := func(yield func(*rundir.Record, error) bool) {
		for i := range b.N {
			one.Due = rundir.Exactly(cmp.Or(float64(i)*0.01, 0.001))
			if !yield(one, nil) {
				return
			}
		}
	}
	b.ReportAllocs()
	b.ResetTimer()
	if _, err := summarise(st, same, m, 0.05); err != nil {
		b.Fatal(err)
	}
}
