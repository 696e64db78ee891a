package sweep

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// span is the steady window of a stage, in seconds from the stage's start. Instants at its end belong to it, those at
// its start do not, except that the stage's own start does.
type span struct{ from, to float64 }

func (w span) holds(t float64) bool { return (t > w.from || t == 0 && w.from == 0) && t <= w.to }

func (w span) length() float64 { return w.to - w.from }

// overlap is how much of an interval lies in the window.
func (w span) overlap(from, to float64) float64 {
	return max(0, min(w.to, to)-max(w.from, from))
}

// summarise turns a stage's records, and what the runner saw besides, into its figures. The records are sorted by due
// instant in place.
func summarise(st rundir.Stage, records []*rundir.Record, m *measured, tolerance float64) rundir.Stage {
	slices.SortStableFunc(records, func(a, b *rundir.Record) int { return cmp.Compare(a.Due.Value(), b.Due.Value()) })
	st.Elapsed = m.elapsed.Seconds()
	service := serviceTime(records)
	w, settled := steadyWindow(&st, records, m, service)
	st.WindowFrom, st.Window = w.from, w.length()

	due := within(records, w)
	countRequests(&st, due)
	countErrors(&st, records)
	countRates(&st, records, w)
	count := newTokenCounter(records)
	countTokens(&st, records, w, count)
	st.Progress = progress(records, w, service, count)
	st.Concurrency = rundir.Concurrency{
		Mean: rundir.Exactly(m.flight.mean(duration(w.from), duration(w.to))),
		Peak: m.flight.highest(duration(w.from), duration(w.to)),
	}
	measureLatencies(&st, due)
	measureGaps(&st, due, count)
	measureLengths(&st, due, count)

	st.Verdict = rundir.Closed
	if st.Rate.Known() {
		st.Verdict, st.Drift = m.verdict, m.drift
		if m.verdict == "" { // nobody has looked yet
			e := &evidence{
				owed: m.owed, asked: askedPerRequest(records), tokens: m.tokens, tick: m.tick, perRequest: chunksPerRequest(records),
				service: service, rate: st.Rate.Value(), tolerance: tolerance, level: errorLevel,
			}
			st.Verdict, st.Drift = judge(e, duration(w.from), duration(w.to))
		}
		if !settled {
			st.Verdict = rundir.Undecided
		}
	}
	st.Server = serverSide(m.gauges, w)
	if m.cpu >= 0 {
		st.ClientCPU = rundir.Exactly(m.cpu)
	}
	warn(&st, records, w, m, settled)
	return st
}

// steadyWindow cuts the opening transient, and for a closed loop whatever does not fill its last wave.
func steadyWindow(st *rundir.Stage, records []*rundir.Record, m *measured, service time.Duration) (w span, settled bool) {
	if st.Whole {
		last := 0.0
		for _, r := range records {
			last = max(last, r.End.Value())
		}
		return span{0, last}, true
	}
	if st.Rate.Known() {
		cut, settled := transient(m.tokens[:ticksUntil(m, m.closedAt)], m.tick, service)
		cut = wholeWaves(cut, m.closedAt, service)
		return span{cut.Seconds(), m.closedAt.Seconds()}, settled
	}
	var ends []time.Duration
	for _, r := range records {
		if e := r.End.Value(); e <= m.closedAt.Seconds() && r.Status != string(client.StatusIncomplete) {
			ends = append(ends, duration(e))
		}
	}
	slices.Sort(ends)
	from, to, n := waves(ends, st.MaxConcurrency)
	if n == 0 {
		return span{0, m.closedAt.Seconds()}, false
	}
	return span{from.Seconds(), to.Seconds()}, true
}

// serviceTime is how long a typical request is being served, without its wait in the server's queue: from its first
// token to its last, and the shortest time to a first token that was seen.
func serviceTime(records []*rundir.Record) time.Duration {
	var spans []float64
	quickest := math.Inf(1)
	for _, r := range records {
		if ok(r) && r.FirstToken.Known() {
			spans = append(spans, r.LastToken.Value()-r.FirstToken.Value())
			quickest = min(quickest, r.FirstToken.Value()-r.Sent.Value())
		}
	}
	if len(spans) == 0 {
		return 0
	}
	slices.Sort(spans)
	return duration(stats.Quantile(spans, 0.5) + quickest)
}

