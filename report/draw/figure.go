// Package draw makes drawings: SVG for pages and files, with texts in both languages, and text for a terminal. It knows
// stages only in rate_figure.go. A [Figure] has panels over one x axis, a [Panel] has series, bars and limits; labels
// stand at the lines and never cover each other. Begin with figure.go.
package draw

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/lang"
)

// Figure is a drawing: panels, one beneath the other, over one x axis.
type Figure struct {
	Name  string // unique in its page; part of ids
	Title lang.Text
	// Caption says what the figure shows, in words; empty where the title says enough.
	Caption lang.Text
	X       Axis
	Panels  []Panel
	Spans   []Span
	Marks   []Mark
	// least width of the margin for labels on the right, in pixels, so that drawings beside each other are alike
	Right float64
}

// Panel is one drawing area with its own y axis, or rows of bars.
type Panel struct {
	Y      Axis
	Height float64 // pixels of the area; that of bars is given by their number
	Series []Series
	Rules  []Rule
	Bars   []Bar // along the x axis, each in a row with its name: there are no series then
}

func (p *Panel) areaHeight() float64 {
	const row = 14
	if n := len(p.Bars); n > 0 {
		return row * float64(n)
	}
	return p.Height
}

// Style is how the points of a series are drawn.
type Style uint8

// The styles.
const (
	Line        Style = iota // a line through markers
	MarkersOnly              // markers alone
	Path                     // a line without markers
	Area                     // a filled area beneath a line without markers
	Steps                    // a filled outline of bars, each from its X to that of the next point
	Dots                     // small points, too many for markers
	Front                    // a broad pale line
)

// Series is one line, or a cloud of points.
type Series struct {
	Key    string    // of the switch that shows and hides it
	Name   lang.Text // stands at its end; none where it is empty
	Colour int
	Style  Style
	Dashed bool
	Points []Point
}

// Point is one point. Low and High are its interval: NaN, or both 0, for none.
type Point struct {
	X, Y      float64
	Low, High float64
	Bound     bool // the value is at least Y
	Faint     bool // too few requests support it
	Shape     Shape
	Row       int    // of the table beneath the drawing, from 1; 0 for none
	Title     string // what it rests on: shown where a pointer rests on it, in files of their own
}

// Shape is a marker.
type Shape uint8

// The markers.
const (
	Circle Shape = iota
	Triangle
	Diamond
	Ring
	Square
	Cross
)

// Span is a range of the x axis, shaded from top to bottom, with a text above it. Mark, unless NaN, is a line in it.
type Span struct {
	Text            lang.Text
	Class           string
	Low, High, Mark float64
}

// Mark is a line from top to bottom with a text above it.
type Mark struct {
	Text  lang.Text
	At    float64
	Bound bool
}

// Rule is a line from left to right, with a text: a limit.
type Rule struct {
	Key  string // of the series that it belongs to
	Text lang.Text
	At   float64
}

// The measures of a figure, in pixels.
const (
	figureWidth    = 440
	leftMargin     = 60
	minRightMargin = 14
	maxRightMargin = 150
	headRow        = 17 // of the y label, and of a row of tags
	footHeight     = 40 // ticks and label of the x axis
	panelGap       = 10
	minTickGap     = 6 // a tick of the y axis this near to the top of its panel has no number
)

type canvas struct {
	*Figure
	b          strings.Builder
	l          lang.Lang // empty for both
	x          scale
	top        float64 // of the panel that is drawn
	bottom     float64
	y          scale
	spots      [][2]float64
	standalone bool // it is a file of its own: no script shows what points rest on
}

// SVG returns the figure as an svg element for a page, in both languages; and where its dots are, in pixels of the
// drawing and in the order of their series.
func (f *Figure) SVG() (svg string, spots [][2]float64) {
	c := canvas{Figure: f}
	c.draw()
	return c.b.String(), c.spots
}

