package page

import (
	"cmp"
	"math"
	"slices"

	"llmsweep/report/draw"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/slo"
)

type view struct {
	Run   *rundir.Run
	Rows  []findings.StageRow // in the order of tables
	Open  bool                // some stage has an arrival rate: the x axis is the rate
	Terms []slo.Term
}

func newView(run *rundir.Run) *view {
	v := &view{Run: run, Rows: findings.AllStages(run)}
	v.Open = slices.ContainsFunc(run.Stages, func(s rundir.Stage) bool { return s.Rate.Known() })
	v.Terms, _ = slo.ParseAll(run.Plan.SLO) // a term of a newer llmsweep is not drawn
	return v
}

func (v *view) best() *rundir.Stage {
	var best *rundir.Stage
	for _, r := range v.Rows {
		s := r.Stage
		if !s.Invalid.IsZero() || !s.TokensPerS.Output.Known() || s.TokensPerS.Output.Value() <= 0 {
			continue
		}
		if best == nil || s.TokensPerS.Output.Value() > best.TokensPerS.Output.Value() {
			best = s
		}
	}
	return best
}

func byX(a, b draw.Point) int { return cmp.Compare(a.X, b.X) }

func known(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

func (v *view) x(s *rundir.Stage) float64 {
	switch {
	case s.Rate.Known():
		return findings.Offered(s).Value()
	case v.Open:
		return s.Rates.Completed.Value()
	case s.MaxConcurrency > 0:
		return float64(s.MaxConcurrency)
	}
	return 1
}

func (v *view) axis() draw.Axis {
	if v.Open {
		return draw.Axis{Label: axisRate.Text(), Format: draw.Number}
	}
	if v.Run.Plan.Kind == rundir.KindUsers {
		return draw.Axis{Label: axisUsers.Text(), Format: draw.Number}
	}
	return draw.Axis{Label: axisInFlight.Text(), Format: draw.Number}
}

// onLine leaves out invalid stages and, beside arrival rates, closed loops, but for the synchronous stage where that is
// slower than the lowest arrival rate.
func (v *view) onLine(s *rundir.Stage) bool {
	return s.Invalid.IsZero() && (s.Rate.Known() || !v.Open || s.Role == rundir.Synchronous && v.x(s) < v.lowest())
}

func (v *view) lowest() float64 {
	least := math.Inf(1)
	for _, r := range v.Rows {
		if r.Stage.Rate.Known() {
			least = min(least, v.x(r.Stage))
		}
	}
	return least
}

func (v *view) limits(metric string) []draw.Rule {
	var all []draw.Rule
	for _, t := range v.Terms {
		if metric != "" && (t.Metric == metric || metric == slo.TTFT && t.Metric == slo.TTFTDue) {
			all = append(all, draw.Rule{Key: t.Stat, Text: lang.Same("SLO " + t.String()), At: t.Limit})
		}
	}
	return all
}

func (v *view) saturation() []draw.Span {
	a := saturation.AnswerOf(v.Run)
	number := draw.AnswerNumber(a)
	switch {
	case number == "" || a.Carried == nil && !v.Open:
		return nil
	case a.Carried != nil:
		c := a.Carried
		return []draw.Span{{
			Class: "sat",
			Low:   c.Low.Value(),
			High:  c.High.Value(),
			Mark:  c.Users.Value(),
			Text:  tagCarries.Text(number),
		}}
	}
	return []draw.Span{{
		Class: "sat",
		Low:   a.Low.Value(),
		High:  a.High.Value(),
		Mark:  a.Rate.Value(),
		Text:  lang.Same(draw.AnswerRange(a)),
	}}
}
