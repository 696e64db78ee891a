package page

import (
	"slices"

	"llmsweep/report/draw"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
)

type verdictShape struct {
	verdict rundir.Verdict
	shape   draw.Shape
}

func verdictShapes() []verdictShape {
	return []verdictShape{
		{rundir.Stable, draw.Circle},
		{rundir.Saturated, draw.Triangle},
		{rundir.Shedding, draw.Diamond},
		{rundir.Undecided, draw.Ring},
		{rundir.Closed, draw.Square},
		{lang.NotCounted, draw.Cross},
	}
}

func (v *view) markers() (all []Marker) {
	for _, s := range verdictShapes() {
		if slices.ContainsFunc(v.Rows, func(r findings.StageRow) bool {
			return isDrawn(r.Stage) && findings.VerdictCell(r).Badge == s.verdict
		}) {
			all = append(all, Marker{s.shape, findings.VerdictName(s.verdict)})
		}
	}
	return all
}

func markersOf(setups []setup.Setup) (all []Marker) {
	for i := range setups {
		for _, m := range newView(setups[i].Run).markers() {
			if !slices.Contains(all, m) {
				all = append(all, m)
			}
		}
	}
	return all
}

func shape(r findings.StageRow) (draw.Shape, lang.Text) {
	return shapeOf(findings.VerdictCell(r).Badge)
}

func shapeOf(badge rundir.Verdict) (draw.Shape, lang.Text) {
	all := verdictShapes()
	if i := slices.IndexFunc(all, func(v verdictShape) bool { return v.verdict == badge }); i >= 0 {
		return all[i].shape, findings.VerdictName(badge)
	}
	return draw.Ring, lang.Same("-")
}
