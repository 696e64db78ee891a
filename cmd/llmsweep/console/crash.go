// Gives the terminal back where llmsweep crashes or is killed while its live view has the terminal, and says where the
// measured data is. Only another process can do that for a crash of any goroutine: a small monitor, which is this program with a hidden
// command. It waits for the end of a pipe that the runtime writes crashes to.

package console

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"llmsweep/report/lang"
	"llmsweep/report/table"
)

// Command is the hidden command of the monitor.
const Command = "crash-monitor"

// ended is what the pipe holds where the live view ended by itself. No crash begins like that.
const ended = "\x04"

// patience is the longest wait for the monitor to start. Without it, the run goes on unwatched.
const patience = 3 * time.Second

// Watch starts the monitor of a terminal that is going to be taken, for a run whose data is in a directory. The function that it returns ends
// the monitor, after the terminal was given back; it may be called again. Where the monitor cannot be started, nothing is watched.
func Watch(terminal *os.File, dir string, l lang.Lang) (end func()) {
	self, err := os.Executable()
	if err != nil {
		return func() {}
	}
	r, w, err := os.Pipe()
	if err != nil {
		return func() {}
	}
	defer r.Close()
	monitor := exec.Command(self, Command, "--lang", string(l), dir)
	monitor.Stdin, monitor.Stderr = r, terminal
	ready, err := monitor.StdoutPipe()
	if err == nil {
		err = monitor.Start()
	}
	if err != nil {
		w.Close()
		return func() {}
	}
	watching := make(chan bool, 1)
	go func() {
		_, err := io.ReadFull(ready, make([]byte, 1))
		watching <- err == nil
	}()
	select {
	case ok := <-watching:
		if ok {
			debug.SetCrashOutput(w, debug.CrashOptions{}) // an error means that only the end of the process is seen
		}
	case <-time.After(patience):
	}
	return sync.OnceFunc(func() {
		debug.SetCrashOutput(nil, debug.CrashOptions{})
		io.WriteString(w, ended)
		w.Close()
		monitor.Wait()
	})
}

// back leaves the second screen, shows the cursor, ends colours, and ends the reports of the mouse and of pasted text.
const back = "\x1b[?1049l\x1b[?25h\x1b[?2004l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[0m\r\n"

// Monitor is the monitor's process: in is the pipe, ready is told when it watches, and terminal is given back.
func Monitor(in io.Reader, ready io.Writer, terminal *os.File, dir string, l lang.Lang) error {
	signal.Ignore(ends()...) // those for the group of the process end the one that is watched
	state, err := term.GetState(int(terminal.Fd()))
	if err != nil {
		return err
	}
	if _, err := ready.Write([]byte{1}); err != nil {
		return err
	}
	const most = 1 << 20 // bytes of a crash that are kept
	said, err := io.ReadAll(io.LimitReader(in, most))
	if err != nil {
		return err
	}
	if bytes.HasPrefix(said, []byte(ended)) {
		return nil
	}
	term.Restore(int(terminal.Fd()), state)
	text := sayKilled
	if len(said) > 0 {
		text = sayCrashed
	}
	_, err = fmt.Fprintf(terminal, "%s%s\nllmsweep: %s\n", back, lines(said), table.Clean(text.In(l, dir)))
	return err
}

// lines returns a text without what a terminal would obey, but with its lines.
func lines(b []byte) string {
	var out strings.Builder
	for line := range strings.Lines(string(b)) {
		out.WriteString(table.Clean(strings.TrimRight(line, "\n")) + "\n")
	}
	return out.String()
}
