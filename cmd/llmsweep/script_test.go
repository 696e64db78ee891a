package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"

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
	testscript.Main(m, map[string]func(){"llmsweep": main})
}

// TestScripts runs the command as a process of its own, with real files and exit codes.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			const published = "../../report/published/testdata/"
			for _, file := range []string{
				published + "guidellm-tables.md", published + "serving-blocks.txt", published + "scaling-a10.txt",
				published + "results/llm-d-guidellm-0.yaml", published + "results/llm-d-guidellm-1.yaml",
				published + "results/llm-d-vllm.json",
			} {
				b, err := os.ReadFile(file)
				if err == nil {
					err = os.WriteFile(filepath.Join(e.WorkDir, filepath.Base(file)), b, 0o644)
				}
				if err != nil {
					return err
				}
			}
			few := filepath.Join(e.WorkDir, "few.md")
			if err := os.WriteFile(few, []byte(publishedPart(t, 2)), 0o644); err != nil {
				return err
			}
			e.Defer(func() { followSchemas(t, e.WorkDir, nil) })
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "choose": choosing},
	})
}

// exits is the script command "exits CODE PROGRAM ARGUMENT...": the program must end with that exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGUMENT...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		exit := (*exec.ExitError)(nil)
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s: exit code %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

// choosing is the script command "choose FLAG...": llmsweep choose with the wish in $WISH, which must succeed.
func choosing(ts *testscript.TestScript, neg bool, args []string) {
	wish := strings.Fields(ts.Getenv("WISH"))
	exits(ts, neg, append(append([]string{"0", "llmsweep", "choose", "guidellm-tables.md"}, wish...), args...))
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
	p.Dir, p.Env = dir, append(os.Environ(), "LLMSWEEP_API_KEY=", "OPENAI_API_KEY=")
	noError(t, p.Start())
	t.Cleanup(func() { p.Process.Kill() })
	return p
}
