package page

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/audit"
	"llmsweep/report/choose"
	"llmsweep/report/draw"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// speedPlot draws output per GPU against speed per user, with the Pareto front of the rows that a choice rests on.
// names is nil for one run.
func speedPlot(name string, setups []setup.Setup, names []string) (FigureBlock, bool) {
	perGPU := !slices.ContainsFunc(setups, func(s setup.Setup) bool { return s.Run.Labels.GPUs == 0 })
	y, title := axisPerServer.Text(), titleSpeed.Text()
	if perGPU {
		y = plotsAxisPerGPU.Text()
	}
	panel := draw.Panel{Y: draw.Axis{Label: y, Format: draw.Number}, Height: 220}
	sp := speedPoints{
		table: &Grid{
			Name: "t-" + name,
			Table: table.Table{
				Title: title,
				Columns: []table.Column{
					{Head: lang.HeadLoad.Text(), Left: true},
					{Head: plotsAxisPerUser.Text()},
					{Head: y},
					{Head: plotsHeadFront.Text(), Left: true},
				},
			},
		},
	}
	for i := range setups {
		gpus := 1.0
		if perGPU {
			gpus = float64(setups[i].Run.Labels.GPUs)
		}
		label := ""
		if names != nil {
			label = names[i]
		}
		panel.Series = append(panel.Series, sp.add(&setups[i], i, label, names != nil, gpus)...)
	}
	if len(sp.table.Rows) < 2 {
		return FigureBlock{}, false
	}
	panel.Series = append([]draw.Series{sp.front()}, panel.Series...)
	fig := draw.Figure{
		Name:    name,
		Title:   title,
		Caption: axesCaption(y, plotsAxisPerUser.Text()),
		X:       draw.Axis{Label: plotsAxisPerUser.Text(), Format: draw.Number},
		Panels:  []draw.Panel{panel},
	}
	f := newFigureBlock(&fig, plotVariants(fig, false)...)
	f.Note, f.Table = plotsNoteFront.Text(), sp.table
	if sp.apart {
		f.Note = f.Note.Plus(noteFrontApart.Text())
	}
	f.Note = f.Note.Plus(impossibleNote(setups))
	return f, true
}

type speedPoints struct {
	table    *Grid
	stages   []*rundir.Stage     // of the rows of the table
	eligible []choose.FrontPoint // for the front
	rows     []*setup.Row        // of those
	apart    bool                // some points take no part in the front
}

// add returns the points of a setup that take part in the front, and those apart.
func (sp *speedPoints) add(own *setup.Setup, i int, name string, named bool, gpus float64) []draw.Series {
	key := "r" + strconv.Itoa(i)
	s := draw.Series{Key: key, Colour: i, Style: draw.MarkersOnly}
	single := s
	if named {
		s.Name, s.Style, s.Dashed = lang.Same(name), draw.Line, i >= draw.Colours
	}
	for _, r := range findings.AllStages(own.Run) {
		p, ok := speedPoint(audit.DropDoubted(r.Stage), gpus)
		if !isDrawn(r.Stage) || !r.Stage.Invalid.IsZero() || own.Impossible(r.Stage) || !ok {
			continue
		}
		label := findings.StageName(r.Stage)
		if named {
			label = strings.TrimPrefix(name+": "+label, ": ")
		}
		p.Row, p.Title = len(sp.table.Rows)+1, filepath.Base(own.Where(r.Stage))
		p.Shape, _ = shape(r)
		sp.stages = append(sp.stages, r.Stage)
		if slices.ContainsFunc(own.Rows, func(row setup.Row) bool { return row.Includes(r.Stage) }) {
			s.Points = append(s.Points, p)
		} else {
			single.Points, sp.apart = append(single.Points, p), true
		}
		sp.table.Add(table.Literal(label), table.Number(rundir.Exactly(p.X), "", lang.Short),
			table.Number(rundir.Exactly(p.Y), "", lang.Short), table.Cell{})
	}
	for j := range own.Rows {
		if p, ok := speedPoint(own.Rows[j].Stage, gpus); ok {
			sp.eligible = append(sp.eligible, choose.FrontPoint{Name: strconv.Itoa(len(sp.rows)), PerUser: p.X, PerGPU: p.Y})
			sp.rows = append(sp.rows, &own.Rows[j])
		}
	}
	slices.SortStableFunc(s.Points, byX)
	if len(s.Points) == 0 {
		single.Name = s.Name
	}
	return []draw.Series{s, single}
}

