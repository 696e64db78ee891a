package page

import (
	"slices"
	"strconv"

	"llmsweep/report/choose"
	"llmsweep/report/draw"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// costOfSpeed draws what a million output tokens cost against what a user gets, a line for each configuration in the colour of its kind of GPU. ok is
// false where fewer than two rows have a price. Rows that the audit calls impossible are left out.
func costOfSpeed(name string, setups []setup.Setup, names []string, prices choose.Prices) (f FigureBlock, ok bool) {
	title := titleCostSpeed.Text()
	t := &Grid{Name: "t-" + name, Open: true, Table: table.Table{Title: title, Columns: []table.Column{
		{Head: headRun.Text(), Left: true}, {Head: lang.HeadBenchmark.Text(), Left: true}, {Head: lang.Same("GPU"), Left: true}, {Head: plotsAxisPerUser.Text()}, {Head: axisMillion.Text()},
	}}}
	panel := draw.Panel{Y: draw.Axis{Label: axisMillion.Text(), Format: draw.Number}, Height: 220}
	short := shortNames(names)
	var gpus []string
	for i := range setups {
		labels := setups[i].Run.Labels
		price, known := prices.Of(labels)
		if !known || labels.GPUs == 0 {
			continue
		}
		at := slices.Index(gpus, labels.GPU)
		if at < 0 {
			at, gpus = len(gpus), append(gpus, labels.GPU)
		}
		s := draw.Series{Key: "g" + strconv.Itoa(at), Name: lang.Same(short[i]), Colour: at}
		for j := range setups[i].Rows {
			st := setups[i].Rows[j].Stage
			p, ok := speedOf(st, float64(labels.GPUs))
			if !ok || setups[i].Impossible(st) {
				continue
			}
			const million, hour = 1e6, 3600
			p.Y, p.Row = price*million/(p.Y*hour), len(t.Rows)+1
			p.Shape, _ = shape(st)
			s.Points = append(s.Points, p)
			t.Add(table.Literal(short[i]), table.Literal(findings.StageName(st)), table.Literal(labels.GPU), table.Number(rundir.Exactly(p.X), "", lang.Short), table.Number(rundir.Exactly(p.Y), "", lang.Short))
		}
		slices.SortStableFunc(s.Points, byX)
		panel.Series = append(panel.Series, s)
	}
	if places(&panel) < 2 {
		return f, false
	}
	fig := draw.Figure{Name: name, Title: title, X: draw.Axis{Label: plotsAxisPerUser.Text(), Format: draw.Number}, Panels: []draw.Panel{panel}}
	f = FigureBlock{Name: name, Title: title, Note: noteCostSpeed.Text().Plus(leftOutNote(setups)), Variants: PlotVariants(fig, true, wide(panel)), Table: t}
	for i, gpu := range gpus {
		f.Switches = append(f.Switches, Switch{Key: "g" + strconv.Itoa(i), Text: lang.Same(table.Clean(gpu)), Colour: i % draw.Colours, Dashed: i >= draw.Colours})
	}
	return f, true
}
