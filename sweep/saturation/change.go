package saturation

import (
	"math"
	"slices"

	"llmsweep/client/note"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// Notes on a server that changed during the sweep.
var (
	noteNow       = note.Kind{Code: "saturation.now", Args: []string{"now", "before", "ago"}} // ago in seconds
	noteNotPooled = note.Kind{Code: "repeats.not-pooled"}

	// Exceeded marks a ceiling that a later row exceeded. It stands in the warnings of the stage that measured the ceiling.
	Exceeded = note.Kind{Code: "ceiling.exceeded", Args: []string{"completed", "later", "more"}}
)

// change is how a metric differs between two stages of one load, as a share of the earlier: 0.12 is 12 % more.
type change struct {
	Metric           string // "itl_s", "ttft_s", "rates.completed"
	Before, After    float64
	Value, Low, High float64 // 95 % interval
}

// Shown reports whether the interval is above a share, or below minus that share.
func (c change) Shown(least float64) bool {
	return c.Before > 0 && (c.Low > 0 && c.Value >= least || c.High < 0 && c.Value <= -least)
}

// Beyond reports whether the whole interval is above a share, or below minus that share.
func (c change) Beyond(least float64) bool {
	return c.Before > 0 && (c.Low >= least || c.High <= -least)
}

// from returns the change where the metric was another before; c itself for 0.
func (c change) from(before float64) change {
	if before <= 0 || c.Before <= 0 {
		return c
	}
	scale := c.Before / before
	share := func(v float64) float64 { return (1+v)*scale - 1 }
	return change{c.Metric, before, c.After, share(c.Value), share(c.Low), share(c.High)}
}

// compareStages returns how two stages of one load differ: the time per token, the time to the first one, and the completed rate.
func compareStages(before, after *rundir.Stage) []change {
	return []change{
		compare("itl_s", meanOf(before, perToken(before), &before.TPOT), meanOf(after, perToken(after), &after.TPOT), meansDiffer),
		compare("ttft_s", meanOf(before, before.TTFT.Mean, &before.TTFT), meanOf(after, after.TTFT.Mean, &after.TTFT), meansDiffer),
		compareRates(before, after),
	}
}

// compareRates returns how the completed rates of two stages of one load differ. In one wave of a closed loop all requests do the same at once, and what is completed in a
// part of it is no speed. What was in flight over the mean latency is another estimate (Little's law), and too high for a first wave: where both show a change, the
// smaller counts, and else there is none.
func compareRates(before, after *rundir.Stage) change {
	c := compare("rates.completed", progressOf(before), progressOf(after), rhythm)
	if after.Progress.Batches > 1 || after.MaxConcurrency <= 1 {
		return c
	}
	rate := float64(after.MaxConcurrency) / after.Latency.Mean.Value()
	little := compare(c.Metric, progressOf(before), estimate{rate, 0, 0, after.Window}, rhythm)
	switch {
	case !(rate > 0) || c.Value*little.Value <= 0:
		return change{Metric: c.Metric}
	case math.Abs(little.Value) < math.Abs(c.Value):
		return little
	}
	return c
}

// perToken returns the mean time from one token to the next, of the answers that the model computed.
func perToken(st *rundir.Stage) rundir.Number {
	if c := st.Traits.Computed; c.Known() {
		return c
	}
	return st.InterToken
}

// estimate is a value with its standard error, and the degrees of freedom of that. The error falls with the root of size, which is a number
// of requests or seconds.
type estimate struct{ value, se, freedom, size float64 }

// meanOf returns a mean with the error that the deviation between requests gives it. Requests in flight at the same time are not
// independent: the number worth counting is divided by how many there are.
func meanOf(st *rundir.Stage, mean rundir.Number, d *rundir.Dist) estimate {
	if !mean.Known() || d.N == 0 || !d.Std.Known() {
		return estimate{}
	}
	n := float64(d.N) / max(1, st.Concurrency.Mean.Or(0))
	if d.Neff.Known() {
		n = min(n, d.Neff.Value())
	}
	n = max(n, 1)
	return estimate{mean.Value(), d.Std.Value() / math.Sqrt(n), n - 1, n}
}

// progressOf returns a stage's progress with the error that its batches give it; none for too few of them.
func progressOf(st *rundir.Stage) estimate {
	p := st.Progress
	switch {
	case !p.Rate.Known() || st.Window <= 0:
		return estimate{}
	case p.Batches < 2:
		return estimate{p.Rate.Value(), 0, 0, st.Window}
	}
	freedom := float64(p.Batches - 1)
	se := (p.High.Value() - p.Low.Value()) / 2 / stats.StudentQuantile(0.975, freedom)
	return estimate{p.Rate.Value(), se, freedom, st.Window}
}

// compare returns the change between two stages of one load. A control measurement is short, and shows little of how much its values vary; the
// earlier stage shows more, and both vary alike. So their variances are pooled. To both errors that is added by which stages of one
// server differ anyway, as a share of the value.
func compare(metric string, before, after estimate, anyway float64) change {
	freedom := before.freedom + after.freedom
	if before.value <= 0 || after.value <= 0 || freedom < 1 {
		return change{Metric: metric}
	}
	variance := func(e estimate) float64 { return e.freedom * e.size * math.Pow(e.se/e.value, 2) }
	pooled := (variance(before) + variance(after)) / freedom // of one unit of size, relative
	se := math.Sqrt(pooled/before.size + pooled/after.size + 2*anyway*anyway)
	half := stats.StudentQuantile(0.975, freedom) * se
	ratio := math.Log(after.value / before.value)
	return change{
		Metric: metric, Before: before.value, After: after.value,
		Value: math.Expm1(ratio), Low: math.Expm1(ratio - half), High: math.Expm1(ratio + half),
	}
}

// changed returns a note where a control measurement differs from the earlier stage of the same load: the server drifts where a lone
// request got slower or quicker, and scales where a lone request did not, and many at once did. floor is the change of the lone
// request, where that was measured again; nil where not.
//
// Random arrivals make two stages of one rate differ in how much they were offered, and the time per token follows that. expected is the
// time per token that the rows show at the rate that after was offered; it is 0 where they do not.
func changed(before, after *rundir.Stage, floor *change, expected float64) (n note.Note, changed bool) {
	changes := compareStages(before, after)
	itl, ttft, rate := changes[0], changes[1], changes[2]
	args := func(k note.Kind, c change) (note.Note, bool) {
		from, to := c.Before, c.After
		if c.Metric == changes[2].Metric {
			from, to = math.NaN(), math.NaN() // no times
		}
		return k.New(before.Name, c.Metric, c.Before, c.After, c.Value, c.Low, c.High, from, to), true
	}
	lone := before.MaxConcurrency == 1
	switch {
	case lone && itl.Shown(leastDrift):
		return args(noteDrifts, itl)
	case lone && ttft.Beyond(leastScale):
		return args(noteDrifts, ttft)
	case lone, floor != nil && floor.Shown(leastDrift):
		return note.Note{}, false
	case share(before) > 0, share(after) > 0: // a short stage may live on the burst of a rate limit, and which requests fail is chance
		return note.Note{}, false
	case !before.Rate.Known() && rate.Beyond(leastScale): // equal requests keep the rhythm in which a stage began
		return args(noteScales, rate)
	case before.Rate.Known() && rate.Shown(leastScale) && (over(before) || over(after)):
		return args(noteScales, rate)
	case before.Rate.Known() && itl.Beyond(leastScale) && itl.from(expected).Beyond(leastScale):
		return args(noteScales, itl)
	}
	return note.Note{}, false
}

// changes returns the notes that the control measurements of a run give. A server that stays slow after an overload has not changed by itself;
// and of one that pauses it is chance how many pauses fall into a short stage.
func changes(run *rundir.Run) []note.Note {
	if !metastable(run).IsZero() || !pauses(run.Stages).IsZero() {
		return nil
	}
	return controlChanges(run.Stages)
}

// stageTimeForControls returns a stage time in seconds with which a sweep has time for control measurements of the floor.
func stageTimeForControls(stages []rundir.Stage) float64 {
	const step = 10
	for i := range stages {
		if st := &stages[i]; st.Role == rundir.Floor && st.Latency.Mean.Known() {
			return max(controlTime, step*math.Ceil(controlLatencies*st.Latency.Mean.Value()/step))
		}
	}
	return controlTime
}

// controlChanges returns a note for each control measurement that differs from the first stage of its load.
func controlChanges(stages []rundir.Stage) (all []note.Note) {
	var floor *change
	for _, lone := range []bool{true, false} {
		for i := range stages {
			after := &stages[i]
			if after.Role != rundir.Control || !Usable(after) || (after.MaxConcurrency == 1) != lone {
				continue
			}
			before := sameLoad(stages[:i], after)
			if before == nil {
				continue
			}
			if lone {
				floor = &compareStages(before, after)[0]
			}
			if n, changed := changed(before, after, floor, perTokenAt(stages[:i], after)); changed {
				all = append(all, n)
			}
		}
	}
	return all
}

// perTokenAt returns the time per token at the rate that a stage was offered, by a line between the stable rows that were offered the next
// rates below and above, the lone request counting as rate 0; 0 where there are none on both sides.
func perTokenAt(stages []rundir.Stage, at *rundir.Stage) float64 {
	offered := at.Rates.Offered.Value()
	var below, above *rundir.Stage
	for i := range stages {
		st := &stages[i]
		stable := st.Rate.Known() && st.Verdict == rundir.Stable && st.Rates.Offered.Known()
		if st.Role == rundir.Control || !Usable(st) || !perToken(st).Known() || !stable && st.Role != rundir.Floor {
			continue
		}
		switch x := st.Rates.Offered.Or(0); {
		case x <= offered && (below == nil || x > below.Rates.Offered.Or(0)):
			below = st
		case x > offered && (above == nil || x < above.Rates.Offered.Value()):
			above = st
		}
	}
	if below == nil || above == nil {
		return 0
	}
	x0, x1 := below.Rates.Offered.Or(0), above.Rates.Offered.Value()
	y0, y1 := perToken(below).Value(), perToken(above).Value()
	return y0 + (y1-y0)*(offered-x0)/(x1-x0)
}

// sameLoad returns the first stage with the load of another.
func sameLoad(stages []rundir.Stage, as *rundir.Stage) *rundir.Stage {
	for i := range stages {
		st := &stages[i]
		if st.Role != rundir.Control && Usable(st) && st.Kind == as.Kind && st.Rate == as.Rate && st.MaxConcurrency == as.MaxConcurrency {
			return st
		}
	}
	return nil
}

// widen makes the interval of an answer hold what was seen beyond saturation before and after the server changed, and first and last in any stage.
func (f *finder) widen(s *rundir.Saturation, b *bracket) {
	if !f.changed {
		return
	}
	var seen []*rundir.Stage // in the order in which they ran
	for i := range f.run.Stages {
		st := &f.run.Stages[i]
		loop := st.Role == rundir.Control && !st.Rate.Known() && st.MaxConcurrency > 1 && st.Progress.Batches > 1
		if Usable(st) && st.Progress.Rate.Known() && (loop || st.Role == rundir.Ceiling || f.counts(st.Name) && serverLimited(st)) {
			seen = append(seen, st)
		}
	}
	if len(seen) < 2 {
		return
	}
	first, last := seen[0], seen[len(seen)-1]
	for _, st := range seen {
		p := behind(st)
		burst := st.Role == rundir.Ceiling || b.failed != nil && st.Role == rundir.Control && p.Rate.Value() > offered(b.failed)
		if !burst && p.Rate.Known() { // a closed loop may live on what the server had saved up; a hold is longer
			s.Low, s.High = rundir.Exactly(min(s.Low.Value(), p.Rate.Value())), rundir.Exactly(max(s.High.Value(), p.Rate.Value()))
		}
	}
	now, before := behind(last).Rate.Value(), first.Progress.Rate.Value()
	reach := now
	if before > 0 && !settled(seen, now) {
		reach *= now / before
	}
	s.Low, s.High = rundir.Exactly(min(s.Low.Value(), reach, before)), rundir.Exactly(max(s.High.Value(), reach, before))
	s.Cautions = append(s.Cautions, noteNow.New(now, before, last.Started-first.Started))
}

// settled reports whether what the last of some stages completed had been seen before. A change that the last one alone shows may not have ended: it is taken to
// go on by the same factor.
func settled(seen []*rundir.Stage, now float64) bool {
	return slices.ContainsFunc(seen[:len(seen)-1], func(st *rundir.Stage) bool {
		rate := behind(st).Rate.Value()
		return rate <= tolerated*now && now <= tolerated*rate
	})
}

// seen returns what a server that changed during the sweep completed first and last beyond saturation; ok is false for one that did not change.
func seen(s *rundir.Saturation) (now, before float64, ok bool) {
	if s == nil {
		return 0, 0, false
	}
	i := slices.IndexFunc(s.Cautions, func(n note.Note) bool { return n.Is(noteNow) })
	if i < 0 {
		return 0, 0, false
	}
	now, _ = s.Cautions[i].Args["now"].(float64)
	before, _ = s.Cautions[i].Args["before"].(float64)
	return now, before, now > 0 && before > 0
}

// counts reports whether the verdict of the stage with a name counts.
func (f *finder) counts(name string) bool {
	return slices.ContainsFunc(f.open, func(st *rundir.Stage) bool { return st.Name == name })
}

// markCeiling adds a note to the stage that measured the ceiling where a later one completed more.
func markCeiling(stages []rundir.Stage) {
	ceiling := ceilingOf(stages)
	if ceiling == nil || !ceiling.Progress.High.Known() {
		return
	}
	var most *rundir.Stage
	for i := range stages {
		st := &stages[i]
		p := st.Progress
		if st.Started <= ceiling.Started || !Usable(st) || !p.Low.Known() || p.Low.Value() <= ceiling.Progress.High.Value() ||
			p.Rate.Value() < exceeds*ceiling.Progress.Rate.Value() {
			continue
		}
		if most == nil || p.Rate.Value() > most.Progress.Rate.Value() {
			most = st
		}
	}
	ceiling.Warnings = slices.DeleteFunc(ceiling.Warnings, func(n note.Note) bool { return n.Is(Exceeded) })
	if most != nil {
		ceiling.Warnings = append(ceiling.Warnings, Exceeded.New(ceiling.Progress.Rate.Value(), most.Name, most.Progress.Rate.Value()))
	}
}

// repeated returns a note where a changed server was measured several times at one load.
func repeated(run *rundir.Run) (n note.Note) {
	if len(changes(run)) > 0 && slices.ContainsFunc(run.Stages, func(st rundir.Stage) bool { return st.Repeat > 1 }) {
		return noteNotPooled.New()
	}
	return n
}

// Unlike reports whether the repetitions of a run are not comparable, because the server changed between them.
func Unlike(run *rundir.Run) bool {
	return slices.ContainsFunc(run.Warnings, func(n note.Note) bool { return n.Is(noteNotPooled) })
}
