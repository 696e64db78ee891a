package page

import (
	"math"
	"strconv"

	"llmsweep/report/draw"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/slo"
)

// overTimeLimits bound what is drawn of each stage, so that the page of any run stays below a megabyte.
func overTimeLimits(n int) traceLimits {
	const points, slowest, usual = 3 * traceIntervals, 4, 12
	share := min(1, usual/float64(max(n, 1)))
	return traceLimits{Points: int(points * share), Slowest: max(2, int(slowest*share))}
}

func stagePanels(v *view, traces map[string]*traceStage, data map[string]any) []Panel {
	var all []Panel
	first := operatingStage(v.Run)
	if first == nil {
		first = v.best()
	}
	for i, r := range v.Rows {
		t := traces[r.Stage.Name]
		if t == nil {
			continue
		}
		id := "s" + strconv.Itoa(i+1)
		_, verdict := shape(r)
		p := Panel{ID: id, Name: lang.Same(findings.StageName(r.Stage) + " · ").Plus(verdict)}
		p.Figures = []FigureBlock{timeFigure(v, id, r.Stage, t, data)}
		for _, m := range traceMetrics() {
			if f, ok := distribution(id, m, r.Stage, t, data); ok {
				p.Figures = append(p.Figures, f)
			}
		}
		p.Slowest = slowest(id, r, t)
		p.First = r.Stage == first
		all = append(all, p)
	}
	return all
}

// operatingStage is the stable stage whose rate is nearest to the comfortable load; nil where none is known.
func operatingStage(run *rundir.Run) *rundir.Stage {
	a := saturation.AnswerOf(run)
	if a == nil || !a.Rate.Known() {
		return nil
	}
	const share = 0.8 // of the rate, where it has no comfortable load
	load := share * a.Rate.Value()
	if a.Comfortable != nil {
		load = a.Comfortable.Rate.Value()
	}
	var nearest *rundir.Stage
	off := func(s *rundir.Stage) float64 { return math.Abs(findings.Offered(s).Value() - load) }
	for i := range run.Stages {
		s := &run.Stages[i]
		if s.Rate.Known() && s.Verdict == rundir.Stable && s.Invalid.IsZero() && isDrawn(s) &&
			(nearest == nil || off(s) < off(nearest)) {
			nearest = s
		}
	}
	return nearest
}

func timeFigure(v *view, id string, s *rundir.Stage, t *traceStage, data map[string]any) FigureBlock {
	name := id + "-time"
	perSecond := 1 / t.Width
	arrivals := draw.Panel{Y: draw.Axis{Label: axisArrivals.Text()}, Height: 60, Series: []draw.Series{
		t.series("due", wordDue.Text(), draw.Offered, draw.Steps, t.Due, perSecond),
		t.series("done", wordDone.Text(), draw.Completed, draw.Path, t.Done, perSecond),
	}}
	flight := draw.Panel{
		Y:      draw.Axis{Label: axisFlight.Text()},
		Height: 84,
		Series: []draw.Series{t.series("flight", wordFlight.Text(), draw.InFlight, draw.Area, t.InFlight, 1)},
	}
	kv, running, waiting := serverSeries(t)
	flight.Series = append(flight.Series, running, waiting)
	tokens := draw.Panel{
		Y:      draw.Axis{Label: axisTokens.Text()},
		Height: 60,
		Series: []draw.Series{t.series("tokens", lang.Text{}, draw.Output, draw.Area, t.Tokens, perSecond)},
	}
	ttft, note := ttftPanel(v, t, data, name)
	fig := draw.Figure{
		Name:  name,
		Title: titleTime.Text(),
		X:     draw.Axis{Label: axisTime.Text(), High: t.Length, Format: draw.Seconds},
		Right: 76,
	}
	fig.Panels = []draw.Panel{arrivals, flight, tokens, ttft}
	if len(kv.Points) > 0 {
		fig.Panels = append(fig.Panels, draw.Panel{
			Y:      draw.Axis{Label: axisKV.Text(), High: 1, Format: draw.Share},
			Height: 54,
			Series: []draw.Series{kv},
		})
	}
	if s.Window > 0 {
		fig.Spans = []draw.Span{{
			Text:  tagWindow.Text(),
			Class: "window",
			Low:   s.WindowFrom,
			High:  s.WindowFrom + s.Window,
			Mark:  math.NaN(),
		}}
	}
	svg, spots := fig.SVG()
	if points, ok := data[name+"-points"].(map[string]any); ok {
		points["spots"] = spots
	}
	f := newFigureBlock(&fig, Variant{Key: "lin", SVG: markup(svg), Drawn: &fig})
	f.Note, f.Lazy = note, []LazyTable{{Name: name + "-points", Text: pageNumbers.Text()}}
	return f
}

