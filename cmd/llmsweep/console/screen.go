package console

import (
	"context"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"llmsweep/report/lang"
	"llmsweep/report/progress"
)

// View returns the view of a measurement, and the function that pauses it before a stage, or nil where the run cannot be paused. It prints
// plain lines where standard output or standard error is no terminal. together reports that all stages are of one server.
func (c *Console) View(l lang.Lang, plain, together bool) (*progress.View, func(context.Context) time.Duration) {
	if c.Interrupts != nil {
		c.Interrupts.endByBrokenPipe()
	}
	var screen *watched
	o := progress.Options{Lang: l, Plain: plain || !IsTerminal(c.Out)}
	o.Screen = func() progress.Painter {
		if screen = c.screen(l, together); screen == nil {
			return nil
		}
		return screen
	}
	view := progress.New(c.Err, o)
	if screen == nil {
		return view, nil
	}
	return view, screen.Pause
}

// screen takes the whole terminal; nil where it is too small, or no command of a process.
func (c *Console) screen(l lang.Lang, together bool) *watched {
	out, ok := c.Err.(*os.File)
	if !ok || c.Interrupts == nil {
		return nil
	}
	columns, rows, ok := progress.Size(out)
	if !ok || columns < progress.LeastColumns || rows < progress.LeastRows {
		return nil
	}
	var in io.Reader
	if term.IsTerminal(int(os.Stdin.Fd())) {
		in = os.Stdin
	}
	end := Watch(out, c.Holds, l)
	screen := progress.OpenScreen(progress.ScreenOptions{
		Lang: l, Color: os.Getenv("NO_COLOR") == "", In: in, Out: out, Together: together,
		Interrupt: c.Interrupts.Interrupt, Force: c.Interrupts.force,
	})
	watched := &watched{screen, end}
	c.Interrupts.onForce(watched.Stop)
	return watched
}

// watched is a screen whose terminal is given back after a crash too.
type watched struct {
	*progress.Screen
	end func() // of the watch
}

// Stop gives the terminal back.
func (w *watched) Stop() {
	w.Screen.Stop()
	w.end()
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
