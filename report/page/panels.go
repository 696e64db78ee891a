package page

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/page/draw"
	"llmsweep/report/page/trace"
	"llmsweep/report/stages"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// panels are the stages over time, in the order of the tables.
func (v *view) panels(traces map[string]*trace.Stage, data map[string]any) []Panel {
	var all []Panel
	shown := firstOver(v.run)
	if shown == nil {
		shown = v.best() // no stage is beyond saturation
	}
	for i, r := range v.rows {
		t := traces[r.Stage.Name]
		if t == nil {
			continue
		}
		id := "s" + itoa(i+1)
		_, verdict := shapeOf(r.Stage)
		p := Panel{ID: id, Name: draw.Same(rowName(r.Stage) + stages.Marks(r.Stage) + " · ").Plus(verdict)}
		p.Figures = []Figure{v.overTime(id, r.Stage, t, data)}
		for _, m := range trace.Metrics() {
			if f, ok := v.distribution(id, m, r.Stage, t, data); ok {
				p.Figures = append(p.Figures, f)
			}
		}
		p.Slowest = v.slowest(id, r.Stage, t)
		p.First = r.Stage == shown
		all = append(all, p)
	}
	return all
}

// firstOver is the stage of the lowest rate that the server did not keep up with; nil where there is none.
func firstOver(run *rundir.Run) *rundir.Stage {
	var over *rundir.Stage
	for i := range run.Stages {
		s := &run.Stages[i]
		if (s.Verdict == rundir.Saturated || s.Verdict == rundir.Shedding) && s.Invalid.IsZero() && (over == nil || s.Rate.Value() < over.Rate.Value()) {
			over = s
		}
	}
	return over
}

// overTime draws a stage over time: arrivals, in flight, tokens, the TTFT of each request, and what the server said of itself, on one axis.
func (v *view) overTime(id string, s *rundir.Stage, t *trace.Stage, data map[string]any) Figure {
	name := id + "-time"
	series := func(key string, text draw.Text, colour int, style draw.Style, values []float64, scale float64) draw.Series {
		one := draw.Series{Key: key, Name: text, Colour: colour, Style: style}
		for i, y := range values {
			x := float64(i) * t.Width
			if style != draw.Steps {
				x += t.Width / 2
			}
			one.Points = append(one.Points, draw.Point{X: x, Y: y * scale})
		}
		if style == draw.Steps {
			one.Points = append(one.Points, draw.Point{X: t.Length, Y: values[len(values)-1] * scale})
		}
		return one
	}
	perSecond := 1 / t.Width
	arrivals := draw.Panel{Y: draw.Axis{Label: say(axisArrivals)}, Height: 60, Series: []draw.Series{
		series("due", say(wordDue), 0, draw.Steps, t.Due, perSecond), series("done", say(wordDone), 2, draw.Path, t.Done, perSecond),
	}}
	flight := draw.Panel{Y: draw.Axis{Label: say(axisFlight)}, Height: 84, Series: []draw.Series{series("flight", say(wordFlight), 3, draw.Area, t.InFlight, 1)}}
	kv := draw.Series{Key: "kv", Name: say(wordKV), Colour: 5, Style: draw.Path}
	running := draw.Series{Key: "running", Name: say(wordRunning), Colour: 2, Style: draw.Path}
	waiting := draw.Series{Key: "waiting", Name: say(wordWaiting), Colour: 1, Style: draw.Path, Dashed: true}
	for _, r := range t.Readings {
		for _, g := range []struct {
			to *draw.Series
			n  rundir.Number
		}{{&kv, r.KVUsage}, {&running, r.Running}, {&waiting, r.Waiting}} {
			if g.n.Known() {
				g.to.Points = append(g.to.Points, draw.Point{X: r.At, Y: g.n.Value()})
			}
		}
	}
	flight.Series = append(flight.Series, running, waiting)
	tokens := draw.Panel{Y: draw.Axis{Label: say(axisTokens)}, Height: 60, Series: []draw.Series{series("tokens", draw.Text{}, 0, draw.Area, t.Tokens, perSecond)}}
	ttft, note := v.cloud(t, data, name)
	fig := draw.Figure{Name: name, Title: say(titleTime, rowName(s)), X: draw.Axis{Label: say(axisTime), High: t.Length, Format: draw.Seconds}, Right: 76}
	fig.Panels = []draw.Panel{arrivals, flight, tokens, ttft}
	if len(kv.Points) > 0 {
		fig.Panels = append(fig.Panels, draw.Panel{Y: draw.Axis{Label: say(axisKV), High: 1, Format: draw.Share}, Height: 54, Series: []draw.Series{kv}})
	}
	if s.Window > 0 {
		fig.Spans = []draw.Span{{Text: say(tagWindow), Class: "window", Low: s.WindowFrom, High: s.WindowFrom + s.Window, Mark: math.NaN()}}
	}
	svg, spots := fig.SVG("")
	if points, ok := data[name+"-points"].(map[string]any); ok {
		points["spots"] = spots
	}
	data[name+"-slices"] = slicesTable(t)
	if len(t.Readings) == 0 {
		note = note.Plus(say(noteNoReadings))
	} else {
		data[name+"-server"] = serverTable(t)
	}
	f := Figure{Name: name, Title: fig.Title, Note: note, Variants: []Variant{{Key: "lin", SVG: markup(svg), figure: &fig}}}
	f.Lazy = []Lazy{{name + "-slices", say(tableSlices)}, {name + "-points", say(tablePoints)}}
	if len(t.Readings) > 0 {
		f.Lazy = append(f.Lazy, Lazy{name + "-server", say(tableServer)})
	}
	return f
}

