package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// A crash of any goroutine, and a kill, give the terminal back: its settings are as before, the second screen is left, the cursor is shown,
// and the last line names the directory.
func TestACrashGivesTheTerminalBack(t *testing.T) {
	t.Parallel()
	for program, says := range map[string][]string{"llmsweep-crashing": {"a crash for the test", "goroutine ", "llmsweep crashed", "is in "}, "llmsweep": {"it was killed", "is in "}} {
		t.Run(program, func(t *testing.T) {
			t.Parallel()
			self, err := exec.LookPath(program)
			if err != nil {
				t.Fatal(err)
			}
			f, end := openTerminal(t)
			if err := unix.IoctlSetWinsize(int(f.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 110}); err != nil {
				t.Fatal(err)
			}
			before, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			p := exec.Command(self, "run", "sim:", "--concurrency", "4", "--duration", "1m", "--no-selftest", "--out", "measured")
			p.Dir, p.Stdin, p.Stdout, p.Stderr = dir, f, f, f
			p.Env = append(os.Environ(), "TERM=xterm-256color", "CI=")
			if err := p.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { p.Process.Kill() })
			raw := func() bool {
				now, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
				return err == nil && now.Lflag&unix.ICANON == 0
			}
			eventually(t, "the live view has the terminal", raw)
			eventually(t, "there is a run", func() bool {
				_, err := store.Open(filepath.Join(dir, "measured"))
				return err == nil
			})
			if program == "llmsweep" {
				p.Process.Kill()
			} else if err := os.WriteFile(filepath.Join(dir, crashesWith), nil, 0o600); err != nil {
				t.Fatal(err)
			}
			p.Wait()
			eventually(t, "the terminal is as before", func() bool {
				now, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
				return err == nil && cmp.Equal(before, now)
			})
			out := end() // when the monitor has ended too
			left := strings.LastIndex(out, "\x1b[?1049l")
			if left < 0 {
				t.Fatalf("the second screen was not left:\n%q", tail(out))
			}
			for _, text := range append(says, "measured") {
				if !strings.Contains(out[left:], text) {
					t.Errorf("after the live view %q is missing:\n%q", text, tail(out))
				}
			}
			if b, err := os.ReadFile(filepath.Join(dir, "measured", rundir.RunFile)); err != nil || !bytes.Contains(b, []byte(rundir.Schema)) {
				t.Errorf("the run cannot be read: %v", err)
			}
		})
	}
}

// tail returns the end of a text.
func tail(s string) string { return s[max(0, len(s)-3000):] }
