package page

import (
	"slices"

	"llmsweep/report/draw"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
)

// verdictShape is how a verdict is drawn and called.
type verdictShape struct {
	verdict rundir.Verdict
	shape   draw.Shape
	text    lang.Text
}

func verdictShapes() []verdictShape {
	verdict := func(v rundir.Verdict) lang.Text {
		return lang.Both(func(l lang.Lang) string { return lang.Verdict(v, l) })
	}
	return []verdictShape{
		{rundir.Stable, draw.Circle, verdict(rundir.Stable)},
		{rundir.Saturated, draw.Triangle, verdict(rundir.Saturated)},
		{rundir.Shedding, draw.Diamond, verdict(rundir.Shedding)},
		{rundir.Undecided, draw.Ring, verdict(rundir.Undecided)},
		{rundir.Closed, draw.Square, verdict(rundir.Closed)},
		{lang.NotCounted, draw.Cross, verdict(lang.NotCounted)},
	}
}

// markers are the markers of the stages of a run.
func (v *view) markers() (all []Marker) {
	for _, s := range verdictShapes() {
		if slices.ContainsFunc(v.Rows, func(r findings.StageRow) bool {
			return isDrawn(r.Stage) && findings.VerdictCell(r).Badge == s.verdict
		}) {
			all = append(all, Marker{s.shape, s.text})
		}
	}
	return all
}

// markersOf are the markers of the stages of several runs.
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

// shape returns the marker of a stage and the word for it.
func shape(r findings.StageRow) (draw.Shape, lang.Text) {
	return shapeOf(findings.VerdictCell(r).Badge)
}

// shapeOf returns the marker of a badge and the word for it.
func shapeOf(badge rundir.Verdict) (draw.Shape, lang.Text) {
	all := verdictShapes()
	if i := slices.IndexFunc(all, func(v verdictShape) bool { return v.verdict == badge }); i >= 0 {
		return all[i].shape, all[i].text
	}
	return draw.Ring, lang.Same("-")
}
