package sweep

import (
	"cmp"
	"math"
	"slices"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// comfortable is the share of the saturation rate that leaves room for a busy minute.
const comfortable = 0.8

// conclude writes the answer of a sweep, and takes out what the answer shows to be unsure.
func conclude(run *rundir.Run) {
	run.Saturation = saturate(run.Stages, &run.Warnings)
	if run.Saturation == nil {
		return
	}
	for i := range run.Stages {
		if st := &run.Stages[i]; st.Rate.Known() {
			dropIntervals(st, st.Rate.Value()/run.Saturation.Rate.Value())
		}
	}
}

// saturate finds how many requests per second the server takes: the plateau of completed work over the ceiling and the
// rows that were shown saturated, and the bracket of verdicts around it. It is nil where no row completed anything.
func saturate(stages []rundir.Stage, warnings *[]note.Note) *rundir.Saturation {
	warn := func(n note.Note) { *warnings = note.Add(*warnings, n) } // repetitions warn of the same
	open := openRows(stages)
	cut := edge(open, warn)
	rows := plateauRows(stages, open, cut, warn)
	if len(rows) == 0 {
		return nil
	}
	s := &rundir.Saturation{}
	s.Rate, s.Low, s.High = plateau(rows)
	s.HighestStable, s.LowestSaturated = bracket(open, cut, s)
	var output, weight float64
	for _, r := range rows {
		if t := r.TokensPerS.Output; t.Known() {
			output += t.Value() * r.Window
			weight += r.Window
		}
	}
	s.Output = ratio(output, weight)
	s.Comfortable = rundir.Exactly(comfortable * s.Rate.Value())
	for _, r := range open {
		if r.Verdict == rundir.Stable && r.Rate.Value() <= s.Comfortable.Value() {
			s.ComfortableStage = r.Name
		}
	}
	s.Reason = reason(rows, s)
	for i := range rows {
		if limit := ranOut(rows[i].Server); limit != "" && rows[i].Verdict == rundir.Saturated {
			s.Limit, s.LimitStage = limit, rows[i].Name
			break
		}
	}
	for _, r := range open[:cut] {
		if r.Verdict == rundir.Stable && r.Rate.Value() > s.High.Value()*1.05 {
			warn(noteStableAbove.New(r.Rate.Value()))
		}
	}
	return s
}

// Near the edge a queue swings more slowly than a stage lasts, and what one stage shows of latencies is narrower than the truth:
// beyond these shares of the saturation rate their intervals would not hold what they say (TestLatencyIntervalsCover).
const (
	percentilesHold = 0.8
	meansHold       = 0.9
)

// dropIntervals takes out the intervals of latencies that a stage at such a share of the saturation rate cannot know.
func dropIntervals(st *rundir.Stage, share float64) {
	for _, d := range []*rundir.Dist{&st.Latency, &st.TTFT, &st.TTFTDue, &st.TPOT, &st.ITL, &st.ChunkGap, &st.Queued} {
		for name := range d.CI {
			if share > meansHold || share > percentilesHold && name != "mean" {
				delete(d.CI, name)
			}
		}
	}
}

// openRows are the rows whose rate we chose, in its order, those left out that the client spoiled or that are not whole.
func openRows(stages []rundir.Stage) []*rundir.Stage {
	var open []*rundir.Stage
	for i := range stages {
		if st := &stages[i]; st.Rate.Known() && st.Invalid.IsZero() && st.State == rundir.Complete && st.Requests.OK > 0 {
			open = append(open, st)
		}
	}
	slices.SortStableFunc(open, func(a, b *rundir.Stage) int {
		return cmp.Or(cmp.Compare(a.Rate.Value(), b.Rate.Value()), cmp.Compare(a.Repeat, b.Repeat))
	})
	return open
}

// edge cuts the rows in two so that the fewest verdicts are contradicted when all below are taken for stable and all above
// for saturated: a lone exception is a warning, not another edge. Rows at one rate stay together, so that most of them decide.
func edge(open []*rundir.Stage, warn func(note.Note)) int {
	against := func(cut int) int {
		n := 0
		for i, r := range open {
			if i < cut && r.Verdict == rundir.Saturated && !outdone(open, i) || i >= cut && (r.Verdict == rundir.Stable || outdone(open, i)) {
				n++
			}
		}
		return n
	}
	best := 0
	for cut := 1; cut <= len(open); cut++ {
		between := cut == len(open) || open[cut-1].Rate != open[cut].Rate
		if between && against(cut) <= against(best) {
			best = cut
		}
	}
	for i, r := range open {
		stable, saturated := verdictsAt(open, r.Rate)
		if stable > 0 && saturated > 0 {
			warn(noteMixedVerdicts.New(r.Rate.Value(), stable, saturated))
		} else if i < best && r.Verdict == rundir.Saturated || i >= best && r.Verdict == rundir.Stable {
			warn(noteAgainst.New(r.Name, r.Verdict))
		}
	}
	return best
}

// outdone reports whether the server got more done at a higher rate than it did in a row, beyond doubt: this row shows no limit.
func outdone(open []*rundir.Stage, row int) bool {
	for _, r := range open[row+1:] {
		if r.Rate != open[row].Rate && r.Progress.Low.Known() && r.Progress.Low.Value() > open[row].Progress.High.Value() {
			return true
		}
	}
	return false
}

// most is what the server got done per second in some row, at least.
func most(open []*rundir.Stage) float64 {
	best := 0.0
	for _, r := range open {
		if r.Progress.Low.Known() {
			best = max(best, r.Progress.Low.Value())
		}
	}
	return best
}

// verdictsAt counts the rows at a rate that were shown stable, and those that were shown saturated.
func verdictsAt(open []*rundir.Stage, rate rundir.Number) (stable, saturated int) {
	for _, r := range open {
		switch {
		case r.Rate != rate:
		case r.Verdict == rundir.Stable:
			stable++
		case r.Verdict == rundir.Saturated:
			saturated++
		}
	}
	return stable, saturated
}

// bracket is the highest stable and the lowest saturated rate around the plateau's interval. A rate within it that was
// stable may lie above the capacity yet: by less than the tolerance of drift. A rate whose rows are as often the one as the
// other is neither.
func bracket(open []*rundir.Stage, cut int, s *rundir.Saturation) (stable, saturated rundir.Number) {
	for i, r := range open {
		stables, others := verdictsAt(open, r.Rate)
		switch rate := r.Rate; {
		case i < cut && stables > others && !(rate.Value() > s.Low.Value()):
			stable = rate
		case i >= cut && others > stables && !(rate.Value() < s.High.Value()) && !saturated.Known():
			saturated = rate
		}
	}
	return stable, saturated
}

// serverLimited reports whether a row shows what the server can do and not what arrived: it was saturated, and completed less
// than it was offered beyond doubt.
func serverLimited(st rundir.Stage) bool {
	return st.Verdict == rundir.Saturated && st.Invalid.IsZero() && st.State == rundir.Complete &&
		st.Progress.High.Known() && st.Rates.Offered.Known() && st.Progress.High.Value() < st.Rates.Offered.Value()
}

// plateauRows are the rows that show what the server can do: the saturated ones above the edge, and the ceiling where it
// agrees with them.
func plateauRows(stages []rundir.Stage, open []*rundir.Stage, cut int, warn func(note.Note)) []rundir.Stage {
	var limited []rundir.Stage
	var ceiling *rundir.Stage
	for i, st := range open {
		if i >= cut && serverLimited(*st) && !outdone(open, i) {
			limited = append(limited, *st)
		}
	}
	for i, st := range stages {
		if st.Role == rundir.Ceiling && st.Invalid.IsZero() && st.State == rundir.Complete && st.Progress.Rate.Known() {
			ceiling = &stages[i]
		}
	}
	switch {
	case ceiling == nil:
		return limited
	case len(limited) == 0:
		if best := most(open); best > ceiling.Progress.High.Value() {
			warn(noteNotFilled.New(ceiling.MaxConcurrency, ceiling.Progress.Rate.Value(), best))
			return nil
		}
		return []rundir.Stage{*ceiling}
	}
	_, low, high := plateau(limited)
	closed := ceiling.Progress
	switch {
	case closed.High.Value() < low.Value():
		return limited // more in flight makes it faster still
	case closed.Low.Value() > high.Value()*1.02:
		warn(noteOverloadCosts.New(closed.Rate.Value(), ceiling.MaxConcurrency, low.Value()/2+high.Value()/2))
		return limited
	}
	return append(limited, *ceiling)
}

// rhythm is what a single row is off by, standing alone: requests of equal length keep the rhythm in which a row began,
// a few per cent faster or slower than another row's, and no batch of the same row shows that. It is the standard deviation
// between rows of simulated servers, as seen in TestSaturationIntervalsCover.
const rhythm = 0.02

// plateau is the mean of the rows' progress weighted by precision, with a 95 % interval that is widened where the rows
// differ by more than their own noise (Birge, Physical Review 40 (1932)).
func plateau(rows []rundir.Stage) (rate, low, high rundir.Number) {
	var sum, weights float64
	freedom := 0
	weight := func(p rundir.Progress) float64 {
		se := 0.1 * p.Rate.Value() // a row too short for an interval of its own hardly counts beside others
		if p.Batches > 1 {
			half := (p.High.Value() - p.Low.Value()) / 2
			se = math.Max(half/stats.StudentQuantile(0.975, float64(p.Batches-1)), rhythm*p.Rate.Value())
		}
		return 1 / (se * se)
	}
	for _, r := range rows {
		w := weight(r.Progress)
		sum, weights = sum+w*r.Progress.Rate.Value(), weights+w
		freedom += max(r.Progress.Batches-1, 0)
	}
	mean := sum / weights
	chi2 := 0.0
	for _, r := range rows {
		chi2 += weight(r.Progress) * math.Pow(r.Progress.Rate.Value()-mean, 2)
	}
	half := stats.StudentQuantile(0.975, float64(max(freedom, 1))) / math.Sqrt(weights)
	if k := len(rows) - 1; k > 0 {
		half *= math.Sqrt(math.Max(1, chi2/float64(k)))
	}
	return rundir.Exactly(mean), rundir.Exactly(mean - half), rundir.Exactly(mean + half)
}

// reason returns the evidence.
func reason(rows []rundir.Stage, s *rundir.Saturation) note.Note {
	for _, r := range rows {
		if r.Verdict == rundir.Saturated {
			return noteBacklogGrew.New(r.Rates.Offered.Value(), r.Drift.Value.Value()*r.Rate.Value(), r.Progress.Rate.Value())
		}
	}
	kind := noteNoneSaturated
	if s.LowestSaturated.Known() {
		kind = noteCeilingAlone
	}
	return kind.New(rows[0].MaxConcurrency, rows[0].Progress.Rate.Value())
}
