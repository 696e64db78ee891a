package progress

import (
	"os"
	"time"

	tea "charm.land/bubbletea/v2"
	"golang.org/x/term"
)

// Size returns the size of the terminal that f is; ok is false where it is none.
func Size(f *os.File) (columns, rows int, ok bool) {
	columns, rows, err := term.GetSize(int(f.Fd()))
	return columns, rows, err == nil && columns > 0 && rows > 0
}

// tick is the message that it is time to look at the run.
type tick time.Time

// model is the program behind the screen: keys, the size of the window, and the course of what it shows.
type model struct {
	screen        *Screen
	content       content
	columns, rows int
	help          bool
	ending        bool // it was asked for
	course        course
	drawn         string
}

func newModel(s *Screen) *model {
	m := &model{screen: s, columns: 80, rows: 24}
	m.columns, m.rows = s.size()
	return m
}

func next() tea.Cmd {
	return tea.Tick(time.Second/redraws, func(t time.Time) tea.Msg { return tick(t) })
}

// Init begins to look at the run.
func (m *model) Init() tea.Cmd { return next() }

// Update takes a message.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.columns, m.rows = msg.Width, msg.Height
	case tick:
		m.content = m.screen.snapshot()
		m.course.add(time.Time(msg), &m.content.State)
		m.drawn = m.draw()
		return m, next()
	case tea.KeyPressMsg:
		m.key(msg.String())
	default:
		return m, nil
	}
	m.drawn = m.draw()
	return m, nil
}

// key does what a key asks for. What ends the run may be pressed again, to end the process.
func (m *model) key(key string) {
	switch key {
	case "q", "ctrl+c":
		if m.ending {
			go m.screen.o.Force() // which waits for the end of this program
			return
		}
		m.ending = true
		m.screen.Resume()
		m.screen.o.Interrupt()
	case "p":
		if !m.ending {
			m.screen.toggle()
		}
	case "?", "h":
		m.help = !m.help
	case "esc":
		m.help = false
	}
	m.content = m.screen.snapshot()
}

// View returns the screen.
func (m *model) View() tea.View {
	v := tea.NewView(m.drawn)
	v.AltScreen = true
	return v
}
