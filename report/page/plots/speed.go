package plots

import (
	"slices"
	"strconv"

	"llmsweep/report/choose"
	"llmsweep/report/curve"
	"llmsweep/report/lang"
	"llmsweep/report/page/draw"
	"llmsweep/report/page/layout"
	"llmsweep/report/stages"
	"llmsweep/sweep/rundir"
)

// Speed draws what a user gets against what a GPU gives, of one run or several, with the Pareto front. names are those of the runs; nil for one.
// Rows that the audit calls impossible are left out. The front is that of the rows that a choice rests on: the maximum of a run with arrival rates,
// which is a closed loop, stands apart from it.
func Speed(name string, setups []curve.Setup, names []string) (layout.Figure, bool) {
	perGPU := !slices.ContainsFunc(setups, func(s curve.Setup) bool { return s.Run.Labels.GPUs == 0 })
	y, title := draw.Say(axisPerServer), draw.Say(titleSpeed)
	if perGPU {
		y = draw.Say(axisPerGPU)
	}
	panel := draw.Panel{Y: draw.Axis{Label: y, Format: draw.Number}, Height: 220}
	t := &layout.Table{Name: "t-" + name, Title: title, Columns: []layout.Column{{Head: draw.Say(lang.HeadBenchmark), Left: true}, {Head: draw.Say(axisPerUser)}, {Head: y}, {Head: draw.Say(headFront), Left: true}}}
	var stood []*rundir.Stage // of the rows of the table
	var eligible []choose.FrontPoint
	var rows []*curve.Row // of those
	for i := range setups {
		run, gpus := setups[i].Run, 1.0
		if perGPU {
			gpus = float64(run.Labels.GPUs)
		}
		key := "r" + strconv.Itoa(i)
		s, apart := draw.Series{Key: key, Colour: i, Style: draw.Loose}, draw.Series{Key: key, Colour: i, Style: draw.Loose}
		if names != nil { // a line tells whose points they are
			s.Name, s.Style, s.Dashed = draw.Same(names[i]), draw.Line, i >= draw.Colours
		}
		for _, r := range stages.All(run) {
			p, ok := speedOf(r.Stage, gpus)
			if !drawn(r.Stage) || !r.Stage.Invalid.IsZero() || setups[i].Impossible(r.Stage) || !ok {
				continue
			}
			label := stages.Name(r.Stage)
			if names != nil {
				label = names[i] + ": " + label
			}
			p.Row = len(t.Rows) + 1
			p.Shape, _ = layout.Shape(r.Stage)
			stood = append(stood, r.Stage)
			if takesPart(setups[i:i+1], r.Stage) {
				s.Points = append(s.Points, p)
			} else {
				apart.Points = append(apart.Points, p)
			}
			t.Rows = append(t.Rows, layout.Row{Cells: []layout.Cell{layout.Plain(label), layout.Number(rundir.Exactly(p.X), lang.Short), layout.Number(rundir.Exactly(p.Y), lang.Short), {}}})
		}
		for j := range setups[i].Rows {
			if p, ok := speedOf(setups[i].Rows[j].Stage, gpus); ok {
				eligible = append(eligible, choose.FrontPoint{Name: strconv.Itoa(len(rows)), PerUser: p.X, PerGPU: p.Y})
				rows = append(rows, &setups[i].Rows[j])
			}
		}
		slices.SortStableFunc(s.Points, byX)
		if len(s.Points) == 0 {
			apart.Name = s.Name
		}
		panel.Series = append(panel.Series, s, apart)
	}
	if len(t.Rows) < 2 {
		return layout.Figure{}, false
	}
	front, undominated := draw.Series{Key: "front", Style: draw.Front}, choose.Front(eligible)
	for _, p := range undominated {
		front.Points = append(front.Points, draw.Point{X: p.PerUser, Y: p.PerGPU})
	}
	for k, p := range eligible {
		for row, st := range stood {
			if slices.Contains(undominated, p) && (st == rows[k].Stage || slices.Contains(rows[k].Repeats, st)) {
				t.Rows[row].Cells[3] = layout.Cell{Text: draw.Say(wordOnFront)}
			}
		}
	}
	panel.Series = append([]draw.Series{front}, panel.Series...)
	fig := draw.Figure{Name: name, Title: title, X: draw.Axis{Label: draw.Say(axisPerUser), Format: draw.Number}, Panels: []draw.Panel{panel}}
	note := draw.Say(noteFront)
	if slices.ContainsFunc(stood, func(st *rundir.Stage) bool { return !takesPart(setups, st) }) {
		note = note.Plus(draw.Say(noteFrontApart))
	}
	return layout.Figure{Name: name, Title: title, Note: note.Plus(leftOutNote(setups)), Variants: Variants(fig, false, false), Table: t}, true
}

// speedOf is a stage as a user sees it, in tokens per second of one answer, and as a GPU does; ok is false where either is not known.
func speedOf(s *rundir.Stage, gpus float64) (p draw.Point, ok bool) {
	itl, _, _ := curve.ITL(s)
	output := s.TokensPerS.Output
	if !itl.Known() || itl.Value() <= 0 || !output.Known() || output.Value() <= 0 {
		return p, false
	}
	return draw.Point{X: 1 / itl.Value(), Y: output.Value() / gpus}, true
}

// takesPart reports whether a stage is one of the rows that comparing and choosing rest on.
func takesPart(setups []curve.Setup, st *rundir.Stage) bool {
	return slices.ContainsFunc(setups, func(s curve.Setup) bool {
		return slices.ContainsFunc(s.Rows, func(r curve.Row) bool { return r.Stage == st || slices.Contains(r.Repeats, st) })
	})
}

// leftOutNote tells how many rows are not drawn because the audit calls them impossible; empty for none.
func leftOutNote(setups []curve.Setup) draw.Text {
	n := 0
	for i := range setups {
		for j := range setups[i].Run.Stages {
			if setups[i].Impossible(&setups[i].Run.Stages[j]) {
				n++
			}
		}
	}
	if n == 0 {
		return draw.Text{}
	}
	return draw.Say(noteImpossible, n)
}

// Alone is a run as comparing and choosing see it.
func Alone(run *rundir.Run) []curve.Setup { return curve.Load([]curve.Input{{Run: run}}) }
