package page

import (
	"cmp"
	"math"
	"slices"

	"llmsweep/report/draw"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

func timeline(v *view, traces map[string]*traceStage) (f FigureBlock, ok bool) {
	rates := draw.Panel{Y: draw.Axis{Label: axisRates.Text()}, Height: 84}
	flight := draw.Panel{Y: draw.Axis{Label: axisFlight.Text()}, Height: 70}
	ttft := draw.Panel{Y: draw.Axis{Label: lang.Same("TTFT"), Format: draw.Seconds, Log: true}, Height: 84}
	fig := draw.Figure{
		Name:  "timeline",
		Title: titleTimeline.Text(),
		X:     draw.Axis{Label: axisRunTime.Text(), Format: draw.Seconds},
		Right: 60,
	}
	for _, st := range stagesByStart(v.Run) {
		tr := traces[st.Name]
		if tr == nil {
			continue
		}
		from, to := st.Started, st.Started+tr.Length
		fig.Spans = append(fig.Spans, draw.Span{Class: "window", Low: from, High: to, Mark: math.NaN()})
		rates.Series = append(rates.Series,
			tr.meanSeries("due", draw.Offered, draw.Path, from, tr.Due, 1/tr.Width),
			tr.meanSeries("done", draw.Completed, draw.Path, from, tr.Done, 1/tr.Width))
		flight.Series = append(flight.Series,
			tr.meanSeries("flight", draw.InFlight, draw.Area, from, tr.InFlight, 1))
		for i, p := range []rundir.Number{st.TTFT.P50, st.TTFT.P90} {
			if !p.IsZero() && p.Value() > 0 {
				ttft.Series = append(ttft.Series, draw.Series{
					Key:    []string{"p50", "p90"}[i],
					Colour: []int{draw.Median, draw.P90}[i],
					Style:  draw.Path,
					Points: []draw.Point{{X: from, Y: p.Value()}, {X: to, Y: p.Value()}},
				})
			}
		}
	}
	if len(fig.Spans) < 2 {
		return f, false
	}
	nameLast(rates.Series, map[string]lang.Text{"due": wordDue.Text(), "done": wordDone.Text()})
	nameLast(ttft.Series, map[string]lang.Text{"p50": lang.Same("p50"), "p90": lang.Same("p90")})
	fig.Panels = []draw.Panel{rates, flight}
	if len(ttft.Series) > 0 {
		fig.Panels = append(fig.Panels, ttft)
	}
	f = newFigureBlock(&fig, newVariant("lin", lang.Text{}, &fig, false))
	f.Note = noteTimeline.Text()
	return f, true
}

func stagesByStart(run *rundir.Run) []*rundir.Stage {
	var all []*rundir.Stage
	for i := range run.Stages {
		all = append(all, &run.Stages[i])
	}
	slices.SortStableFunc(all, func(a, b *rundir.Stage) int { return cmp.Compare(a.Started, b.Started) })
	return all
}

const maxTimelinePoints = 24 // of a stage

func (t *traceStage) meanSeries(key string, colour int, style draw.Style, from float64, values []float64,
	scale float64) draw.Series {
	s := draw.Series{Key: key, Colour: colour, Style: style}
	group := max(1, len(t.Due)/maxTimelinePoints)
	for i := 0; i < len(values); i += group {
		sum, n := 0.0, min(group, len(values)-i)
		for _, v := range values[i : i+n] {
			sum += v
		}
		s.Points = append(s.Points, draw.Point{X: from + (float64(i)+float64(n)/2)*t.Width, Y: sum / float64(n) * scale})
	}
	return s
}

// nameLast names the last series of each key: it stands at the end of the drawing.
func nameLast(all []draw.Series, names map[string]lang.Text) {
	for i := range slices.Backward(all) {
		if name, ok := names[all[i].Key]; ok {
			all[i].Name = name
			delete(names, all[i].Key)
		}
	}
}