func (c *canvas) fitX() {
	e := newExtent()
	right := max(minRightMargin, c.Right)
	for _, p := range c.Panels {
		for _, s := range p.Series {
			for _, q := range s.Points {
				e.add(q.X)
			}
			if !s.Name.IsZero() && s.Style != Front {
				right = max(right, min(textWidth(s.Name)+12, maxRightMargin))
			}
		}
		for _, b := range p.Bars {
			e.add(b.At, b.Low, b.High)
		}
	}
	for _, s := range c.Spans {
		e.add(s.Low, s.High, s.Mark)
	}
	for _, m := range c.Marks {
		e.add(m.At)
	}
	c.x = c.X.fit(e, leftMargin, figureWidth-right)
}

func (c *canvas) draw() {
	c.fitX()
	tags := c.tags()
	rows := 0
	for _, t := range tags {
		rows = max(rows, t.row+1)
	}
	head := float64(rows) * headRow
	height := head + footHeight
	for i := range c.Panels {
		height += headRow + c.Panels[i].areaHeight() + panelGap
	}
	c.open(height)
	top := head
	for i := range c.Panels {
		top += headRow
		c.panel(&c.Panels[i], top, i == len(c.Panels)-1)
		top += c.Panels[i].areaHeight() + panelGap
	}
	c.writeTags(tags, head, top-panelGap)
	c.b.WriteString(`<path class="cross" d=""/></svg>`)
	c.bottom = height
}

func (c *canvas) open(height float64) {
	fmt.Fprintf(&c.b,
		`<svg class="fig" viewBox="0 0 %d %s" role="img" aria-labelledby="%s-t" data-l="%s" data-r="%s">`, figureWidth,
		px(height), Escape(c.Name), px(c.x.from), px(c.x.to))
}

func (c *canvas) tags() []tag {
	var all []tag
	for _, s := range c.Spans {
		if s.Text.IsZero() {
			continue
		}
		at := (s.Low + s.High) / 2
		if !math.IsNaN(s.Mark) {
			at = s.Mark
		}
		all = append(all, tag{text: s.Text, class: s.Class, x: c.x.clamp(at)})
	}
	for _, m := range c.Marks {
		all = append(all, tag{text: m.Text, class: "mark", x: c.x.clamp(m.At), flag: true})
	}
	return stackTags(all, 2, figureWidth-2)
}

func (c *canvas) panel(p *Panel, top float64, last bool) {
	e := p.extent()
	const near = 4 // a limit this many times the highest value is still drawn: farther away it would flatten the curve
	for _, r := range p.Rules {
		if p.Y.Log || r.At < near*e.high {
			e.add(r.At)
		}
	}
	c.top, c.bottom = top, top+p.areaHeight()
	c.y = p.Y.fit(e, c.bottom, c.top)
	c.axes(p, last)
	for _, s := range c.Spans {
		c.span(s)
	}
	c.bars(p.Bars)
	var names []label
	for i := range p.Series {
		c.series(&p.Series[i])
		if l, ok := c.label(&p.Series[i]); ok {
			names = append(names, l)
		}
	}
	c.rules(p)
	c.labels(p, names)
}

// Uncertain reports whether some point has an interval, is a bound, or rests on too few requests.
func (f *Figure) Uncertain() bool {
	return slices.ContainsFunc(f.Panels, func(p Panel) bool {
		return slices.ContainsFunc(p.Series, func(s Series) bool {
			return slices.ContainsFunc(s.Points, func(q Point) bool { return q.High > q.Low || q.Bound || q.Faint })
		})
	})
}

// FixAxes fixes the axes to the range of all series, so that drawings of some of them can be compared.
func (f *Figure) FixAxes() {
	x := newExtent()
	for i := range f.Panels {
		p := &f.Panels[i]
		for _, s := range p.Series {
			for _, q := range s.Points {
				x.add(q.X)
			}
		}
		e := p.extent()
		p.Y.Low, p.Y.High = e.low, e.high
	}
	f.X.Low, f.X.High = x.low, x.high
}

