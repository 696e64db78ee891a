package report

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// spread is a figure over the repetitions of one stage.
type spread struct {
	mean rundir.Number // of the repetitions' figures
	// between is the sample standard deviation of those figures, within the root mean square of their standard errors, both
	// as a share of the mean. Repetitions that differ by no more than each wanders within itself have them alike.
	between, within rundir.Number
}

// doubtful is how many times the error within a run the spread between runs may be before an interval, which knows of the
// former alone, says too much.
const doubtful = 2

// exceeds reports whether single runs are less certain than their intervals say.
func (s spread) exceeds() bool {
	return s.between.Known() && s.within.Known() && s.between.Value() > doubtful*s.within.Value()
}

// estimate is a figure of one repetition with its standard error, NaN where it has none.
type estimate struct {
	figure rundir.Number
	se     float64
}

// spreadOf sums up the repetitions that have the figure. Where one of them is only a lower bound, so is the mean, and there is
// no spread.
func spreadOf(all []estimate) spread {
	var values []float64
	var squares, errors float64
	bound := false
	for _, e := range all {
		if e.figure.IsZero() {
			continue
		}
		bound = bound || e.figure.Bound()
		values = append(values, e.figure.Value())
		if !math.IsNaN(e.se) {
			squares, errors = squares+e.se*e.se, errors+1
		}
	}
	n, sum, deviations := float64(len(values)), 0.0, 0.0
	for _, v := range values {
		sum += v
	}
	mean := sum / n // NaN of none, which is no figure
	if bound {
		return spread{mean: rundir.Over(mean)}
	}
	for _, v := range values {
		deviations += (v - mean) * (v - mean)
	}
	return spread{
		mean:    rundir.Exactly(mean),
		between: rundir.Exactly(math.Sqrt(deviations/(n-1)) / mean), // 0/0 of a single one
		within:  rundir.Exactly(math.Sqrt(squares/errors) / mean),
	}
}

// measuredMean is the mean of a distribution, with the standard error that its interval has; figure may be another estimate of
// that mean.
func measuredMean(d *rundir.Dist, figure rundir.Number) estimate {
	e := estimate{figure, math.NaN()}
	if ci, ok := d.CI["mean"]; ok {
		e.se = (ci[1] - ci[0]) / 2 / stats.Z95
	}
	return e
}

// measuredRate is a rate with the relative standard error of the stage's progress, which counts the same work.
func measuredRate(s *rundir.Stage, figure rundir.Number) estimate {
	e := estimate{something(figure), math.NaN()}
	if p := s.Progress; p.Rate.Known() && p.Low.Known() && p.High.Known() {
		e.se = (p.High.Value() - p.Low.Value()) / 2 / stats.Z95 / p.Rate.Value() * figure.Value()
	}
	return e
}

// repeatedFigure is what is compared between repetitions.
type repeatedFigure struct {
	name phrase
	of   func(*rundir.Stage) estimate
	cell func(rundir.Number) Cell
}

func repeatedFigures() []repeatedFigure {
	perSecond := func(unit string) func(rundir.Number) Cell {
		return func(f rundir.Number) Cell { return quantity(f, unit, rate) }
	}
	mean := func(name phrase, of func(*rundir.Stage) *rundir.Dist) repeatedFigure {
		return repeatedFigure{name, func(s *rundir.Stage) estimate { return measuredMean(of(s), of(s).Mean) }, timed}
	}
	return []repeatedFigure{
		{headDone, func(s *rundir.Stage) estimate { return measuredRate(s, completed(s)) }, perSecond("req/s")},
		{headOutput, func(s *rundir.Stage) estimate { return measuredRate(s, output(s)) }, perSecond("tok/s")},
		mean(figureTTFT, ttft),
		{figureITL, func(s *rundir.Stage) estimate { return measuredMean(&s.ITL, s.InterToken) }, timed},
		mean(figureLatency, latency),
	}
}

// repetitions groups the stages that were measured several times, in the order of the table. Those that were cut short, or
// that the client spoiled, are left out.
func repetitions(run *rundir.Run) [][]*rundir.Stage {
	var groups [][]*rundir.Stage
	for _, r := range tableRows(run) {
		s := r.stage
		if s.Repeat == 0 || !whole(s) || !s.Invalid.IsZero() {
			continue
		}
		same := func(g []*rundir.Stage) bool {
			return g[0].Kind == s.Kind && g[0].Rate == s.Rate && g[0].MaxConcurrency == s.MaxConcurrency
		}
		if i := slices.IndexFunc(groups, same); i >= 0 {
			groups[i] = append(groups[i], s)
		} else {
			groups = append(groups, []*rundir.Stage{s})
		}
	}
	return groups
}

// repeats is the table of what differs between repetitions; it has no rows where nothing was repeated.
func repeats(run *rundir.Run, l Lang) Table {
	t := Table{Columns: []Column{
		{Head: headBenchmark.in(l), Left: true}, {Head: headRuns.in(l)}, {Head: headFigure.in(l), Left: true}, {Head: subMean.in(l)},
		{Head: headBetween.in(l)}, {Head: headWithin.in(l)},
	}}
	for _, g := range repetitions(run) {
		for _, f := range repeatedFigures() {
			var all []estimate
			for _, s := range g {
				all = append(all, f.of(s))
			}
			s := spreadOf(all)
			between := percent(s.between)
			if s.exceeds() {
				between.Mark, between.Tone = markSpread, Caution
			}
			t.Rows = append(t.Rows, []Cell{
				{Text: stageName(g[0]), Tone: Strong}, count(len(g)), {Text: f.name.in(l)}, f.cell(s.mean), between, percent(s.within),
			})
		}
	}
	return t
}

func percent(f rundir.Number) Cell { return quantity(scaled(f, 100), "%", rate) }

// repeatNotes explain the table of repetitions.
func repeatNotes(t Table, l Lang) []string {
	notes := []string{noteSpread.in(l)}
	if shows([]Table{t}, func(c Cell) bool { return c.Mark == markSpread }) {
		notes = append(notes, noteDoubtful.in(l))
	}
	return notes
}

// stageName is what the repetitions of a stage are called together.
func stageName(s *rundir.Stage) string {
	return strings.TrimSuffix(s.Name, "#"+strconv.Itoa(s.Repeat))
}

// asAsked orders rows of one role: the rates of a grid from low to high, and repetitions, whose order was shuffled, by load and
// number. Others stay as they ran.
func asAsked(a, b *rundir.Stage) int {
	repeated := a.Repeat > 0 && b.Repeat > 0
	if a.Role != rundir.Grid && !repeated {
		return 0
	}
	return cmp.Or(cmp.Compare(a.Rate.Value(), b.Rate.Value()), cmp.Compare(a.MaxConcurrency, b.MaxConcurrency), cmp.Compare(a.Repeat, b.Repeat))
}
