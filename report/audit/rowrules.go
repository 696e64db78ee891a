package audit

import (
	"fmt"
	"math"
	"slices"

	"llmsweep/client/note"
	"llmsweep/report/published"
	"llmsweep/sweep/rundir"
)

// The rules of this file check numbers within one row.

// zeros finds a row in which nothing was completed and whose times are printed as 0 instead of "n/a". It has no
// tolerance: a request takes time.
func zeros(r *row) hit {
	done, ok := r.quantity(keyCompleted)
	latency, printed := r.quantity(keyLatency)
	if !ok || !printed || done.Number.Value() != 0 || latency.Number.Value() != 0 {
		return hit{}
	}
	return hit{key: keyCompleted, note: noteZeros.New(r.text(keyCompleted), r.text(keyLatency)), figures: rowFigures()}
}

// unitMargin is how many times a number must lie beyond the range of the other rows to be taken for one in another
// unit. The numbers of a column of a sweep span about two powers of ten.
const unitMargin = 10

// correctUnits finds times that are printed in another unit than two thirds of their column, and make sense only in the
// column's.
func (t *result) correctUnits() {
	for _, key := range []string{keyLatency, keyTTFT, keyGap} {
		printed := map[string][]*row{} // by unit
		all := 0
		for _, r := range t.rows {
			if q, ok := r.quantity(key); ok && q.Unit != "" && figure(r.stage, key).Value() > 0 {
				printed[q.Unit] = append(printed[q.Unit], r)
				all++
			}
		}
		for usual, rows := range printed {
			if len(rows) < 3 || 3*len(rows) < 2*(all-1) {
				continue
			}
			low, high := math.Inf(1), 0.0
			for _, r := range rows {
				v := figure(r.stage, key).Value()
				low, high = min(low, v/unitMargin), max(high, v*unitMargin)
			}
			for unit, others := range printed {
				if unit == usual {
					continue
				}
				for _, r := range others {
					r.correctUnit(key, usual, low, high)
				}
			}
		}
	}
}

// correctUnit corrects the unit of a time that lies between low and high only in the usual unit.
func (r *row) correctUnit(key, usual string, low, high float64) {
	q, _ := r.quantity(key)
	q.Unit = usual
	meant, err := q.In(published.Time, usual)
	v := figure(r.stage, key).Value()
	inRange := func(v float64) bool { return v >= low && v <= high }
	if err != nil || inRange(v) || !inRange(meant.Value()) {
		return
	}
	if r.unit == nil {
		r.unit = map[string]unitFix{}
	}
	r.unit[key] = unitFix{usual, meant.Value() / v}
}

// units finds the numbers that correctUnits corrected.
func units(r *row) hit {
	for _, key := range []string{keyLatency, keyTTFT, keyGap} {
		if fix, ok := r.unit[key]; ok {
			meant := figure(r.stage, key).Value() * fix.factor
			return hit{key: key, note: noteUnit.New(key, r.text(key), fix.unit, seconds(meant)), figures: []string{key}}
		}
	}
	return hit{}
}

// ttftAboveLatency finds a mean TTFT above the mean latency. The first token of a request comes no later than its last,
// and the same is true of means over the same requests. Where some requests had not ended, the means are over different
// requests.
func ttftAboveLatency(r *row) hit {
	s, ok := r.spans(keyTTFT, keyLatency)
	if !ok || !r.allSucceeded() || s[0].Low <= s[1].High {
		return hit{}
	}
	return hit{key: keyTTFT, note: noteTTFT.New(seconds(s[0].V), seconds(s[1].V)), figures: timeFigures()}
}

func timeFigures() []string { return []string{"latency_s", "ttft_s", keyGap, "itl_s", "tpot_s"} }

// latencyTolerance is the relative difference that is allowed in: mean latency = mean TTFT + (mean n - 1) x inter-token
// latency. The identity is exact where every gap has the same weight and all numbers are over the same requests.
// Published rows agree within 2 %, and one correct row is 3.3 % off.
const latencyTolerance = 0.05