// cloud is each request's TTFT, at the instant at which it was due; a request without one stands at the lower edge as a cross.
func (v *view) cloud(t *trace.Stage, data map[string]any, name string) (draw.Panel, draw.Text) {
	panel := draw.Panel{Y: draw.Axis{Label: say(axisPoints), Log: true, Format: draw.Seconds}, Height: 130}
	least := math.Inf(1)
	for _, p := range t.Points {
		if p.TTFT.Value() > 0 {
			least = min(least, p.TTFT.Value())
		}
	}
	if math.IsInf(least, 1) {
		least = 1e-3
	}
	cloud := draw.Series{Key: "ttft", Colour: 0, Style: draw.Dots}
	rows := [][]any{}
	for _, p := range t.Points {
		point := draw.Point{X: p.Due, Y: p.TTFT.Value(), Bound: p.TTFT.Bound()}
		if p.TTFT.IsZero() || p.TTFT.Value() <= 0 {
			point.Y, point.Shape = least, draw.Cross
		}
		cloud.Points = append(cloud.Points, point)
		rows = append(rows, []any{requestName(p), short(p.Due), short(p.Queued), value(p.TTFT), value(p.Latency), value(p.Tokens), status(p)})
	}
	panel.Series = []draw.Series{cloud}
	panel.Rules = v.limits(trace.TTFT)
	data[name+"-points"] = map[string]any{
		"cols": heads(say(headRequest), say(headDueS), say(headQueuedS), say(headTTFTS), say(headLatencyS), say(headTokens), say(headStatus)), "rows": rows,
	}
	if len(t.Points) == t.Requests {
		return panel, say(noteAllDrawn, t.Requests)
	}
	return panel, say(noteSomeDrawn, len(t.Points), t.Requests, trace.Intervals)
}

// requestName is the number of a request, and its turn in a conversation.
func requestName(p trace.Point) string {
	if p.Turn > 0 {
		return fmt.Sprintf("%d.%d", p.Seq, p.Turn)
	}
	return itoa(p.Seq)
}

func status(p trace.Point) string {
	if p.Error != "" {
		return table.Clean(p.Error)
	}
	return table.Clean(p.Status)
}

// heads are headings of a table that the script makes, in both languages.
func heads(all ...draw.Text) [][2]string {
	var out [][2]string
	for _, t := range all {
		out = append(out, [2]string{t.EN, t.ZH})
	}
	return out
}

// short is a number with four digits, as short as JSON has it.
func short(v float64) any {
	if !known(v) {
		return nil
	}
	f, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64) // what FormatFloat wrote
	return f
}

// value is a number for the script; a lower bound is a text.
func value(n rundir.Number) any {
	switch {
	case n.IsZero():
		return nil
	case n.Bound():
		return "> " + lang.Short(n.Value(), true)
	}
	return short(n.Value())
}

