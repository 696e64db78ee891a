package audit

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"llmsweep/client/note"
	"llmsweep/report/published"
	"llmsweep/sweep/rundir"
)

// The rules of this file check numbers within one row.

// zeros finds a row in which nothing was completed and whose times are printed as 0 instead of "n/a". It has no tolerance: a request takes
// time.
func zeros(r *row) (key string, n note.Note) {
	q, ok := r.quantity("rates.completed")
	if !ok || q.Number.Value() != 0 {
		return "", note.Note{}
	}
	l, printed := r.quantity("latency_s.mean")
	if !printed || l.Number.Value() != 0 {
		return "", note.Note{}
	}
	return "rates.completed", noteZeros.New(r.text("rates.completed"), r.text("latency_s.mean"))
}

// unitMargin is how many times a number must lie beyond the range of the other rows to be taken for one in another unit. The numbers of a
// column of a sweep span about two powers of ten.
const unitMargin = 10

// units finds a number that is printed with another unit than its column has, and makes sense only in the column's unit.
func units(r *row) (key string, n note.Note) {
	for _, key := range []string{"latency_s.mean", "ttft_s.mean", "inter_token_s"} {
		usual, meant, ok := misprinted(r, key)
		if ok {
			return key, noteUnit.New(key, r.text(key), usual, seconds(meant))
		}
	}
	return "", note.Note{}
}

// misprinted returns the unit that a number should have and its value in it, where it was printed with a wrong unit.
func misprinted(r *row, key string) (usual string, meant float64, ok bool) {
	q, printed := r.quantity(key)
	if !printed || q.Unit == "" {
		return "", 0, false
	}
	count, others := map[string]int{}, 0
	low, high := math.Inf(1), 0.0
	for _, o := range r.result.rows {
		oq, printed := o.quantity(key)
		if f := figure(o.stage, key); o != r && printed && oq.Unit != "" && f.Known() && f.Value() > 0 {
			count[oq.Unit]++
			others++
			low, high = min(low, f.Value()), max(high, f.Value())
		}
	}
	for u, n := range count {
		if 3*n >= 2*others && others >= 3 {
			usual = u
		}
	}
	if usual == "" || usual == q.Unit {
		return "", 0, false
	}
	as := func(u string) float64 {
		q.Unit = u
		f, err := q.In(published.Time, u)
		if err != nil || !f.Known() {
			return math.NaN()
		}
		return f.Value()
	}
	fits := func(v float64) bool { return v >= low/unitMargin && v <= high*unitMargin }
	said, meant := as(q.Unit), as(usual)
	return usual, meant, !fits(said) && fits(meant)
}

// meant returns a time with its unit corrected, so that one misprint is reported by one rule only.
func (r *row) meant(key string) (intervalOf, bool) {
	c, seen := r.correct[key]
	if !seen {
		if c.intervalOf, c.known = r.span(key); c.known {
			if _, v, wrong := misprinted(r, key); wrong {
				f := v / c.V
				c.intervalOf = intervalOf{V: v, Low: c.Low * f, High: c.High * f}
			}
		}
		if r.correct == nil {
			r.correct = map[string]correctedSpan{}
		}
		r.correct[key] = c
	}
	return c.intervalOf, c.known
}

// ttftAboveLatency finds a mean TTFT above the mean latency. The first token of a request comes no later than its last, and the same is
// true of means over the same requests. Where some requests had not ended, the means are over different requests.
func ttftAboveLatency(r *row) (key string, n note.Note) {
	t, ok1 := r.meant("ttft_s.mean")
	l, ok2 := r.meant("latency_s.mean")
	if !ok1 || !ok2 || !r.whole() || t.Low <= l.High {
		return "", note.Note{}
	}
	return "ttft_s.mean", noteTTFT.New(seconds(t.V), seconds(l.V))
}

