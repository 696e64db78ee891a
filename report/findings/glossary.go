package findings

import (
	"cmp"
	"slices"
	"strconv"

	"llmsweep/report/lang"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
)

// Term is a word of tables and sentences, and what it means.
type Term struct{ Name, Means lang.Text }

// Glossary returns the words that a report of a run uses.
func Glossary(run *rundir.Run) (all []Term) {
	any := func(test func(*rundir.Stage) bool) bool {
		return slices.ContainsFunc(run.Stages, func(s rundir.Stage) bool { return test(&s) })
	}
	verdict := func(v rundir.Verdict) bool { return any(func(s *rundir.Stage) bool { return s.Verdict == v }) }
	streams := any(func(s *rundir.Stage) bool { return TTFT(s).N > 0 })
	known := func(of StageNumber) bool { return any(func(s *rundir.Stage) bool { return of(s).Known() }) }
	offered := known(func(s *rundir.Stage) rundir.Number { return s.Rates.Offered })
	tolerance := strconv.FormatFloat(100*cmp.Or(run.Plan.Tolerance, measure.DefaultTolerance), 'g', 3, 64)
	for _, t := range []struct {
		shown       bool
		name, means lang.Text
	}{
		{any(func(s *rundir.Stage) bool { return s.Kind == rundir.KindOfUsers }), lang.Same("users@N"), meansUsers.Text()},
		{any(func(s *rundir.Stage) bool { return s.Role == rundir.Synchronous && s.Kind != rundir.KindOfUsers }),
			lang.Same("synchronous"), meansSynchronous.Text()},
		{offered, lang.Same("asynchronous@R"), meansAsynchronous.Text()},
		{any(func(s *rundir.Stage) bool { return s.Role == rundir.Throughput }),
			lang.Same("throughput"), meansThroughput.Text()},
		{offered, headOffered.Text(), meansOffered.Text()},
		{known(func(s *rundir.Stage) rundir.Number { return s.Concurrency.Mean }), headInFlight.Text(), meansInFlight.Text()},
		{any(func(s *rundir.Stage) bool { return s.WholeRun != nil }), headWholeRun.Text(), meansWholeRun.Text()},
		{streams, lang.Same("TTFT"), meansTTFT.Text()},
		{any(func(s *rundir.Stage) bool { return ITL(s).N > 0 }), lang.Same("ITL"), meansITL.Text()},
		{known(func(s *rundir.Stage) rundir.Number { return s.TPOT.Mean }), lang.Same("TPOT"), meansTPOT.Text()},
		{any(func(s *rundir.Stage) bool { return Latency(s).N > 0 }), lang.HeadLatency.Text(), meansLatency.Text()},
		{known(func(s *rundir.Stage) rundir.Number { return Latency(s).P99 }), lang.Same("p50, p99"), meansPercentile.Text()},
		{verdict(rundir.Stable), VerdictName(rundir.Stable), meansStable.Text(tolerance)},
		{verdict(rundir.Saturated), VerdictName(rundir.Saturated), meansSaturated.Text()},
		{verdict(rundir.Shedding), VerdictName(rundir.Shedding), meansShedding.Text()},
		{verdict(rundir.Undecided), VerdictName(rundir.Undecided), meansUndecided.Text()},
		{any(func(s *rundir.Stage) bool { return s.Hits != nil && s.Hits.Ideal.Value() > 0 }),
			headIdeal.Text(), meansIdeal.Text()},
		{any(func(s *rundir.Stage) bool { return s.Sessions != nil && s.Sessions.Again().Known() }),
			headAgain.Text(), meansAgain.Text()},
		{any(func(s *rundir.Stage) bool { return s.Sessions != nil && !s.Sessions.Good.IsZero() }),
			headGood.Text(), meansGood.Text()},
		{any(func(s *rundir.Stage) bool { return s.Goodput != nil }), headGoodput.Text(), meansGoodput.Text()},
	} {
		if t.shown {
			all = append(all, Term{t.name, t.means})
		}
	}
	return all
}