// chunksPerRequest is how much a request that ended well added to the runner's count of tokens.
func chunksPerRequest(records []*rundir.Record) float64 {
	var sum, n float64
	for _, r := range records {
		if !ok(r) {
			continue
		}
		n++
		switch {
		case len(r.Counts) > 0:
			for _, k := range r.Counts {
				sum += float64(k)
			}
		case r.FirstToken.Known():
			sum += float64(len(r.GapsUS) + 1)
		}
	}
	return sum / max(n, 1)
}

// askedPerRequest is how many output tokens a request owed us on average.
func askedPerRequest(records []*rundir.Record) float64 {
	sum := 0.0
	for _, r := range records {
		sum += max(1, float64(r.AskedTokens))
	}
	return sum / float64(max(len(records), 1))
}

// ticksUntil is how many token samples were taken until an instant.
func ticksUntil(m *measured, at time.Duration) int {
	return min(len(m.tokens), int(at/m.tick))
}

func within(records []*rundir.Record, w span) []*rundir.Record {
	var due []*rundir.Record
	for _, r := range records {
		if w.holds(r.Due.Value()) {
			due = append(due, r)
		}
	}
	return due
}

// Status of a record, as the figures see it.
func ok(r *rundir.Record) bool { return r.Status == string(client.StatusOK) }

// censored says that a request's figures are known to be larger than what was seen of them: it was cancelled, or timed
// out, while it ran.
func censored(r *rundir.Record) bool {
	return r.Status == string(client.StatusIncomplete) || r.Error == string(client.ClassTimeout)
}

