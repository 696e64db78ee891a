package sweep

import (
	"math"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// figures gathers what a stage's records say of a window, one record after the other.
type figures struct {
	w        span
	count    tokenCounter
	requests rundir.Requests
	errors   failures
	rates    rates
	tokens   tokenRates
	progress progress
	latency  latencies
	gaps     tokenGaps
	lengths  lengths
	reading  reading
	inFlight float64 // request-seconds in the window, by the requests' own instants
}

func newFigures(w span, service time.Duration, v *survey) *figures {
	count := v.counter()
	return &figures{w: w, count: count, progress: newProgress(w, service), gaps: newGaps(count, v.grouped)}
}

func (f *figures) add(r *rundir.Record) {
	f.errors.add(r)
	f.rates.add(r, f.w)
	f.tokens.add(r, f.w, f.count)
	f.progress.add(r, f.count)
	if r.Sent.Known() && r.End.Known() {
		f.inFlight += f.w.overlap(r.Sent.Value(), r.End.Value())
	}
	if !f.w.holds(r.Due.Value()) {
		return
	}
	countRequest(&f.requests, r)
	f.latency.add(r)
	f.gaps.add(r, f.count)
	f.lengths.add(r)
	f.reading.add(r)
}

// fill writes the figures into st, which says already how many were in flight.
func (f *figures) fill(st *rundir.Stage) {
	st.Requests = f.requests
	st.Errors, st.Examples = f.errors.classes, f.errors.examples
	f.rates.fill(st, f.w)
	f.tokens.fill(st, f.w)
	st.Progress = f.progress.estimate()
	f.latency.fill(st)
	f.gaps.fill(st, f.count)
	f.lengths.fill(st, f.count)
	f.reading.fill(st)
}

func countRequest(q *rundir.Requests, r *rundir.Record) {
	q.Due++
	if r.Sent.Known() {
		q.Sent++
	}
	if r.Resent > 0 {
		q.Resent++
	}
	switch client.Status(r.Status) {
	case client.StatusOK:
		q.OK++
	case client.StatusError:
		q.Error++
	case client.StatusIncomplete:
		q.Incomplete++
	}
}

// failures counts over the whole stage: an error in the opening transient is one too.
type failures struct {
	classes  map[string]int
	examples map[string]string  // the first message of each class
	due      map[string]float64 // and when its request was due
}

func (f *failures) add(r *rundir.Record) {
	if r.Error == "" {
		return
	}
	if f.classes == nil {
		f.classes, f.examples, f.due = map[string]int{}, map[string]string{}, map[string]float64{}
	}
	f.classes[r.Error]++
	if due, known := f.due[r.Error]; r.Message != "" && (!known || r.Due.Value() < due) {
		f.examples[r.Error], f.due[r.Error] = r.Message, r.Due.Value()
	}
}

// rates counts events in the window alone. A rate of nothing is absent: in a row where nothing completed no rate was
// measured.
type rates struct{ due, sent, done float64 }

func (c *rates) add(r *rundir.Record, w span) {
	if w.holds(r.Due.Value()) {
		c.due++
	}
	if w.holds(r.Sent.Value()) {
		c.sent++
	}
	if ok(r) && w.holds(r.End.Value()) {
		c.done++
	}
}

func (c *rates) fill(st *rundir.Stage, w span) {
	st.Rates = rundir.Rates{Sent: ratio(c.sent, w.length()), Completed: ratio(c.done, w.length())}
	if st.Rate.Known() {
		st.Rates.Offered = ratio(c.due, w.length())
	}
}

// tokenRates counts the tokens that arrived in the window, whichever request they belong to and however it ended.
type tokenRates struct {
	output, input float64
	unknown       bool // how many some prompt had
}

func (c *tokenRates) add(r *rundir.Record, w span, count tokenCounter) {
	for at, k := range count.arrivals(r) {
		if w.holds(at) {
			c.output += k
		}
	}
	if w.holds(r.FirstToken.Value()) {
		c.unknown = c.unknown || !r.PromptTokens.Known()
		c.input += r.PromptTokens.Value()
	}
}

func (c *tokenRates) fill(st *rundir.Stage, w span) {
	st.TokensPerS.Output = ratio(c.output, w.length())
	if !c.unknown {
		st.TokensPerS.Input = ratio(c.input, w.length())
		st.TokensPerS.Total = ratio(c.input+c.output, w.length())
	}
}

// progressBatches is how many parts of the window the interval of the progress rests on at most.
const progressBatches = 12

// progress counts completed work, a request in flight for the part of its tokens that arrived in the window.
type progress struct {
	w       span
	width   float64
	batches []float64
}

func newProgress(w span, service time.Duration) progress {
	n := waveBatches(duration(w.length()), service, progressBatches)
	if n < 1 || w.length() <= 0 {
		n = 1
	}
	return progress{w, w.length() / float64(n), make([]float64, n)}
}

func (p *progress) add(r *rundir.Record, count tokenCounter) {
	total := count.expected(r)
	switch {
	case r.Status == string(client.StatusError):
	case total > 0:
		for at, k := range count.arrivals(r) {
			p.note(at, k/total)
		}
	case ok(r):
		p.note(r.End.Value(), 1)
	}
}

func (p *progress) note(at, part float64) {
	if p.w.holds(at) {
		p.batches[min(int((at-p.w.from)/p.width), len(p.batches)-1)] += part / p.width
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
	return rundir.Progress{Rate: rundir.Exactly(mean), Low: rundir.Exactly(max(0, low)), High: rundir.Exactly(high), Batches: n}
}

// latencies sums up the figures that each request has one of.
type latencies struct{ latency, ttft, ttftDue, tpot, lag, queued sample }

func (l *latencies) add(r *rundir.Record) {
	dueAt, sent, first, last, end := r.Due.Value(), r.Sent.Value(), r.FirstToken.Value(), r.LastToken.Value(), r.End.Value()
	held := 0.0
	if r.Queued.Known() {
		held = r.Queued.Value()
	}
	l.queued.of(dueAt).know(held)
	if r.Sent.Known() {
		l.lag.of(dueAt).know(sent - dueAt - held)
	}
	n := r.OutputTokens.Value()
	switch {
	case ok(r) && r.FirstToken.Known():
		l.latency.of(dueAt).know(last - sent)
		if n > 1 {
			l.tpot.of(dueAt).know((last - first) / (n - 1))
		}
	case ok(r): // an answer without a token
		l.latency.of(dueAt).know(end - sent)
	case censored(r) && r.Sent.Known():
		l.latency.exceed(end - sent)
	}
	switch {
	case r.FirstToken.Known() && (ok(r) || censored(r)):
		l.ttft.of(dueAt).know(first - sent)
		l.ttftDue.of(dueAt).know(first - dueAt)
	case censored(r):
		if r.Sent.Known() {
			l.ttft.exceed(end - sent)
		}
		l.ttftDue.exceed(end - dueAt)
	}
}

func (l *latencies) fill(st *rundir.Stage) {
	st.Latency, st.TTFT, st.TTFTDue = l.latency.dist(), l.ttft.dist(), l.ttftDue.dist()
	st.TPOT, st.Lag, st.Queued = l.tpot.dist(), l.lag.dist(), l.queued.dist()
}

// tokenGaps pools the gaps between tokens over the requests. A chunk known to carry k tokens counts as k gaps of gap/k; the
// gaps as they came are kept beside them where that makes a difference.
type tokenGaps struct {
	tokens        sample
	chunks        *sample // nil where they are the tokens'
	between, gaps float64
	open          bool
}

func newGaps(count tokenCounter, grouped bool) tokenGaps {
	g := tokenGaps{tokens: sample{most: mostExactGaps}}
	if grouped || several(count) {
		g.chunks = &sample{most: mostExactGaps}
	}
	return g
}

// several reports whether chunks hold more tokens than one on average.
func several(count tokenCounter) bool { return math.Abs(count.perChunk-1) > 0.02 }

func (g *tokenGaps) add(r *rundir.Record, count tokenCounter) {
	if !ok(r) && !censored(r) {
		return
	}
	g.tokens.of(r.Due.Value())
	if g.chunks != nil {
		g.chunks.of(r.Due.Value())
	}
	for i, us := range r.GapsUS {
		gap := float64(us) / 1e6
		k := 1
		if len(r.Counts) > 0 {
			k = int(r.Counts[i+1])
		}
		if g.chunks != nil {
			g.chunks.know(gap)
		}
		for range k {
			g.tokens.know(gap / float64(k))
		}
	}
	if censored(r) && r.LastToken.Known() {
		g.open = true
		g.tokens.exceed(r.End.Value() - r.LastToken.Value())
		if g.chunks != nil {
			g.chunks.exceed(r.End.Value() - r.LastToken.Value())
		}
	}
	if n := count.received(r); n > 1 {
		g.between += r.LastToken.Value() - r.FirstToken.Value()
		g.gaps += n - 1
	}
}

func (g *tokenGaps) fill(st *rundir.Stage, count tokenCounter) {
	// One pause of a server is one event, however many streams it holds up: the pooled gaps are worth one series of them.
	share := 1.0
	if c := st.Concurrency.Mean; c.Known() {
		share = 1 / math.Max(1, c.Value())
	}
	st.ITL = g.tokens.distWorth(float64(g.tokens.values()) * share)
	if c := g.chunks; c != nil && (c.values() != g.tokens.values() || several(count)) {
		st.ChunkGap = c.distWorth(float64(c.values()) * share)
	}
	if g.gaps > 0 {
		st.InterToken = rundir.Exactly(g.between / g.gaps)
		if g.open {
			st.InterToken = rundir.Over(g.between / g.gaps)
		}
	}
}

// lengths sums up token counts.
type lengths struct {
	output, prompt, cached, asked total
	source                        string
}

func (l *lengths) add(r *rundir.Record) {
	if !ok(r) {
		return
	}
	l.asked.add(float64(r.AskedTokens))
	l.output.addFigure(r.OutputTokens)
	l.prompt.addFigure(r.PromptTokens)
	l.cached.addFigure(r.CachedTokens)
	switch l.source {
	case "":
		l.source = r.TokenSource
	case r.TokenSource:
	default:
		if r.TokenSource != "" {
			l.source = "mixed"
		}
	}
}

func (l *lengths) fill(st *rundir.Stage, count tokenCounter) {
	st.OutputTokens, st.PromptTokens = l.output.tokens(), l.prompt.tokens()
	if p := &st.PromptTokens; p.Total.Known() { // text is all that we send
		p.Text, p.Vision = p.Total, rundir.Exactly(0)
	}
	st.CachedTokens = rundir.Exactly(l.cached.mean())
	st.AskedTokens = rundir.Number{}
	if mean := l.asked.mean(); mean > 0 {
		st.AskedTokens = rundir.Exactly(mean)
	}
	st.TokensPerChunk = rundir.Number{}
	if count.known {
		st.TokensPerChunk = rundir.Exactly(count.perChunk)
	}
	st.TokenSource = l.source
}
