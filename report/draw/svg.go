package draw

import (
	"fmt"
	"html"
	"io"
	"math"
	"strconv"
	"strings"

	"llmsweep/report/table"
)

// TextChart is one panel of a drawing that is a file of its own.
type TextChart struct {
	Title, X, Y string
	LogY        bool
	Series      []TextSeries
	Spans       []TextSpan // ranges of x, drawn in a strip beneath the axis; Note names them
	Note        string
	Front       []Spot // a line through the best of all series
	FrontName   string
}

// TextSeries is one line of a chart, or single spots.
type TextSeries struct {
	Name  string
	Spots []Spot
	Loose bool // no line between the spots
}

// Spot is one place of a series. A bound is somewhere above it.
type Spot struct {
	X, Y  float64
	Bound bool
	Title string // shown where a pointer rests on it: what it rests on
}

// TextSpan is a range on the x axis, with a mark in it. Either may be missing: NaN.
type TextSpan struct {
	Series          int
	Low, High, Mark float64
	Open            bool // the mark is at least this
}

// The measures of a drawing, in pixels.
const (
	svgWidth, svgHeight = 560, 340
	svgLeft, svgRight   = 72, 16
	svgTop, svgBottom   = 40, 48
	svgStrip            = 11 // of one span
	svgLine             = 18 // of one line of the legend
	svgLegendWidth      = 370
)

// svgColours are told apart by people who see colours otherwise too (Okabe and Ito, 2008); where they end, lines are
// dashed.
func svgColours() []string {
	return []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555", "#b2182b"}
}

