// Package progress shows a run while it is measured: a line for each stage that has ended, and on a terminal one line
// below them about the stage that runs. The page of the run and numbers for Prometheus are served from here, too.
// Nothing here measures, and nothing fails a run: errors of the writer are ignored.
package progress

import (
	"io"
	"strings"
	"sync"
	"time"

	"llmsweep/report/lang"
	"llmsweep/report/table"
)

// View writes lines that stay, and on a terminal a status line below them. Several goroutines may call it.
type View struct {
	lang  lang.Lang
	out   io.Writer
	width func() int // of the terminal in columns; nil without a status line
	began time.Time

	mu     sync.Mutex
	status string // that is on the screen
	drawn  time.Time
	closed bool
}

const redrawInterval = 200 * time.Millisecond // faster changes of a status line cannot be read

// New returns a view that writes to out. width returns the number of columns of the terminal that out is; it is nil
// where out is none.
func New(out io.Writer, l lang.Lang, width func() int) *View {
	return &View{lang: l, out: out, width: width, began: time.Now()}
}

// Note writes a line that stays.
func (v *View) Note(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.closed {
		v.write(lang.Clock(time.Since(v.began).Seconds())+"  "+strings.TrimRight(table.Clean(text), " ")+"\n", v.status)
	}
}

// Heading writes the heading of lines that stay.
func (v *View) Heading(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.closed {
		v.write(strings.Repeat(" ", len("00:00  "))+strings.TrimRight(text, " ")+"\n", v.status)
	}
}

// Close takes the status line away. What is called after it shows nothing.
func (v *View) Close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	v.write("", "")
}

// show replaces the status line, unless it has just been written and now is not set.
func (v *View) show(status func() string, now bool) {
	if v.width == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.closed || !now && time.Since(v.drawn) < redrawInterval {
		return
	}
	v.drawn = time.Now()
	v.write("", status())
}

// write erases the status line with blanks, which works on any terminal.
func (v *View) write(lines, status string) {
	erase := ""
	if n := table.Width(v.status); n > 0 {
		erase = "\r" + strings.Repeat(" ", n) + "\r"
	}
	v.status = v.cut(status)
	io.WriteString(v.out, erase+lines+v.status)
}

const gap = "   " // between parts of a status line

// cut leaves the last column of the terminal free: some begin a new line after it.
func (v *View) cut(status string) string {
	if status == "" {
		return ""
	}
	status = table.Clean(status)
	width := max(v.width()-1, 0)
	for table.Width(status) > width {
		i := strings.LastIndex(status, gap)
		if i < 0 {
			return table.TerminalColumns().Truncate(status, width, "")
		}
		status = status[:i]
	}
	return status
}
