package saturation

import (
	"math"
	"slices"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// What makes a server look faster than it is, such as credits, a burst that a limit allows, or one replica that is faster than the other, is tested by
// one measurement and not by rules: a stage near the answer is held, after an overload and for longer than other stages. Where it was stable, the answer
// stands. Where its backlog grew, the answer comes down to what was completed then, and that is held, and so on.

// noteNotHeld is a caution: no stage shows that even a comfortable load is sustained.
var noteNotHeld = note.Kind{Code: "saturation.not-held", Args: []string{"rate", "stable"}}

// bracket is what verdicts say of the saturation rate.
type bracket struct {
	stable, saturated *rundir.Stage // the highest rate shown stable, the lowest shown saturated; nil for none
	held              *rundir.Stage // the highest rate at which a hold was stable
	failed            *rundir.Stage // the lowest rate at which a hold was not
}

// isHold reports whether a stage tested an answer.
func isHold(st *rundir.Stage) bool { return st.Role == rundir.Hold }

// offered returns the rate at which the requests of a stage arrived: by chance it differs from the rate asked for.
func offered(st *rundir.Stage) float64 {
	if o := st.Rates.Offered; o.Known() {
		return o.Value()
	}
	return st.Rate.Value()
}

// overruled returns the stages without those whose verdict a hold contradicts, which is longer: stable ones at a rate that was not shown to hold, and saturated
// ones at a rate that was. Of two holds that contradict each other the later one counts.
func overruled(open []*rundir.Stage) []*rundir.Stage {
	contradicts := func(st, hold *rundir.Stage) bool {
		if !isHold(hold) || isHold(st) && st.Started > hold.Started {
			return false
		}
		switch st.Verdict {
		case rundir.Stable:
			return hold.Verdict != rundir.Stable && hold.Verdict != rundir.Shedding && st.Rate.Value() >= hold.Rate.Value()*(1-nearHeld)
		case rundir.Undecided:
			return hold.Verdict == rundir.Saturated && st.Rate.Value() >= hold.Rate.Value()*(1-nearHeld)
		case rundir.Saturated:
			return hold.Verdict == rundir.Stable && st.Started < hold.Started && st.Rate.Value() <= hold.Rate.Value()*(1+nearHeld)
		}
		return false
	}
	return slices.DeleteFunc(slices.Clone(open), func(st *rundir.Stage) bool {
		return slices.ContainsFunc(open, func(hold *rundir.Stage) bool { return st != hold && contradicts(st, hold) })
	})
}

// bracket returns the bracket of the stages. A rate with as many stages of one verdict as of the other is neither.
func (f *finder) bracket() (b bracket) {
	for i, st := range f.open {
		stables, others := f.verdictsAt(st.Rate)
		switch {
		case i < f.cut && st.Verdict == rundir.Stable && stables > others:
			if b.stable = st; isHold(st) {
				b.held = st
			}
		case i >= f.cut && over(st) && others > stables:
			if b.saturated == nil || isHold(st) && st.Rate.Value() <= b.saturated.Rate.Value()*(1+nearHeld) {
				b.saturated = st
			}
			if b.failed == nil && isHold(st) && st.Verdict == rundir.Saturated {
				b.failed = st
			}
		}
	}
	return b
}

// behind returns what a saturated stage completed once it was far behind: what is left of a burst is used up then. Where that differs from what the whole stage
// completed by no more than chance explains, it is the latter: a queue that walks is far behind after a time in which little was completed by chance. So it is where
// nothing at all was completed: that is a pause, as of a quota used up, and no speed.
func behind(st *rundir.Stage) rundir.Progress {
	p := st.Traits.Behind
	if p.Rate.Or(0) > 0 && p.Low.Known() && !(math.Abs(p.Rate.Value()/st.Progress.Rate.Value()-1) <= chance(st)) {
		return p
	}
	return st.Progress
}

// chance returns by how much what a stage completed differs from what the server completes for ever, as a share: the bound of a 95 % interval, by how much the
// times per token of its requests vary. The half of a stage differs from the whole by as much.
func chance(st *rundir.Stage) float64 {
	t := st.TPOT
	if !t.Std.Known() || !t.Mean.Known() {
		return 0
	}
	return stats.RenewalError(t.Std.Value()/t.Mean.Value(), float64(t.N), 0.975)
}

// bound makes an answer agree with the verdicts. Its rate is never above one that was shown saturated, nor below one that was held, nor does its interval reach
// below what that hold shows. The interval reaches down to what some stage shows at least; where the plateau is refuted, less the tolerance of drift, and the rate is in the middle then.
func (f *finder) bound(s *rundir.Saturation, b *bracket, refuted bool) {
	rate, low, high := s.Rate.Value(), s.Low.Value(), s.High.Value()
	if b.saturated != nil && b.saturated.Verdict == rundir.Saturated {
		at := offered(b.saturated)
		refuted = refuted || at < rate
		rate = min(rate, at)
		if !refuted || isHold(b.saturated) {
			high = min(high, max(at*(1+rhythm), behind(b.saturated).High.Value()))
		}
		if b.stable == nil && behind(b.saturated).High.Value() < s.Rate.Value() { // overload may cost throughput, and nothing below it shows that it does not
			high = max(high, at)
		}
	}
	if b.held != nil {
		if at := offered(b.held); at > rate && b.saturated != nil && offered(b.saturated) > at { // overload costs throughput: the bracket is the answer
			high = max(high, offered(b.saturated))
			rate = (at + high) / 2
		}
		rate = max(rate, min(offered(b.held), high))
		low = max(low, min(shows(b.held)/tolerated, rate)) // stable means that the backlog grows by less than that
	}
	least := f.least(func(*rundir.Stage) bool { return true })
	if shown := max(least, f.alone()); shown > 0 && shown < comfortable*rate {
		s.Cautions = append(s.Cautions, noteNotHeld.New(rate, shown))
	}
	if least > 0 && slices.ContainsFunc(f.all, isHold) {
		if refuted {
			least /= tolerated
			if grows := f.grows(); grows != nil {
				high = min(high, max(offered(grows), least))
			}
			rate = min(rate, (min(low, least)+high)/2)
		} else if grown := f.least(grew); grown > 0 { // of many stages a short one shows most by chance, or before the backlog of one replica has grown
			least = grown
		}
		low = min(low, least)
	}
	s.Rate, s.Low, s.High = rundir.Exactly(rate), rundir.Exactly(min(low, rate)), rundir.Exactly(max(high, rate))
}

// shows returns what a stage shows to be sustained at least: its rate less twice the upper bound of the growth of its backlog; 0 where that is not known. Twice,
// since the backlog may be that of one replica of two, which gets every other request.
func shows(st *rundir.Stage) float64 {
	if !st.Drift.High.Known() {
		return 0
	}
	return offered(st) * (1 - 2*max(0, st.Drift.High.Value()))
}

// least returns what is sustained at least by the stage that shows most, of those that are asked for; 0 where none shows any.
func (f *finder) least(asked func(*rundir.Stage) bool) (most float64) {
	for _, st := range f.open {
		if asked(st) && (st.Verdict == rundir.Stable || st.Verdict == rundir.Undecided) {
			most = max(most, shows(st))
		}
	}
	return most
}

// grew reports whether a stage is a hold whose backlog is shown to have grown, however little.
func grew(st *rundir.Stage) bool { return isHold(st) && st.Drift.Low.Value() > 0 }

// alone returns what was completed with one request at a time; 0 where that was not measured.
func (f *finder) alone() float64 {
	if floor := floorOf(f.run.Stages); floor != nil {
		return floor.Progress.Rate.Or(0)
	}
	return 0
}

// grows returns the hold at the lowest rate whose backlog grew; nil where none did.
func (f *finder) grows() *rundir.Stage {
	for _, st := range f.open {
		if grew(st) && st.Verdict != rundir.Stable {
			return st
		}
	}
	return nil
}

// contradicts reports whether a stage was stable at a rate that is more than the stages beyond saturation complete: overload costs throughput, or the stage
// lived on what the server had saved up.
func (b *bracket) contradicts(s *rundir.Saturation) bool {
	return b.stable != nil && offered(b.stable) > tolerated*s.High.Value()
}

// Next returns the rate at which a hold tells most about the answer; 0 where the answer stands, or nothing can be told.
func Next(run *rundir.Run) float64 {
	f := newFinder(run)
	b := f.bracket()
	s, refuted := f.pooled(&b)
	if s == nil {
		return 0
	}
	rates := b.untested(s)
	if grows := f.grows(); grows != nil && (b.held == nil || offered(b.held) < held*offered(grows)*(1-nearHeld)) {
		rates = append(rates, held*grows.Rate.Value())
	}
	if lone := b.saturated; refuted && !isHold(lone) { // a lone exception, or a limit that others do not show
		rates = append([]float64{lone.Rate.Value()}, rates...)
	}
	for _, rate := range rates {
		if !slices.ContainsFunc(f.all, func(st *rundir.Stage) bool { return isHold(st) && math.Abs(st.Rate.Value()/rate-1) < nearHeld }) {
			return rate
		}
	}
	return 0
}

// untested returns the rates of which a hold would tell whether the answer stands, the one that matters most first.
func (b *bracket) untested(s *rundir.Saturation) (rates []float64) {
	rate := s.Rate.Value()
	switch {
	case b.saturated != nil && b.contradicts(s):
		if low, high := b.stable.Rate.Value(), b.saturated.Rate.Value(); b.stable != b.held {
			rates = append(rates, low)
		} else if high > narrow*low {
			rates = append(rates, (low+high)/2)
		}
		return rates
	case b.saturated != nil && b.saturated.Verdict == rundir.Saturated:
		rate = min(rate, offered(b.saturated))
	}
	if b.stable != nil && b.stable != b.held && offered(b.stable) > rate*(1+rhythm) { // it was stable at more than the answer
		rates = append(rates, b.stable.Rate.Value())
	}
	if rate *= held; b.held == nil || offered(b.held) < rate*(1-nearHeld) {
		rates = append(rates, rate)
	}
	return rates
}