// slicesTable has the numbers of the lines over time.
func slicesTable(t *trace.Stage) map[string]any {
	rows := [][]any{}
	for i := range t.Due {
		rows = append(rows, []any{
			short(float64(i) * t.Width), t.Due[i], t.Done[i], t.Failed[i], short(t.InFlight[i]), short(t.Tokens[i] / t.Width),
		})
	}
	return map[string]any{"cols": heads(say(headFromS), say(wordDue), say(wordDone), say(headFailed), say(axisFlight), say(axisTokens)), "rows": rows}
}

// serverTable has what the server said of itself.
func serverTable(t *trace.Stage) map[string]any {
	rows := [][]any{}
	for _, r := range t.Readings {
		rows = append(rows, []any{short(r.At), value(r.Running), value(r.Waiting), value(r.KVUsage), value(r.Preemptions)})
	}
	return map[string]any{"cols": heads(say(headAtS), say(wordRunning), say(wordWaiting), say(axisKV), say(headPreemptions)), "rows": rows}
}

// marked are the percentiles that a distribution shows.
func marked() []string { return []string{"p50", "p90", "p99"} }

// leastShare is how far below the median a distribution is drawn. Gaps between chunks that were read together are a few microseconds, which
// says nothing of the server; drawn, they would leave no room for the rest.
const leastShare = 100

// distribution draws how a metric is distributed, on a logarithmic axis.
func (v *view) distribution(id, metric string, s *rundir.Stage, t *trace.Stage, data map[string]any) (Figure, bool) {
	d, title := v.metric(metric, s)
	bars, below := t.Values[metric].Bars(d.P50.Value() / leastShare)
	if len(bars) == 0 {
		return Figure{}, false
	}
	name := id + "-" + metric
	one := draw.Series{Key: "n", Colour: 0, Style: draw.Steps}
	rows := [][]any{}
	for _, b := range bars {
		one.Points = append(one.Points, draw.Point{X: b.Low, Y: b.Count})
		rows = append(rows, []any{lang.Time(rundir.Exactly(b.Low)), lang.Time(rundir.Exactly(b.High)), math.Round(b.Count)})
	}
	one.Points = append(one.Points, draw.Point{X: bars[len(bars)-1].High, Y: bars[len(bars)-1].Count})
	fig := draw.Figure{Name: name, Title: title, X: draw.Axis{Label: title, Log: true, Format: draw.Seconds}}
	what := say(axisRequests)
	if metric == trace.ITL {
		what = say(axisGaps)
	}
	fig.Panels = []draw.Panel{{Y: draw.Axis{Label: what}, Height: 110, Series: []draw.Series{one}}}
	for _, p := range marked() {
		n := d.Get(p)
		if n.IsZero() || n.Value() <= 0 {
			continue
		}
		text := p + " " + lang.Time(n)
		if !d.Supported(p) {
			text += "?"
		}
		fig.Marks = append(fig.Marks, draw.Mark{Text: draw.Same(text), At: n.Value(), Bound: n.Bound()})
	}
	svg, _ := fig.SVG("")
	f := Figure{Name: name, Title: title, Variants: []Variant{{Key: "log", SVG: markup(svg)}}, Lazy: []Lazy{{name + "-bins", say(pageNumbers)}}}
	data[name+"-bins"] = map[string]any{"cols": heads(say(headFrom), say(headTo), say(headCount)), "rows": rows}
	if h := t.Values[metric]; h.Bounded > 0 {
		f.Note = say(noteBounded, lang.Shortest(h.Bounded), lang.Shortest(h.N))
	}
	if below > 0 {
		f.Note = f.Note.Plus(say(noteBelow, lang.Shortest(below), lang.Time(rundir.Exactly(bars[0].Low))))
	}
	return f, true
}

// metric returns a distribution of a stage, and what it is called.
func (v *view) metric(metric string, s *rundir.Stage) (*rundir.Dist, draw.Text) {
	switch metric {
	case trace.TTFT:
		return &s.TTFT, say(titleTTFT)
	case trace.ITL:
		return &s.ITL, say(titleITL)
	}
	return &s.Latency, say(titleLatency)
}

