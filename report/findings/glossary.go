package findings

import (
	"slices"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// Term is a word of tables and sentences, and what it means.
type Term struct{ Name, Means lang.Text }

// Glossary returns the words that a report of stages uses.
func Glossary(stages []rundir.Stage) (all []Term) {
	any := func(test func(*rundir.Stage) bool) bool {
		return slices.ContainsFunc(stages, func(s rundir.Stage) bool { return test(&s) })
	}
	verdict := func(v rundir.Verdict) bool { return any(func(s *rundir.Stage) bool { return s.Verdict == v }) }
	streams := any(func(s *rundir.Stage) bool { return TTFT(s).N > 0 })
	known := func(of StageNumber) bool { return any(func(s *rundir.Stage) bool { return of(s).Known() }) }
	offered := known(func(s *rundir.Stage) rundir.Number { return s.Rates.Offered })
	for _, t := range []struct {
		shown bool
		name  lang.Text
		means lang.Phrase
	}{
		{any(func(s *rundir.Stage) bool { return s.Kind == rundir.KindOfUsers }), lang.Same("users@N"), meansUsers},
		{any(func(s *rundir.Stage) bool { return s.Role == rundir.Synchronous && s.Kind != rundir.KindOfUsers }),
			lang.Same("synchronous"), meansSynchronous},
		{offered, lang.Same("asynchronous@R"), meansAsynchronous},
		{any(func(s *rundir.Stage) bool { return s.Role == rundir.Throughput }), lang.Same("throughput"), meansThroughput},
		{offered, headOffered.Text(), meansOffered},
		{known(func(s *rundir.Stage) rundir.Number { return s.Concurrency.Mean }), headInFlight.Text(), meansInFlight},
		{any(func(s *rundir.Stage) bool { return s.WholeRun != nil }), headWholeRun.Text(), meansWholeRun},
		{streams, lang.Same("TTFT"), meansTTFT},
		{any(func(s *rundir.Stage) bool { return ITL(s).N > 0 }), lang.Same("ITL"), meansITL},
		{known(func(s *rundir.Stage) rundir.Number { return s.TPOT.Mean }), lang.Same("TPOT"), meansTPOT},
		{any(func(s *rundir.Stage) bool { return Latency(s).N > 0 }), lang.HeadLatency.Text(), meansLatency},
		{known(func(s *rundir.Stage) rundir.Number { return Latency(s).P99 }), lang.Same("p50, p99"), meansPercentile},
		{verdict(rundir.Stable), verdictName(rundir.Stable), meansStable},
		{verdict(rundir.Saturated), verdictName(rundir.Saturated), meansSaturated},
		{verdict(rundir.Shedding), verdictName(rundir.Shedding), meansShedding},
		{verdict(rundir.Undecided), verdictName(rundir.Undecided), meansUndecided},
		{any(func(s *rundir.Stage) bool { return s.Hits != nil && s.Hits.Ideal.Value() > 0 }), headIdeal.Text(), meansIdeal},
		{any(func(s *rundir.Stage) bool { return s.Sessions != nil && s.Sessions.Again().Known() }),
			headAgain.Text(), meansAgain},
		{any(func(s *rundir.Stage) bool { return s.Sessions != nil && !s.Sessions.Good.IsZero() }),
			headGood.Text(), meansGood},
		{any(func(s *rundir.Stage) bool { return s.Goodput != nil }), headGoodput.Text(), meansGoodput},
	} {
		if t.shown {
			all = append(all, Term{t.name, t.means.Text()})
		}
	}
	return all
}

func verdictName(v rundir.Verdict) lang.Text {
	return lang.Text{EN: lang.Verdict(v, lang.English), ZH: lang.Verdict(v, lang.Chinese)}
}