func (sp *speedPoints) front() draw.Series {
	front, undominated := draw.Series{Key: "front", Style: draw.Front}, choose.Front(sp.eligible)
	for _, p := range undominated {
		front.Points = append(front.Points, draw.Point{X: p.PerUser, Y: p.PerGPU})
	}
	for k, p := range sp.eligible {
		for row, st := range sp.stages {
			if slices.Contains(undominated, p) && (st == sp.rows[k].Stage || slices.Contains(sp.rows[k].Repeats, st)) {
				sp.table.Rows[row][3] = table.Cell{Text: wordOnFront.Text()}
			}
		}
	}
	return front
}

// speedPoint is in tokens per second of one answer, and of one GPU.
func speedPoint(s *rundir.Stage, gpus float64) (p draw.Point, ok bool) {
	itl, _, _ := setup.ITL(s)
	output := s.TokensPerS.Output
	if !itl.Known() || itl.Value() <= 0 || !output.Known() || output.Value() <= 0 {
		return p, false
	}
	return draw.Point{X: 1 / itl.Value(), Y: output.Value() / gpus}, true
}

func impossibleNote(setups []setup.Setup) lang.Text {
	n := 0
	for i := range setups {
		for j := range setups[i].Run.Stages {
			if setups[i].Impossible(&setups[i].Run.Stages[j]) {
				n++
			}
		}
	}
	if n == 0 {
		return lang.Text{}
	}
	return noteImpossible.Text(n)
}

// costOfSpeed draws the cost of a million output tokens against speed per user; ok is false where fewer than two rows
// have a price.
func costOfSpeed(name string, setups []setup.Setup, names []string, prices choose.Prices) (f FigureBlock, ok bool) {
	title := titleCostSpeed.Text()
	t := &Grid{Name: "t-" + name, Table: table.Table{Title: title, Columns: []table.Column{
		{Head: headRun.Text(), Left: true},
		{Head: lang.HeadLoad.Text(), Left: true},
		{Head: lang.Same("GPU"), Left: true},
		{Head: plotsAxisPerUser.Text()},
		{Head: axisMillion.Text()},
	}}}
	panel := draw.Panel{Y: draw.Axis{Label: axisMillion.Text(), Format: draw.Number}, Height: 220}
	short := lineNames(names)
	var priced []int
	for i := range setups {
		labels := setups[i].Run.Labels
		price, known := prices.GPUHour(labels)
		if !known || labels.GPUs == 0 {
			continue
		}
		priced = append(priced, i)
		s := draw.Series{Key: "r" + strconv.Itoa(i), Name: lang.Same(short[i]), Colour: i, Dashed: i >= draw.Colours}
		for j := range setups[i].Rows {
			st := setups[i].Rows[j].Stage
			p, ok := speedPoint(st, float64(labels.GPUs))
			if !ok || setups[i].Impossible(st) {
				continue
			}
			p.Y, p.Row = rundir.CostOfMillion(price, p.Y), len(t.Rows)+1
			p.Shape, _ = shape(findings.StageRow{Run: setups[i].Run, Stage: st})
			s.Points = append(s.Points, p)
			t.Add(table.Literal(names[i]), table.Literal(findings.StageName(st)), table.Literal(labels.GPU),
				table.Number(rundir.Exactly(p.X), "", lang.Short), table.Number(rundir.Exactly(p.Y), "", lang.Short))
		}
		slices.SortStableFunc(s.Points, byX)
		panel.Series = append(panel.Series, s)
	}
	if countX(&panel) < 2 {
		return f, false
	}
	fig := draw.Figure{
		Name:    name,
		Title:   title,
		Caption: axesCaption(axisMillion.Text(), plotsAxisPerUser.Text()),
		X:       draw.Axis{Label: plotsAxisPerUser.Text(), Format: draw.Number},
		Panels:  []draw.Panel{panel},
	}
	f = newFigureBlock(&fig, plotVariants(fig, true)...)
	f.Note, f.Table = noteCostSpeed.Text().Plus(impossibleNote(setups)), t
	for i, label := range buttonNames(names) {
		if slices.Contains(priced, i) {
			f.Switches = append(f.Switches, newSwitch("r"+strconv.Itoa(i), label, i))
		}
	}
	return f, true
}