func countRequests(st *rundir.Stage, due []*rundir.Record) {
	q := rundir.Requests{Due: len(due)}
	for _, r := range due {
		if r.Sent.Known() {
			q.Sent++
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
	st.Requests = q
}

// countErrors counts over the whole stage: an error in the opening transient is one too.
func countErrors(st *rundir.Stage, records []*rundir.Record) {
	st.Errors, st.Examples = nil, nil
	for _, r := range records {
		if r.Error == "" {
			continue
		}
		if st.Errors == nil {
			st.Errors, st.Examples = map[string]int{}, map[string]string{}
		}
		st.Errors[r.Error]++
		if st.Examples[r.Error] == "" && r.Message != "" {
			st.Examples[r.Error] = r.Message
		}
	}
}

// ratio is n/d, absent where there is nothing to divide.
func ratio(n, d float64) rundir.Figure {
	if n <= 0 || d <= 0 {
		return rundir.Figure{}
	}
	return rundir.Exactly(n / d)
}

// countRates counts events in the window alone. A rate of nothing is absent: in a row where nothing completed no rate
// was measured.
func countRates(st *rundir.Stage, records []*rundir.Record, w span) {
	var due, sent, done float64
	for _, r := range records {
		if w.holds(r.Due.Value()) {
			due++
		}
		if w.holds(r.Sent.Value()) {
			sent++
		}
		if ok(r) && w.holds(r.End.Value()) {
			done++
		}
	}
	st.Rates = rundir.Rates{Sent: ratio(sent, w.length()), Completed: ratio(done, w.length())}
	if st.Rate.Known() {
		st.Rates.Offered = ratio(due, w.length())
	}
}

// countTokens counts the tokens that arrived in the window, whichever request they belong to and however it ended.
func countTokens(st *rundir.Stage, records []*rundir.Record, w span, count tokenCounter) {
	output, input, inputKnown := 0.0, 0.0, true
	for _, r := range records {
		for at, k := range count.arrivals(r) {
			if w.holds(at) {
				output += k
			}
		}
		if w.holds(r.FirstToken.Value()) {
			inputKnown = inputKnown && r.PromptTokens.Known()
			input += r.PromptTokens.Value()
		}
	}
	st.TokensPerS.Output = ratio(output, w.length())
	if inputKnown {
		st.TokensPerS.Input = ratio(input, w.length())
		st.TokensPerS.Total = ratio(input+output, w.length())
	}
}

// progressBatches is how many parts of the window the interval of the progress rests on at most.
const progressBatches = 12

// progress counts completed work, a request in flight for the part of its tokens that arrived in the window.
func progress(records []*rundir.Record, w span, service time.Duration, count tokenCounter) rundir.Progress {
	n := waveBatches(duration(w.length()), service, progressBatches)
	if n < 1 || w.length() <= 0 {
		n = 1
	}
	batches := make([]float64, n)
	width := w.length() / float64(n)
	add := func(at, part float64) {
		if w.holds(at) {
			batches[min(int((at-w.from)/width), n-1)] += part / width
		}
	}
	for _, r := range records {
		total := count.expected(r)
		switch {
		case r.Status == string(client.StatusError):
		case total > 0:
			for at, k := range count.arrivals(r) {
				add(at, k/total)
			}
		case ok(r):
			add(r.End.Value(), 1)
		}
	}
	mean, low, high, ok := stats.BatchMeans(batches, n)
	switch {
	case mean == 0:
		return rundir.Progress{}
	case !ok: // a single batch: no interval
		return rundir.Progress{Rate: rundir.Exactly(mean)}
	}
	return rundir.Progress{Rate: rundir.Exactly(mean), Low: rundir.Exactly(max(0, low)), High: rundir.Exactly(high), Batches: n}
}

// measureLatencies sums up the figures that each request has one of.
func measureLatencies(st *rundir.Stage, due []*rundir.Record) {
	var latency, ttft, ttftDue, tpot, lag, queued sample
	for _, r := range due {
		dueAt, sent, first, last, end := r.Due.Value(), r.Sent.Value(), r.FirstToken.Value(), r.LastToken.Value(), r.End.Value()
		held := 0.0
		if r.Queued.Known() {
			held = r.Queued.Value()
		}
		queued.know(held)
		if r.Sent.Known() {
			lag.know(sent - dueAt - held)
		}
		n := r.OutputTokens.Value()
		switch {
		case ok(r) && r.FirstToken.Known():
			latency.know(last - sent)
			if n > 1 {
				tpot.know((last - first) / (n - 1))
			}
		case ok(r): // an answer without a token
			latency.know(end - sent)
		case censored(r) && r.Sent.Known():
			latency.exceed(end - sent)
		}
		switch {
		case r.FirstToken.Known() && (ok(r) || censored(r)):
			ttft.know(first - sent)
			ttftDue.know(first - dueAt)
		case censored(r):
			if r.Sent.Known() {
				ttft.exceed(end - sent)
			}
			ttftDue.exceed(end - dueAt)
		}
	}
	st.Latency, st.TTFT, st.TTFTDue = latency.dist(), ttft.dist(), ttftDue.dist()
	st.TPOT, st.Lag, st.Queued = tpot.dist(), lag.dist(), queued.dist()
}

// measureGaps pools the gaps between tokens over the requests. A chunk known to carry k tokens counts as k gaps of
// gap/k; the gaps as they came are kept beside them where that makes a difference.
func measureGaps(st *rundir.Stage, due []*rundir.Record, count tokenCounter) {
	var tokens, chunks sample
	var between, gaps float64
	open := false
	for _, r := range due {
		if !ok(r) && !censored(r) {
			continue
		}
		for i, us := range r.GapsUS {
			gap := float64(us) / 1e6
			k := 1
			if len(r.Counts) > 0 {
				k = int(r.Counts[i+1])
			}
			chunks.know(gap)
			for range k {
				tokens.know(gap / float64(k))
			}
		}
		if censored(r) && r.LastToken.Known() {
			open = true
			chunks.exceed(r.End.Value() - r.LastToken.Value())
			tokens.exceed(r.End.Value() - r.LastToken.Value())
		}
		if n := count.received(r); n > 1 {
			between += r.LastToken.Value() - r.FirstToken.Value()
			gaps += n - 1
		}
	}
	// One pause of a server is one event, however many streams it holds up: the pooled gaps are worth one series of them.
	share := 1.0
	if c := st.Concurrency.Mean; c.Known() {
		share = 1 / math.Max(1, c.Value())
	}
	st.ITL = tokens.distWorth(float64(len(tokens.known)) * share)
	if len(chunks.known) != len(tokens.known) || math.Abs(count.perChunk-1) > 0.02 {
		st.ChunkGap = chunks.distWorth(float64(len(chunks.known)) * share)
	}
	if gaps > 0 {
		st.InterToken = rundir.Exactly(between / gaps)
		if open {
			st.InterToken = rundir.Over(between / gaps)
		}
	}
}

// measureLengths sums up token counts.
func measureLengths(st *rundir.Stage, due []*rundir.Record, count tokenCounter) {
	var output, prompt, cached, asked sample
	sources := map[string]bool{}
	for _, r := range due {
		if !ok(r) {
			continue
		}
		asked.know(float64(r.AskedTokens))
		output.knowFigure(r.OutputTokens)
		prompt.knowFigure(r.PromptTokens)
		cached.knowFigure(r.CachedTokens)
		if r.TokenSource != "" {
			sources[r.TokenSource] = true
		}
	}
	st.OutputTokens, st.PromptTokens = output.tokens(), prompt.tokens()
	if p := &st.PromptTokens; p.Total.Known() { // text is all that we send
		p.Text, p.Vision = p.Total, rundir.Exactly(0)
	}
	st.CachedTokens = rundir.Exactly(stats.Mean(cached.known))
	st.AskedTokens = rundir.Figure{}
	if mean := stats.Mean(asked.known); mean > 0 {
		st.AskedTokens = rundir.Exactly(mean)
	}
	st.TokensPerChunk = rundir.Figure{}
	if count.known {
		st.TokensPerChunk = rundir.Exactly(count.perChunk)
	}
	st.TokenSource = ""
	switch len(sources) {
	case 0:
	case 1:
		for s := range sources {
			st.TokenSource = s
		}
	default:
		st.TokenSource = "mixed"
	}
}

func duration(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }

// warn says what a reader of the row must know before believing it, and could not see from its figures.
func warn(st *rundir.Stage, records []*rundir.Record, w span, m *measured, settled bool) {
	st.Warnings = nil
	add := func(format string, a ...any) { st.Warnings = append(st.Warnings, fmt.Sprintf(format, a...)) }
	if m.early != "" {
		add("ended early: %s", m.early)
	}
	if !settled && len(records) > 0 {
		add("too short: no steady window was found")
	}
	if little := littlesLaw(records, w); st.Concurrency.Mean.Known() {
		if got := st.Concurrency.Mean.Value(); math.Abs(little-got) > max(0.1*got, 0.5) {
			add("bookkeeping: %.1f in flight on average, but latencies add up to %.1f", got, little)
		}
	}
	if lag := st.Lag.P99; lag.Known() && lag.Value() > maxLag {
		st.Invalid = fmt.Sprintf("the client sent late: lag p99 %.0f ms", lag.Value()*1e3)
	} else if st.ClientCPU.Known() && st.ClientCPU.Value() > maxCPU {
		st.Invalid = fmt.Sprintf("the client used %.0f %% of this machine's cores", st.ClientCPU.Value()*100)
	}
}

// Beyond these a row says as much of the client as of the server: a lag that people would notice in a TTFT, and a
// machine with no core left.
const (
	maxLag = 0.050 // seconds, p99
	maxCPU = 0.95  // of all cores
)

// littlesLaw is the mean number in flight as the requests' own instants have it.
func littlesLaw(records []*rundir.Record, w span) float64 {
	sum := 0.0
	for _, r := range records {
		if r.Sent.Known() && r.End.Known() {
			sum += w.overlap(r.Sent.Value(), r.End.Value())
		}
	}
	return sum / w.length()
}