// latencyTolerance is the relative difference that is allowed in: mean latency = mean TTFT + (mean n - 1) x inter-token latency. The identity
// is exact where every gap has the same weight and all numbers are over the same requests. Published rows agree within 2 %, and one correct
// row is 3.3 % off.
const latencyTolerance = 0.05

// latencyIdentity compares latency with the time to the first token and the gaps after it. Where the number of tokens
// is the quotient of two rates, which may have been counted in a window and not over whole requests, the number asked for is accepted as
// well. Where gaps are per chunk (as in serving blocks) and a chunk holds several tokens, there are fewer gaps than tokens: latency may then
// be below, but not above.
func latencyIdentity(r *row) (key string, n note.Note) {
	gap, oneSided := "inter_token_s", false
	if !r.stage.InterToken.Known() {
		gap, oneSided = "itl_s.mean", true
	}
	t, ok1 := r.meant("ttft_s.mean")
	g, ok2 := r.meant(gap)
	l, ok3 := r.meant("latency_s.mean")
	count, ok4 := r.tokens()
	if !ok1 || !ok2 || !ok3 || !ok4 || !r.whole() || count.V < 1 || r.published(published.VLLMBench) { // its gaps count chunks without text
		return "", note.Note{}
	}
	if strings.HasPrefix(r.stage.Name, rundir.ControlPrefix) && !r.stage.OutputTokens.Mean.Known() {
		return "", note.Note{} // it lasts some seconds: requests that are cut at its edges make the quotient
	}
	fits := func(n intervalOf) (intervalOf, bool) {
		made := t.Plus(intervalOf{V: n.V - 1, Low: max(0, n.Low-1), High: n.High - 1}.Times(g))
		off := l.Beyond(made)
		return made, math.Abs(off) <= latencyTolerance || oneSided && off < 0
	}
	most := r.asked()
	if _, ok := fits(exactInterval(most)); ok && most > 0 && !r.stage.OutputTokens.Mean.Known() {
		return "", note.Note{}
	}
	if most > 0 && count.V > most { // too many tokens have a rule of their own
		count = intervalOf{V: most, Low: min(count.Low, most), High: most}
	}
	made, ok := fits(count)
	if ok {
		return "", note.Note{}
	}
	return "latency_s.mean", noteLatency.New(seconds(l.V), seconds(t.V), count.V-1, seconds(g.V), seconds(made.V))
}

// Tolerances of tokens per request. An end token makes one or two per cent. Where the number is the quotient of two rates that were counted
// in a window, requests that are cut at its edges add as much as the rows of one table differ: five median deviations are a little more than
// three standard deviations. Fewer tokens are possible where answers end by themselves: correct published tables have down to 55 % of their
// generated_tokens.
const (
	tokensAbove  = 0.05
	tokensSpread = 5
	tokensBelow  = 0.5
)

// tokensPerRequest compares tokens per request with the number that was asked for. Fewer are wrong only where that number was a length
// and not a limit.
func tokensPerRequest(r *row) (key string, n note.Note) {
	got, ok := r.tokens()
	asked := r.asked()
	if !ok || asked <= 0 {
		return "", note.Note{}
	}
	key = "output_tokens.mean"
	var output, completed any // printed, where tokens per request are made of them
	slack := tokensAbove * asked
	if !r.stage.OutputTokens.Mean.Known() {
		key = "rates.completed"
		slack += tokensSpread * r.deviation()
		output, completed = r.text("tokens_per_s.output"), r.text("rates.completed")
	}
	switch forced := r.published(published.SixColumn) || r.result.run.Workload.Forced; {
	case got.Low > asked+slack:
		return key, tokensNote(noteTokensAbove, output, completed, digits(got.V), digits(asked))
	case forced && got.High < asked*tokensBelow:
		return key, tokensNote(noteTokensBelow, output, completed, digits(got.V), digits(asked))
	}
	if n, _ := r.result.typical(); r.result.sweeps() && key == keyDone && !r.countFits() {
		return key, noteTokensApart.New(output, completed, digits(got.V), digits(n))
	}
	return "", note.Note{}
}