// ChartSVG writes charts of the same series side by side, with one legend. The file needs nothing else: no script, no font,
// no address.
func ChartSVG(w io.Writer, charts []TextChart) error {
	if len(charts) == 0 {
		return nil
	}
	var b strings.Builder
	strip := 0
	for _, c := range charts {
		strip = max(strip, len(c.Spans)*svgStrip)
	}
	if strip > 0 {
		strip += svgLine
	}
	names := legendOf(charts)
	width := svgWidth * len(charts)
	perRow := max(width/svgLegendWidth, 1)
	legend := svgHeight + strip
	height := legend + (len(names)+perRow-1)/perRow*svgLine + 12
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="system-ui, 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', sans-serif" font-size="12" fill="#222">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", width, height)
	for i, c := range charts {
		fmt.Fprintf(&b, `<g transform="translate(%d 0)">`+"\n", i*svgWidth)
		c.draw(&b)
		b.WriteString("</g>\n")
	}
	for i, name := range names {
		x, y := svgLeft/2+i%perRow*svgLegendWidth, legend+i/perRow*svgLine+8
		fmt.Fprintf(&b, `<g transform="translate(%d %d)">%s<text x="44" y="4">%s</text></g>`+"\n", x, y, name.sign, html.EscapeString(table.Clean(name.text)))
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// entry is a line of the legend.
type entry struct{ sign, text string }

// legendOf lists the series of the first chart that have a spot, and the front of whichever has one.
func legendOf(charts []TextChart) []entry {
	all := charts[0].legend()
	for _, c := range charts {
		if len(c.Front) > 0 {
			return append(all, entry{`<path d="M6 0H36" ` + frontStroke + `/>`, c.FrontName})
		}
	}
	return all
}

func (c *TextChart) legend() []entry {
	var all []entry
	for i, s := range c.Series {
		if len(s.Spots) == 0 {
			continue
		}
		line := fmt.Sprintf(`<path d="M6 0H36" %s/>`, stroke(i))
		if s.Loose {
			line = ""
		}
		all = append(all, entry{line + marker(i, 21, 0, false), s.Name})
	}
	return all
}

const frontStroke = `fill="none" stroke="#000" stroke-width="7" stroke-opacity="0.13" stroke-linejoin="round"`

// stroke returns the SVG attributes of the line of a series.
func stroke(i int) string {
	colours := svgColours()
	s := fmt.Sprintf(`fill="none" stroke="%s" stroke-width="1.8"`, colours[i%len(colours)])
	if dash := []string{"", "6 3", "2 3"}[i/len(colours)%3]; dash != "" {
		s += ` stroke-dasharray="` + dash + `"`
	}
	return s
}

// marker is the spot of a series: round, square, diamond or triangle, so that colour is not all that tells them apart.
func marker(i int, x, y float64, open bool) string {
	colours := svgColours()
	colour := colours[i%len(colours)]
	fill := colour
	if open {
		fill = "#fff"
	}
	style := fmt.Sprintf(`fill="%s" stroke="%s"`, fill, colour)
	switch (i + i/len(colours)) % 4 { // where colours come again, the shape is another
	case 1:
		return fmt.Sprintf(`<rect x="%.1f" y="%.1f" width="6" height="6" %s/>`, x-3, y-3, style)
	case 2:
		return fmt.Sprintf(`<path d="M%.1f %.1fl4 4l-4 4l-4 -4z" %s/>`, x, y-4, style)
	case 3:
		return fmt.Sprintf(`<path d="M%.1f %.1fl4 7h-8z" %s/>`, x, y-4, style)
	}
	return fmt.Sprintf(`<circle cx="%.1f" cy="%.1f" r="3.3" %s/>`, x, y, style)
}

// textScale turns a value into pixels.
type textScale struct {
	low, high float64
	from, to  float64
	log       bool
}

func (s textScale) at(v float64) float64 {
	if s.log {
		return s.from + (math.Log(v)-math.Log(s.low))/(math.Log(s.high)-math.Log(s.low))*(s.to-s.from)
	}
	return s.from + (v-s.low)/(s.high-s.low)*(s.to-s.from)
}

// draw draws one panel.
func (c *TextChart) draw(b *strings.Builder) {
	x, y := c.scales()
	fmt.Fprintf(b, `<text x="%d" y="22" font-size="14" font-weight="600">%s</text>`+"\n", svgLeft, html.EscapeString(table.Clean(c.Title)))
	c.axes(b, x, y)
	if len(c.Front) > 0 {
		fmt.Fprintf(b, `<path d="%s" %s/>`+"\n", polyline(c.Front, x, y), frontStroke)
	}
	for i, s := range c.Series {
		if !s.Loose && len(s.Spots) > 1 {
			fmt.Fprintf(b, `<path d="%s" %s/>`+"\n", polyline(s.Spots, x, y), stroke(i))
		}
		for _, p := range s.Spots {
			fmt.Fprintf(b, `<g>%s<title>%s</title></g>`+"\n", marker(i, x.at(p.X), y.at(p.Y), p.Bound), html.EscapeString(table.Clean(p.Title)))
		}
	}
	c.strip(b, x)
}

func polyline(spots []Spot, x, y textScale) string {
	var b strings.Builder
	for i, p := range spots {
		fmt.Fprintf(&b, "%c%.1f %.1f", "ML"[min(i, 1)], x.at(p.X), y.at(p.Y))
	}
	return b.String()
}

// scales fit the axes to the spots and spans. The y axis begins at 0, or below the lowest spot where it is logarithmic.
func (c *TextChart) scales() (x, y textScale) {
	right, top, low := 0.0, 0.0, math.Inf(1)
	for _, s := range c.Series {
		for _, p := range s.Spots {
			right, top, low = max(right, p.X), max(top, p.Y), min(low, p.Y)
		}
	}
	for _, s := range c.Spans {
		for _, v := range []float64{s.Low, s.High, s.Mark} {
			if !math.IsNaN(v) {
				right = max(right, v)
			}
		}
	}
	if right <= 0 {
		right = 1
	}
	if top <= 0 {
		top, low = 1, 0.1
	}
	x = textScale{0, right * 1.04, svgLeft, svgWidth - svgRight, false}
	y = textScale{0, top * 1.08, svgHeight - svgBottom, svgTop, false}
	if c.LogY && low > 0 {
		y.log, y.low, y.high = true, low/1.3, top*1.3
	}
	return x, y
}

// axes draws the frame, the grid and the labels.
func (c *TextChart) axes(b *strings.Builder, x, y textScale) {
	line := func(x1, y1, x2, y2 float64, colour string) {
		fmt.Fprintf(b, `<path d="M%.1f %.1fL%.1f %.1f" stroke="%s"/>`+"\n", x1, y1, x2, y2, colour)
	}
	for _, v := range ticks(y) {
		line(x.from, y.at(v), x.to, y.at(v), "#e3e3e3")
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="end">%s</text>`+"\n", x.from-6, y.at(v)+4, tickText(v))
	}
	for _, v := range ticks(x) {
		line(x.at(v), y.from, x.at(v), y.to, "#f0f0f0")
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`+"\n", x.at(v), y.from+17, tickText(v))
	}
	line(x.from, y.from, x.to, y.from, "#777")
	line(x.from, y.from, x.from, y.to, "#777")
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" text-anchor="middle">%s</text>`+"\n", (x.from+x.to)/2, y.from+36, html.EscapeString(table.Clean(c.X)))
	fmt.Fprintf(b, `<text transform="translate(16 %.1f) rotate(-90)" text-anchor="middle">%s</text>`+"\n", (y.from+y.to)/2, html.EscapeString(table.Clean(c.Y)))
}

// ticks are round values along an axis: 1, 2 and 5 times powers of ten.
func ticks(s textScale) []float64 {
	var all []float64
	if s.log {
		every := []float64{1, 2, 5}
		if s.high/s.low > 300 {
			every = []float64{1}
		}
		for e := math.Floor(math.Log10(s.low)); e <= math.Log10(s.high); e++ {
			for _, m := range every {
				if v := m * math.Pow(10, e); v >= s.low && v <= s.high {
					all = append(all, v)
				}
			}
		}
		return all
	}
	step := math.Pow(10, math.Floor(math.Log10((s.high-s.low)/4)))
	for _, m := range []float64{1, 2, 5, 10} {
		if (s.high-s.low)/(step*m) <= 7 {
			step *= m
			break
		}
	}
	for i := 0; float64(i)*step <= s.high; i++ {
		all = append(all, float64(i)*step)
	}
	return all
}

func tickText(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// strip draws the spans beneath the axis, one line a series.
func (c *TextChart) strip(b *strings.Builder, x textScale) {
	if len(c.Spans) == 0 {
		return
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" font-size="11" fill="#555">%s</text>`+"\n", svgLeft, svgHeight+4, html.EscapeString(table.Clean(c.Note)))
	for i, s := range c.Spans {
		y := float64(svgHeight + svgLine + i*svgStrip)
		if !math.IsNaN(s.Low) && !math.IsNaN(s.High) {
			fmt.Fprintf(b, `<path d="M%.1f %.1fv6m0 -3H%.1fm0 -3v6" %s/>`+"\n", x.at(s.Low), y-3, x.at(s.High), stroke(s.Series))
		}
		if math.IsNaN(s.Mark) {
			continue
		}
		b.WriteString(marker(s.Series, x.at(s.Mark), y, s.Open) + "\n")
		if s.Open {
			fmt.Fprintf(b, `<path d="M%.1f %.1fh9m-3 -3l3 3l-3 3" %s/>`+"\n", x.at(s.Mark)+5, y, stroke(s.Series))
		}
	}
}
