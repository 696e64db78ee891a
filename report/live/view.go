// Package live shows a run while it goes: one block redrawn in place on a terminal, plain lines anywhere else. It never
// measures anything, and never fails a run: what can't be written is not shown.
package live

import (
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode"

	"golang.org/x/term"

	"llmsweep/report"
)

// Phases of a stage. Others may be shown too, untranslated.
const (
	WarmUp    = "warm-up"
	Measuring = "measuring"
	Tail      = "tail"
	Draining  = "draining"
	Searching = "searching the ceiling"
)

// Stage is a stage that begins.
type Stage struct {
	Index, Total int // from 1; a Total below Index is not shown
	Name         string
	Planned      time.Duration // 0: not known
}

// Snapshot is how things stand. A Left, TTFT or ITL below 0 is not known; neither is a StagePlanned of 0.
type Snapshot struct {
	Elapsed, Left              time.Duration // of the whole run
	StageElapsed, StagePlanned time.Duration
	InFlight, Done, Failed     int
	TTFT, ITL                  time.Duration // recent medians
	TokensPerS                 float64
	Phase                      string
}

// Options say how to show it. The zero value is English, in place where the output is a terminal.
type Options struct {
	Lang  report.Lang
	Plain bool       // lines, even on a terminal
	Width func() int // columns of the terminal; nil: ask the output itself whether it is one
}

// View shows one run. All methods may be called from several goroutines.
type View struct {
	mu     sync.Mutex
	show   painter
	state  state
	closed bool
}

// state is what there is to show.
type state struct {
	header string
	stage  Stage
	now    Snapshot
	known  bool // now was set
}

// painter is a way to show a state.
type painter interface {
	start(s *state)
	stage(s *state)
	update(s *state)
	line(s *state, text string) // a line that stays
	stop()
}

// New makes a view that writes to w. It is redrawn in place where w is a terminal that can, in colour unless NO_COLOR
// is set.
func New(w io.Writer, o Options) *View {
	width := o.Width
	if width == nil {
		width = terminal(w)
	}
	if o.Plain || width == nil || os.Getenv("TERM") == "dumb" {
		return &View{show: newPlain(w, o.Lang)}
	}
	return &View{show: newBlock(w, o.Lang, width, os.Getenv("NO_COLOR") == "")}
}

// terminal asks for w's width, again each time, since windows are resized; nil where w is no terminal.
func terminal(w io.Writer) func() int {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return func() int {
		width, _, err := term.GetSize(int(f.Fd()))
		if err != nil || width <= 0 {
			return 80
		}
		return width
	}
}

// Start begins the view with a line that says what is run against what.
func (v *View) Start(header string) {
	v.change(func(s *state) { s.header = oneLine(header) }, painter.start)
}

// Stage reports whether a stage begins.
func (v *View) Stage(st Stage) {
	st.Name = oneLine(st.Name)
	v.change(func(s *state) {
		s.stage = st
		// What is known of the run as a whole goes on; the stage's own figures begin anew.
		s.now = Snapshot{Elapsed: s.now.Elapsed, Left: s.now.Left, StagePlanned: st.Planned, TTFT: -1, ITL: -1, Phase: Measuring}
	}, painter.stage)
}

// Update says how things stand. It may be called as often as there is news: what is too much to read is not shown.
func (v *View) Update(now Snapshot) {
	v.change(func(s *state) { s.now, s.known = now, true }, painter.update)
}

// StageDone leaves a line about the stage that ended.
func (v *View) StageDone(line string) { v.Note(line) }

// Note leaves a line above what is redrawn.
func (v *View) Note(text string) {
	v.change(func(*state) {}, func(p painter, s *state) { p.line(s, oneLine(text)) })
}

// Close takes the live block away; lines that were left stay. What is called after it shows nothing.
func (v *View) Close() {
	v.change(func(*state) { v.closed = true }, func(p painter, _ *state) { p.stop() })
}

// change alters the state and shows it, one change at a time.
func (v *View) change(alter func(*state), show func(painter, *state)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed {
		return
	}
	alter(&v.state)
	show(v.show, &v.state)
}

// oneLine makes text safe to show in one line.
func oneLine(s string) string {
	return strings.TrimRight(strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r), r == '\u2028', r == '\u2029':
			return ' '
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD")), " ")
}
