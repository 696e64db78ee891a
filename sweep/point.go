package sweep

import (
	"iter"
	"math"
	"time"

	"llmsweep/client"
	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
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

// summarise turns a stage's records, in any order, and what the runner saw besides into its figures. The records are read
// twice and never held. An error is of reading; the figures are then of what could be read.
func summarise(st rundir.Stage, records iter.Seq2[*rundir.Record, error], m *measured, tolerance float64) (rundir.Stage, error) {
	v := newSurvey(m.closedAt, st.MaxConcurrency)
	if err := each(records, v.add); err != nil && v.n == 0 {
		return st, err
	}
	st.Elapsed = m.elapsed.Seconds()
	service := v.serviceTime()
	w, settled := steadyWindow(&st, v, m, service)
	st.WindowFrom, st.Window = w.from, w.length()

	f := newFigures(w, service, v)
	err := each(records, f.add)
	st.Concurrency = rundir.Concurrency{
		Mean: rundir.Exactly(m.flight.mean(duration(w.from), duration(w.to))),
		Peak: m.flight.highest(duration(w.from), duration(w.to)),
	}
	f.fill(&st)

	st.Verdict = rundir.Closed
	if st.Rate.Known() {
		st.Verdict, st.Drift = m.verdict, m.drift
		if m.verdict == "" { // nobody has looked yet
			e := &evidence{
				owed: m.owed, asked: v.askedPerRequest(), tokens: m.tokens, tick: m.tick, perRequest: v.chunksPerRequest(),
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
		st.ClientCPU, st.ClientGC = rundir.Exactly(m.cpu), rundir.Exactly(m.gc)
	}
	warn(&st, v.n > 0 && !settled, f.inFlight/w.length(), m)
	return st, err
}

// each reads records to their end, or to the first that cannot be read.
func each(records iter.Seq2[*rundir.Record, error], add func(*rundir.Record)) error {
	for r, err := range records {
		if err != nil {
			return err
		}
		add(r)
	}
	return nil
}

// steadyWindow cuts the opening transient, and for a closed loop whatever does not fill its last wave.
func steadyWindow(st *rundir.Stage, v *survey, m *measured, service time.Duration) (w span, settled bool) {
	if st.Whole {
		return span{0, v.last}, true
	}
	if w := m.fixed; w.to > 0 && m.closedAt.Seconds() >= w.to {
		return w, true
	}
	if st.Rate.Known() {
		cut, settled := transient(m.tokens[:ticksUntil(m, m.closedAt)], m.tick, service)
		cut = wholeWaves(cut, m.closedAt, service)
		return span{cut.Seconds(), m.closedAt.Seconds()}, settled
	}
	from, to, n := v.ends.waves()
	if n == 0 {
		return span{0, m.closedAt.Seconds()}, false
	}
	return span{from.Seconds(), to.Seconds()}, true
}

// ticksUntil is how many token samples were taken until an instant.
func ticksUntil(m *measured, at time.Duration) int {
	return min(len(m.tokens), int(at/m.tick))
}

// Status of a record, as the figures see it.
func ok(r *rundir.Record) bool { return r.Status == string(client.StatusOK) }

// censored reports whether a request's figures are known to be larger than what was seen of them: it was cancelled, or timed
// out, while it ran.
func censored(r *rundir.Record) bool {
	return r.Status == string(client.StatusIncomplete) || r.Error == string(client.ClassTimeout)
}

// ratio is n/d, absent where there is nothing to divide.
func ratio(n, d float64) rundir.Number {
	if n <= 0 || d <= 0 {
		return rundir.Number{}
	}
	return rundir.Exactly(n / d)
}

func duration(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }

// warn says what a reader of the row must know before believing it, and could not see from its figures. little is the mean
// number in flight as the requests' own instants have it.
func warn(st *rundir.Stage, short bool, little float64, m *measured) {
	st.Warnings = nil
	add := func(n note.Note) { st.Warnings = append(st.Warnings, n) }
	if !m.early.IsZero() {
		add(m.early)
	}
	if short {
		add(noteTooShort.New())
	}
	if st.Concurrency.Mean.Known() {
		if got := st.Concurrency.Mean.Value(); math.Abs(little-got) > max(0.1*got, 0.5) {
			add(noteBookkeeping.New(got, little))
		}
	}
	if n := st.Requests.Resent; n > 0 {
		add(noteResent.New(n))
	}
	if share := st.SharedChunks.Value(); share > maxShared {
		add(noteSharedReads.New(share))
	}
	st.Invalid = unfit(st)
}
