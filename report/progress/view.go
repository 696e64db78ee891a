// Package progress shows a run while it is measured: a block of two lines redrawn in place on a terminal, plain lines
// anywhere else. It never measures anything, and never fails a run: errors of the writer are ignored.
package progress

import (
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/load"
)

// Stage is a stage that begins.
type Stage struct {
	Index, Total int // from 1; a Total below Index is not shown
	Name         string
	Planned      time.Duration // 0: not known
	Searching    bool          // a step of the search for the ceiling, which has no name
}

// Time is the time that has passed and the time left.
type Time struct {
	Elapsed time.Duration // of the whole run
	Low     time.Duration // at least this is left of the whole run; negative: not known
	High    time.Duration // and at most this
	Stage   time.Duration // planned for the stage; 0: not known
}

// Options say how to show it. The zero value is English, in place where the output is a terminal.
type Options struct {
	Lang  lang.Lang
	Plain bool       // lines, even on a terminal
	Width func() int // columns of the terminal; nil: ask the output itself whether it is one
}

// View shows one run. All methods may be called from several goroutines.
type View struct {
	lang   lang.Lang
	mu     sync.Mutex
	show   painter
	state  state
	closed bool
}

// state is the content of the view.
type state struct {
	header string
	stage  Stage
	now    load.Snapshot
	time   Time
	known  bool // there was an update
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
		return &View{lang: o.Lang, show: newPlain(w, o.Lang)}
	}
	return &View{lang: o.Lang, show: newBlock(w, o.Lang, width, os.Getenv("NO_COLOR") == "")}
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

// Start begins the view with a line about what is measured.
func (v *View) Start(header string) {
	v.change(func(s *state) { s.header = oneLine(header) }, painter.start)
}

// Stage shows that a stage begins.
func (v *View) Stage(st Stage) {
	st.Name = oneLine(st.Name)
	v.change(func(s *state) {
		s.stage = st
		s.time.Stage = st.Planned // the times of the run are kept, the stage's own numbers start again
		s.now = load.Snapshot{TTFT: -1, ITL: -1, Phase: load.PhaseMeasuring}
	}, painter.stage)
}

// Update shows how the stage stands. It may be called at any rate: the view limits how often it writes.
func (v *View) Update(now load.Snapshot, t Time) {
	v.change(func(s *state) { s.now, s.time, s.known = now, t, true }, painter.update)
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

// oneLine returns text that is safe to show in one line.
func oneLine(s string) string { return strings.TrimRight(table.Clean(s), " ") }
