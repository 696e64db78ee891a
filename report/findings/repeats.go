package findings

import (
	"math"
	"slices"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/stats"
)

// spread is a metric over the repetitions of one stage.
type spread struct {
	mean rundir.Number // of the repetitions
	// between is the sample standard deviation of the repetitions, within the root mean square of their standard errors. Both
	// are shares of the mean. They are alike where repetitions differ no more than each varies within itself.
	between, within rundir.Number
}

// doubtful is the ratio of between to within from which on a spread is marked. An interval is made of the error within a run
// alone: at twice that error between runs it is too narrow by more than half.
const doubtful = 2

// exceeds reports whether single runs are less certain than their intervals say.
func (s spread) exceeds() bool {
	return s.between.Known() && s.within.Known() && s.between.Value() > doubtful*s.within.Value()
}

// estimate is a metric of one repetition with its standard error, NaN where it has none.
type estimate struct {
	value rundir.Number
	se    float64
}

// spreadOf returns the spread of the repetitions that have the metric. Where one of them is only a lower bound, so is the mean,
// and there is no spread.
func spreadOf(all []estimate) spread {
	var values []float64
	var squares, errors float64
	bound := false
	for _, e := range all {
		if e.value.IsZero() {
			continue
		}
		bound = bound || e.value.Bound()
		values = append(values, e.value.Value())
		if !math.IsNaN(e.se) {
			squares, errors = squares+e.se*e.se, errors+1
		}
	}
	n, sum, deviations := float64(len(values)), 0.0, 0.0
	for _, v := range values {
		sum += v
	}
	mean := sum / n // NaN, and so unknown, where there are none
	if bound {
		return spread{mean: rundir.Over(mean)}
	}
	for _, v := range values {
		deviations += (v - mean) * (v - mean)
	}
	return spread{
		mean:    rundir.Exactly(mean),
		between: rundir.Exactly(math.Sqrt(deviations/(n-1)) / mean), // 0/0 for a single one
		within:  rundir.Exactly(math.Sqrt(squares/errors) / mean),
	}
}

// measuredMean is the mean of a distribution, with the standard error that its interval has; number may be another estimate of
// that mean.
func measuredMean(d *rundir.Dist, value rundir.Number) estimate {
	e := estimate{value, math.NaN()}
	if ci, ok := d.CI["mean"]; ok {
		e.se = (ci[1] - ci[0]) / 2 / stats.Z95
	}
	return e
}

// measuredRate is a rate with the relative standard error of the stage's progress, which counts the same work.
func measuredRate(s *rundir.Stage, value rundir.Number) estimate {
	e := estimate{lang.NonZero(value), math.NaN()}
	if p := s.Progress; p.Rate.Known() && p.Low.Known() && p.High.Known() {
		e.se = (p.High.Value() - p.Low.Value()) / 2 / stats.Z95 / p.Rate.Value() * value.Value()
	}
	return e
}

// repeatedMetric is a metric that is compared between repetitions.
type repeatedMetric struct {
	name lang.Phrase
	of   func(*rundir.Stage) estimate
	cell func(rundir.Number) table.Cell
}

func repeatedMetrics() []repeatedMetric {
	perSecond := func(unit string) func(rundir.Number) table.Cell {
		return func(f rundir.Number) table.Cell { return table.Number(f, unit, lang.Rate) }
	}
	mean := func(name lang.Phrase, of func(*rundir.Stage) *rundir.Dist) repeatedMetric {
		return repeatedMetric{name, func(s *rundir.Stage) estimate { return measuredMean(of(s), of(s).Mean) }, table.Seconds}
	}
	return []repeatedMetric{
		{lang.HeadDone, func(s *rundir.Stage) estimate { return measuredRate(s, CompletedCell(s)) }, perSecond("req/s")},
		{lang.HeadOutput, func(s *rundir.Stage) estimate { return measuredRate(s, Output(s)) }, perSecond("tok/s")},
		mean(metricTTFT, TTFT),
		{metricITL, func(s *rundir.Stage) estimate { return measuredMean(&s.ITL, s.InterToken) }, table.Seconds},
		mean(metricLatency, Latency),
	}
}

// repetitions groups the stages that were measured several times, in the order of the table. Those that were cut short, or
// that the client spoiled, are left out.
func repetitions(run *rundir.Run) [][]*rundir.Stage {
	var groups [][]*rundir.Stage
	for _, r := range InTable(run) {
		s := r.Stage
		if s.Repeat == 0 || !WholeStages(s) || !s.Invalid.IsZero() {
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

// RepeatTable is the table of what differs between repetitions; it has no rows where nothing was repeated.
func RepeatTable(run *rundir.Run) table.Table {
	t := table.Table{Columns: []table.Column{
		{Head: lang.HeadBenchmark.Text(), Left: true}, {Head: headRuns.Text()}, {Head: headMetric.Text(), Left: true}, {Head: lang.SubMean.Text()},
		{Head: headBetween.Text()}, {Head: headWithin.Text()},
	}}
	for _, g := range repetitions(run) {
		for _, f := range repeatedMetrics() {
			var all []estimate
			for _, s := range g {
				all = append(all, f.of(s))
			}
			s := spreadOf(all)
			between := table.Percent(s.between)
			if s.exceeds() {
				between.Mark, between.Tone = table.MarkSpread, table.Caution
			}
			t.Rows = append(t.Rows, []table.Cell{
				{Text: lang.Same(BaseName(g[0])), Tone: table.Strong}, table.Count(len(g)), {Text: f.name.Text()}, f.cell(s.mean), between, table.Percent(s.within),
			})
		}
	}
	return t
}

// RepeatNotes explain the table of repetitions.
func RepeatNotes(t table.Table) []lang.Text {
	notes := []lang.Text{noteSpread.Text()}
	if strings.Contains(table.Marks(t), table.MarkSpread) {
		notes = append(notes, noteDoubtful.Text())
	}
	return notes
}
