package progress

import (
	"io"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
	"golang.org/x/time/rate"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

const (
	redraw   = time.Second / 8 // between two redraws, at least: faster changes cannot be read
	barCells = 16              // columns of the bar of a stage
	between  = "   "           // pieces of a line
)

// block shows a run in two lines that are redrawn in place. The last column of the terminal is not used: some terminals begin
// a new line after it.
type block struct {
	w     io.Writer
	lang  lang.Lang
	width func() int
	color bool
	often rate.Sometimes
	drawn []int // widths of the lines on the screen
}

func newBlock(w io.Writer, l lang.Lang, width func() int, color bool) *block {
	return &block{w: w, lang: l, width: width, color: color, often: rate.Sometimes{Interval: redraw}}
}

// piece is a part of a line. Where the line is too long, pieces are left out in the order of drop, from 1; 0 is kept.
type piece struct {
	text string
	code string // of its colour
	drop int
}

func (b *block) Start(s *State)  { b.draw(s, "") }
func (b *block) Stage(s *State)  { b.draw(s, "") }
func (b *block) Update(s *State) { b.often.Do(func() { b.draw(s, "") }) }

// hang indents the second and later lines of a text that is wider than the terminal.
const hang = 4

// line leaves a text above the block, broken between words where it is too wide.
func (b *block) Line(s *State, text string) {
	var above strings.Builder
	for line := range strings.Lines(table.Wrap(text, max(b.width()-1, 1), hang)) {
		above.WriteString(strings.TrimRight(line, "\n") + "\x1b[K\r\n")
	}
	b.draw(s, above.String())
}

// Ended does nothing: [Painter].Line shows the stage.
func (b *block) Ended(*State, *rundir.Stage) {}

func (b *block) Stop() {
	io.WriteString(b.w, b.home()+"\x1b[J")
	b.drawn = nil
}

// draw replaces the block on the screen by the lines above, which stay, and the block. It writes once, to avoid flicker.
func (b *block) draw(s *State, above string) {
	home := b.home()
	width := max(b.width()-1, 1)
	b.drawn = b.drawn[:0]
	var lines []string
	for _, pieces := range [][]piece{b.header(s), b.stageLine(s)} {
		if len(pieces) > 0 {
			text, n := compose(pieces, width, b.color)
			lines = append(lines, text+"\x1b[K")
			b.drawn = append(b.drawn, n)
		}
	}
	io.WriteString(b.w, home+above+strings.Join(lines, "\r\n")+"\x1b[J")
}

// home returns the sequence that moves to the start of the block. Lines take several rows if the window became narrower.
func (b *block) home() string {
	width, rows := max(b.width(), 1), 0
	for _, n := range b.drawn {
		rows += max(1, (n+width-1)/width)
	}
	return "\r" + strings.Repeat("\x1b[A", max(0, rows-1))
}

// header is the line about the run.
func (b *block) header(s *State) []piece {
	pieces := []piece{{text: s.Header, code: "1"}}
	if p := Place(s.Stage, b.lang); p != "" {
		pieces = append(pieces, piece{text: p, drop: 2})
	}
	switch {
	case !s.Known:
	case s.Time.Low >= 0:
		pieces = append(pieces, piece{text: elapsedLeft.In(b.lang, Clock(s.Time.Elapsed), Left(s.Time, b.lang)), drop: 1})
	default:
		pieces = append(pieces, piece{text: elapsedOnly.In(b.lang, Clock(s.Time.Elapsed)), drop: 1})
	}
	return pieces
}

// stageLine is the line about the stage; there is none before the first.
func (b *block) stageLine(s *State) []piece {
	name := StageName(s.Stage, b.lang)
	if name == "" {
		return nil
	}
	pieces := []piece{{text: "  " + name, code: "1"}}
	if p := Phase(s, b.lang); p != "" {
		pieces = append(pieces, piece{text: p, code: "33", drop: 5})
	}
	pieces = append(pieces, numbers(s, b.lang)...)
	if planned := seconds(s.Time.Stage); planned > 0 {
		pieces = append(pieces, piece{text: Bar(s.Now.Elapsed, s.Time.Stage), drop: 1}, piece{text: Spent(s, b.lang), drop: 5})
	}
	return pieces
}

// BarWidth is the number of columns that [Bar] takes.
const BarWidth = barCells + 2

// Bar shows how much of a stage is over.
func Bar(elapsed, planned time.Duration) string {
	full := min(max(int(barCells*elapsed/planned), 0), barCells)
	return "[" + strings.Repeat("#", full) + strings.Repeat("-", barCells-full) + "]"
}

// least is the width that a line's first piece is cut down to before other pieces are left out: a URL is recognised by it.
const least = 24

// compose joins pieces into a line of at most width columns, and returns how many it takes. The first piece is cut before
// others are left out, but not below least columns.
func compose(pieces []piece, width int, color bool) (line string, columns int) {
	m := table.Columns()
	for drop := 0; ; drop++ {
		var kept []piece
		rest, more := 0, false
		for i, p := range pieces {
			if p.drop > 0 && p.drop <= drop {
				continue
			}
			more = more || p.drop > 0
			kept = append(kept, p)
			if i > 0 {
				rest += len(between) + m.StringWidth(p.text)
			}
		}
		first := m.StringWidth(kept[0].text)
		if room := width - rest; first > room && more && room < min(first, least) {
			continue
		}
		return paint(kept, width, m, color)
	}
}

// paint joins pieces. The first gets the columns that the others leave; what is still too long is cut.
func paint(pieces []piece, width int, m *runewidth.Condition, color bool) (line string, columns int) {
	rest := 0
	for _, p := range pieces[1:] {
		rest += len(between) + m.StringWidth(p.text)
	}
	var b strings.Builder
	for i, p := range pieces {
		room := width - columns
		if i == 0 && rest < width {
			room -= rest
		}
		text := p.text
		if i > 0 {
			text = between + text
		}
		if m.StringWidth(text) > room {
			text = m.Truncate(text, room, strings.Repeat(".", min(3, max(room, 0))))
		}
		columns += m.StringWidth(text)
		if color && p.code != "" {
			text = "\x1b[" + p.code + "m" + text + "\x1b[0m"
		}
		b.WriteString(text)
	}
	return b.String(), columns
}
