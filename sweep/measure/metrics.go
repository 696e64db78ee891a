package measure

import (
	"math"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/sample"
	"llmsweep/sweep/slo"
)

type metrics struct {
	w        Window
	count    tokenCounter
	records  int
	requests rundir.Requests
	refused  int
	shed     int // refused or far shorter than asked
	habits   habitFinder
	errors   failures
	rates    rates
	tokens   tokenRates
	progress progress
	latency  latencies
	gaps     tokenGaps
	lengths  lengths
	hits     hits
	reading  reading
	goodput  *Goodput // nil where there is no SLO
	inFlight float64  // request-seconds in the window, by the requests' own instants
	hung     hung
	absence  absence
	quotas   quotas
	replicas replicas
	sessions *sessions // nil where each request stands alone
}

func newMetrics(
	w Window, service time.Duration, count tokenCounter, grouped bool, terms []slo.Term, talks bool,
) *metrics {
	m := &metrics{w: w, count: count, progress: newProgress(w, service), gaps: newGaps(count, grouped)}
	if len(terms) > 0 {
		m.goodput = NewGoodput(w, terms, talks)
	}
	if talks {
		m.sessions = &sessions{w: w, terms: terms}
	}
	return m
}

func (m *metrics) add(r *rundir.Record) {
	m.records++
	m.errors.add(r)
	m.rates.add(r, m.w)
	m.tokens.add(r, m.w, m.count)
	m.progress.add(r, m.count)
	m.hung.add(r)
	m.absence.add(r)
	m.quotas.add(r)
	m.habits.add(r)
	m.replicas.add(r, m)
	if m.goodput != nil {
		m.goodput.Add(r)
	}
	if m.sessions != nil {
		m.sessions.add(r)
	}
	if r.Sent.Known() && r.End.Known() {
		m.inFlight += m.w.overlap(r.Sent.Value(), r.End.Value())
	}
	if !m.w.Holds(r.Due.Value()) {
		return
	}
	countRequest(&m.requests, r)
	if r.Refused() {
		m.refused++
	}
	if r.Shed() {
		m.shed++
	}
	m.latency.add(r)
	m.gaps.add(r, m.count)
	m.lengths.add(r)
	m.hits.add(r)
	m.reading.add(r)
}