func (t *traceStage) series(key string, text lang.Text, colour int, style draw.Style, values []float64,
	scale float64) draw.Series {
	s := draw.Series{Key: key, Name: text, Colour: colour, Style: style}
	for i, y := range values {
		x := float64(i) * t.Width
		if style != draw.Steps {
			x += t.Width / 2
		}
		s.Points = append(s.Points, draw.Point{X: x, Y: y * scale})
	}
	if style == draw.Steps {
		s.Points = append(s.Points, draw.Point{X: t.Length, Y: values[len(values)-1] * scale})
	}
	return s
}

func serverSeries(t *traceStage) (kv, running, waiting draw.Series) {
	kv = draw.Series{Key: "kv", Colour: draw.Ink, Style: draw.Path}
	running = draw.Series{Key: "running", Name: wordRunning.Text(), Colour: draw.Ink, Style: draw.Path}
	waiting = draw.Series{Key: "waiting", Name: wordWaiting.Text(), Colour: draw.Ink, Style: draw.Path, Dashed: true}
	for _, r := range thinReadings(t.Readings) {
		for _, g := range []struct {
			to *draw.Series
			n  rundir.Number
		}{{&kv, r.KVUsage}, {&running, r.Running}, {&waiting, r.Waiting}} {
			if g.n.Known() {
				g.to.Points = append(g.to.Points, draw.Point{X: r.At, Y: g.n.Value()})
			}
		}
	}
	return kv, running, waiting
}

// thinReadings keeps as many readings as can be seen at the width of a drawing, at equal distances.
func thinReadings(all []rundir.Reading) []rundir.Reading {
	if len(all) <= traceSlices {
		return all
	}
	var thinned []rundir.Reading
	for i := range traceSlices {
		thinned = append(thinned, all[i*len(all)/traceSlices])
	}
	return thinned
}

// ttftPanel draws each request at the instant at which it was due; one without a TTFT is a cross at the lower edge.
func ttftPanel(v *view, t *traceStage, data map[string]any, name string) (draw.Panel, lang.Text) {
	panel := draw.Panel{Y: draw.Axis{Label: axisPoints.Text(), Log: true, Format: draw.Seconds}, Height: 130}
	least := math.Inf(1)
	for _, p := range t.Points {
		if p.TTFT.Value() > 0 {
			least = min(least, p.TTFT.Value())
		}
	}
	if math.IsInf(least, 1) {
		least = 1e-3
	}
	cloud := draw.Series{Key: "ttft", Colour: draw.Median, Style: draw.Dots}
	rows := [][]any{}
	for _, p := range t.Points {
		point := draw.Point{X: p.Due, Y: p.TTFT.Value(), Bound: p.TTFT.Bound()}
		if p.TTFT.IsZero() || p.TTFT.Value() <= 0 {
			point.Y, point.Shape = least, draw.Cross
		}
		cloud.Points = append(cloud.Points, point)
		rows = append(rows, []any{requestName(p), shortNumber(p.Due), scriptNumber(p.TTFT), scriptNumber(p.Latency),
			scriptNumber(p.Tokens), statusText(p)})
	}
	panel.Series = []draw.Series{cloud}
	panel.Rules = v.limits(slo.TTFT)
	cols := tableHeads(headRequest.Text(), headDueS.Text(), headTTFTS.Text(), headLatencyS.Text(), headTokens.Text(),
		headStatus.Text())
	data[name+"-points"] = map[string]any{"cols": cols, "rows": rows}
	if len(t.Points) == t.Requests {
		return panel, lang.Text{}
	}
	return panel, noteSomeDrawn.Text(len(t.Points), t.Requests)
}
