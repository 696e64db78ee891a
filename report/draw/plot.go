package draw

import (
	"math"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/table"
)

// The size of a drawing on a terminal. It was chosen so that two fit side by side from 80 columns on.
const (
	textHeight     = 7 // rows of the drawing
	textLabels     = 8 // columns of the labels beside it
	textFrame      = textLabels + 2
	minTextColumns = 18 // columns of a drawing, below which it shows no shape
	maxTextColumns = 48 // columns of a drawing, beyond which it shows no more
)

type textPlot struct {
	title    string
	x, y     Axis
	points   []Point
	mark     float64 // x of a vertical line, NaN for none
	markText string  // at its foot
	ascii    bool
}

// TextColumns returns the width of each of two drawings side by side, and whether it is enough to draw anything.
func TextColumns(width int) (columns int, ok bool) {
	columns = min(width/2-textFrame, maxTextColumns)
	return columns, columns >= minTextColumns
}

// TextWidth returns the columns that [Figure.Terminal] takes, axes included.
func TextWidth(columns int) int { return columns + textFrame }

// Tick returns the sign on the x axis that marks [Span.Mark].
func Tick(ascii bool) string {
	if ascii {
		return "|"
	}
	return "┴"
}

// Terminal draws the first series of the first panel, which must have points, with a line at the mark of the first
// span. columns is the width without the labels.
func (f *Figure) Terminal(l lang.Lang, columns int, ascii bool) []string {
	p := &f.Panels[0]
	t := textPlot{title: f.Title.In(l), x: f.X, y: p.Y, points: p.Series[0].Points, mark: math.NaN(), ascii: ascii}
	if len(f.Spans) > 0 {
		t.mark, t.markText = f.Spans[0].Mark, f.Spans[0].Text.In(l)
	}
	return t.lines(columns)
}

func valueRange(points []Point) (low, high float64) {
	low, high = math.Inf(1), 0
	for _, p := range points {
		low, high = min(low, p.Y), max(high, p.Y)
	}
	return low, high
}

func (c *textPlot) lastX() float64 {
	x := c.points[len(c.points)-1].X
	if c.mark > x { // never for NaN
		x = c.mark
	}
	return x
}

func (c *textPlot) lines(columns int) []string {
	grid := newTextCanvas(columns, c.ascii)
	low, high := valueRange(c.points)
	if !c.y.Log {
		low = 0
	}
	at := func(p Point) (x, y int) {
		fx, fy := p.X/c.lastX(), 1.0
		switch {
		case c.y.Log:
			fy = math.Log(p.Y/low) / math.Log(high/low)
		case high > 0:
			fy = p.Y / high
		}
		return int(math.Round(fx * float64(grid.dotsX()-1))), int(math.Round((1 - fy) * float64(grid.dotsY()-1)))
	}
	mark := -1
	if c.mark >= 0 { // NaN is not
		mark = int(math.Round(c.mark / c.lastX() * float64(columns-1)))
		for _, row := range grid.cells {
			row[mark] = ':'
		}
	}
	for i, p := range c.points {
		x, y := at(p)
		if i > 0 {
			px, py := at(c.points[i-1])
			grid.drawSegment(px, py, x, y)
		}
	}
	for _, p := range c.points {
		x, y := at(p)
		grid.drawPoint(x, y, p.Bound)
	}
	return c.addAxes(grid.rows(), low, high, mark, columns)
}

func (c *textPlot) addAxes(rows []string, low, high float64, mark, columns int) []string {
	side, corner, dash := "│", "└", "─"
	if c.ascii {
		side, corner, dash = "|", "+", "-"
	}
	middle := (low + high) / 2
	if c.y.Log {
		middle = math.Sqrt(low * high)
	}
	labels := map[int]string{0: c.y.Format(high), len(rows) / 2: c.y.Format(middle)}
	lines := []string{strings.Repeat(" ", textFrame) + c.title}
	for i, r := range rows {
		lines = append(lines, table.Pad(labels[i], textLabels, false)+" "+side+r)
	}
	bottom := "0"
	if c.y.Log {
		bottom = c.y.Format(low)
	}
	axis := strings.Split(strings.Repeat(dash, columns), "")
	if mark >= 0 {
		axis[mark] = Tick(c.ascii)
	}
	lines = append(lines, table.Pad(bottom, textLabels, false)+" "+corner+strings.Join(axis, ""))
	return append(lines, strings.Repeat(" ", textFrame)+c.ruler(mark, columns))
}

// ruler leaves out the ends of the axis where they would touch the text at the mark.
func (c *textPlot) ruler(mark, columns int) string {
	line := []byte(strings.Repeat(" ", columns))
	label := c.x.Format
	if label == nil {
		label = func(x float64) string { return lang.Short(x, false) }
	}
	put := func(at int, s string) {
		at = min(max(at, 0), columns-len(s))
		if strings.TrimSpace(string(line[max(at-1, 0):min(at+len(s)+1, columns)])) == "" {
			copy(line[at:], s)
		}
	}
	if mark >= 0 {
		put(mark-len(c.markText)/2, c.markText)
	}
	put(0, "0")
	put(columns, label(c.lastX()))
	return string(line)
}

// textCanvas is a drawing in characters: eight braille dots each, or one where only ASCII will do.
type textCanvas struct {
	cells [][]rune
	ascii bool
}

const brailleBlank = '\u2800'

func newTextCanvas(columns int, ascii bool) textCanvas {
	c := textCanvas{ascii: ascii}
	for range textHeight {
		c.cells = append(c.cells, []rune(strings.Repeat(" ", columns)))
	}
	return c
}

func (c textCanvas) dotsX() int {
	if c.ascii {
		return len(c.cells[0])
	}
	return 2 * len(c.cells[0])
}

func (c textCanvas) dotsY() int {
	if c.ascii {
		return len(c.cells)
	}
	return 4 * len(c.cells)
}

func (c textCanvas) dot(x, y int) {
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

func (c textCanvas) drawSegment(x0, y0, x1, y1 int) {
	steps := max(abs(x1-x0), abs(y1-y0), 1)
	for i := range steps + 1 {
		f := float64(i) / float64(steps)
		c.dot(x0+int(math.Round(f*float64(x1-x0))), y0+int(math.Round(f*float64(y1-y0))))
	}
}

func (c textCanvas) drawPoint(x, y int, bound bool) {
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

func (c textCanvas) rows() []string {
	var rows []string
	for _, cells := range c.cells {
		rows = append(rows, string(cells))
	}
	return rows
}

func abs(n int) int { return max(n, -n) }
