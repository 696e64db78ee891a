package main

import (
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"llmsweep/cmd/llmsweep/console"
)

// openTerminal returns a terminal, and a function that ends it and returns what was written to it.
func openTerminal(t *testing.T) (*os.File, func() string) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("this system has no terminals to make: ", err)
	}
	t.Cleanup(func() { master.Close() })
	var n int
	conn, err := master.SyscallConn()
	if err == nil {
		err = conn.Control(func(fd uintptr) {
			unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0)
			n, _ = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
		})
	}
	noError(t, err)
	f, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("this system has no terminals to make: ", err)
	}
	written := make(chan string)
	go func() {
		all, _ := io.ReadAll(master) // until it has no other end
		written <- string(all)
	}()
	return f, func() string {
		f.Close()
		return <-written
	}
}

// onTerminal runs a command whose standard output is a terminal.
func onTerminal(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	f, end := openTerminal(t)
	var e strings.Builder
	code = executeAgain(args, console.NewConsole(t.Context(), f, &e))
	return code, end(), e.String()
}

// On a terminal, a run has a status line while it goes on. In the end the terminal shows what a file would have.
func TestStatusLine(t *testing.T) {
	f, end := openTerminal(t)
	noError(t, unix.IoctlSetWinsize(int(f.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 110}))
	inBubble(t, t.TempDir(), func(t *testing.T, w *world) {
		w.env = map[string]string{"TERM": "xterm-256color"}
		if code := executeAgain([]string{"run", "sim:", "--concurrency", "1,4", "--duration", "1s", "--warmup", "1",
			"--no-selftest"}, w.console(io.Discard, f)); code != console.Done {
			t.Errorf("exit %d", code)
		}
	})
	written := strings.ReplaceAll(end(), "\r\n", "\n")
	statuses, rows := 0, 0
	for line := range strings.Lines(written) {
		parts := strings.Split(strings.TrimSuffix(line, "\n"), "\r")
		for _, status := range parts[:len(parts)-1] {
			if strings.Contains(status, "stages done: 0 of 2") && strings.HasPrefix(status, "concurrent@1 ") {
				statuses++
			}
		}
		if shown := parts[len(parts)-1]; strings.Contains(shown, "  concurrent@") && strings.Contains(shown, " ms ") {
			rows++
		} else if strings.Contains(shown, "stages done") {
			t.Errorf("a status stays: %q", line)
		}
	}
	if statuses == 0 || rows != 2 || strings.Contains(written, "\x1b") {
		t.Errorf("%d status lines, %d rows:\n%q", statuses, rows, written)
	}
}

// Where a person looks at tables, one line tells how to get the page. Other outputs have no such line.
func TestPagesAreOffered(t *testing.T) {
	compare := []string{"compare", "../../examples/real/vllm-cpu", "../../examples/real/vllm-cpu"}
	for _, c := range []struct {
		more    []string
		offered string
	}{{nil, "--html FILE"}, {[]string{"--lang", "zh"}, "带图的网页"}, {[]string{"--format", "markdown"}, ""},
		{[]string{"--html", t.TempDir() + "/page.html"}, ""}} {
		code, out, errs := onTerminal(t, append(compare, c.more...)...)
		if code != console.Done || out == "" || strings.Contains(errs, "--html") != (c.offered != "") ||
			!strings.Contains(errs, c.offered) {
			t.Errorf("%v: exit %d, %d bytes: %s", c.more, code, len(out), errs)
		}
	}
}
