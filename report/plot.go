package report

import (
	"cmp"
	"io"
	"math"
	"slices"
	"strings"

	"llmsweep/sweep/rundir"
)

// The size of a chart, and the least that is worth drawing.
const (
	plotHeight = 7  // rows of the drawing
	plotLabels = 8  // columns of the labels beside it
	plotNarrow = 18 // columns of the drawing below which there is none
	plotWide   = 48 // columns beyond which more would not help
	plotPoints = 4  // rates
)

// point is one place on a chart. A bound is somewhere above it.
type point struct {
	x, y  float64
	bound bool
}

// chart is one small drawing: a figure against the rate offered.
type chart struct {
	title      string
	points     []point
	label      func(y float64) string
	log        bool
	saturation float64 // NaN where there is none
	ascii      bool
}

// writePlot draws output and latency against the rate, side by side, where there are enough rates and enough room.
func writePlot(w io.Writer, run *rundir.Run, o Options) error {
	width := 100
	if o.Width > 0 {
		width = o.Width
	}
	columns := min((width-indent-gap)/2-plotLabels-2, plotWide)
	charts := []chart{throughputChart(run, o), latencyChart(run, o)}
	if columns < plotNarrow || len(charts[0].points) < plotPoints || len(charts[1].points) < plotPoints {
		return nil
	}
	left, right := charts[0].lines(columns), charts[1].lines(columns)
	var b strings.Builder
	b.WriteString("\n")
	for i := range left {
		line := strings.Repeat(" ", indent) + pad(left[i], plotLabels+2+columns, true) + strings.Repeat(" ", gap) + right[i]
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	note := plotAxis.in(o.Lang)
	if !math.IsNaN(charts[0].saturation) {
		note = plotAgainst.in(o.Lang, charts[0].tick())
	}
	if slices.ContainsFunc(slices.Concat(charts[0].points, charts[1].points), func(p point) bool { return p.bound }) {
		note += plotBound.in(o.Lang)
	}
	b.WriteString(strings.Repeat(" ", indent) + paint(note, Faint, o.Color) + "\n")
	_, err := io.WriteString(w, b.String())
	return err
}

func throughputChart(run *rundir.Run, o Options) chart {
	return chart{
		title:      plotOutput.in(o.Lang),
		points:     plotted(run, output),
		label:      func(y float64) string { return short(y, false) },
		saturation: saturationRate(run),
		ascii:      o.ASCII,
	}
}

func latencyChart(run *rundir.Run, o Options) chart {
	c := chart{
		title:      plotTTFT.in(o.Lang),
		points:     plotted(run, func(s *rundir.Stage) rundir.Number { return s.TTFT.Mean }),
		label:      func(y float64) string { return durationText(rundir.Exactly(y)) },
		saturation: saturationRate(run),
		ascii:      o.ASCII,
	}
	if low, high := c.extent(); low > 0 && high > 10*low {
		c.log = true
		c.title += " (log)"
	}
	return c
}

// plotted are the rates that were asked for and what a figure was at each.
func plotted(run *rundir.Run, of take) []point {
	var points []point
	for i := range run.Stages {
		s := &run.Stages[i]
		y := of(s)
		if (s.Role == rundir.Grid || s.Role == rundir.Probe) && s.Rate.Known() && s.Invalid.IsZero() && !y.IsZero() {
			points = append(points, point{s.Rate.Value(), y.Value(), y.Bound()})
		}
	}
	slices.SortFunc(points, func(a, b point) int { return cmp.Compare(a.x, b.x) })
	return points
}

func saturationRate(run *rundir.Run) float64 {
	if run.Saturation == nil || !run.Saturation.Rate.Known() {
		return math.NaN()
	}
	return run.Saturation.Rate.Value()
}

// extent is the range of the y axis: from 0, or from the lowest point where the axis is logarithmic.
func (c *chart) extent() (low, high float64) {
	low, high = math.Inf(1), 0
	for _, p := range c.points {
		low, high = min(low, p.y), max(high, p.y)
	}
	return low, high
}

// right is the end of the x axis, which starts at 0.
func (c *chart) right() float64 {
	x := c.points[len(c.points)-1].x
	if c.saturation > x { // never for NaN
		x = c.saturation
	}
	return x
}

func (c *chart) tick() string {
	if c.ascii {
		return "|"
	}
	return "┴"
}

// lines draws the chart.
func (c *chart) lines(columns int) []string {
	grid := newCanvas(columns, plotHeight, c.ascii)
	low, high := c.extent()
	if !c.log {
		low = 0
	}
	at := func(p point) (x, y int) {
		fx, fy := p.x/c.right(), 1.0
		switch {
		case c.log:
			fy = math.Log(p.y/low) / math.Log(high/low)
		case high > 0:
			fy = p.y / high
		}
		return int(math.Round(fx * float64(grid.dotsX()-1))), int(math.Round((1 - fy) * float64(grid.dotsY()-1)))
	}
	mark := -1
	if !math.IsNaN(c.saturation) {
		mark = int(math.Round(c.saturation / c.right() * float64(columns-1)))
	}
	grid.column(mark)
	for i, p := range c.points {
		x, y := at(p)
		if i > 0 {
			px, py := at(c.points[i-1])
			grid.segment(px, py, x, y)
		}
	}
	for _, p := range c.points {
		x, y := at(p)
		grid.spot(x, y, p.bound)
	}
	return c.frame(grid.rows(), low, high, mark, columns)
}

// frame puts axes and their labels around a drawing.
func (c *chart) frame(rows []string, low, high float64, mark, columns int) []string {
	side, corner, dash := "│", "└", "─"
	if c.ascii {
		side, corner, dash = "|", "+", "-"
	}
	middle := (low + high) / 2
	if c.log {
		middle = math.Sqrt(low * high)
	}
	labels := map[int]string{0: c.label(high), len(rows) / 2: c.label(middle)}
	lines := []string{pad("", plotLabels+2, true) + c.title}
	for i, r := range rows {
		lines = append(lines, pad(labels[i], plotLabels, false)+" "+side+r)
	}
	bottom := "0"
	if c.log {
		bottom = c.label(low)
	}
	axis := strings.Split(strings.Repeat(dash, columns), "")
	if mark >= 0 {
		axis[mark] = c.tick()
	}
	lines = append(lines, pad(bottom, plotLabels, false)+" "+corner+strings.Join(axis, ""))
	return append(lines, pad("", plotLabels+2, true)+c.ruler(mark, columns))
}

// ruler labels the x axis: its ends and the saturation point, which comes first where they collide.
func (c *chart) ruler(mark, columns int) string {
	line := []byte(strings.Repeat(" ", columns))
	put := func(at int, s string) {
		at = min(max(at, 0), columns-len(s))
		if strings.TrimSpace(string(line[max(at-1, 0):min(at+len(s)+1, columns)])) == "" {
			copy(line[at:], s)
		}
	}
	if mark >= 0 {
		s := short(c.saturation, false)
		put(mark-len(s)/2, s)
	}
	put(0, "0")
	put(columns, short(c.right(), false))
	return string(line)
}

// canvas is a drawing in characters: eight braille dots each, or one where only ASCII will do.
type canvas struct {
	cells [][]rune
	ascii bool
}

const brailleBlank = '\u2800'

func newCanvas(columns, rows int, ascii bool) canvas {
	c := canvas{ascii: ascii}
	for range rows {
		c.cells = append(c.cells, []rune(strings.Repeat(" ", columns)))
	}
	return c
}

func (c canvas) dotsX() int {
	if c.ascii {
		return len(c.cells[0])
	}
	return 2 * len(c.cells[0])
}

func (c canvas) dotsY() int {
	if c.ascii {
		return len(c.cells)
	}
	return 4 * len(c.cells)
}

// dot sets one dot.
func (c canvas) dot(x, y int) {
	if x < 0 || y < 0 || x >= c.dotsX() || y >= c.dotsY() {
		return
	}
	if c.ascii {
		c.cells[y][x] = '.'
		return
	}
	bits := [4][2]rune{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}} // how Unicode numbers the dots
	cell := &c.cells[y/4][x/2]
	if *cell < brailleBlank {
		*cell = brailleBlank
	}
	*cell |= bits[y%4][x%2]
}

