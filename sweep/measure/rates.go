package measure

import (
	"time"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// rates counts events in the window alone. A rate of 0 is absent: where nothing completed no rate was measured.
type rates struct {
	due, sent, done float64
	last            float64 // instant at which the last request of the window was due
	cut             float64 // of the window's requests were cancelled: how long their answers are, is not known
}

func (c *rates) add(r *rundir.Record, w Window) {
	if w.Holds(r.Due.Value()) {
		c.due++
		c.last = max(c.last, r.Due.Value())
	}
	if w.Holds(r.Sent.Value()) {
		c.sent++
	}
	if r.OK() && w.Holds(r.End.Value()) {
		c.done++
	}
	if r.Incomplete() && w.overlap(r.Sent.Value(), r.End.Value()) > 0 {
		c.cut++
	}
}

// fill writes the rates. In a closed loop completions come in waves, and a window that begins at the end of one wave
// and ends within another has too few of them for its length: in simulations a tenth over two waves. Tokens flow
// evenly: what was completed is their number over the mean length of an answer. The share of its life that a request
// spends in the window is no measure of it: answers grow faster once the loop runs empty, which made that 5 to 10 % too
// large over two waves. TestClosedLoopsByNumber has the errors that are left.
func (c *rates) fill(st *rundir.Stage, w Window, tokens *tokenRates) {
	done := c.done
	if (!st.Rate.Known() && st.MaxConcurrency > 1 || st.Rate.Known() && !st.Whole) && c.cut == 0 && tokens.whole > 0 {
		done = tokens.answered / tokens.whole * tokens.answers
	}
	st.Rates = rundir.Rates{Sent: ratio(c.sent, w.Length()), Completed: ratio(done, w.Length())}
	if c.cut > c.due/2 { // what was completed is of the others alone
		st.Rates.Completed = rundir.Number{}
	}
	switch {
	case !st.Rate.Known():
	case st.Whole: // nothing more was to come while the last answers were awaited
		st.Rates.Offered = ratio(c.due, c.last)
	default:
		st.Rates.Offered = ratio(c.due, w.Length())
	}
}

// tokenRates counts the tokens that arrived in the window, whichever request they belong to and however it ended.
type tokenRates struct {
	output, input float64
	unknown       bool // some prompt has no token count

	answered, whole float64 // output tokens of answers that ended well: in the window, and in the stage
	answers         float64
}

func (c *tokenRates) add(r *rundir.Record, w Window, count tokenCounter) {
	in, all := 0.0, 0.0
	for at, k := range count.arrivals(r) {
		all += k
		if w.Holds(at) {
			in += k
		}
	}
	c.output += in
	if r.OK() && all > 0 {
		c.answered, c.whole, c.answers = c.answered+in, c.whole+all, c.answers+1
	}
	if w.Holds(r.FirstToken.Value()) {
		c.unknown = c.unknown || !r.PromptTokens.Known()
		c.input += r.PromptTokens.Value()
	}
}

func (c *tokenRates) fill(st *rundir.Stage, w Window) {
	st.TokensPerS.Output = ratio(c.output, w.Length())
	if !c.unknown {
		st.TokensPerS.Input = ratio(c.input, w.Length())
		st.TokensPerS.Total = ratio(c.input+c.output, w.Length())
	}
}

// progress counts completed work, a request in flight for the part of its tokens that arrived in the window.
type progress struct {
	w       Window
	width   float64
	batches []float64
}

func newProgress(w Window, service time.Duration) progress {
	w = w.wholeWaves(service)
	n := batches(w.To-w.From, service, rateBatches)
	if n < 1 || w.Length() <= 0 {
		n = 1
	}
	return progress{w, w.Length() / float64(n), make([]float64, n)}
}

func (p *progress) add(r *rundir.Record, count tokenCounter) {
	total := count.expected(r)
	switch {
	case r.Failed():
	case total > 0:
		for at, k := range count.arrivals(r) {
			p.note(at, k/total)
		}
	case r.OK():
		p.note(r.End.Value(), 1)
	}
}

func (p *progress) note(at, part float64) {
	if p.w.Holds(at) {
		p.batches[min(int((at-p.w.From.Seconds())/p.width), len(p.batches)-1)] += part / p.width
	}
}

func (p *progress) estimate() rundir.Progress {
	n := len(p.batches)
	mean, low, high, ok := stats.BatchMeans(p.batches, n)
	switch {
	case mean == 0:
		return rundir.Progress{}
	case !ok: // a single batch: no interval
		return rundir.Progress{Rate: rundir.Exactly(mean)}
	}
	return rundir.Progress{Rate: rundir.Exactly(mean), Low: rundir.Exactly(max(0, low)), High: rundir.Exactly(high),
		Batches: n}
}
