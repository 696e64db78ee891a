package slo

import (
	"fmt"
	"math"
	"testing"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
)

// waits are times that fall off exponentially, of mean 1/(10-rate): an M/M/1 queue that does ten a second, of which p99
// is below 2 s up to 7.7 requests per second.
func waits(rate float64, n int) *rundir.Stage {
	at := func(p float64) rundir.Number { return rundir.Exactly(-math.Log(1-p) / (10 - rate)) }
	d := rundir.Dist{N: n, Neff: rundir.Exactly(float64(n)), Min: rundir.Exactly(1e-4), P50: at(0.5), P90: at(0.9),
		P95: at(0.95), P99: at(0.99), P999: at(0.999), Max: at(0.9999)}
	for _, p := range []struct {
		name string
		tail float64
	}{{"p50", 0.5}, {"p90", 0.1}, {"p95", 0.05}, {"p99", 0.01}, {"p999", 0.001}} {
		if float64(n)*p.tail < 5 {
			d.Unsupported = append(d.Unsupported, p.name)
		}
	}
	return &rundir.Stage{
		Name: fmt.Sprintf("poisson@%.2f", rate), Rate: rundir.Exactly(rate), Verdict: rundir.Stable,
		Requests: rundir.Requests{OK: n}, TTFT: d,
		Goodput: &rundir.Goodput{Share: rundir.Exactly(1 - math.Exp(-2*(10-rate)))},
	}
}

func rows(n int, rates ...float64) []*rundir.Stage {
	var all []*rundir.Stage
	for _, r := range rates {
		all = append(all, waits(r, n))
	}
	return all
}

