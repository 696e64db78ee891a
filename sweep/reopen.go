package sweep

import (
	"iter"
	"slices"
	"time"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// Reopen reads a run directory. What a killed process left unfinished is summarised from its records, as far as it got.
func Reopen(path string) (*rundir.Run, error) {
	run, err := rundir.Open(path)
	if err != nil || run.State != rundir.Running {
		return run, err
	}
	run.State = rundir.Interrupted
	run.Failure = noteKilled.New()
	for i := range run.Stages {
		st := &run.Stages[i]
		if st.State != rundir.Running {
			continue
		}
		st.State = rundir.Interrupted
		if err := salvage(st, ofStage(path, st.Name), run.Plan.Tolerance); err != nil {
			return nil, err
		}
	}
	if run.Plan.Kind == KindSweep {
		conclude(run)
	}
	if len(run.Plan.SLO) > 0 {
		terms, err := slo.ParseAll(run.Plan.SLO)
		if err != nil {
			return nil, err
		}
		return run, Assess(path, run, terms)
	}
	return run, nil
}

// ofStage yields the records of one stage in a run directory.
func ofStage(path, stage string) iter.Seq2[*rundir.Record, error] {
	return func(yield func(*rundir.Record, error) bool) {
		for r, err := range rundir.Records(path) {
			if (err != nil || r.Stage == stage) && !yield(r, err) {
				return
			}
		}
	}
}

// salvage fills in st from its records, as far as it got.
func salvage(st *rundir.Stage, records iter.Seq2[*rundir.Record, error], tolerance float64) error {
	m, n, err := retrace(records)
	if err != nil || n == 0 {
		return err
	}
	if *st, err = summarise(*st, records, m, tolerance); err != nil {
		return err
	}
	st.Warnings = append(st.Warnings, noteKilledInStage.New(n))
	return nil
}

// retrace gathers from records what the runner would have seen, and counts them. It holds their instants, and nothing else
// of them.
func retrace(records iter.Seq2[*rundir.Record, error]) (m *measured, n int, err error) {
	m = &measured{cpu: -1, tick: 100 * time.Millisecond}
	var sent, ended []time.Duration
	var tally tokenTally
	if err := each(records, func(r *rundir.Record) {
		end := duration(r.End.Value())
		m.closedAt = max(m.closedAt, end)
		n++
		if r.Sent.Known() {
			sent, ended = append(sent, duration(r.Sent.Value())), append(ended, end)
		}
		tally.add(r)
	}); err != nil {
		return nil, 0, err
	}
	for m.closedAt/m.tick >= maxTicks {
		m.tick *= 2
	}
	m.elapsed = m.closedAt
	m.flight = replay(sent, ended, m)
	return m, n, m.recount(records, tally.counter())
}

// recount samples the tokens that arrived, and those owed.
func (m *measured) recount(records iter.Seq2[*rundir.Record, error], count tokenCounter) error {
	m.tokens = make([]float64, int(m.closedAt/m.tick)+1)
	m.owed = make([]float64, len(m.tokens))
	tick := func(at float64) int { return min(int(duration(at)/m.tick), len(m.tokens)-1) }
	err := each(records, func(r *rundir.Record) {
		left := owes(r)
		m.owed[tick(r.Due.Value())] += left
		for at, k := range count.arrivals(r) {
			m.tokens[tick(at)] += k
			m.owed[tick(at)] -= k
			left -= k
		}
		m.owed[tick(r.End.Value())] -= left
	})
	for i := range m.owed[1:] { // from changes to the level
		m.owed[i+1] += m.owed[i]
	}
	return err
}

// replay counts from beginnings and ends. Beginnings come before ends at the same instant, so that the count never falls
// below zero.
func replay(begin, end []time.Duration, m *measured) *series {
	slices.Sort(begin)
	slices.Sort(end)
	s := newSeries(m.tick)
	for len(end) > 0 {
		if len(begin) > 0 && begin[0] <= end[0] {
			s.add(begin[0], 1)
			begin = begin[1:]
		} else {
			s.add(end[0], -1)
			end = end[1:]
		}
	}
	s.advance(m.closedAt)
	return s
}