// fill writes the metrics into st, whose number in flight is known.
func (m *metrics) fill(st *rundir.Stage) {
	st.Requests = m.requests
	st.Refused = ratio(float64(m.refused), float64(m.requests.Due))
	st.Traits = m.habits.traits(m.w)
	st.Errors, st.Examples = m.errors.classes, m.errors.examples
	m.rates.fill(st, m.w, &m.tokens)
	m.tokens.fill(st, m.w)
	st.Progress = m.progress.estimate()
	m.latency.fill(st, m.sessions)
	m.gaps.fill(st, m.count)
	m.lengths.fill(st, m.count)
	m.reading.fill(st)
	st.Replicas = m.replicas.shares(st, m)
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

// hung counts the requests that had no answer after the last token or answer of the server.
type hung struct {
	since float64 // seconds from the stage's start
	n     int
}

func (h *hung) add(r *rundir.Record) {
	if r.Censored() && r.Sent.Known() && r.End.Value() > h.since {
		h.n++
	}
}

type latencies struct {
	latency, ttft, ttftDue, tpot, lag, queued sample.Sample

	first int // requests that first fill the places of a closed loop; 0 for none

	firstAnswer sample.Sample
	reasons     bool // some answer began with reasoning
	failed      int
}

func (l *latencies) add(r *rundir.Record) {
	due, queued := r.Due.Value(), r.Queued.Or(0)
	l.queued.Add(due, queued)
	if r.Sent.Known() && (r.Seq >= l.first || r.Turn > 0) { // those are due at once, and sent as fast as it can
		l.lag.Add(due, r.Sent.Value()-due-queued)
	}
	if r.Failed() && !r.Censored() {
		l.failed++
	}
	addMetric(&l.latency, slo.Latency, r)
	addMetric(&l.tpot, slo.TPOT, r)
	addMetric(&l.ttft, slo.TTFT, r)
	addMetric(&l.ttftDue, slo.TTFTDue, r)
	addMetric(&l.firstAnswer, slo.TTFA, r)
	switch {
	case !r.Sent.Known() || !r.OK() && !r.Censored():
	case r.FirstAnswer.Known():
		l.reasons = l.reasons || r.FirstAnswer.Value() > r.FirstToken.Value()
	default:
		l.reasons = l.reasons || r.FirstToken.Known()
	}
}

func addMetric(s *sample.Sample, metric string, r *rundir.Record) {
	switch v := SLOValue(metric, r); {
	case v.Known():
		s.Add(r.Due.Value(), v.Value())
	case v.Bound():
		s.AddBound(v.Value())
	}
}

// fill counts the turns of a session as worth no more independent values than the sessions are.
func (l *latencies) fill(st *rundir.Stage, s *sessions) {
	first, whole := s.effective(func(t turn) rundir.Number { return t.ttft }),
		s.effective(func(t turn) rundir.Number { return t.latency })
	st.Latency, st.TTFT, st.TTFTDue = l.latency.DistOf(whole), l.ttft.DistOf(first), l.ttftDue.DistOf(first)
	st.FirstAnswer = rundir.Dist{}
	if l.reasons {
		st.FirstAnswer = l.firstAnswer.DistOf(first)
	}
	st.TPOT, st.Lag, st.Queued = l.tpot.DistOf(whole), l.lag.Dist(), l.queued.Dist()
	st.All = nil
	if l.failed > 0 {
		st.All = &rundir.AllDists{
			Latency: withFailed(&l.latency, &st.Latency, l.failed, whole), TTFT: withFailed(&l.ttft, &st.TTFT, l.failed, first),
			TTFTDue: withFailed(&l.ttftDue, &st.TTFTDue, l.failed, first), TPOT: withFailed(&l.tpot, &st.TPOT, l.failed, whole),
		}
		if l.reasons {
			st.All.FirstAnswer = withFailed(&l.firstAnswer, &st.FirstAnswer, l.failed, first)
		}
	}
}

// withFailed adds failed values to a sample, which count as longer than all others: they have its longest value as
// their lower bound. It returns the distribution, empty where the sample is.
func withFailed(s *sample.Sample, served *rundir.Dist, failed int, worth float64) rundir.Dist {
	if served.N == 0 {
		return rundir.Dist{}
	}
	for range failed {
		s.AddBound(served.Max.Value())
	}
	return s.DistOf(worth)
}

// tokenGaps pools the gaps between tokens over the requests. A chunk known to carry k tokens counts as k gaps of gap/k;
// the gaps between chunks are kept beside them where that makes a difference.
type tokenGaps struct {
	tokens      sample.Sample
	second      sample.Sample  // from the first token to the second, by request
	chunks      *sample.Sample // nil where they are the gaps between tokens
	span, count float64        // from first tokens to last ones, seconds, and the gaps in it
	open        bool           // some answers were cut off
	failed      int            // gaps that answers to failed requests would have had
}

func newGaps(count tokenCounter, grouped bool) tokenGaps {
	g := tokenGaps{tokens: sample.New(sample.TokenLimit)}
	if grouped || severalPerChunk(count) {
		chunks := sample.New(sample.TokenLimit)
		g.chunks = &chunks
	}
	return g
}

// severalPerChunk allows for one token in fifty that the server counts and does not send, such as the end of the text.
func severalPerChunk(count tokenCounter) bool { return math.Abs(count.perChunk-1) > 0.02 }

func (g *tokenGaps) add(r *rundir.Record, count tokenCounter) {
	if !r.OK() && !r.Censored() {
		if r.Failed() {
			g.failed += askedGaps(r)
		}
		return
	}
	due := r.Due.Value()
	if r.OK() && len(r.GapsUS) > 1 {
		g.second.Add(due, float64(r.GapsUS[0])/1e6)
	}
	for gap, k := range chunkGaps(r) {
		if g.chunks != nil {
			g.chunks.Add(due, gap)
		}
		for range k {
			g.tokens.Add(due, gap/float64(k))
		}
	}
	if r.Censored() && r.LastToken.Known() {
		g.open = true
		g.tokens.AddBound(r.End.Value() - r.LastToken.Value())
		if g.chunks != nil {
			g.chunks.AddBound(r.End.Value() - r.LastToken.Value())
		}
	}
	if n := count.received(r); n > 1 {
		g.span += r.LastToken.Value() - r.FirstToken.Value()
		g.count += n - 1
	}
}

// early returns the usual time from the first token to the second, where it is far beyond both the usual gap and the
// TTFT: then the first token was sent before the prompt was computed, or even taken up. Absent where it is not.
func (g *tokenGaps) early(st *rundir.Stage) (second rundir.Number) {
	if g.second.Known() < fewestEarly || !st.ITL.P50.Known() || !st.TTFT.P50.Known() {
		return second
	}
	if s := g.second.Quantile(0.5); s > earlyFactor*st.ITL.P50.Value() && s > st.TTFT.P50.Value() {
		return rundir.Exactly(s)
	}
	return second
}

func (g *tokenGaps) fill(st *rundir.Stage, count tokenCounter) {
	// One pause of a server is one event, however many streams it holds up: the pooled gaps are worth one series of
	// them.
	share := 1.0
	if c := st.Concurrency.Mean; c.Known() {
		share = 1 / math.Max(1, c.Value())
	}
	st.ITL = g.tokens.DistWorth(float64(g.tokens.Known()) * share)
	if c := g.chunks; c != nil && (c.Known() != g.tokens.Known() || severalPerChunk(count)) {
		st.ChunkGap = c.DistWorth(float64(c.Known()) * share)
	}
	if g.failed > 0 && st.All != nil {
		st.All.ITL = withFailed(&g.tokens, &st.ITL, g.failed, math.Inf(1))
		st.All.ITL.Neff = rundir.Exactly(float64(st.All.ITL.N) * share)
	}
	if g.count > 0 {
		st.InterToken = rundir.Exactly(g.span / g.count)
		if g.open {
			st.InterToken = rundir.Over(g.span / g.count)
		}
	}
}