// tokensNote returns the note of a number of tokens per request; output and completed are nil where the number itself was printed.
func tokensNote(k note.Kind, output, completed any, tokens, asked string) note.Note {
	n := k.New("", "", tokens, asked)
	delete(n.Args, "output")
	delete(n.Args, "completed")
	if output != nil {
		n.Args["output"], n.Args["completed"] = output, completed
	}
	return n
}

// deviation returns the median distance of tokens per request in the other rows from their median.
func (r *row) deviation() float64 {
	var all []float64
	for _, o := range r.result.rows {
		if n, ok := o.tokens(); ok && o != r {
			all = append(all, n.V)
		}
	}
	if len(all) < 3 {
		return 0
	}
	slices.Sort(all)
	middle := all[len(all)/2]
	for i, v := range all {
		all[i] = math.Abs(v - middle)
	}
	slices.Sort(all)
	return all[len(all)/2]
}

// Tolerances of the completed rate. The number of arrivals is random, and requests that were in flight at the start of a stage may end in it.
const (
	offeredDoubtful   = 3 // standard deviations of the number of arrivals: one stage in 700
	offeredImpossible = 4
	// offeredTolerance is for rows that do not say how many requests arrived: three standard deviations of the number of
	// Poisson arrivals in a stage of 60.
	offeredTolerance = 0.4
	// offeredWindow is taken for a duration that is not told, in seconds: published sweeps run each rate for two minutes. Control
	// measurements are shorter: they are taken to have rundir.ControlArrivals.
	offeredWindow = 120
)

// completedOverOffered finds more completed than offered requests per second.
func completedOverOffered(r *row) (key string, n note.Note, grade Grade) {
	done, ok := r.span("rates.completed")
	s := r.stage
	offered := s.Rates.Offered
	if offered.IsZero() {
		offered = s.Rate
	}
	if !ok || !offered.Known() || offered.Value() <= 0 {
		return "", note.Note{}, ""
	}
	rate, window := offered.Value(), s.Window
	again := strings.HasPrefix(s.Name, rundir.ControlPrefix)
	switch {
	case window > 0:
	case again:
		window = rundir.ControlArrivals / rate
	default:
		window = offeredWindow
	}
	deviation := math.Sqrt(rate / window)
	rate += s.Concurrency.Mean.Or(0) / window // in flight when the window began
	impossible := rate + offeredImpossible*deviation
	if s.Window <= 0 && !again {
		impossible = rate * (1 + offeredTolerance)
	}
	n = noteOffered.New(digits(done.V), digits(offered.Value()))
	switch {
	case done.Low > impossible:
		return "rates.completed", n, Impossible
	case done.Low > rate+offeredDoubtful*deviation:
		return "rates.completed", noteOfferedDoubtful.New(digits(done.V), digits(offered.Value()), percent(done.V/offered.Value()-1), window), Doubtful
	}
	return "", note.Note{}, ""
}

// Tolerances of a synchronous row. A rate above 1 / latency means more than one request in flight. A lower rate means that the client paused
// between requests: correct clients do so for less than 15 % of the time.
const (
	synchronousAbove = 0.05
	synchronousBelow = 0.15
)

// synchronousRate finds a synchronous row in which requests per second times latency is not 1. In a stage of few requests, one more or less at
// the edge is allowed.
func synchronousRate(r *row) (key string, n note.Note) {
	s, ok := r.spans("rates.completed", "latency_s.mean")
	if !ok || r.stage.Kind != "synchronous" || !r.whole() {
		return "", note.Note{}
	}
	edge := 0.0
	if n := r.stage.Requests.Due; n > 0 {
		edge = 1.5 / float64(n)
	}
	busy := s[0].Times(s[1])
	if busy.Low <= 1+synchronousAbove+edge && busy.High >= 1-synchronousBelow-edge {
		return "", note.Note{}
	}
	return "rates.completed", noteSynchronous.New(digits(s[0].V), seconds(s[1].V), digits(busy.V))
}

