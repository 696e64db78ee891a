// Package saturation finds, from the stages of a sweep, how many requests per second the server takes.
package saturation

import (
	"cmp"
	"slices"

	"llmsweep/client/note"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
)

// Find returns the saturation rate of a sweep, in three steps. The plateau is what was completed over the ceiling and the stages that were shown
// saturated. The bracket of verdicts bounds it, holds before shorter stages; where a stage was stable beyond the plateau, the bracket alone is the answer.
// Control measurements show whether the server is still the same: where it is not, the interval holds all that was seen. It is nil where no stage completed
// anything, or the ceiling was no limit. The notes say what does not fit together.
func Find(run *rundir.Run) (*rundir.Saturation, []note.Note) {
	f := newFinder(run)
	b := f.bracket()
	s, refuted := f.pooled(&b)
	if s == nil {
		return nil, f.notes
	}
	collapses := b.contradicts(s) && b.saturated != nil
	if collapses {
		f.between(s, &b)
	} else {
		f.bound(s, &b, refuted)
		s.Output = meanOutput(f.rows)
		limitedBy(bucketOf(f.open, ceilingOf(run.Stages)), f.open, s)
	}
	if !collapses {
		s.HighestStable, s.LowestSaturated = f.around(s)
	}
	f.widen(s, &b)
	if n := belowLone(run.Stages, s); !n.IsZero() {
		s.Cautions = append(s.Cautions, n)
	}
	if n := f.completeTo(); !n.IsZero() {
		s.Cautions = append(s.Cautions, n)
	}
	f.comfort(s)
	f.explain(s)
	return s, f.notes
}

// between makes the bracket the answer where overload costs throughput: the plateau of overloaded stages is no limit of what the server sustains. Where the server
// changed, it may complete less because of that, and nothing is said of overload.
func (f *finder) between(s *rundir.Saturation, b *bracket) {
	f.notes = slices.DeleteFunc(f.notes, func(n note.Note) bool { return n.Is(noteOverloadCosts) || n.Is(noteOverloadOrChange) }) // the answer says it
	least, most := s.Low, s.High
	if !f.changed {
		s.Overload, s.OverloadLow, s.OverloadHigh = s.Rate, least, most
	}
	s.HighestStable, s.LowestSaturated = b.stable.Rate, b.saturated.Rate
	low, high := offered(b.stable), offered(b.saturated)
	s.Low, s.High = rundir.Exactly(min(low, high)), rundir.Exactly(max(low, high))
	if most.Value()*narrow > low { // so little more may have been saved up before
		s.Low = rundir.Exactly(min(s.Low.Value(), least.Value()))
	}
	s.Rate = rundir.Exactly((low + high) / 2)
	s.Output = meanOutput([]*rundir.Stage{b.stable})
}

// around returns the highest stable and the lowest saturated rate around the interval of an answer. A rate within it that was stable may still lie above
// the capacity, by less than the tolerance of drift. A rate with as many stages of one verdict as of the other is neither.
func (f *finder) around(s *rundir.Saturation) (stable, saturated rundir.Number) {
	for i, r := range f.open {
		stables, others := f.verdictsAt(r.Rate)
		switch {
		case i < f.cut && stables > others && (isHold(r) || !(r.Rate.Value() > s.Low.Value())):
			stable = r.Rate
		case i >= f.cut && others > stables && (isHold(r) || !(r.Rate.Value() < s.High.Value())) && !saturated.Known():
			saturated = r.Rate
		}
	}
	return stable, saturated
}

// comfort fills in the comfortable load.
func (f *finder) comfort(s *rundir.Saturation) {
	s.Comfortable = rundir.Exactly(comfortable * s.Rate.Value())
	for _, r := range f.open {
		if r.Verdict == rundir.Stable && r.Rate.Value() <= s.Comfortable.Value() {
			s.ComfortableStage = r.Name
		}
	}
}

// explain fills in the evidence, and what the server ran out of.
func (f *finder) explain(s *rundir.Saturation) {
	s.Reason = reason(f.rows, s, slices.ContainsFunc(f.open, over))
	if i := slices.IndexFunc(f.rows, func(st *rundir.Stage) bool { return shortens(st) && st.Rates.Offered.Known() }); i >= 0 {
		st := f.rows[i]
		s.Reason = noteShortened.New(st.Rates.Offered.Value(), st.Shortened.Value(), st.Progress.Rate.Value())
	}
	if st := sheds(f.open); st != nil && !s.Reason.Is(noteBacklogGrew) {
		s.Reason = noteRefused.New(st.Rates.Offered.Value(), share(st), st.Progress.Rate.Value())
	}
	if s.Limit == "" {
		s.Limit, s.LimitStage = limit(f.rows)
	}
}

