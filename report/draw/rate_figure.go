package draw

import (
	"cmp"
	"math"
	"slices"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
)

// OutputByRate draws output against the rate, of stages with the roles; without roles, of the grid and the probes.
func OutputByRate(run *rundir.Run, roles ...rundir.Role) *Figure {
	return rateFigure(run, plotOutput.Text(), findings.Output, func(y float64) string { return lang.Short(y, false) },
		roles)
}

const logFactor = 10 // of the highest to the lowest value, from which on a logarithmic axis shows more

// TTFTByRate draws TTFT as [OutputByRate] draws output. It rises by orders of magnitude where the server saturates.
func TTFTByRate(run *rundir.Run, roles ...rundir.Role) *Figure {
	ttft := func(s *rundir.Stage) rundir.Number { return s.TTFT.Mean }
	f := rateFigure(run, plotTTFT.Text(), ttft, func(y float64) string { return lang.Time(rundir.Exactly(y)) }, roles)
	p := &f.Panels[0]
	if low, high := valueRange(p.Series[0].Points); low > 0 && high > logFactor*low {
		p.Y.Log = true
		f.Title = f.Title.Plus(lang.Same(" (log)"))
	}
	return f
}

// rateFigure draws closed loops at the rate that they completed, and a sweep by users as means against their number.
func rateFigure(run *rundir.Run, title lang.Text, of findings.StageNumber, format func(float64) string,
	roles []rundir.Role) *Figure {
	if len(roles) == 0 {
		roles = []rundir.Role{rundir.Grid, rundir.Probe, rundir.Hold}
	}
	users := ByUsers(run)
	var points []Point
	for i := range run.Stages {
		s := &run.Stages[i]
		x, y := findings.Offered(s), of(s)
		switch {
		case users:
			x = rundir.Exactly(float64(s.MaxConcurrency))
		case !s.Rate.Known():
			x = findings.Completed(s)
		}
		if slices.Contains(roles, s.Role) && !s.Quick() && x.Value() > 0 && s.Invalid.IsZero() && !y.IsZero() {
			points = append(points, Point{X: x.Value(), Y: y.Value(), Bound: y.Bound()})
		}
	}
	slices.SortFunc(points, func(a, b Point) int { return cmp.Compare(a.X, b.X) })
	if users {
		points = meanPoints(points)
	}
	f := &Figure{Title: title, Panels: []Panel{{Y: Axis{Format: format}, Series: []Series{{Points: points}}}}}
	if users {
		f.X.Format = lang.Shortest
	}
	var mark rundir.Number
	a := saturation.AnswerOf(run)
	switch {
	case a == nil:
	case !users:
		mark = a.Rate
	case a.Carried != nil:
		mark = a.Carried.Users
	}
	if mark.Known() {
		f.Spans = []Span{{Low: math.NaN(), High: math.NaN(), Mark: mark.Value(), Text: lang.Same(AnswerNumber(a))}}
	}
	return f
}

// ByUsers reports whether the rows of a run are numbers of users.
func ByUsers(run *rundir.Run) bool {
	return slices.ContainsFunc(run.Stages, func(s rundir.Stage) bool { return s.Kind == rundir.KindOfUsers })
}

// meanPoints joins points of the same x, which follow each other, to their mean.
func meanPoints(points []Point) (all []Point) {
	for len(points) > 0 {
		n := 1
		for n < len(points) && points[n].X == points[0].X {
			n++
		}
		p := Point{X: points[0].X}
		for _, q := range points[:n] {
			p.Y, p.Bound = p.Y+q.Y/float64(n), p.Bound || q.Bound
		}
		all, points = append(all, p), points[n:]
	}
	return all
}