// column marks a column from top to bottom; whatever is drawn later covers it.
func (c canvas) column(x int) {
	for y := range c.cells {
		if x >= 0 {
			c.cells[y][x] = ':'
		}
	}
}

// segment draws a line.
func (c canvas) segment(x0, y0, x1, y1 int) {
	steps := max(abs(x1-x0), abs(y1-y0), 1)
	for i := range steps + 1 {
		f := float64(i) / float64(steps)
		c.dot(x0+int(math.Round(f*float64(x1-x0))), y0+int(math.Round(f*float64(y1-y0))))
	}
}

// spot draws a measured point; one that is only a lower bound points upwards.
func (c canvas) spot(x, y int, bound bool) {
	if bound || c.ascii {
		symbol := '*'
		if bound {
			symbol = '^'
		}
		c.cells[y*len(c.cells)/c.dotsY()][x*len(c.cells[0])/c.dotsX()] = symbol
		return
	}
	for _, d := range [][2]int{{0, 0}, {1, 0}, {0, 1}, {1, 1}} {
		c.dot(x+d[0], y+d[1])
	}
}

func (c canvas) rows() []string {
	var rows []string
	for _, cells := range c.cells {
		rows = append(rows, string(cells))
	}
	return rows
}

func abs(n int) int { return max(n, -n) }
