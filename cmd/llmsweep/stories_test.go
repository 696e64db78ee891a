//go:build stories

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"llmsweep/client/testkit"
)

// TestStories runs the stories of examples/stories from their first line to their last, in virtual time: each line that begins with "$" in a console block is a
// command, and what follows is what it prints. Each command has the exit code of the story, and each answer its number to within 10 %; -update writes what they print, and their pictures.
func TestStories(t *testing.T) {
	const folder = "../../examples/stories"
	files, err := filepath.Glob(folder + "/*.md")
	if err != nil || len(files) < 6 {
		t.Fatalf("%d stories, %v", len(files), err)
	}
	from, err := filepath.Abs(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		name := filepath.Base(file)
		if name == "README.md" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			told, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			t.Chdir(dir) // stories name files without folders
			inBubble(t, dir, func(t *testing.T, w *world) {
				s := story{world: w, from: from}
				got := s.tell(string(told))
				if *testkit.Update {
					s.keep(name, got)
					return
				}
				if diff := cmp.Diff(endings(string(told)), endings(got)); diff != "" {
					t.Errorf("commands end otherwise (-told +now):\n%s\n%s", diff, got)
				}
				if diff := cmp.Diff(answers(string(told)), answers(got), cmpopts.EquateApprox(0.1, 0)); diff != "" {
					t.Errorf("answers differ by more than 10 %% (-told +now):\n%s\n%s", diff, got)
				}
			})
		})
	}
}

// endings returns the commands of a story and their exit codes. Rows are not compared: many requests that end at one instant are served in any order.
func endings(text string) (all []string) {
	for _, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(line, "$ ") || strings.HasPrefix(line, "[exit code ") {
			all = append(all, line)
		}
	}
	return all
}

// figure is the number of an answer, and the words before it.
type figure struct {
	Answer string
	Value  float64
}

var answerLine = regexp.MustCompile(`(?m)^  ((?:Saturates at|Sustains|Carries|Cheapest:|Fewest GPUs:).*?)([\d.]+) (?:req/s|users|replicas)`)

// answers returns the answers of a story: rates, users and replicas.
func answers(text string) (all []figure) {
	for _, m := range answerLine.FindAllStringSubmatch(text, -1) {
		value, _ := strconv.ParseFloat(m[2], 64)
		all = append(all, figure{m[1], value})
	}
	return all
}

// story runs the commands of a story.
type story struct {
	*world
	from string // its folder
}

var (
	consoleBlock = regexp.MustCompile("(?s)```console\n(.*?)```")
	picture      = regexp.MustCompile(`!\[[^]]*\]\(([^)]+\.svg)\)`)
)

// tell returns the story with what its commands print.
func (s *story) tell(text string) string {
	return consoleBlock.ReplaceAllStringFunc(text, func(block string) string {
		var b strings.Builder
		b.WriteString("```console\n")
		for _, line := range strings.Split(block, "\n") {
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				fmt.Fprintf(&b, "$ %s\n%s", command, s.run(command))
			}
		}
		return b.String() + "```"
	})
}

// run runs a command line, and returns what it prints and its exit code where that is not 0. With & at its end it goes on beside the others.
func (s *story) run(line string) string {
	s.t.Helper()
	line, beside := strings.CutSuffix(line, " &")
	words := shellWords(line)
	if len(words) == 0 || words[0] != "llmsweep" {
		s.t.Fatalf("no command of this program: %s", line)
	}
	for _, word := range words[1:] { // files that stand beside the story
		if b, err := os.ReadFile(filepath.Join(s.from, word)); err == nil && !strings.Contains(word, "/") {
			s.write(word, string(b))
		}
	}
	if beside {
		go s.llmsweep(words[1:]...)
		synctest.Wait() // it listens
		return ""
	}
	code, out, errs := s.llmsweep(words[1:]...)
	if code != 0 && out == "" {
		s.t.Errorf("$ %s\nexit %d: %s", line, code, errs)
	}
	out = strings.ReplaceAll(strings.TrimRight(out, "\n"), s.dir+"/", "")
	for _, printed := range strings.Split(out, "\n") {
		if strings.HasPrefix(printed, "$ ") || strings.HasPrefix(printed, "```") {
			s.t.Fatalf("$ %s prints a line that cannot be told from a command: %s", line, printed)
		}
	}
	if code != 0 {
		out += fmt.Sprintf("\n[exit code %d]", code)
	}
	if out = strings.TrimLeft(out, "\n"); out == "" {
		return ""
	}
	return out + "\n"
}

// keep writes the story again, and the pictures that it shows.
func (s *story) keep(name, text string) {
	if err := os.WriteFile(filepath.Join(s.from, name), []byte(text), 0o644); err != nil {
		s.t.Error(err)
	}
	for _, shown := range picture.FindAllStringSubmatch(text, -1) {
		b, err := os.ReadFile(s.path(shown[1]))
		if err == nil {
			err = os.WriteFile(filepath.Join(s.from, shown[1]), b, 0o644)
		}
		if err != nil {
			s.t.Error(err)
		}
	}
}
