package measure

import (
	"iter"
	"math"
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/sample"
)

// ratio returns n/d, absent where either is 0 or less.
func ratio(n, d float64) rundir.Number {
	if n <= 0 || d <= 0 {
		return rundir.Number{}
	}
	return rundir.Exactly(n / d)
}

type summary struct {
	*Account
	stage       rundir.Stage
	seen        *load.Outcome
	window      Window
	judged      Window    // from the opening to the close: what the verdict is from
	settled     bool      // the window's opening transient is over
	wholeReason note.Note // why the window of a closed loop by number is the whole stage; zero where it is not
	metrics     *metrics
	whole       *metrics // of the whole stage, where the window is a part of a closed loop by number; else nil
}

// Summarize returns st with the metrics, the verdict and the warnings of the stage. The records may come in any order;
// they are read once and not held. An error is of reading them; the metrics are then of what could be read.
func (a *Account) Summarize(
	st rundir.Stage, seen *load.Outcome, records iter.Seq2[*rundir.Record, error],
) (rundir.Stage, error) {
	s := a.begin(st, seen)
	for r, err := range records {
		if err != nil {
			if s.metrics.records == 0 {
				return st, err
			}
			return s.finish(), err
		}
		s.add(r)
	}
	return s.finish(), nil
}

func (s *summary) add(r *rundir.Record) {
	s.metrics.add(r)
	if s.whole != nil {
		s.whole.add(r)
	}
}

func (a *Account) begin(st rundir.Stage, seen *load.Outcome) *summary {
	s := &summary{Account: a, stage: st, seen: seen}
	s.window, s.settled = s.findWindow(a.service.median())
	s.metrics = newMetrics(s.window, a.waveTime(), a.tally.counter(), a.grouped, a.SLO, a.Turns > 1)
	if s.stage.Whole && s.window != s.wholeWindow() {
		s.stage.Whole = false
		s.whole = newMetrics(s.wholeWindow(), a.waveTime(), a.tally.counter(), a.grouped, nil, false)
	}
	if a.closed() {
		s.metrics.latency.first = a.Concurrency
	}
	if a.Capped {
		s.metrics.lengths.spread = &answerLengths{}
		if s.whole != nil {
			s.whole.lengths.spread = &answerLengths{}
		}
	}
	if at, ok := s.frozenSince(); ok {
		s.stage.FrozenSince = rundir.Exactly(at)
		s.metrics.hung.since = at
	}
	return s
}

// findWindow returns the window: the opening transient is cut, and in a closed loop what does not fill its last wave.
// Where the server had stopped answering when the window closed, that time belongs to the window. ok is false where the
// stage was too short to find it.
func (s *summary) findWindow(service time.Duration) (w Window, ok bool) {
	closedAt := s.seen.ClosedAt
	switch {
	case s.stage.Whole && s.Whole && s.closed() && s.Concurrency > 1: // it fills at its start, and runs empty at its end
		return s.busyWindow()
	case s.stage.Whole:
		return s.wholeWindow(), true
	case s.Fixed && closedAt >= s.MinTime:
		return Window{From: s.From, To: s.MinTime}, true
	case s.stage.Rate.Known():
		cut, settled := s.opening(closedAt, service)
		s.judged = s.openWindow(cut, closedAt, service)
		if s.silentAtClose() {
			return s.judged, settled
		}
		return s.levelWindow(s.judged), settled
	}
	if s.Paced {
		return Window{From: s.From, To: closedAt}, true
	}
	if s.Steady {
		from := s.settledFrom(closedAt)
		return Window{From: from, To: closedAt}, from < closedAt
	}
	from, to, n := s.waves.Whole(math.MaxInt64)
	if n == 0 {
		return Window{From: 0, To: closedAt}, false
	}
	if s.silentAtClose() {
		to = max(to, closedAt)
	}
	return Window{From: from, To: to}, true
}

func (s *summary) wholeWindow() Window { return Window{From: 0, To: rundir.Duration(s.lastEnd)} }

// busyWindow returns the steady window of a closed loop by number: of the time in which nearly all places are busy, the
// whole waves after the first. The first begins with all prompts at once, and no answer grows meanwhile: a window from
// there on has up to a fifth too few tokens per second in simulations, where TestClosedLoopsByNumber has 6 % at most.
func (s *summary) busyWindow() (w Window, ok bool) {
	_, by, full := s.seen.InFlight.Span(int(math.Ceil(nearlyFull * float64(s.Concurrency))))
	from, to, n := s.waves.Whole(by)
	switch {
	case !full:
		s.wholeReason = noteNeverFull.New(s.Concurrency)
	case n < fewestWaves*s.waveSize():
		s.wholeReason = noteFewWaves.New(s.Concurrency)
	default:
		if s.silentAtClose() {
			to = rundir.Duration(s.lastEnd)
		}
		return Window{From: from, To: to}, true
	}
	return s.wholeWindow(), true
}