// slowest lists the slowest requests of a stage.
func (v *view) slowest(id string, s *rundir.Stage, t *trace.Stage) *Slowest {
	if len(t.Slowest) == 0 {
		return nil
	}
	out := &Slowest{Note: say(noteSlowest, len(t.Slowest), s.Requests.Due)}
	for _, m := range trace.Metrics() {
		d, _ := v.metric(m, s)
		for _, p := range []string{"p50", "p90", "p95", "p99"} {
			if n := d.Get(p); !n.IsZero() {
				out.Choices = append(out.Choices, Choice{Metric: m, Text: draw.Same(strings.ToUpper(m) + " " + p).Plus(draw.Same(" · " + lang.Time(n))), Value: n.Value()})
			}
		}
	}
	for i := range out.Choices {
		if c := &out.Choices[i]; c.Metric == trace.Latency {
			c.Text = draw.Text{EN: strings.Replace(c.Text.EN, "LATENCY", "latency", 1), ZH: strings.Replace(c.Text.ZH, "LATENCY", "总时延", 1)}
		}
	}
	shown := &Table{Name: "t-" + id + "-slowest", Title: say(titleSlowest), Open: true}
	for _, h := range []draw.Text{say(headRequest), say(headDueS), say(headQueued), draw.Same("TTFT"), draw.Say(lang.HeadLatency), say(headTokens), say(headLongest)} {
		shown.Columns = append(shown.Columns, Column{Head: h})
	}
	shown.Columns = append(shown.Columns, Column{Head: say(headStrip), Left: true}, Column{Head: say(headStatus), Left: true})
	all := slices.Clone(t.Slowest)
	slices.SortStableFunc(all, func(a, b trace.Request) int { return larger(b.TTFT.Value(), a.TTFT.Value()) })
	for _, r := range all {
		gap := rundir.Exactly(r.LongestGap)
		if len(r.Gaps) == 0 {
			gap = rundir.Number{}
		}
		shown.Rows = append(shown.Rows, Row{
			Cells: []Cell{
				plain(requestName(r.Point)), number(rundir.Exactly(r.Due), lang.Fixed(2)), duration(rundir.Exactly(r.Queued)), duration(r.TTFT), duration(r.Latency),
				number(r.Tokens, lang.WholeOr(0)), duration(gap), {Raw: strip(r)}, plain(status(r.Point)),
			},
			Attrs: []Attr{{"data-ttft", attr(r.TTFT)}, {"data-itl", attr(gap)}, {"data-latency", attr(r.Latency)}},
		})
	}
	out.Table = shown
	return out
}

// larger orders numbers, those that are absent last.
func larger(a, b float64) int {
	switch {
	case math.IsNaN(a) && math.IsNaN(b):
		return 0
	case math.IsNaN(a) || a < b:
		return -1
	case math.IsNaN(b) || a > b:
		return 1
	}
	return 0
}

func attr(n rundir.Number) string {
	if n.IsZero() {
		return "-1"
	}
	return sprint(n.Value())
}

// stripCells is the most bars of a strip: more cannot be told apart at its width.
const stripCells = 32

// strip draws the gaps of an answer, one bar a gap, as high as the gap is long beside the longest of the answer. Where there are more gaps than
// bars, a bar is the longest of its gaps.
func strip(r trace.Request) template.HTML {
	const width, height = 144, 30
	longest := r.LongestGap
	if len(r.Gaps) == 0 || longest <= 0 {
		return ""
	}
	var b strings.Builder
	n := min(len(r.Gaps), stripCells)
	fmt.Fprintf(&b, "M0 %d", height)
	for i := range n {
		worst := slices.Max(r.Gaps[i*len(r.Gaps)/n : (i+1)*len(r.Gaps)/n])
		fmt.Fprintf(&b, "V%dH%d", min(height-1, height-int(math.Round(worst/longest*height))), (i+1)*width/n)
	}
	return markup(fmt.Sprintf(`<svg class="strip" viewBox="0 0 %d %d" preserveAspectRatio="none" aria-hidden="true"><path d="%sV%dz"/></svg>`, width, height, b.String(), height))
}

// markup marks SVG that package draw, or this one, wrote: every text in it is escaped.
func markup(svg string) template.HTML { return template.HTML(svg) }