// belowLone returns a note where the floor completed more than the saturation rate: requests at once slow each other down, so that one at a time
// is not the least that the server does.
func belowLone(stages []rundir.Stage, s *rundir.Saturation) (n note.Note) {
	if floor := floorOf(stages); floor != nil && floor.Progress.Rate.Value() > moreAlone*s.Rate.Value() { // NaN is not
		return noteBelowLone.New(floor.Progress.Rate.Value(), s.Rate.Value())
	}
	return n
}

// MildOnly reports whether an answer rests on refusals so few that the server was not always busy: a stage farther beyond the edge shows more.
func MildOnly(s *rundir.Saturation, stages []rundir.Stage) bool {
	if !s.Reason.Is(noteRefused) {
		return false
	}
	for _, st := range Open(stages) {
		if over(st) && !refusesFew(st) {
			return false
		}
	}
	return true
}

// Probe returns the rate of the stage that narrows an answer best, where that is not just beyond the edge: a server that sheds, or shortens its answers, is always busy only far
// beyond it. The stages are those that s was found from.
func Probe(s *rundir.Saturation, stages []rundir.Stage) (rate float64, ok bool) {
	if s.Reason.Is(noteRefused) || s.Reason.Is(noteShortened) {
		return farBeyond * s.Rate.Value(), true
	}
	return 0, false
}

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

// floorOf returns the stage with one request in flight; nil where none is usable.
func floorOf(stages []rundir.Stage) *rundir.Stage {
	for i := range stages {
		if st := &stages[i]; st.Role == rundir.Floor && Usable(st) {
			return st
		}
	}
	return nil
}

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

// ceilingTooShort reports whether the stage that measured the ceiling is whole, and too short to show what the server can do.
func ceilingTooShort(stages []rundir.Stage) bool {
	return slices.ContainsFunc(stages, func(st rundir.Stage) bool {
		return st.Role == rundir.Ceiling && Usable(&st) && (tooShort(&st) || !st.Progress.Rate.Known())
	})
}

// finder is a search for the saturation rate.
type finder struct {
	run     *rundir.Run
	all     []*rundir.Stage // with an arrival rate, by rate
	open    []*rundir.Stage // those whose verdicts count
	cut     int             // the stages below are taken for stable, the others for saturated
	rows    []*rundir.Stage // those that the plateau is of
	notes   []note.Note
	failing bool // it drops connections
	cached  cached
	changed bool // control measurements show another server than before: what is less now is not overload's doing
	// sameServer reports that control measurements show the same server as before: what is less now is overload's doing.
	sameServer bool
}

// newFinder returns a finder that has cut the stages of a run in two.
func newFinder(run *rundir.Run) *finder {
	f := &finder{run: run, changed: len(changes(run)) > 0, failing: !drops(run.Stages).IsZero(), cached: cachedShare(run.Stages)}
	for _, st := range Open(run.Stages) {
		f.all = append(f.all, complete(st))
	}
	_, again := controlOfFloor(run.Stages)
	f.sameServer = again != nil && !f.changed
	f.open = overruled(f.all)
	f.cut = f.edge()
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
		} else if i < best && over(r) || i >= best && r.Verdict == rundir.Stable {
			f.note(noteAgainst.New(r.Name, r.Verdict))
		}
	}
	return best
}

// contradicted counts the verdicts that a cut contradicts.
func (f *finder) contradicted(cut int) int {
	n := 0
	for i, r := range f.open {
		if i < cut && over(r) || i >= cut && r.Verdict == rundir.Stable {
			n++
		}
	}
	return n
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

// refusesFew reports whether a stage's server refused a part, but had times with nothing to do.
func refusesFew(st *rundir.Stage) bool {
	return st.Verdict == rundir.Shedding && share(st) < fullWhenRefusing
}

// over reports whether a stage asked for more than the server takes: a backlog grew, or requests were refused.
func over(st *rundir.Stage) bool {
	return st.Verdict == rundir.Saturated || st.Verdict == rundir.Shedding
}

// serverLimited reports whether a stage shows what the server can do and not what arrived: it was saturated, and the interval of
// what it completed lies below what it was offered.
func serverLimited(st *rundir.Stage) bool {
	return over(st) && Usable(st) &&
		st.Progress.High.Known() && st.Rates.Offered.Known() && st.Progress.High.Value() < st.Rates.Offered.Value()
}

// reason returns the evidence. anyOver reports whether some arrival rate was more than the server takes.
func reason(rows []*rundir.Stage, s *rundir.Saturation, anyOver bool) note.Note {
	for _, r := range rows {
		if w := r.Traits.Waits; r.Verdict == rundir.Saturated && w.Low.Value() > r.Drift.High.Value() { // of a part of the requests
			return noteWaitsGrew.New(r.Rates.Offered.Value(), w.Value.Value(), behind(r).Rate.Value())
		}
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
