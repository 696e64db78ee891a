package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"llmsweep/client/testkit"

	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"

	"github.com/google/go-cmp/cmp"
)

// golden compares a text with a committed file, which -update writes.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *testkit.Update {
		noError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(contentOf(t, file), got); diff != "" {
		t.Errorf("%s (-committed +now; .ci/update writes it, read the difference):\n%s", file, diff)
	}
}

// commands are the names of the commands that people see.
func commands(t *testing.T) []string {
	t.Helper()
	var names []string
	parser, _ := newParser(console.NewConsole(t.Context(), nil, nil), &cli{})
	for _, node := range parser.Model.Children {
		if !node.Hidden {
			names = append(names, node.Name)
		}
	}
	return names
}

// TestHelpOfEachCommand compares the output of --help with testdata/help.
func TestHelpOfEachCommand(t *testing.T) {
	for _, command := range append(commands(t), "") {
		var out, errs strings.Builder
		args := strings.Fields(command + " --help")
		if code := executeAgain(args, console.NewConsole(t.Context(), &out, &errs)); code != console.Done || errs.Len() > 0 {
			t.Errorf("%v: exit %d, %s", args, code, errs.String())
		}
		name := command
		if name == "" {
			name = "llmsweep"
		}
		golden(t, filepath.Join("testdata/help", name+".txt"), out.String())
		if command != "" && command != "version" && !strings.Contains(out.String(), "\n    llmsweep ") {
			t.Errorf("%s --help has no examples", command)
		}
	}
}

// TestErrors runs the wrong command lines of testdata/errors.txt, and compares exit codes and messages, of one line
// each.
func TestErrorTexts(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		for name, text := range map[string]string{
			"unknown.yaml": "points: 3\nstage-tiem: 3s\n", "other.yaml": "points: 3\nrate: 4\n",
			"damaged.yaml": "points: 3\na: [1,\n", "value.yaml": "points: many\n", "list.yaml": "points: [1, 2]\n",
			"twice.yaml": "points: 3\npoints: 4\n", "prose.md": "nothing here\n", "foreign.html": "<p>mine</p>\n",
			"tool.yaml": "version: 1\nresults: {mean: 2}\n", "tool.json": "{\"version\": 1, \"results\": {\"mean\": 2}}\n",
			"results.md": contentOf(t, "../../report/published/testdata/guidellm-tables.md"),
		} {
			w.write(name, text)
		}
		noError(t, errors.Join(os.Mkdir(w.path("empty"), 0o755), os.CopyFS(w.path("run"), os.DirFS(firstReport))))
		says := func(text string) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) })
		}
		for port, h := range map[string]http.Handler{
			"1": says("<!doctype html><title>Welcome to nginx!</title>"), "2": http.NotFoundHandler(), "3": says(`{"data":7`),
			"4": w.simulated(simserver.Options{APIKey: "right-key-7"}), "5": w.simulated(simserver.Options{}),
		} {
			w.listen("server:"+port, h)
		}
		var all strings.Builder
		for line := range strings.Lines(contentOf(t, "testdata/errors.txt")) {
			command, isCommand := strings.CutPrefix(line, "$ llmsweep ")
			if !strings.HasPrefix(line, "exit ") {
				all.WriteString(line)
			}
			if !isCommand {
				continue
			}
			code, out, errs := w.llmsweep(shellWords(strings.NewReplacer("$W", w.dir, "\n", "").Replace(command))...)
			if code == console.Done || !strings.HasPrefix(errs, "llmsweep: ") || strings.Count(errs, "\n") != 1 {
				t.Errorf("%s: exit %d, not one line of error\n%s%s", line, code, out, errs)
			}
			if strings.Contains(errs, "key-7") {
				t.Errorf("%s: the key is in the error: %s", line, errs)
			}
			fmt.Fprintf(&all, "exit %d: %s", code, strings.ReplaceAll(errs, w.dir, "$W"))
		}
		golden(t, "testdata/errors.txt", all.String())
		if left, err := filepath.Glob(w.path("llmsweep-*")); err != nil || len(left) > 0 {
			t.Errorf("run directories are left behind: %v, %v", left, err)
		}
		if text := contentOf(t, w.path("prose.md")); text != "nothing here\n" {
			t.Errorf("the user's document became %q", text)
		}
	})
}

// contentOf reads a file.
func contentOf(t testing.TB, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	noError(t, err)
	return string(b)
}

// noError ends the test where there is an error.
func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
