package saturation

import (
	"cmp"
	"math"
	"slices"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// pooled returns the plateau of the stages that show what the server can do, and the interval of their mean; nil where none does. Where less was completed
// at the lowest saturated rate, once it was far behind, the plateau is refuted: more was completed at higher rates than the server sustains, or before what
// it had saved up was used. Where a hold shows that, it alone counts. A shorter stage may be an exception until it is held: then the interval spans both.
func (f *finder) pooled(b *bracket) (s *rundir.Saturation, refuted bool) {
	rows := f.plateauRows(complete(ceilingOf(f.run.Stages)))
	if len(rows) == 0 {
		return nil, false
	}
	s = &rundir.Saturation{}
	s.Rate, s.Low, s.High = plateau(rows)
	f.allowForCache(s)
	if lowest := b.saturated; lowest != nil && lowest.Verdict == rundir.Saturated {
		p := behind(lowest)
		if refuted = p.High.Value() < s.Low.Value(); refuted && isHold(lowest) {
			rows = []*rundir.Stage{lowest}
			s.Rate, s.Low, s.High = plateau(rows)
		} else if refuted {
			s.Low = p.Low
		}
	}
	f.rows = rows
	return s, refuted
}

// plateauRows returns the stages that show what the server can do: the saturated ones above the edge, and the ceiling where it
// agrees with them.
func (f *finder) plateauRows(ceiling *rundir.Stage) []*rundir.Stage {
	var limited []*rundir.Stage
	for i, st := range f.open {
		if i >= f.cut && serverLimited(st) {
			limited = append(limited, st)
		}
	}
	mild := limited
	if full := slices.DeleteFunc(slices.Clone(limited), refusesFew); len(full) > 0 || ceiling != nil {
		limited = full
	}
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
			return fullest(mild)
		}
		return []*rundir.Stage{ceiling}
	}
	_, low, high := plateau(limited)
	switch closed := ceiling.Progress; {
	case closed.High.Value() < low.Value():
		return limited // with more in flight the server is faster still
	case closed.Low.Value() > high.Value()*(1+rhythm) && len(limited) == 1:
		f.overloadCosts(ceiling, limited[0].Progress.Rate.Value())
		return append(limited, ceiling) // which of the two is wrong is not known: the interval spans both
	case closed.Low.Value() > high.Value()*(1+rhythm): // one that is faster by less may only keep another rhythm
		f.overloadCosts(ceiling, low.Value()/2+high.Value()/2)
		return limited
	}
	return append(limited, ceiling)
}

// fullest returns the stage that completed most, as all that counts of stages in which the server was idle at times; nil for none.
func fullest(mild []*rundir.Stage) []*rundir.Stage {
	if len(mild) == 0 {
		return nil
	}
	return []*rundir.Stage{slices.MaxFunc(mild, func(a, b *rundir.Stage) int { return cmp.Compare(a.Progress.Rate.Value(), b.Progress.Rate.Value()) })}
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
		f.note(noteOverloadOrChange.New(loop, ceiling.MaxConcurrency, overloaded, stageTimeForControls(f.run.Stages)))
	}
}

// standardError returns that of a stage's progress.
func standardError(p rundir.Progress) float64 {
	if p.Batches < 2 {
		return noInterval * p.Rate.Value()
	}
	half := (p.High.Value() - p.Low.Value()) / 2
	return math.Max(half/stats.StudentQuantile(0.975, float64(p.Batches-1)), rhythm*p.Rate.Value())
}

// plateau returns the mean of what the stages completed, once they were far behind, weighted by precision, with a 95 % interval that is widened where the stages
// differ by more than their own noise (Birge, Physical Review 40 (1932)). It is no narrower than that of one stage by how much its requests' times vary: the stages
// count because they were shown saturated, and all of them may have been by chance.
func plateau(rows []*rundir.Stage) (rate, low, high rundir.Number) {
	var sum, weights float64
	freedom := 0
	weight := func(p rundir.Progress) float64 {
		se := standardError(p)
		return 1 / (se * se)
	}
	for _, r := range rows {
		p := behind(r)
		w := weight(p)
		sum, weights = sum+w*p.Rate.Value(), weights+w
		freedom += max(p.Batches-1, 0)
	}
	mean := sum / weights
	chi2 := 0.0
	for _, r := range rows {
		p := behind(r)
		chi2 += weight(p) * math.Pow(p.Rate.Value()-mean, 2)
	}
	half := stats.StudentQuantile(0.975, float64(max(freedom, 1))) / math.Sqrt(weights)
	if k := len(rows) - 1; k > 0 {
		half *= math.Sqrt(math.Max(1, chi2/float64(k)))
	}
	least := math.Inf(1)
	for _, r := range rows {
		least = min(least, chance(r))
	}
	half = max(half, least*mean)
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