// latencyIdentity compares latency with the time to the first token and the gaps after it. Where the number of tokens
// is the quotient of two rates, which may have been counted in a window and not over whole requests, the number asked
// for is accepted as well. Where gaps are per chunk (as in serving blocks) and a chunk holds several tokens, there are
// fewer gaps than tokens: latency may then be below, but not above.
func latencyIdentity(r *row) hit {
	gap, oneSided := keyGap, false
	if !r.stage.InterToken.Known() {
		gap, oneSided = "itl_s.mean", true
	}
	s, ok := r.spans(keyTTFT, gap, keyLatency)
	count, counted := r.tokens()
	switch {
	case !ok || !counted || !r.allSucceeded() || count.V < 1:
		return hit{}
	case r.published(published.VLLMBench): // its gaps count chunks without text
		return hit{}
	}
	ttft, latency := s[0], s[2]
	fits := func(n interval) (interval, bool) {
		made := ttft.add(interval{n.V - 1, max(0, n.Low-1), n.High - 1}.multiply(s[1]))
		off := latency.excess(made)
		return made, math.Abs(off) <= latencyTolerance || oneSided && off < 0
	}
	most := r.askedTokens()
	if _, ok := fits(exactInterval(most)); ok && most > 0 && !r.stage.OutputTokens.Mean.Known() {
		return hit{}
	}
	if most > 0 && count.V > most { // too many tokens have a rule of their own
		count = interval{most, min(count.Low, most), most}
	}
	made, ok := fits(count)
	if ok {
		return hit{}
	}
	return hit{
		key:     keyLatency,
		figures: timeFigures(),
		note:    noteLatency.New(seconds(latency.V), seconds(ttft.V), count.V-1, seconds(s[1].V), seconds(made.V)),
	}
}

// Tolerances of tokens per request. An end token makes one or two per cent. Where the number is the quotient of two
// rates that were counted in a window, requests that are cut at its edges add as much as the rows of one table differ:
// five median deviations are a little more than three standard deviations. Fewer tokens are possible where answers end
// by themselves: correct published tables have down to 55 % of their generated_tokens.
const (
	tokensAbove     = 0.05
	tokensSpread    = 5
	tokensBelow     = 0.5
	tokensOtherRows = 0.05 // from the other rows
	// A burst begins empty. Requests that have not ended when it stops have tokens, and are no more than those that
	// have, unless these are few.
	tokensBurst = 2
	burstEnded  = 10
)

// tokensPerRequest compares tokens per request with the number that was asked for, and with those of the other rows.
// Fewer are wrong only where that number was a length and not a limit.
func tokensPerRequest(t *result) (hits []hit) {
	typical, spread := t.typicalTokens()
	for _, r := range t.rows {
		got, ok := r.tokens()
		asked := r.askedTokens()
		if !ok || asked <= 0 {
			continue
		}
		h := hit{row: r, key: "output_tokens.mean", figures: []string{"output_tokens", "tokens_per_s"}}
		slack := tokensAbove * asked
		quotient := !r.stage.OutputTokens.Mean.Known()
		if quotient && r.windowed() {
			continue
		}
		if quotient {
			h.key, h.figures = keyCompleted, []string{keyCompleted, keyOutput}
			slack += tokensSpread * spread
		}
		forced := r.published(published.SixColumn) && !t.run.Workload.Capped || t.run.Workload.Forced
		if quotient && r.stage.Role == rundir.Throughput {
			got.Low /= tokensBurst
			if r.value(keyCompleted)*r.value(keyLatency) < burstEnded { // it lasted a latency at least
				got.Low = 0
			}
		}
		off, low := max(tokensOtherRows*typical, tokensSpread*spread), got.Low
		if offered, done := r.value(keyRate), r.value(keyCompleted); offered > done && done > 0 {
			low *= done / offered // requests that pile up have tokens before they are complete
		}
		switch {
		case got.Low > asked+slack:
			h.note = r.tokensNote(noteTokensAbove, digits(got.V), digits(asked))
		case forced && got.High < asked*tokensBelow:
			h.note = r.tokensNote(noteTokensBelow, digits(got.V), digits(asked))
		case quotient && t.isPublishedSweep() && (low > typical+off || got.High < typical-off):
			h.note = r.tokensNote(noteTokensOtherRows, digits(got.V), digits(typical))
		default:
			continue
		}
		hits = append(hits, h)
	}
	return hits
}