// extent clips intervals so wide that the points could no longer be read.
func (p *Panel) extent() extent {
	const reach = 1.5 // times the highest point, and below the lowest one by as much
	e := newExtent()
	for _, s := range p.Series {
		for _, q := range s.Points {
			e.add(q.Y)
		}
	}
	low, high := e.low/reach, e.high*reach
	for _, s := range p.Series {
		for _, q := range s.Points {
			if q.Low != 0 || q.High != 0 {
				e.add(max(q.Low, low), min(q.High, high))
			}
		}
	}
	return e
}

func (c *canvas) axes(p *Panel, last bool) {
	about := max(2, int(p.Height/32))
	var grid strings.Builder
	for _, v := range c.y.ticks(about) {
		if len(p.Bars) > 0 { // the rows have names instead
			break
		}
		y := c.y.at(v)
		fmt.Fprintf(&grid, "M%s %sH%s", px(c.x.from), px(y), px(c.x.to))
		if y > c.top+minTickGap { // else it would touch the label of the axis, which stands above
			c.text(c.x.from-6, y+4, "tick", "end", lang.Same(p.Y.format(v)))
		}
	}
	const perTick = 62 // pixels for a label of the x axis
	for _, v := range c.x.ticks(int((c.x.to - c.x.from) / perTick)) {
		x := c.x.at(v)
		fmt.Fprintf(&grid, "M%s %sV%s", px(x), px(c.top), px(c.bottom))
		if last {
			c.text(x, c.bottom+16, "tick", "middle", lang.Same(c.X.format(v)))
		}
	}
	fmt.Fprintf(&c.b, `<path class="grid" d="%s"/>`, grid.String())
	fmt.Fprintf(&c.b, `<path class="axis" d="M%s %sV%sH%s"/>`, px(c.x.from), px(c.top), px(c.bottom), px(c.x.to))
	c.text(4, c.top-6, "name", "start", p.Y.Label)
	if last {
		c.text((c.x.from+c.x.to)/2, c.bottom+33, "name", "middle", c.X.Label)
	}
}

func (a Axis) format(v float64) string {
	if a.Format == nil {
		return Number(v)
	}
	return a.Format(v)
}

func (c *canvas) span(s Span) {
	if s.High > s.Low {
		a, b := c.x.clamp(s.Low), c.x.clamp(s.High)
		fmt.Fprintf(&c.b, `<path class="span %s" d="M%s %sH%sV%sH%sz"/>`, s.Class, px(a), px(c.top), px(max(b, a+1)),
			px(c.bottom), px(a))
	}
	if !math.IsNaN(s.Mark) {
		fmt.Fprintf(&c.b, `<path class="spanmark %s" d="M%s %sV%s"/>`, s.Class, px(c.x.clamp(s.Mark)), px(c.top),
			px(c.bottom))
	}
}

func (c *canvas) writeTags(tags []tag, head, bottom float64) {
	for _, t := range tags {
		const ascent = 9 // of a text
		y := head - float64(t.row)*headRow - 5
		if t.flag {
			from, w := y-ascent, textWidth(t.text)
			if t.left+w > t.x-flagGap+1e-6 { // too near to the left edge: the text stands over its line
				from = y + ascent/2
			}
			fmt.Fprintf(&c.b, `<path class="mark" d="M%s %sV%s"/>`, px(t.x), px(from), px(bottom))
			c.text(t.left+w, y, "tag "+t.class, "end", t.text)
			continue
		}
		c.text(t.left+textWidth(t.text)/2, y, "tag "+t.class, "middle", t.text)
	}
}

