// Package progress shows a run while it is measured: on the whole of a terminal, or in plain lines. It never measures anything, and never fails a run: errors of the writer are ignored.
package progress

import (
	"strings"
	"sync"
	"time"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// Stage is a stage that begins.
type Stage struct {
	Index, Total int // from 1; a Total below Index is not shown
	More         int // stages that may follow besides those of Total
	Part         experiment.ForecastPart
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

// View shows one run. All methods may be called from several goroutines.
type View struct {
	lang   lang.Lang
	mu     sync.Mutex
	show   Painter
	state  State
	closed bool
}

// State is the content of the view.
type State struct {
	Header string
	Stage  Stage
	Now    load.Snapshot
	Time   Time
	Known  bool        // there was an update
	Next   []lang.Text // what follows the stage; nil where it is not known
}

// Painter is a way to show a state. It is called by one goroutine at a time, and keeps nothing of the State that it is given.
type Painter interface {
	Start(s *State)
	Stage(s *State)
	Update(s *State)
	Ended(s *State, st *rundir.Stage) // a stage; a line about it follows
	Line(s *State, text string)       // a line that stays
	Stop()
}

// New returns a view that a painter shows.
func New(l lang.Lang, p Painter) *View { return &View{lang: l, show: p} }

// Start begins the view with a line about what is measured.
func (v *View) Start(header string) {
	v.change(func(s *State) { s.Header = oneLine(header) }, Painter.Start)
}

// Stage shows that a stage begins.
func (v *View) Stage(st Stage) {
	st.Name = oneLine(st.Name)
	v.change(func(s *State) {
		s.Stage = st
		s.Time.Stage = st.Planned // the times of the run are kept, the stage's own numbers start again
		s.Now = load.Snapshot{TTFT: -1, ITL: -1, Phase: load.PhaseMeasuring}
	}, Painter.Stage)
}

// Update shows how the stage stands. It may be called at any rate: the view limits how often it writes.
func (v *View) Update(now load.Snapshot, t Time) {
	v.change(func(s *State) { s.Now, s.Time, s.Known = now, t, true }, Painter.Update)
}

// StageEnded shows the results of a stage.
func (v *View) StageEnded(st *rundir.Stage) {
	v.change(func(*State) {}, func(p Painter, s *State) { p.Ended(s, st) })
}

// Follows sets what follows the stage that is about to begin.
func (v *View) Follows(next []lang.Text) {
	v.change(func(s *State) { s.Next = next }, func(Painter, *State) {})
}

// Note leaves a line that stays.
func (v *View) Note(text string) {
	v.change(func(*State) {}, func(p Painter, s *State) { p.Line(s, oneLine(text)) })
}

// Close gives the terminal back; lines that were left stay. What is called after it shows nothing.
func (v *View) Close() {
	v.change(func(*State) { v.closed = true }, func(p Painter, _ *State) { p.Stop() })
}

// change alters the state and shows it, one change at a time.
func (v *View) change(alter func(*State), show func(Painter, *State)) {
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
