package table

import (
	"strings"

	"github.com/mattn/go-runewidth"

	"llmsweep/report/lang"
)

// The layout of console tables, in columns of the terminal.
const (
	Indent = 2 // before each line
	Gap    = 2 // between columns of the table, where there is room; else 1
)

// TerminalColumns returns what counts the columns of a terminal. It is the same on every machine: the default of
// package runewidth follows the locale.
func TerminalColumns() *runewidth.Condition {
	return &runewidth.Condition{StrictEmojiNeutral: true}
}

// Width returns how many columns of a terminal s takes.
func Width(s string) int { return TerminalColumns().StringWidth(s) }

// Pad fills s up to width columns.
func Pad(s string, width int, left bool) string {
	fill := strings.Repeat(" ", max(0, width-Width(s)))
	if left {
		return s + fill
	}
	return fill + s
}

type layout struct {
	keep   []int // indices of columns
	digits []int // width of the numbers in each column
	units  []int // width of their units, the space before them included
	heads  []int // width of the column, heading included
	gap    int
	lang   lang.Lang
}

// maxWideGapDrop is the highest [Column.Drop] that is left out before the gap between columns is narrowed.
const maxWideGapDrop = 3

// fitLayout drops the columns that matter least, then narrows the space between columns, then drops more.
func fitLayout(t *Table, o Style) layout {
	width := o.tableWidth()
	last := maxWideGapDrop
	for _, c := range t.Columns {
		last = max(last, c.Drop)
	}
	var l layout
	for drop := range last + 1 {
		spaces := []int{Gap}
		if drop >= maxWideGapDrop {
			spaces = []int{Gap, 1}
		}
		for _, space := range spaces {
			l = arrange(t, drop, space, o.Lang)
			if width <= 0 || l.width() <= width {
				return l
			}
		}
	}
	return l
}

func arrange(t *Table, drop, space int, lg lang.Lang) layout {
	l := layout{gap: space, lang: lg}
	m := TerminalColumns()
	for i, c := range t.Columns {
		if c.Drop > 0 && c.Drop <= drop {
			continue
		}
		digits, units := 0, 0
		for _, cells := range t.Rows {
			digits = max(digits, m.StringWidth(Clean(cells[i].Text.In(lg))))
			units = max(units, m.StringWidth(cellSuffix(cells[i])))
		}
		l.keep = append(l.keep, i)
		l.digits = append(l.digits, digits)
		l.units = append(l.units, units)
		l.heads = append(l.heads, max(digits+units, m.StringWidth(Clean(c.Head.In(lg))), m.StringWidth(Clean(c.Sub.In(lg)))))
	}
	return l
}

func cellSuffix(c Cell) string {
	if c.Unit == "" {
		return Clean(c.Mark)
	}
	return " " + Clean(c.Unit) + Clean(c.Mark)
}

func (l layout) width() int {
	w := Indent
	for _, h := range l.heads {
		w += h + l.gap
	}
	return w - l.gap
}

func writeTable(b *strings.Builder, t *Table, o Style) {
	l := fitLayout(t, o)
	l.heading(b, t.Columns, o.Color)
	if !t.Title.IsZero() {
		b.WriteString(strings.Repeat(" ", Indent) + paint(Clean(t.Title.In(o.Lang)), Faint, o.Color) + "\n")
	}
	for _, cells := range t.Rows {
		l.row(b, t.Columns, cells, o.Color)
	}
}

func (l layout) heading(b *strings.Builder, columns []Column, color bool) {
	top, sub, two := make([]string, len(l.keep)), make([]string, len(l.keep)), false
	for i, k := range l.keep {
		c := columns[k]
		top[i], sub[i] = Clean(c.Head.In(l.lang)), Clean(c.Sub.In(l.lang))
		two = two || sub[i] != ""
	}
	if two { // a heading of one line stands next to the rows
		for i := range top {
			if sub[i] == "" {
				top[i], sub[i] = "", top[i]
			}
		}
		l.line(b, columns, top, color)
		l.line(b, columns, sub, color)
		return
	}
	l.line(b, columns, top, color)
}

func (l layout) line(b *strings.Builder, columns []Column, texts []string, color bool) {
	var s strings.Builder
	s.WriteString(strings.Repeat(" ", Indent))
	for i, k := range l.keep {
		if i > 0 {
			s.WriteString(strings.Repeat(" ", l.gap))
		}
		s.WriteString(Pad(texts[i], l.heads[i], columns[k].Left))
	}
	b.WriteString(paint(strings.TrimRight(s.String(), " "), Faint, color) + "\n")
}

// row ends numbers where those above them end, with units beside them.
func (l layout) row(b *strings.Builder, columns []Column, cells []Cell, color bool) {
	var s strings.Builder
	s.WriteString(strings.Repeat(" ", Indent))
	blank := 0 // spaces not written yet, so that none trail
	for i, k := range l.keep {
		c := cells[k]
		digits := Clean(c.Text.In(l.lang))
		text, after := digits+cellSuffix(c), 0
		if !columns[k].Left {
			before := max(l.heads[i]-l.units[i], l.digits[i]) - Width(digits)
			after = l.units[i] - Width(cellSuffix(c))
			blank += before
		} else {
			after = l.heads[i] - Width(text)
		}
		s.WriteString(strings.Repeat(" ", max(blank, 0)) + paint(text, c.Tone, color))
		blank = after + l.gap
	}
	b.WriteString(strings.TrimRight(s.String(), " ") + "\n")
}

// Wrap breaks text into lines of at most width columns, at spaces and between wide characters; lines after the first
// are indented by hang. Width 0 leaves it whole.
func Wrap(text string, width, hang int) string {
	if width <= 0 {
		return text
	}
	m := TerminalColumns()
	var b strings.Builder
	used := 0
	for _, word := range breakableParts(text) {
		n := m.StringWidth(strings.TrimRight(word, " "))
		// which GitHub takes for a command at the start of a line
		if used > hang && used+n > width && !strings.HasPrefix(word, "::") {
			trimmed := strings.TrimRight(b.String(), " ")
			b.Reset()
			b.WriteString(trimmed + "\n" + strings.Repeat(" ", hang))
			used = hang
		}
		b.WriteString(word)
		used += m.StringWidth(word)
	}
	return strings.TrimRight(b.String(), " ")
}

// breakableParts cuts after spaces and wide characters, but no line begins with a stop or ends with an opening quote.
func breakableParts(text string) []string {
	var all []string
	start := 0
	runes := []rune(text)
	for i, r := range runes {
		next := i + 1
		if next < len(runes) && strings.ContainsRune("，。、；：）！？", runes[next]) || strings.ContainsRune("（“", r) {
			continue
		}
		if r == ' ' && (next == len(runes) || runes[next] != ' ') || TerminalColumns().RuneWidth(r) == 2 {
			all = append(all, string(runes[start:next]))
			start = next
		}
	}
	return append(all, string(runes[start:]))
}

// paint is the only place that writes escape sequences.
func paint(text string, t Tone, color bool) string {
	codes := [...]string{Plain: "", Strong: "1", Faint: "2", Good: "32", Caution: "33", Bad: "31"}
	if !color || codes[t] == "" || strings.TrimSpace(text) == "" {
		return text
	}
	return "\x1b[" + codes[t] + "m" + text + "\x1b[0m"
}
