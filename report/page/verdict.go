package page

import (
	"slices"

	"llmsweep/report/draw"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
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
		{rundir.Stable, draw.Circle, verdict(rundir.Stable)}, {rundir.Saturated, draw.Triangle, verdict(rundir.Saturated)},
		{rundir.Shedding, draw.Diamond, verdict(rundir.Shedding)}, {rundir.Undecided, draw.Ring, verdict(rundir.Undecided)},
		{rundir.Closed, draw.Square, verdict(rundir.Closed)}, {lang.NotCounted, draw.Cross, verdict(lang.NotCounted)},
	}
}

// meaning explains the word of a verdict; empty where the word says it all.
func meaning(verdict rundir.Verdict) lang.Text {
	p, ok := map[rundir.Verdict]lang.Phrase{
		rundir.Stable: meansStable, rundir.Saturated: meansSaturated, rundir.Shedding: meansShedding, rundir.Undecided: meansUndecided, rundir.Closed: meansClosed,
		lang.NotCounted: meansUncounted,
	}[verdict]
	if !ok {
		return lang.Text{}
	}
	return p.Text()
}

// shape returns the marker of a stage and the word for it.
func shape(s *rundir.Stage) (draw.Shape, lang.Text) { return shapeOf(findings.Verdict(s).Badge) }

// shapeOf returns the marker of a badge and the word for it.
func shapeOf(badge rundir.Verdict) (draw.Shape, lang.Text) {
	all := verdictShapes()
	if i := slices.IndexFunc(all, func(v verdictShape) bool { return v.verdict == badge }); i >= 0 {
		return all[i].shape, all[i].text
	}
	return draw.Ring, lang.Same("-")
}
