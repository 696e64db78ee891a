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

// View returns the view of a measurement, and the function that pauses it before a stage, or nil where the run cannot be paused. It is the whole
// terminal where that is large enough, and plain lines elsewhere. together reports that all stages are of one server.
func (c *Console) View(l lang.Lang, plain, together bool) (*progress.View, func(context.Context) time.Duration) {
	if c.Interrupts != nil {
		c.Interrupts.endByBrokenPipe()
	}
	if !plain && IsTerminal(c.Out) && os.Getenv("TERM") != "dumb" && !inCI() {
		if screen := c.screen(l, together); screen != nil {
			return progress.New(l, screen), screen.Pause
		}
	}
	return progress.New(l, progress.Lines(c.Err, l)), nil
}

// inCI reports whether a CI system runs the program: its log keeps every redraw.
func inCI() bool {
	ci := os.Getenv("CI")
	return ci != "" && ci != "false" && ci != "0"
}

// screen takes the whole terminal; nil where standard error is none, it is too small, or this is no command of a process.
func (c *Console) screen(l lang.Lang, together bool) *progress.Screen {
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
	screen := progress.OpenScreen(progress.ScreenOptions{
		Lang: l, Color: os.Getenv("NO_COLOR") == "", In: in, Out: out, Together: together,
		Interrupt: c.Interrupts.Interrupt, Force: c.Interrupts.force,
	})
	c.Interrupts.onEnd(screen.Stop)
	return screen
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