func (s *summary) finish() rundir.Stage {
	st, w, seen := s.stage, s.window, s.seen
	st.Elapsed, st.WindowFrom, st.Window = seen.Elapsed.Seconds(), w.From.Seconds(), w.Length()
	st.Concurrency = concurrency(seen.InFlight, w)
	s.metrics.fill(&st)
	s.judgeMeans(&st)
	st.WholeRun = s.wholeRun(&st)
	st.Traits.Quota = s.metrics.quotas.sum()
	st.Traits.Pauses = s.pauses.summary(s.seen.ClosedAt, s.minPause())
	st.Shortened = s.metrics.lengths.shares.shortened(s.LoneLengths)
	st.Verdict, st.Drift = rundir.Closed, rundir.Drift{}
	if st.Rate.Known() {
		s.judgeRate(&st)
	}
	st.Server = serverLoad(seen.Readings, w)
	if seen.CPU >= 0 {
		st.ClientCPU, st.ClientGC = rundir.Exactly(seen.CPU), rundir.Exactly(seen.GC)
	}
	st.Hits = s.metrics.hits.result(&st)
	st.Warnings = s.warnings(&st)
	if n := st.Requests.Due; n < fewestOfMean && (st.Role == rundir.Grid || st.Role == rundir.Probe) && st.Rate.Known() {
		st.Warnings = append(st.Warnings, noteFewRequests.New(n))
		dropMeans(&st)
	}
	st.Invalid = Stopped(seen.Stopped)
	if st.Invalid.IsZero() {
		st.Invalid = s.absenceNote(&st)
	}
	if st.Invalid.IsZero() {
		st.Invalid = unfit(&st)
	} else {
		st.Warnings = append(st.Warnings, st.Invalid)
	}
	if s.metrics.sessions != nil {
		st.Sessions = s.metrics.sessions.summary(&st)
	}
	if s.metrics.goodput != nil {
		s.metrics.goodput.Write(&st)
	}
	return st
}

// dropMeans leaves out what so few requests cannot tell of a row. Its verdict and its progress, which count tokens, stay.
func dropMeans(st *rundir.Stage) {
	st.Rates.Completed, st.TokensPerS, st.InterToken, st.All = rundir.Number{}, rundir.TokenRates{}, rundir.Number{}, nil
	for _, d := range []*rundir.Dist{
		&st.Latency, &st.TTFT, &st.TTFTDue, &st.FirstAnswer, &st.TPOT, &st.ITL, &st.ChunkGap,
	} {
		*d = rundir.Dist{N: d.N}
	}
}

// wholeRun is nil where the row has no other metrics.
func (s *summary) wholeRun(st *rundir.Stage) *rundir.WholeRun {
	if s.whole == nil {
		return nil
	}
	all, w := rundir.Stage{Whole: true, MaxConcurrency: st.MaxConcurrency}, s.whole.w
	s.whole.fill(&all)
	all.Window, all.Concurrency = w.Length(), concurrency(s.seen.InFlight, w)
	return rundir.NewWholeRun(&all)
}

func concurrency(l *sample.Level, w Window) rundir.Concurrency {
	return rundir.Concurrency{Mean: rundir.Exactly(l.Mean(w.From, w.To)), Peak: l.Peak(w.From, w.To)}
}

func (s *summary) judgeRate(st *rundir.Stage) {
	if !s.settled { // what was counted over the transient is no rate
		st.Verdict = rundir.Undecided
		st.Rates.Completed, st.TokensPerS, st.Progress = rundir.Number{}, rundir.TokenRates{}, rundir.Progress{}
		return
	}
	if s.verdict == "" { // no look has judged it
		s.judge(s.judged, errorLevel)
	}
	q := st.Requests
	st.Drift, st.Traits.Waits = s.Account.backlog, s.Account.waits
	f := failedShare{failed: q.Error, refused: s.metrics.shed, ended: q.OK + q.Error, tolerance: s.Tolerance}
	st.Verdict = f.judge(s.verdict)
	if s.hiddenByPauses {
		st.Verdict = rundir.Undecided
	}
	if st.Verdict == rundir.Saturated {
		st.Traits.Behind = s.overloadProgress(s.window)
	}
}

// addsUp compares the mean number in flight that was counted with that of the requests' own instants; NaN agrees.
func addsUp(counted, own float64) bool {
	return !(math.Abs(own-counted) > max(littleShare*counted, littleRequests))
}

// warnings returns what a reader of the row must know before believing it, and cannot see from its metrics.
func (s *summary) warnings(st *rundir.Stage) (all []note.Note) {
	if !s.earlyEnd.IsZero() {
		all = append(all, s.earlyEnd)
	}
	if st.FrozenSince.Known() {
		all = append(all, noteFroze.New(st.FrozenSince.Value(), s.metrics.hung.n))
	}
	if !s.wholeReason.IsZero() {
		all = append(all, s.wholeReason)
	}
	if s.ended > 0 && !s.settled {
		all = append(all, noteTooShort.New())
	}
	if counted := st.Concurrency.Mean; counted.Known() {
		little := s.metrics.inFlight / s.window.Length()
		if !addsUp(counted.Value(), little) {
			all = append(all, noteBookkeeping.New(counted.Value(), little))
		}
	}
	if n := st.Requests.Resent; n > 0 {
		all = append(all, noteResent.New(n))
	}
	if st.SharedChunks.Value() > maxShared && !readLate(st) {
		all = append(all, noteSharedReads.New(st.SharedChunks.Value()))
	}
	if second := s.metrics.gaps.early(st); second.Known() {
		all = append(all, noteEarlyToken.New(st.TTFT.P50.Value(), second.Value(), st.ITL.P50.Value()))
	}
	if h := st.Hits; h != nil && h.Contaminated.Known() {
		all = append(all, Contaminated.New(h.Contaminated.Value(), h.Reported.Value(), h.Ideal.Value()))
	}
	if s.Steady && s.metrics.sessions != nil && !s.steadyIn(s.window) {
		all = append(all, noteUnsteady.New())
	}
	if st.Shortened.Known() {
		all = append(all, noteShortened.New(st.Shortened.Value()))
	}
	return append(all, replicaNotes(st.Replicas)...)
}
