// Package saturation finds, from the stages of a sweep, how many requests per second the server takes.
package saturation

import (
	"cmp"
	"math"
	"slices"

	"llmsweep/client/note"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Comfortable is the share of the saturation rate that leaves room for a busy minute.
const Comfortable = 0.8

// Find returns the saturation rate of a sweep: the plateau of completed work over the ceiling and the stages that were shown saturated, and the
// bracket of verdicts around it. It is nil where no stage completed anything, or the ceiling was no limit. The notes say what
// does not fit together.
func Find(run *rundir.Run) (*rundir.Saturation, []note.Note) {
	stages := run.Stages
	f := newFinder(run)
	rows := f.plateauRows(ceilingOf(stages))
	if len(rows) == 0 {
		return nil, f.notes
	}
	rows = f.unpooled(rows)
	s := &rundir.Saturation{}
	s.Rate, s.Low, s.High = plateau(rows)
	f.allowForPauses(s, rows)
	f.allowForCache(s)
	collapses := f.collapses(s, ceilingOf(stages))
	if collapses {
		s.Output = f.outputAt(s.HighestStable)
	} else {
		s.HighestStable, s.LowestSaturated = f.bracket(s)
		s.Output = meanOutput(rows)
		limitedBy(bucketOf(f.open, ceilingOf(stages)), f.open, s)
	}
	f.include(s)
	if n := belowLone(stages, s); !n.IsZero() {
		s.Cautions = append(s.Cautions, n)
	}
	s.Comfortable = rundir.Exactly(Comfortable * s.Rate.Value())
	for _, r := range f.open {
		if r.Verdict == rundir.Stable && r.Rate.Value() <= s.Comfortable.Value() {
			s.ComfortableStage = r.Name
		}
	}
	s.Reason = reason(rows, s, slices.ContainsFunc(f.open, over))
	if st := sheds(f.open); st != nil && !s.Reason.Is(noteBacklogGrew) {
		s.Reason = noteRefused.New(st.Rates.Offered.Value(), share(st), st.Progress.Rate.Value())
	}
	if s.Limit == "" {
		s.Limit, s.LimitStage = limit(rows)
	}
	if collapses {
		return s, f.notes
	}
	f.stableAbove(s, ceilingOf(stages))
	return s, f.notes
}

// stableAbove notes the rates that were stable beyond the answer's interval. The throughput stage did not fill the server where it
// completed less than such a rate; else a queue had no time to build up at that rate, or overload costs throughput.
func (f *finder) stableAbove(s *rundir.Saturation, ceiling *rundir.Stage) {
	const doubtful = 1.05 // beyond the tolerance of drift
	for _, r := range f.open[:f.cut] {
		if r.Verdict != rundir.Stable || !(r.Rate.Value() > s.High.Value()*doubtful) {
			continue
		}
		completed := math.NaN()
		if ceiling != nil && ceiling.Progress.High.Value() < r.Rate.Value() {
			completed = ceiling.Progress.Rate.Value()
		}
		f.note(noteStableAbove.New(r.Rate.Value(), completed))
	}
}

// Near the edge a queue swings more slowly than a stage lasts, and what one stage shows of latencies is narrower than the truth:
// beyond these shares of the saturation rate their intervals would hold the truth less often than in 95 % (TestLatencyIntervalsCover).
const (
	percentilesHold = 0.8
	meansHold       = 0.9
)

// DropIntervals takes out the intervals of latencies that a stage at such a share of the saturation rate cannot know.
func DropIntervals(st *rundir.Stage, share float64) {
	for _, d := range []*rundir.Dist{&st.Latency, &st.TTFT, &st.TTFTDue, &st.TPOT, &st.ITL, &st.ChunkGap, &st.Queued} {
		for name := range d.CI {
			if share > meansHold || share > percentilesHold && name != "mean" {
				delete(d.CI, name)
			}
		}
	}
}

// Open returns the stages with an arrival rate, in its order. Those that the client spoiled or that are not whole are left out.
func Open(stages []rundir.Stage) []*rundir.Stage {
	var open []*rundir.Stage
	for i := range stages {
		if st := &stages[i]; st.Rate.Known() && st.Requests.OK > 0 && Usable(st) && st.Role != rundir.Control {
			open = append(open, st)
		}
	}
	slices.SortStableFunc(open, func(a, b *rundir.Stage) int {
		return cmp.Or(cmp.Compare(a.Rate.Value(), b.Rate.Value()), cmp.Compare(a.Repeat, b.Repeat))
	})
	return open
}

// Usable reports whether a stage is whole, and says more of the server than of the client.
func Usable(st *rundir.Stage) bool { return st.Invalid.IsZero() && st.State == rundir.Complete }

// ceilingOf returns the stage that measured the ceiling; nil where there is none, or where a budget ended it before it was steady: then it
// only shows how a closed loop begins.
func ceilingOf(stages []rundir.Stage) (ceiling *rundir.Stage) {
	for i := range stages {
		if st := &stages[i]; st.Role == rundir.Ceiling && Usable(st) && st.Progress.Rate.Known() && !tooShort(st) {
			ceiling = st
		}
	}
	return ceiling
}

// tooShort reports whether a stage warns that no part of it was steady.
func tooShort(st *rundir.Stage) bool {
	return slices.ContainsFunc(st.Warnings, func(n note.Note) bool { return n.Is(measure.TooShort) })
}

// CeilingTooShort reports whether the stage that measured the ceiling is whole, and too short to show what the server can do.
func CeilingTooShort(stages []rundir.Stage) bool {
	return slices.ContainsFunc(stages, func(st rundir.Stage) bool {
		return st.Role == rundir.Ceiling && Usable(&st) && (tooShort(&st) || !st.Progress.Rate.Known())
	})
}

// finder is a search for the saturation rate.
type finder struct {
	open    []*rundir.Stage // by rate
	cut     int             // the stages below are taken for stable, the others for saturated
	notes   []note.Note
	pausing bool // the server stands still now and then
	cached  cached
	failing bool // it drops connections
	changed bool // control measurements show another server than before: what is less now is not overload's doing
	// sameServer reports that control measurements show the same server as before: what is less now is overload's doing.
	sameServer bool
	stageTime  float64 // seconds: a sweep with such stages has time to measure the floor again
}

// newFinder returns a finder that has cut the stages of a run in two.
func newFinder(run *rundir.Run) *finder {
	stages := run.Stages
	f := &finder{open: Open(stages), changed: len(changes(run)) > 0}
	_, again := controlOfFloor(stages)
	f.sameServer = again != nil && !f.changed
	f.cut = f.edge()
	f.pausing = !pauses(stages).IsZero()
	f.failing = !drops(stages).IsZero()
	f.cached = cachedShare(stages)
	f.stageTime = stageTimeForControls(stages)
	return f
}

// note adds a note, once: repetitions give the same.
func (f *finder) note(n note.Note) { f.notes = note.Add(f.notes, n) }

// edge cuts the stages in two so that the fewest verdicts are contradicted when all below are taken for stable and all above
// for saturated: a lone exception is a note, not another edge. Stages at one rate stay together, so that most of them decide.
func (f *finder) edge() int {
	best := 0
	for cut := 1; cut <= len(f.open); cut++ {
		between := cut == len(f.open) || f.open[cut-1].Rate != f.open[cut].Rate
		if between && f.contradicted(cut) <= f.contradicted(best) {
			best = cut
		}
	}
	for i, r := range f.open {
		stable, saturated := f.verdictsAt(r.Rate)
		if stable > 0 && saturated > 0 {
			f.note(noteMixedVerdicts.New(r.Rate.Value(), stable, saturated))
		} else if i < best && over(r) && !(r.Verdict == rundir.Shedding && f.outdone(i)) || i >= best && r.Verdict == rundir.Stable {
			f.note(noteAgainst.New(r.Name, r.Verdict))
		}
	}
	return best
}

// contradicted counts the verdicts that a cut contradicts.
func (f *finder) contradicted(cut int) int {
	n := 0
	for i, r := range f.open {
		if i < cut && over(r) && !f.outdone(i) || i >= cut && (r.Verdict == rundir.Stable || f.outdone(i)) {
			n++
		}
	}
	return n
}

// outdone reports whether the server got more done at a higher rate than it did in a stage, by intervals that do not overlap: this
// stage shows no limit.
func (f *finder) outdone(row int) bool {
	for _, r := range f.open[row+1:] {
		if r.Rate != f.open[row].Rate && r.Progress.Low.Known() && r.Progress.Low.Value() > f.open[row].Progress.High.Value() {
			return true
		}
	}
	return false
}

// most returns what the server got done per second in the best stage, by the lower bound of its interval.
func (f *finder) most() float64 {
	best := 0.0
	for _, r := range f.open {
		if r.Progress.Low.Known() {
			best = max(best, r.Progress.Low.Value())
		}
	}
	return best
}

// verdictsAt counts the stages at a rate that were shown stable, and those that were shown saturated.
func (f *finder) verdictsAt(rate rundir.Number) (stable, saturated int) {
	for _, r := range f.open {
		switch {
		case r.Rate != rate:
		case r.Verdict == rundir.Stable:
			stable++
		case over(r):
			saturated++
		}
	}
	return stable, saturated
}

// fullWhenRefusing is the share of refusals from which a server that sheds is always busy. With fewer it is idle between bursts of
// arrivals, and accepts less than it can do: its queue is too short to bridge them.
const fullWhenRefusing = 0.25

// refusesFew reports whether a stage's server refused a part, but had times with nothing to do.
func refusesFew(st *rundir.Stage) bool {
	return st.Verdict == rundir.Shedding && share(st) < fullWhenRefusing
}

// over reports whether a stage asked for more than the server takes: a backlog grew, or requests were refused.
func over(st *rundir.Stage) bool {
	return st.Verdict == rundir.Saturated || st.Verdict == rundir.Shedding
}

// bracket returns the highest stable and the lowest saturated rate around the plateau's interval. A rate within the interval that was
// stable may still lie above the capacity: by less than the tolerance of drift. A rate with as many stages of one verdict as of the
// other is neither.
func (f *finder) bracket(s *rundir.Saturation) (stable, saturated rundir.Number) {
	for i, r := range f.open {
		stables, others := f.verdictsAt(r.Rate)
		switch rate := r.Rate; {
		case i < f.cut && stables > others && !(rate.Value() > s.Low.Value()):
			stable = rate
		case i >= f.cut && others > stables && !(rate.Value() < s.High.Value()) && !saturated.Known():
			saturated = rate
		}
	}
	return stable, saturated
}

// serverLimited reports whether a stage shows what the server can do and not what arrived: it was saturated, and the interval of
// what it completed lies below what it was offered.
func serverLimited(st *rundir.Stage) bool {
	return over(st) && Usable(st) &&
		st.Progress.High.Known() && st.Rates.Offered.Known() && st.Progress.High.Value() < st.Rates.Offered.Value()
}

// plateauRows returns the stages that show what the server can do: the saturated ones above the edge, and the ceiling where it
// agrees with them.
func (f *finder) plateauRows(ceiling *rundir.Stage) []*rundir.Stage {
	var limited []*rundir.Stage
	for i, st := range f.open {
		if i >= f.cut && serverLimited(st) && !f.outdone(i) {
			limited = append(limited, st)
		}
	}
	mild := limited
	if full := slices.DeleteFunc(slices.Clone(limited), refusesFew); len(full) > 0 || ceiling != nil {
		limited = full
	}
	limited = f.notChosenByPauses(limited)
	limited = f.withoutCache(limited)
	if ceiling != nil {
		ceiling = f.withoutCache([]*rundir.Stage{ceiling})[0]
	}
	switch {
	case ceiling == nil:
		return limited
	case len(limited) == 0:
		if best := f.most(); best > ceiling.Progress.High.Value() {
			f.note(noteNotFilled.New(ceiling.MaxConcurrency, ceiling.Progress.Rate.Value(), best))
			return mild // nil for none
		}
		return []*rundir.Stage{ceiling}
	}
	const beyondRhythm = 1 + rhythm // a closed loop that is faster by less may only keep another rhythm
	_, low, high := plateau(limited)
	closed := ceiling.Progress
	switch {
	case closed.High.Value() < low.Value():
		return limited // with more in flight the server is faster still
	case closed.Low.Value() > high.Value()*beyondRhythm && len(limited) == 1 && closed.Rate.Value() < collapsedAlone*limited[0].Progress.Rate.Value():
		return append(limited, ceiling) // one stage is slower than the closed loop: which of them is wrong is not known
	case closed.Low.Value() > high.Value()*beyondRhythm:
		f.overloadCosts(ceiling, low.Value()/2+high.Value()/2)
		return limited
	}
	return append(limited, ceiling)
}

// overloadCosts notes that less was completed beyond saturation than in the closed loop. That is overload's doing only if control measurements
// show that the server is the same as before.
func (f *finder) overloadCosts(ceiling *rundir.Stage, overloaded float64) {
	loop := ceiling.Progress.Rate.Value()
	switch {
	case f.failing: // what is completed is less by what fails, at any load
	case f.sameServer:
		f.note(noteOverloadCosts.New(loop, ceiling.MaxConcurrency, overloaded))
	case !f.changed:
		f.note(noteOverloadOrChange.New(loop, ceiling.MaxConcurrency, overloaded, f.stageTime))
	}
}

// rhythm is the relative standard deviation between single stages besides their own noise: requests of equal length keep the rhythm in
// which a stage began, a few per cent faster or slower than another stage's, and no batch of the same stage shows that. It was
// seen between stages of simulated servers in TestSaturationIntervalsCover.
const rhythm = 0.02

// noInterval is the relative standard error of a stage that is too short for an interval of its own: it hardly counts beside others.
const noInterval = 0.1

// standardError returns that of a stage's progress.
func standardError(p rundir.Progress) float64 {
	if p.Batches < 2 {
		return noInterval * p.Rate.Value()
	}
	half := (p.High.Value() - p.Low.Value()) / 2
	return math.Max(half/stats.StudentQuantile(0.975, float64(p.Batches-1)), rhythm*p.Rate.Value())
}

// plateau returns the mean of the stages' progress weighted by precision, with a 95 % interval that is widened where the stages
// differ by more than their own noise (Birge, Physical Review 40 (1932)).
func plateau(rows []*rundir.Stage) (rate, low, high rundir.Number) {
	var sum, weights float64
	freedom := 0
	weight := func(p rundir.Progress) float64 {
		se := standardError(p)
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
	return rundir.Exactly(mean), rundir.Exactly(max(0, mean-half)), rundir.Exactly(mean + half)
}

// meanOutput returns the output tokens per second of the stages, weighted by their windows.
func meanOutput(rows []*rundir.Stage) rundir.Number {
	var output, weight float64
	for _, r := range rows {
		if t := r.TokensPerS.Output; t.Known() {
			output += t.Value() * r.Window
			weight += r.Window
		}
	}
	if output <= 0 {
		return rundir.Number{}
	}
	return rundir.Exactly(output / weight)
}

// reason returns the evidence. anyOver reports whether some arrival rate was more than the server takes.
func reason(rows []*rundir.Stage, s *rundir.Saturation, anyOver bool) note.Note {
	for _, r := range rows {
		if r.Verdict == rundir.Saturated {
			return noteBacklogGrew.New(r.Rates.Offered.Value(), r.Drift.Value.Value()*r.Rate.Value(), r.Progress.Rate.Value())
		}
	}
	if r := rows[0]; r.Rate.Known() { // more failed than is tolerated
		return noteUndone.New(r.Rates.Offered.Value(), share(r), r.Progress.Rate.Value())
	}
	kind := noteNoneSaturated
	if s.LowestSaturated.Known() || anyOver {
		kind = noteCeilingAlone
	}
	return kind.New(rows[0].MaxConcurrency, rows[0].Progress.Rate.Value())
}