// spreadTolerance allows for a standard deviation that was divided by n-1.
const spreadTolerance = 0.05

// order finds percentiles that do not ascend, a mean outside the extremes, and a standard deviation that is larger than if all samples were at
// the extremes (Bhatia and Davis 2000). It allows for rounding only.
func order(r *row) (key string, n note.Note) {
	for _, name := range []string{"latency", "ttft", "tpot", "itl"} {
		last, lastName := intervalOf{}, ""
		for _, p := range []string{"min", "p50", "p90", "p95", "p99", "p999", "max"} {
			at := name + "_s." + p
			v, ok := r.span(at)
			if !ok {
				continue
			}
			if lastName != "" && v.High < last.Low*(1-1e-9) {
				return at, noteOrder.New(name+"_s", p, seconds(v.V), lastName, seconds(last.V))
			}
			last, lastName = v, p
		}
		if key, n := extremes(r, name+"_s"); !n.IsZero() {
			return key, n
		}
	}
	return "", note.Note{}
}

// extremes compares the mean and the spread of a distribution with its extremes.
func extremes(r *row, dist string) (key string, n note.Note) {
	s, ok := r.spans(dist+".min", dist+".max", dist+".mean")
	if !ok {
		return "", note.Note{}
	}
	low, high, mean := s[0], s[1], s[2]
	if mean.High < low.Low*(1-1e-9) || mean.Low > high.High*(1+1e-9) {
		return dist + ".mean", noteMean.New(dist, seconds(mean.V), seconds(low.V), seconds(high.V))
	}
	spread, ok := r.span(dist + ".std")
	most := math.Sqrt(max(0, (high.High-mean.Low)*(mean.High-low.Low)))
	if ok && spread.Low > most*(1+spreadTolerance)+1e-9 {
		return dist + ".std", noteSpread.New(dist, seconds(spread.V), seconds(low.V), seconds(high.V))
	}
	return "", note.Note{}
}

// retokenizedTolerance is for special tokens that are lost when text is tokenized again, and for tokens that join across chunks: one or two per cent.
const retokenizedTolerance = 0.1

// retokenized compares the number of tokens of the text with the number that the server reported.
func retokenized(r *row) (key string, n note.Note) {
	again, reported := r.stage.OutputTokens.Retokenized, r.stage.OutputTokens.Total
	if !again.Known() || !reported.Known() || reported.Value() <= 0 {
		return "", note.Note{}
	}
	off := again.Value()/reported.Value() - 1
	if math.Abs(off) <= retokenizedTolerance {
		return "", note.Note{}
	}
	return "output_tokens.retokenized", noteRetokenized.New(again.Value(), reported.Value(), factor(1+off))
}

// factor formats a ratio.
func factor(f float64) string {
	if f >= 2 {
		return fmt.Sprintf("x %.1f", f)
	}
	return fmt.Sprintf("%+.0f %%", 100*(f-1))
}

// tpotFactor is the largest credible ratio of TPOT to ITL. Both are means of the same gaps; TPOT gives each request the same weight, ITL each
// token. Published pairs agree within 2 %; answers of very different lengths make tens of per cent.
const tpotFactor = 2

// tpotAboveITL finds a time per output token far above the mean gap.
func tpotAboveITL(r *row) (key string, n note.Note) {
	s, ok := r.spans("tpot_s.mean", "itl_s.mean")
	if !ok || s[0].Low <= tpotFactor*s[1].High {
		return "", note.Note{}
	}
	return "tpot_s.mean", noteTPOT.New(seconds(s[0].V), s[0].V/s[1].V, seconds(s[1].V))
}

// known reports whether all the numbers are known.
func known(all ...rundir.Number) bool {
	return !slices.ContainsFunc(all, func(f rundir.Number) bool { return !f.Known() })
}
