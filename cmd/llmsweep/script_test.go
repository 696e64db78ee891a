package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"llmsweep/client/testkit"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/cmd/llmsweep/flags"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the test binary be llmsweep: by name for the scripts, by its hidden command for the self-test's
// helpers.
func TestMain(m *testing.M) {
	debug.SetGCPercent(800) // simulations allocate fast and keep little
	debug.SetMemoryLimit(4 << 30)
	if len(os.Args) > 1 && os.Args[1] == flags.SelftestHelper {
		main()
	}
	testscript.Main(cleared{m}, map[string]func(){"llmsweep": main})
}

// cleared runs tests in a cleared environment. llmsweep itself, which a script starts, keeps what the script sets.
type cleared struct{ *testing.M }

func (c cleared) Run() int {
	testkit.ClearEnvironment()
	return c.M.Run()
}

// TestScripts runs the commands of testdata/script with real files, and those of network.txtar as processes of their
// own.
func TestScripts(t *testing.T) {
	testscript.RunT(oneByOne{t}, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			const published = "../../report/published/testdata/"
			for _, file := range []string{"guidellm-tables.md", "serving-blocks.txt", "scaling-a10.txt"} {
				noError(t, os.WriteFile(filepath.Join(e.WorkDir, filepath.Base(file)), []byte(contentOf(t, published+file)), 0o644))
			}
			noError(t, os.WriteFile(filepath.Join(e.WorkDir, "few.md"), []byte(publishedPart(t, 2)), 0o644))
			e.Defer(func() { followSchemas(t, e.WorkDir, nil) })
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "choose": choosing},
	})
}

// oneByOne runs scripts one after another, before the tests that run in parallel: they change the working directory.
type oneByOne struct{ *testing.T }

func (oneByOne) Parallel()     {}
func (oneByOne) Verbose() bool { return testing.Verbose() }
func (t oneByOne) Run(name string, f func(testscript.T)) {
	t.T.Run(name, func(t *testing.T) { f(oneByOne{t}) })
}

// exits is the script command "exits CODE PROGRAM ARGUMENT...": the program must end with that exit code. A process of
// its own takes a tenth of a second: llmsweep has one where $PROCESSES is set.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGUMENT...")
	}
	got := 0
	if args[1] == "llmsweep" && ts.Getenv("PROCESSES") == "" {
		here, err := os.Getwd()
		ts.Check(err)
		ts.Check(os.Chdir(ts.MkAbs(".")))
		got = executeAgain(args[2:], console.NewConsole(context.Background(), ts.Stdout(), ts.Stderr()))
		ts.Check(os.Chdir(here))
	} else if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit := (*exec.ExitError)(nil)
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("%s: exit code %d, want %s", strings.Join(args[1:], " "), got, args[0])
	}
}

// choosing is the script command "choose FLAG...": llmsweep choose with the wish in $WISH, which must succeed.
func choosing(ts *testscript.TestScript, neg bool, args []string) {
	wish := strings.Fields(ts.Getenv("WISH"))
	exits(ts, neg, slices.Concat([]string{"0", "llmsweep", "choose", "guidellm-tables.md"}, wish, args))
}

// process starts llmsweep as a process of its own, in a directory. The program's name, which testscript.Main looks at,
// makes the test binary be llmsweep.
func process(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	return started(t, exec.Command("llmsweep", args...), dir)
}

// started starts a process in a directory.
func started(t *testing.T, p *exec.Cmd, dir string) *exec.Cmd {
	t.Helper()
	p.Dir = dir
	noError(t, p.Start())
	t.Cleanup(func() { p.Process.Kill() })
	return p
}
