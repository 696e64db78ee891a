package console

import (
	"io"
	"os"

	"golang.org/x/term"

	"llmsweep/report/lang"
	"llmsweep/report/progress"
)

// View returns the view of a measurement: with a status line where standard error is a terminal, unless plain is set.
func (c *Console) View(l lang.Lang, plain bool) *progress.View {
	if c.Interrupts != nil {
		c.Interrupts.endByBrokenPipe()
	}
	f, ok := c.Err.(*os.File)
	if plain || !ok || !IsTerminal(f) || c.world.Env("TERM") == "dumb" || c.inCI() {
		return progress.New(c.Err, l, nil)
	}
	return progress.New(f, l, func() int {
		const usual = 80
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
		return usual
	})
}

// inCI reports whether a CI system runs the program: its log keeps every redraw.
func (c *Console) inCI() bool {
	ci := c.world.Env("CI")
	return ci != "" && ci != "false" && ci != "0"
}

// IsTerminal reports whether w is a terminal.
func IsTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