func terms(t *testing.T, texts ...string) []Term {
	t.Helper()
	all, err := ParseAll(texts)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestHighest(t *testing.T) {
	edge := 10 - math.Log(100)/2
	saturation := &rundir.Saturation{Rate: rundir.Exactly(9.5), Low: rundir.Exactly(9.3), High: rundir.Exactly(9.7)}
	floor := waits(0, 600)
	floor.Name, floor.Rate = "synchronous", rundir.Number{}
	for _, c := range []struct {
		name       string
		stages     []*rundir.Stage
		saturation *rundir.Saturation
		terms      []string
		rate       float64 // below 0: none
		within     float64
		limiting   string
		kept       string
		reason     note.Note
	}{
		{"about the edge", rows(2000, 9, 6, 7, 8, 7.4, 7.9), saturation, []string{"ttft:p99<2s"}, edge, 0.01, "ttft:p99<2s",
			"poisson@7.40", noteKeptThenEnds.New("poisson@7.40", "ttft:p99<2s")},
		{"a coarse grid", rows(2000, 1, 3, 5, 7, 9), saturation, []string{"ttft:p99<2s"}, edge, 0.03, "ttft:p99<2s",
			"poisson@7.00", noteKeptThenEnds.New("poisson@7.00", "ttft:p99<2s")},
		{"the first of two", rows(2000, 1, 3, 5, 7, 9), saturation, []string{"ttft:p90<30s", "ttft:p99<2s"}, edge, 0.03,
			"ttft:p99<2s", "poisson@7.00", noteKeptThenEnds.New("poisson@7.00", "ttft:p99<2s")},
		{"the server ends first", rows(2000, 5, 7, 9), saturation, []string{"ttft:p99<20s"}, 9.5, 1e-9,
			rundir.LimitSaturation, "poisson@9.00", noteKeptThenEnds.New("poisson@9.00", rundir.LimitSaturation)},
		{"from one at a time", append(rows(2000, 9), floor), saturation, []string{"ttft:p99<2s"}, -1, 0, "ttft:p99<2s",
			"synchronous", noteWide.New(0.0, 9.0)},
		{"too few in each, enough for the curve", rows(200, 6, 6.5, 7, 7.5, 8, 8.5, 9), saturation, []string{"ttft:p99<2s"},
			edge, 0.05, "ttft:p99<2s", "", noteEnds.New("ttft:p99<2s")},
		{"enough together", rows(200, 5, 6, 7, 8, 9), saturation, []string{"ttft:p99<2s"}, edge, 0.05, "ttft:p99<2s", "",
			noteEnds.New("ttft:p99<2s")},
		{"too few", rows(100, 5, 6), saturation, []string{"ttft:p99<2s"}, -1, 0, "ttft:p99<2s", "",
			noteTooFew.New("ttft:p99<2s", "poisson@5.00", 200)},
		{"too few to tell anything", rows(20, 6, 7, 8), saturation, []string{"ttft:p99<2s"}, -1, 0, "ttft:p99<2s", "",
			noteTooFew.New("ttft:p99<2s", "poisson@6.00", 310)},
		{"broken outright", rows(2000, 8, 9), saturation, []string{"ttft:p99<1s"}, -1, 0, "ttft:p99<1s", "",
			noteBrokenAt.New("poisson@8.00")},
		{"nothing measured", nil, nil, []string{"ttft:p99<1s"}, -1, 0, "", "", noteNoneJudged.New()},
	} {
		got := Highest(c.stages, c.saturation, terms(t, c.terms...))
		switch {
		case c.rate < 0 && !got.Rate.IsZero(), c.rate > 0 && !(math.Abs(got.Rate.Value()/c.rate-1) <= c.within):
			t.Errorf("%s: %v req/s, want %v", c.name, got.Rate.Value(), c.rate)
		case got.Limiting != c.limiting || got.KeptStage != c.kept || !got.Reason.Equal(c.reason):
			t.Errorf("%s: ended by %q, kept by %q: %s", c.name, got.Limiting, got.KeptStage, got.Reason)
		case c.rate > 0 && !(got.Low.Value() <= got.Rate.Value() && got.Rate.Value() <= got.High.Value()):
			t.Errorf("%s: %v is not between %v and %v", c.name, got.Rate.Value(), got.Low.Value(), got.High.Value())
		}
	}
}

// A lone row that contradicts its neighbours moves the rate by less than its distance to them.
func TestHighestWithAnException(t *testing.T) {
	stages := rows(2000, 3, 4, 5, 6, 7, 7.5, 8, 9)
	stages[1].TTFT = waits(8.5, 2000).TTFT // 4 req/s broke it, by a hiccup
	got := Highest(stages, nil, terms(t, "ttft:p99<2s"))
	if got.Rate.Value() < 7 || got.Rate.Value() > 8 {
		t.Errorf("%v req/s", got.Rate.Value())
	}
	if g, want := got.Goodput.Value(), got.Rate.Value()*0.99; math.Abs(g/want-1) > 0.01 {
		t.Errorf("goodput %v, want %v", g, want)
	}
}

func TestShareAbove(t *testing.T) {
	d := waits(5, 1000).TTFT
	for _, limit := range []float64{0.05, 0.2, 0.5, 1, 1.3} {
		got, ok := shareAbove(&d, limit)
		if want := math.Exp(-5 * limit); !ok || math.Abs(math.Log(got/want)) > 0.01 {
			t.Errorf("%v of the requests take more than %v s, want %v", got, limit, want)
		}
	}
	if got, ok := shareAbove(&d, 100); got != 0 || !ok {
		t.Errorf("%v are beyond the longest", got)
	}
	if _, ok := shareAbove(&rundir.Dist{}, 1); ok {
		t.Error("nothing has a share")
	}
	if got, ok := shareAbove(&rundir.Dist{P50: rundir.Exactly(2), P90: rundir.Exactly(2), Max: rundir.Exactly(2)},
		2); got < 0.5 || !ok {
		t.Errorf("all are at the limit: %v", got)
	}
}

// TestTheIntervalEndsAtSaturation: neither the rate nor its interval lies above the saturation rate's interval, nor
// above a stage that misses the term beyond doubt.
func TestTheIntervalEndsAtSaturation(t *testing.T) {
	limits := terms(t, "ttft:p90<1s") // kept up to 7.7 requests per second
	few := append(rows(300, 5, 6), rows(60, 7.2, 7.4, 7.6, 7.8, 8)...)
	free := Highest(few, nil, limits)
	if !free.Rate.Known() || !(free.High.Value() > 7.9) {
		t.Fatalf("%+v: the interval is meant to be wide", free)
	}
	for _, limit := range []*rundir.Saturation{
		{Rate: rundir.Exactly(7.85), Low: rundir.Exactly(7.8), High: rundir.Exactly(7.9)},
		{Low: rundir.Exactly(5), High: rundir.Exactly(7.1)}, // bounds alone
	} {
		s := Highest(few, limit, limits)
		if s.High.Value() > limit.High.Value() || s.Rate.Value() > limit.High.Value() || !(s.Low.Value() <= s.Rate.Value()) {
			t.Errorf("saturated at %v to %v: %v (%v to %v)", limit.Low, limit.High, s.Rate.Value(), s.Low.Value(),
				s.High.Value())
		}
	}
	missed := waits(9.9, 3000)
	missed.Rates.Offered = rundir.Exactly(7.83) // what arrived counts, and not what was planned
	if s := Highest(append(few, missed), nil, limits); s.High.Value() > 7.83+1e-9 {
		t.Errorf("the interval ends at %v, above a stage at 7.83 that misses it", s.High.Value())
	}
}

// TestRatesAreThoseOffered: a stage that was planned at one rate and offered another tells of the latter.
func TestRatesAreThoseOffered(t *testing.T) {
	limits := terms(t, "ttft:p90<1s")
	all := rows(3000, 6, 6.5, 7)
	for _, st := range all {
		st.Rate, st.Rates.Offered = rundir.Exactly(2*st.Rate.Value()), st.Rate
	}
	if s := Highest(all, nil, limits); !s.Rate.Bound() || math.Abs(s.Rate.Value()-7) > 1e-9 || s.Limiting != "" {
		t.Errorf("all stages up to 7 offered keep it: %+v", s)
	}
}