// tokensNote returns a note with the rates that the tokens per request were made of, where these were not printed.
func (r *row) tokensNote(k note.Kind, tokens, other string) note.Note {
	n := k.New(r.text(keyOutput), r.text(keyCompleted), tokens, other)
	if r.stage.OutputTokens.Mean.Known() {
		delete(n.Args, "output")
		delete(n.Args, "completed")
	}
	return n
}

// Tolerances of the completed rate. The number of arrivals is random, and requests that were in flight at the start of
// a stage may end in it.
const (
	offeredDoubtful   = 3 // standard deviations of the number of arrivals: one stage in 700
	offeredImpossible = 4
	// offeredTolerance is for rows that do not say how many requests arrived: three standard deviations of the number
	// of Poisson arrivals in a stage of 60.
	offeredTolerance = 0.4
	// offeredWindow stands for an unknown duration, in seconds: published sweeps run each rate for two minutes.
	offeredWindow = 120
)

func (r *row) windowed() bool { return r.stage.Source != nil && r.stage.Source.Windowed }

func completedOverOffered(r *row) hit {
	done, ok := r.span(keyCompleted)
	offered := r.stage.Rates.Offered.Or(r.value(keyRate))
	if !ok || !(offered > 0) {
		return hit{}
	}
	window := r.stage.Window
	timed := window > 0
	if !timed {
		if r.windowed() { // of any length
			return hit{}
		}
		window = offeredWindow
	}
	most := offered + r.stage.Concurrency.Mean.Or(0)/window // in flight when the window began
	deviation := math.Sqrt(offered / window)
	impossible := most * (1 + offeredTolerance)
	if timed {
		impossible = most + offeredImpossible*deviation
	}
	switch {
	case done.Low > impossible:
		return hit{key: keyCompleted, note: noteOffered.New(digits(done.V), digits(offered)), figures: rowFigures()}
	case done.Low > most+offeredDoubtful*deviation:
		n := noteOfferedDoubtful.New(digits(done.V), digits(offered), percent(done.V/offered-1), window)
		return hit{key: keyCompleted, note: n, grade: Doubtful, figures: rowFigures()}
	}
	return hit{}
}

// synchronousTolerance is for the last request of the stage, which has not ended, and for the time between two
// requests.
const synchronousTolerance = 0.15

// synchronousRate finds a row of one request at a time of which the rate times the latency is not one in flight.
func synchronousRate(r *row) hit {
	s, ok := r.spans(keyCompleted, keyLatency)
	if !ok || r.stage.Role != rundir.Synchronous || r.stage.Source == nil || r.windowed() {
		return hit{}
	}
	inFlight := s[0].multiply(s[1])
	if math.Abs(inFlight.excess(exactInterval(1))) <= synchronousTolerance {
		return hit{}
	}
	n := noteAlone.New(digits(s[0].V), seconds(s[1].V), digits(inFlight.V))
	return hit{key: keyCompleted, note: n, figures: []string{"rates", "tokens_per_s", "latency_s"}}
}

