package sweep

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"llmsweep/sweep/rundir"
)

// Reopen reads a run directory. What a killed process left unfinished is summarised from its records, as far as it got.
func Reopen(path string) (*rundir.Run, error) {
	run, err := rundir.Open(path)
	if err != nil || run.State != rundir.Running {
		return run, err
	}
	run.State = rundir.Interrupted
	run.Failure = "llmsweep was killed"
	for i := range run.Stages {
		st := &run.Stages[i]
		if st.State != rundir.Running {
			continue
		}
		var records []*rundir.Record
		for r, err := range rundir.Records(path) {
			if err != nil {
				return nil, err
			}
			if r.Stage == st.Name {
				records = append(records, r)
			}
		}
		st.State = rundir.Interrupted
		if len(records) > 0 {
			*st = summarise(*st, records, retrace(records), run.Plan.Tolerance)
			st.Warnings = append(st.Warnings, fmt.Sprintf("llmsweep was killed; requests that were in flight then are not among the %d on record", len(records)))
		}
	}
	if run.Plan.Kind == KindSweep {
		run.Saturation = saturate(run.Stages, &run.Warnings)
	}
	return run, nil
}

// retrace gathers from records what the runner would have seen.
func retrace(records []*rundir.Record) *measured {
	tick := 100 * time.Millisecond
	m := &measured{tick: tick, system: newSeries(tick), flight: newSeries(tick), cpu: -1}
	var system, flight []step
	for _, r := range records {
		end := duration(r.End.Value())
		m.closedAt = max(m.closedAt, end)
		system = append(system, step{duration(r.Due.Value()), 1}, step{end, -1})
		if r.Sent.Known() {
			flight = append(flight, step{duration(r.Sent.Value()), 1}, step{end, -1})
		}
	}
	m.elapsed = m.closedAt
	m.tokens = make([]float64, int(m.closedAt/tick)+1)
	m.owed = make([]float64, len(m.tokens))
	bin := func(at float64) int { return min(int(duration(at)/tick), len(m.tokens)-1) }
	count := newTokenCounter(records)
	for _, r := range records {
		left := max(1, float64(r.AskedTokens))
		m.owed[bin(r.Due.Value())] += left
		for at, k := range count.arrivals(r) {
			m.tokens[bin(at)] += k
			m.owed[bin(at)] -= k
			left -= k
		}
		m.owed[bin(r.End.Value())] -= left
	}
	for i := range m.owed[1:] { // from changes to the level
		m.owed[i+1] += m.owed[i]
	}
	replay(m.system, system, m.closedAt)
	replay(m.flight, flight, m.closedAt)
	return m
}

type step struct {
	at    time.Duration
	delta int
}

func replay(s *series, steps []step, until time.Duration) {
	sortSteps(steps)
	for _, p := range steps {
		s.add(p.at, p.delta)
	}
	s.advance(until)
}

// sortSteps puts beginnings before ends at the same instant, so that the count never falls below zero.
func sortSteps(steps []step) {
	slices.SortFunc(steps, func(a, b step) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b.delta, a.delta)) })
}
