// Shows a run on the whole of a terminal: the curve as it grows, the stage that runs, errors by class, what comes next and
// how long it takes. Keys end the run, pause it and explain the metrics.
//
// The measurement never waits for the screen: what it reports is kept under a lock that is held for the time of a copy, and a goroutine of
// its own draws at most ten times a second. When the run ends, the terminal is as it was before, and the lines about its stages and notes
// are printed.

package progress

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// The least terminal on which there is room for the view.
const (
	LeastColumns = 72
	LeastRows    = 20
)

// redraws is how often the screen is drawn a second at most: faster changes cannot be read.
const redraws = 10

// ScreenOptions say how to show a run.
type ScreenOptions struct {
	Lang  lang.Lang
	Color bool
	In    io.Reader // of keys; nil for none
	Out   io.Writer
	// Size is the size of the terminal, where Out is no terminal itself.
	Size func() (columns, rows int)
	// Environment is that of the terminal; nil for the process's own.
	Environment []string
	Together    bool   // the stages are of one server: they form a curve
	Interrupt   func() // ends the run and keeps what was measured
	Force       func() // ends the process
}

// Screen is a [Painter] for the whole terminal.
type Screen struct {
	o       ScreenOptions
	program *tea.Program
	done    chan struct{}
	stop    sync.Once

	mu    sync.Mutex
	now   content
	lines []string // that stay when the screen is gone
	pause pause
}

// content is what is shown. What its slices and maps hold is not changed any more.
type content struct {
	State
	lines  []string
	ended  []rundir.Stage
	errors map[string]int // of the stages that have ended, by class
	pause  pauseState
}

// pauseState is whether a pause was asked for, and whether the run waits.
type pauseState int

const (
	running pauseState = iota
	asked              // before the next stage
	paused
)

// pause holds the run.
type pause struct {
	state  pauseState
	resume chan struct{} // closed when the run is to go on; nil where no pause is asked for
}

// OpenScreen takes the terminal and shows an empty screen. [Screen.Stop] gives the terminal back.
func OpenScreen(o ScreenOptions) *Screen {
	s := &Screen{o: o, done: make(chan struct{})}
	s.now.errors = map[string]int{}
	options := []tea.ProgramOption{tea.WithOutput(o.Out), tea.WithInput(o.In), tea.WithFPS(redraws), tea.WithoutSignalHandler()}
	if o.Environment != nil {
		options = append(options, tea.WithEnvironment(o.Environment))
	}
	if !o.Color {
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	}
	if o.Size != nil {
		options = append(options, tea.WithWindowSize(o.Size()))
	}
	s.program = tea.NewProgram(newModel(s), options...)
	go func() {
		defer close(s.done)
		if _, err := s.program.Run(); err != nil {
			fmt.Fprintf(o.Out, "llmsweep: the live view ended: %v\r\n", err)
		}
	}()
	return s
}

// change alters what is shown.
func (s *Screen) change(alter func(c *content)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	alter(&s.now)
}

// snapshot returns what is to be shown.
func (s *Screen) snapshot() content {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.now
	c.lines, c.pause = s.lines, s.pause.state
	return c
}

func (s *Screen) set(st *State) { s.change(func(c *content) { c.State = *st }) }

// Start shows what is measured.
func (s *Screen) Start(st *State) { s.set(st) }

// Stage shows a new stage.
func (s *Screen) Stage(st *State) { s.set(st) }

// Update shows how the stage stands.
func (s *Screen) Update(st *State) { s.set(st) }

// Ended adds a stage to the curve.
func (s *Screen) Ended(_ *State, st *rundir.Stage) {
	s.change(func(c *content) {
		c.ended = append(c.ended, *st)
		errors := make(map[string]int, len(c.errors))
		for _, all := range []map[string]int{c.errors, st.Errors} {
			for class, n := range all {
				errors[class] += n
			}
		}
		c.errors = errors
		c.Now = load.Snapshot{TTFT: -1, ITL: -1}
	})
}

// Line adds a line that stays.
func (s *Screen) Line(st *State, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lines = append(s.lines, text)
}

// Stop gives the terminal back, and prints the lines that stay. It may be called again.
func (s *Screen) Stop() { s.stop.Do(s.giveBack) }

func (s *Screen) giveBack() {
	s.program.Quit()
	<-s.done
	s.Resume()
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	width, _ := s.size()
	for _, text := range s.lines {
		for line := range strings.Lines(table.Wrap(text, max(width-1, 1), hangingIndent)) {
			b.WriteString(strings.TrimRight(line, "\n") + "\n")
		}
	}
	io.WriteString(s.o.Out, b.String())
}

// hangingIndent indents the second and later lines of a text that is wider than the terminal.
const hangingIndent = 4

// size returns the size of the terminal, a usual one where it is not known.
func (s *Screen) size() (columns, rows int) {
	if s.o.Size != nil {
		return s.o.Size()
	}
	if f, ok := s.o.Out.(*os.File); ok {
		if columns, rows, ok := Size(f); ok {
			return columns, rows
		}
	}
	return 80, 24
}

// Pause waits while a pause is asked for, and returns how long. It is called before each stage.
func (s *Screen) Pause(ctx context.Context) time.Duration {
	s.mu.Lock()
	resume := s.pause.resume
	if resume == nil {
		s.mu.Unlock()
		return 0
	}
	s.pause.state = paused
	s.mu.Unlock()
	began := time.Now()
	select {
	case <-resume:
	case <-ctx.Done():
	}
	return time.Since(began)
}

// toggle asks for a pause, or ends it.
func (s *Screen) toggle() {
	s.mu.Lock()
	waiting := s.pause.resume != nil
	if !waiting {
		s.pause.state, s.pause.resume = asked, make(chan struct{})
	}
	s.mu.Unlock()
	if waiting {
		s.Resume()
	}
}

// Resume ends a pause, if there is one.
func (s *Screen) Resume() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pause.resume != nil {
		close(s.pause.resume)
	}
	s.pause = pause{}
}