// rules writes the text of a limit on the side where fewer curves cross it, and those of limits above the panel over
// its right end, where nothing is drawn.
func (c *canvas) rules(p *Panel) {
	var names []label
	var above lang.Text
	for _, r := range p.Rules {
		if r.At > c.y.high {
			if !above.IsZero() {
				above = above.Plus(lang.Same(", "))
			}
			above = above.Plus(r.Text)
			continue
		}
		y := c.y.clamp(r.At)
		fmt.Fprintf(&c.b, `<path class="rule" data-k="%s" d="M%s %sH%s"/>`, Escape(r.Key), px(c.x.from), px(y), px(c.x.to))
		names = append(names, label{text: r.Text, class: Escape(r.Key), y: y - 4})
	}
	for _, n := range spreadLabels(names, c.top+11, c.bottom-3) {
		const pad = 5
		x, w := c.x.from+pad, textWidth(n.text)
		if right := c.x.to - pad - w; right > x && c.crossings(p, right, n.at, w) < c.crossings(p, x, n.at, w) {
			x = right
		}
		fmt.Fprintf(&c.b, `<text class="rule" data-k="%s" x="%s" y="%s">%s</text>`, n.class, px(x), px(n.at),
			svgText(n.text, c.l))
	}
	if !above.IsZero() {
		c.text(c.x.to, c.top-6, "rule", "end", lang.Same("↑ ").Plus(above))
	}
}

// crossings counts where curves of a panel go through a text whose baseline begins at x, y.
func (c *canvas) crossings(p *Panel, x, y, width float64) (n int) {
	const ascent, descent, every = 11.0, 4.0, 4.0
	for _, s := range p.Series {
		for i := range s.Points {
			a, b := s.Points[max(i-1, 0)], s.Points[i]
			x0, y0, x1, y1 := c.x.clamp(a.X), c.y.clamp(a.Y), c.x.clamp(b.X), c.y.clamp(b.Y)
			steps := max(1, math.Hypot(x1-x0, y1-y0)/every)
			for k := 0.0; k <= steps; k++ {
				at, height := x0+(x1-x0)*k/steps, y0+(y1-y0)*k/steps
				if at > x-every && at < x+width+every && height > y-ascent && height < y+descent {
					n++
				}
			}
		}
	}
	return n
}

func (c *canvas) label(s *Series) (label, bool) {
	if s.Name.IsZero() || len(s.Points) == 0 || s.Style == Front || s.Style == Dots {
		return label{}, false
	}
	end := s.Points[len(s.Points)-1]
	return label{
		text:  s.Name,
		class: colourClass(s.Colour) + `" data-k="` + Escape(s.Key),
		y:     c.y.clamp(end.Y) + 4,
		from:  c.x.clamp(end.X),
	}, true
}

// labels writes names at the last points of the series, or at the right edge where a curve would cross them. Where many
// would have to move, none are written.
func (c *canvas) labels(p *Panel, all []label) {
	const gap, most = 8, Colours
	fits := func(n label) bool {
		return math.Abs(n.at-n.y) <= lineHeight && c.crossings(p, n.from+gap, n.at, textWidth(n.text)) == 0
	}
	placed := spreadLabels(all, c.top+8, c.bottom+2)
	if len(placed) > most && slices.ContainsFunc(placed, func(n label) bool { return !fits(n) }) {
		return
	}
	for _, n := range placed {
		x := n.from + gap
		if !fits(n) {
			x = c.x.to + gap
			fmt.Fprintf(&c.b, `<path class="lead %s" d="M%s %sL%s %s"/>`, n.class, px(n.from+4), px(n.y-4), px(x-2),
				px(n.at-4))
		}
		fmt.Fprintf(&c.b, `<text class="end %s" x="%s" y="%s">%s</text>`, n.class, px(x), px(n.at), svgText(n.text, c.l))
	}
}

func (c *canvas) text(x, y float64, class, anchor string, t lang.Text) {
	if t.IsZero() {
		return
	}
	a := ""
	if anchor != "start" {
		a = ` text-anchor="` + anchor + `"`
	}
	fmt.Fprintf(&c.b, `<text class="%s" x="%s" y="%s"%s>%s</text>`, class, px(x), px(y), a, svgText(t, c.l))
}

func px(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "0"
	}
	return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64)
}
