package main

import (
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
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skip("this system has no terminals to make: ", err)
	}
	written := make(chan string)
	go func() {
		var all []byte
		b := make([]byte, 1<<16)
		for {
			n, err := master.Read(b)
			all = append(all, b[:n]...)
			if err != nil {
				written <- string(all)
				return
			}
		}
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

// A panic of a command gives the terminal back.
func TestAPanicGivesTheTerminalBack(t *testing.T) {
	t.Setenv("CI", "")
	t.Setenv("TERM", "xterm-256color")
	f, end := openTerminal(t)
	if err := unix.IoctlSetWinsize(int(f.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 110}); err != nil {
		t.Fatal(err)
	}
	in, stop := console.NewInterrupter()
	defer stop()
	c := console.NewConsole(in.Ctx, f, f)
	c.Interrupts, c.Dir = in, t.TempDir()
	w := c.World()
	w.Waiter = func() console.Waiter { panic("a fault for the test") }
	c = c.In(w)
	func() {
		defer func() {
			if said := recover(); said != "a fault for the test" {
				t.Errorf("it ended with %v", said)
			}
		}()
		executeAgain([]string{"run", "sim:", "--concurrency", "4", "--duration", "1m", "--no-selftest"}, c)
	}()
	const taken, left = "\x1b[?1049h", "\x1b[?1049l"
	if out := end(); !strings.Contains(out, taken) || strings.LastIndex(out, left) < strings.LastIndex(out, taken) {
		t.Errorf("the second screen was not left:\n%q", out[max(0, len(out)-3000):])
	}
}

// Where a person looks at tables, one line tells how to get the page. Other outputs have no such line.
func TestPagesAreOffered(t *testing.T) {
	compare := []string{"compare", "../../examples/real/vllm-cpu", "../../examples/real/vllm-cpu"}
	for _, c := range []struct {
		more    []string
		offered string
	}{{nil, "--html FILE"}, {[]string{"--lang", "zh"}, "带图的网页"}, {[]string{"--format", "markdown"}, ""}, {[]string{"--html", t.TempDir() + "/page.html"}, ""}} {
		code, out, errs := onTerminal(t, append(compare, c.more...)...)
		if code != console.Done || out == "" || strings.Contains(errs, "--html") != (c.offered != "") || !strings.Contains(errs, c.offered) {
			t.Errorf("%v: exit %d, %d bytes: %s", c.more, code, len(out), errs)
		}
	}
}
