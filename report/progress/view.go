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

// View writes lines that stay, and on a terminal a status line below them that is written again and again. Its methods
// may be called from several goroutines.
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

// redrawInterval is the least time between two status lines: faster changes cannot be read.
const redrawInterval = 200 * time.Millisecond

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

// hasStatus reports whether there is a status line.
func (v *View) hasStatus() bool { return v.width != nil }

// Close takes the status line away. What is called after it shows nothing.
func (v *View) Close() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	v.write("", "")
}

// show replaces the status line; where the latest one has just been written, only if now is set.
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

// write replaces the status line by lines that stay, and a status line below them. Blanks erase it on any terminal.
func (v *View) write(lines, status string) {
	erase := ""
	if n := table.Width(v.status); n > 0 {
		erase = "\r" + strings.Repeat(" ", n) + "\r"
	}
	v.status = v.cut(status)
	io.WriteString(v.out, erase+lines+v.status)
}

// gap is between two parts of a status line.
const gap = "   "

// cut leaves out the last parts of a status line that is too wide. The last column of the terminal stays free: some
// begin a new line after it.
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
