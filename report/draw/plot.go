// Draws charts: one model, as SVG files and as text for a terminal.

package draw

import (
	"math"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/table"
)

// The size of a drawing on a terminal. It was chosen so that two fit side by side from 80 columns on.
const (
	textHeight = 7 // rows of the drawing
	textLabels = 8 // columns of the labels beside it
	textFrame  = textLabels + 2
	textLeast  = 18 // columns of a drawing, below which it shows no shape
	textMost   = 48 // columns of a drawing, beyond which it shows no more
)

// text is a chart of one series while it is drawn for a terminal.
type text struct {
	*TextChart
	points []Spot
	mark   float64 // x of a vertical line, NaN for none
	ascii  bool
}

// TextColumns returns the width of a drawing where n of them stand side by side in width columns, and whether that is enough
// to draw anything.
func TextColumns(width, n int) (columns int, ok bool) {
	columns = min(width/n-textFrame, textMost)
	return columns, columns >= textLeast
}

// TextWidth returns the columns that [Chart.Text] takes, axes included.
func TextWidth(columns int) int { return columns + textFrame }

// Tick returns the sign on the x axis that marks [Span.Mark].
func Tick(ascii bool) string {
	if ascii {
		return "|"
	}
	return "┴"
}

// Text draws the first series for a terminal, with a line at the mark of the first span; columns is the width without the
// labels. The series must have spots.
func (c *TextChart) Text(columns int, ascii bool) []string {
	return c.TextOf(columns, textHeight, ascii)
}

// TextOf is [Chart.Text] with a number of rows.
func (c *TextChart) TextOf(columns, rows int, ascii bool) []string {
	t := text{TextChart: c, points: c.Series[0].Spots, mark: math.NaN(), ascii: ascii}
	if len(c.Spans) > 0 {
		t.mark = c.Spans[0].Mark
	}
	return t.lines(columns, rows)
}

// Extent returns the lowest and the highest y of the first series.
func (c *TextChart) Extent() (low, high float64) {
	low, high = math.Inf(1), 0
	for _, p := range c.Series[0].Spots {
		low, high = min(low, p.Y), max(high, p.Y)
	}
	return low, high
}

// right is the end of the x axis, which starts at 0.
func (c *text) right() float64 {
	x := c.points[len(c.points)-1].X
	if c.mark > x { // never for NaN
		x = c.mark
	}
	return x
}

// lines draws the chart.
func (c *text) lines(columns, rows int) []string {
	grid := newCanvas(columns, rows, c.ascii)
	low, high := c.Extent()
	if !c.LogY {
		low = 0
	}
	at := func(p Spot) (x, y int) {
		fx, fy := p.X/c.right(), 1.0
		switch {
		case c.LogY:
			fy = math.Log(p.Y/low) / math.Log(high/low)
		case high > 0:
			fy = p.Y / high
		}
		return int(math.Round(fx * float64(grid.dotsX()-1))), int(math.Round((1 - fy) * float64(grid.dotsY()-1)))
	}
	mark := -1
	if !math.IsNaN(c.mark) {
		mark = int(math.Round(c.mark / c.right() * float64(columns-1)))
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
		grid.spot(x, y, p.Bound)
	}
	return c.frame(grid.rows(), low, high, mark, columns)
}

// frame puts axes and their labels around a drawing.
func (c *text) frame(rows []string, low, high float64, mark, columns int) []string {
	side, corner, dash := "│", "└", "─"
	if c.ascii {
		side, corner, dash = "|", "+", "-"
	}
	middle := (low + high) / 2
	if c.LogY {
		middle = math.Sqrt(low * high)
	}
	labels := map[int]string{0: c.YLabel(high), len(rows) / 2: c.YLabel(middle)}
	lines := []string{table.Pad("", textLabels+2, true) + c.Title}
	for i, r := range rows {
		lines = append(lines, table.Pad(labels[i], textLabels, false)+" "+side+r)
	}
	bottom := "0"
	if c.LogY {
		bottom = c.YLabel(low)
	}
	axis := strings.Split(strings.Repeat(dash, columns), "")
	if mark >= 0 {
		axis[mark] = Tick(c.ascii)
	}
	lines = append(lines, table.Pad(bottom, textLabels, false)+" "+corner+strings.Join(axis, ""))
	return append(lines, table.Pad("", textLabels+2, true)+c.ruler(mark, columns))
}

// ruler labels the x axis: its ends and the saturation point, which comes first where they collide.
func (c *text) ruler(mark, columns int) string {
	line := []byte(strings.Repeat(" ", columns))
	put := func(at int, s string) {
		at = min(max(at, 0), columns-len(s))
		if strings.TrimSpace(string(line[max(at-1, 0):min(at+len(s)+1, columns)])) == "" {
			copy(line[at:], s)
		}
	}
	if mark >= 0 {
		s := lang.Short(c.mark, false)
		put(mark-len(s)/2, s)
	}
	put(0, "0")
	put(columns, lang.Short(c.right(), false))
	return string(line)
}

// textCanvas is a drawing in characters: eight braille dots each, or one where only ASCII will do.
type textCanvas struct {
	cells [][]rune
	ascii bool
}

const brailleBlank = '\u2800'

func newCanvas(columns, rows int, ascii bool) textCanvas {
	c := textCanvas{ascii: ascii}
	for range rows {
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

// dot sets one dot.
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

// column marks a column from top to bottom; whatever is drawn later covers it.
func (c textCanvas) column(x int) {
	for y := range c.cells {
		if x >= 0 {
			c.cells[y][x] = ':'
		}
	}
}

// segment draws a line.
func (c textCanvas) segment(x0, y0, x1, y1 int) {
	steps := max(abs(x1-x0), abs(y1-y0), 1)
	for i := range steps + 1 {
		f := float64(i) / float64(steps)
		c.dot(x0+int(math.Round(f*float64(x1-x0))), y0+int(math.Round(f*float64(y1-y0))))
	}
}

// spot draws a measured point; one that is only a lower bound points upwards.
func (c textCanvas) spot(x, y int, bound bool) {
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