// order finds percentiles that do not ascend, and a mean outside the extremes. It allows for rounding only.
func order(r *row) hit {
	for _, dist := range []string{"latency_s", "ttft_s", "tpot_s", "itl_s"} {
		last, lastName := interval{}, ""
		for _, p := range []string{"min", "p50", "p90", "p95", "p99", "p999", "max"} {
			at := dist + "." + p
			v, ok := r.span(at)
			if !ok {
				continue
			}
			if lastName != "" && v.High < last.Low*(1-1e-9) {
				return hit{key: at, note: noteOrder.New(dist, p, seconds(v.V), lastName, seconds(last.V)), figures: []string{at}}
			}
			last, lastName = v, p
		}
		s, ok := r.spans(dist+".min", dist+".max", dist+".mean")
		if ok && (s[2].High < s[0].Low*(1-1e-9) || s[2].Low > s[1].High*(1+1e-9)) {
			at := dist + ".mean"
			return hit{
				key:     at,
				note:    noteMean.New(dist, seconds(s[2].V), seconds(s[0].V), seconds(s[1].V)),
				figures: []string{at},
			}
		}
	}
	return hit{}
}

// arithmeticTolerance is the relative difference that is allowed besides rounding. Tools read the clock twice, a few
// milliseconds apart: for the printed duration and for the rates.
const arithmeticTolerance = 0.005

// arithmetic recomputes the numbers of a block that follow from others. It is for whole tests that were read from
// files: rates that were counted in a window do not follow from the counts.
func arithmetic(r *row) hit {
	if r.stage.Source == nil || !r.stage.Whole {
		return hit{}
	}
	for _, m := range []struct{ key, a, sign, b string }{
		{keyCompleted, "requests.ok", "/", "window_s"},
		{keyOutput, "output_tokens.total", "/", "window_s"},
		{"tokens_per_s.input", "prompt_tokens.total", "/", "window_s"},
		{"tokens_per_s.total", "tokens_per_s.input", "+", keyOutput},
		{"output_tokens.mean", "output_tokens.total", "/", "requests.ok"},
	} {
		s, ok := r.spans(m.key, m.a, m.b)
		if !ok || r.text(m.key) == "" { // computed by the reader, not printed
			continue
		}
		made := s[1].divide(s[2])
		if m.sign == "+" {
			made = s[1].add(s[2])
		}
		if math.Abs(s[0].excess(made)) > arithmeticTolerance {
			sum := digits(s[1].V) + " " + m.sign + " " + digits(s[2].V)
			return hit{
				key:     m.key,
				note:    noteArithmetic.New(m.key, digits(s[0].V), sum, digits(made.V)),
				figures: []string{m.key},
			}
		}
	}
	return hit{}
}

// retokenizedTolerance is for special tokens that are lost when text is tokenized again, and for tokens that join
// across chunks: one or two per cent.
const retokenizedTolerance = 0.1

func retokenizedTokens(r *row) hit {
	again, reported := r.stage.OutputTokens.Retokenized, r.stage.OutputTokens.Total
	if !known(again, reported) || reported.Value() <= 0 {
		return hit{}
	}
	ratio := again.Value() / reported.Value()
	if math.Abs(ratio-1) <= retokenizedTolerance {
		return hit{}
	}
	factor := fmt.Sprintf("%+.0f %%", 100*(ratio-1))
	if ratio >= 2 {
		factor = fmt.Sprintf("x %.1f", ratio)
	}
	return hit{
		key:   "output_tokens.retokenized",
		grade: Doubtful,
		note:  noteRetokenized.New(again.Value(), reported.Value(), factor),
	}
}

// tpotFactor is the largest credible ratio of TPOT to ITL. Both are means of the same gaps; TPOT gives each request the
// same weight, ITL each token. Published pairs agree within 2 %; answers of very different lengths make tens of per
// cent.
const tpotFactor = 2

func tpotAboveITL(r *row) hit {
	s, ok := r.spans("tpot_s.mean", "itl_s.mean")
	if !ok || s[0].Low <= tpotFactor*s[1].High {
		return hit{}
	}
	return hit{key: "tpot_s.mean", grade: Doubtful, note: noteTPOT.New(seconds(s[0].V), s[0].V/s[1].V, seconds(s[1].V))}
}

func known(all ...rundir.Number) bool {
	return !slices.ContainsFunc(all, func(f rundir.Number) bool { return !f.Known() })
}
