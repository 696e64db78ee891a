package page

import (
	"slices"

	"llmsweep/report/draw"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// verdictShape is how a verdict is drawn and called.
type verdictShape struct {
	verdict string
	shape   draw.Shape
	text    draw.Text
}

// invalid stands for a stage in which the client was the limit.
const invalid = "invalid"

func verdictShapes() []verdictShape {
	verdict := func(v string) draw.Text {
		return draw.Both(func(l lang.Lang) string { return lang.Verdict(v, l) })
	}
	return []verdictShape{
		{rundir.Stable, draw.Circle, verdict(rundir.Stable)}, {rundir.Saturated, draw.Triangle, verdict(rundir.Saturated)},
		{rundir.Shedding, draw.Diamond, verdict(rundir.Shedding)}, {rundir.Undecided, draw.Ring, verdict(rundir.Undecided)},
		{rundir.Closed, draw.Square, verdict(rundir.Closed)}, {invalid, draw.Cross, draw.Say(shapeInvalid)},
	}
}

// meaning explains the word of a verdict; empty where the word says it all.
func meaning(verdict string) draw.Text {
	p, ok := map[string]lang.Phrase{
		rundir.Stable: meansStable, rundir.Saturated: meansSaturated, rundir.Shedding: meansShedding, rundir.Undecided: meansUndecided, rundir.Closed: meansClosed,
	}[verdict]
	if !ok {
		return draw.Text{}
	}
	return draw.Say(p)
}

// Shape returns the marker of a stage and the word for it.
func Shape(s *rundir.Stage) (draw.Shape, draw.Text) {
	key := s.Verdict
	if !s.Invalid.IsZero() {
		key = invalid
	}
	all := verdictShapes()
	if i := slices.IndexFunc(all, func(v verdictShape) bool { return v.verdict == key }); i >= 0 {
		return all[i].shape, all[i].text
	}
	return draw.Ring, draw.Same("-")
}
