package audit

import (
	"cmp"
	"math"
	"slices"

	"llmsweep/sweep/rundir"
)

// The figures of a row of a sweep's table, by their keys in run.json.
const (
	keyRate    = "rate"
	keyDone    = "rates.completed"
	keyLatency = "latency_s.mean"
	keyTTFT    = "ttft_s.mean"
	keyGap     = "inter_token_s"
	keyOutput  = "tokens_per_s.output"
)

// whole row: the groups of figures that rest on its requests.
func wholeRow() []string {
	return []string{"rates", "tokens_per_s", "latency_s", "ttft_s", "tpot_s", "itl_s", keyGap, "output_tokens"}
}

// value returns a figure with its unit corrected; NaN where it is not known, or is 0.
func (r *row) value(key string) float64 {
	s, ok := r.meant(key)
	if !ok || s.V <= 0 {
		return math.NaN()
	}
	return s.V
}

// load is what the row was offered: 0 for one request at a time; false for a ceiling and for closed loops.
func (r *row) load() (float64, bool) {
	switch s := r.stage; {
	case s.Kind == "synchronous":
		return 0, true
	case s.Rate.Known():
		return s.Rate.Value(), true
	}
	return 0, false
}

// ordered returns the rows in which something was completed, by their load. The throughput row of a published table has none.
func (t *result) ordered() []*row {
	if t.sorted == nil {
		for _, r := range t.rows {
			if _, ok := r.load(); ok && !math.IsNaN(r.value(keyDone)) {
				t.sorted = append(t.sorted, r)
			}
		}
		slices.SortStableFunc(t.sorted, func(a, b *row) int {
			x, _ := a.load()
			y, _ := b.load()
			return cmp.Compare(x, y)
		})
	}
	return t.sorted
}

// sweeps reports whether the result is a table of a sweep that was published: its rows can be held against each other.
func (t *result) sweeps() bool {
	return len(t.rows) > 3 && t.rows[0].stage.Source != nil && len(t.ordered()) > 3
}

// perRequest returns the tokens of a request by the two rates, and by the latency and its gaps; NaN where they are not known.
func (r *row) perRequest() (byRates, byLatency float64) {
	return r.value(keyOutput) / r.value(keyDone), 1 + (r.value(keyLatency)-r.value(keyTTFT))/r.value(keyGap)
}

// typical returns the tokens of a request that most rows agree on, and their median deviation. It takes them from the rates or from the latencies,
// whichever agree better: a column that is wrong spoils one of the two. NaN where there are too few rows.
func (t *result) typical() (tokens, deviation float64) {
	if t.n == 0 {
		var rates, gaps []float64
		for _, r := range t.rows {
			a, b := r.perRequest()
			if !math.IsNaN(a) {
				rates = append(rates, a)
			}
			if !math.IsNaN(b) {
				gaps = append(gaps, b)
			}
		}
		t.n, t.spread = middle(rates)
		if n, spread := middle(gaps); math.IsNaN(t.n) || 2*spread/n < t.spread/t.n {
			t.n, t.spread = n, spread
		}
	}
	return t.n, t.spread
}

// middle returns the median of values and their median distance from it; NaN for fewer than four.
func middle(all []float64) (median, deviation float64) {
	if len(all) < 4 {
		return math.NaN(), math.NaN()
	}
	slices.Sort(all)
	median = all[len(all)/2]
	apart := make([]float64, len(all))
	for i, v := range all {
		apart[i] = math.Abs(v - median)
	}
	slices.Sort(apart)
	return median, apart[len(apart)/2]
}

// apartTolerance is how far the tokens of a request of one row, by its two rates, may be from those of the other rows: windows cut requests at
// their edges, and printed rates are rounded.
//
// Tables with verdicts are llmsweep's own: its windows are parts of a stage, which cut more.
const (
	apartTolerance  = 0.05
	windowTolerance = 0.15
)

// apart returns the tolerance of tokens per request.
func (t *result) apart() float64 {
	if slices.ContainsFunc(t.rows, func(r *row) bool { return r.stage.Verdict != "" && r.stage.Verdict != rundir.Closed }) {
		return windowTolerance
	}
	return apartTolerance
}

// countFits reports whether the two rates of a row give as many tokens a request as the other rows.
func (r *row) countFits() bool {
	s, ok := r.spans(keyOutput, keyDone)
	n, spread := r.result.typical()
	if !ok || math.IsNaN(n) || s[1].V == 0 {
		return true
	}
	got, slack := s[0].Over(s[1]), max(r.result.apart()*n, tokensSpread*spread)
	return got.Low <= n+slack && got.High >= n-slack
}

// length returns the tokens of a request for the identity of latency: those of the row's rates, or the typical ones where they do not fit.
func (r *row) length() float64 {
	byRates, _ := r.perRequest()
	n, _ := r.result.typical()
	switch {
	case math.IsNaN(n):
		return cmp.Or(r.asked(), math.NaN())
	case math.IsNaN(byRates) || !r.countFits():
		return n
	}
	return byRates
}

// latencyFits reports whether latency is TTFT and the gaps, for any number of tokens that the row may have had. The keys name figures to take
// other values of.
func (r *row) latencyFits(take func(key string) float64) bool {
	made := func(n float64) float64 { return take(keyTTFT) + (n-1)*take(keyGap) }
	l := take(keyLatency)
	n, _ := r.result.typical()
	for _, n := range []float64{r.length(), n, r.asked()} {
		if off := l/made(n) - 1; n > 1 && math.Abs(off) <= latencyTolerance {
			return true
		}
	}
	return false
}

// scale returns the factor from a number as it is printed to run.json's unit.
func (r *row) scale(key string) float64 {
	q, ok := r.quantity(key)
	f := figure(r.stage, key)
	if !ok || !f.Known() || q.Number.Value() == 0 {
		return 1
	}
	return f.Value() / q.Number.Value()
}

// expected returns what the rows on either side let expect of a figure, by its logarithm; false where there is none.
func (r *row) expected(key string) (v float64, ok bool) {
	all := r.result.ordered()
	i := slices.Index(all, r)
	if i < 0 {
		return 0, false
	}
	side := func(step int) (load, v float64) {
		for j := i + step; j >= 0 && j < len(all); j += step {
			if o := all[j]; !o.suspect() && !math.IsNaN(o.value(key)) && !((key == keyTTFT || key == keyLatency) && o.leftOver()) {
				load, _ = o.load()
				return load, o.value(key)
			}
		}
		return 0, math.NaN()
	}
	x, _ := r.load()
	x1, before := side(-1)
	x2, after := side(+1)
	switch {
	case math.IsNaN(before) && math.IsNaN(after):
		return 0, false
	case math.IsNaN(before):
		return after, true
	case math.IsNaN(after) || x2 == x1:
		return before, true
	}
	return before * math.Pow(after/before, (x-x1)/(x2-x1)), true
}

// suspect reports whether the row contradicts itself, so that nothing should be expected of it.
func (r *row) suspect() bool {
	if r.doubted == 0 {
		r.doubted = 1
		if !r.timesFit() || !r.countFits() {
			r.doubted = 2
		}
	}
	return r.doubted == 2
}

// timesFit reports whether latency is TTFT and the gaps, where all are known.
func (r *row) timesFit() bool {
	known := !math.IsNaN(r.value(keyLatency)) && !math.IsNaN(r.value(keyTTFT)) && !math.IsNaN(r.value(keyGap))
	return !known || r.latencyFits(r.value)
}
