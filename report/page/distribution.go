package page

import (
	"math"

	"llmsweep/report/draw"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// minMedianShare is how far below the median a distribution is drawn: gaps between chunks that were read together are a
// few microseconds, say nothing of the server, and would leave no room for the rest.
const minMedianShare = 100

func distribution(id, metric string, s *rundir.Stage, t *traceStage, data map[string]any) (FigureBlock, bool) {
	d, title := metricDist(metric, s)
	bars, below := t.Values[metric].Bars(d.P50.Value() / minMedianShare)
	if len(bars) == 0 {
		return FigureBlock{}, false
	}
	name := id + "-" + metric
	series := draw.Series{Key: "n", Colour: draw.Median, Style: draw.Steps}
	rows := [][]any{}
	for _, b := range bars {
		series.Points = append(series.Points, draw.Point{X: b.Low, Y: b.Count})
		rows = append(rows, []any{lang.Time(rundir.Exactly(b.Low)), lang.Time(rundir.Exactly(b.High)), math.Round(b.Count)})
	}
	series.Points = append(series.Points, draw.Point{X: bars[len(bars)-1].High, Y: bars[len(bars)-1].Count})
	fig := draw.Figure{Name: name, Title: title, X: draw.Axis{Label: title, Log: true, Format: draw.Seconds}}
	what := axisRequests.Text()
	if metric == slo.ITL {
		what = axisGaps.Text()
	}
	fig.Panels = []draw.Panel{{Y: draw.Axis{Label: what}, Height: 110, Series: []draw.Series{series}}}
	for _, p := range []string{"p50", "p90", "p99"} {
		n := d.Get(p)
		if n.IsZero() || n.Value() <= 0 {
			continue
		}
		text := p + " " + lang.Time(n)
		if !d.Supported(p) {
			text += "?"
		}
		fig.Marks = append(fig.Marks, draw.Mark{Text: lang.Same(text), At: n.Value(), Bound: n.Bound()})
	}
	svg, _ := fig.SVG()
	f := newFigureBlock(&fig, Variant{Key: "log", SVG: markup(svg)})
	f.Lazy = []LazyTable{{Name: name + "-bins", Text: pageNumbers.Text()}}
	data[name+"-bins"] = map[string]any{"cols": tableHeads(headFrom.Text(), headTo.Text(), headCount.Text()), "rows": rows}
	if h := t.Values[metric]; h.Bounded > 0 {
		f.Note = noteBounded.Text(lang.Shortest(h.Bounded), lang.Shortest(h.N))
	}
	if below > 0 {
		f.Note = f.Note.Plus(noteBelow.Text(lang.Shortest(below), lang.Time(rundir.Exactly(bars[0].Low))))
	}
	return f, true
}

func metricDist(metric string, s *rundir.Stage) (*rundir.Dist, lang.Text) {
	switch metric {
	case slo.TTFT:
		return &s.TTFT, titleTTFT.Text()
	case slo.ITL:
		return &s.ITL, titleITL.Text()
	}
	return &s.Latency, titleLatency.Text()
}
