package grade

import (
	"cmp"
	"os"
	"strings"
	"testing"
)

func TestGrade(t *testing.T) {
	b, err := os.ReadFile("testdata/answers.txt")
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("ab ", 100)
	rows := append(strings.Split(strings.TrimSpace(string(b)), "\n")[1:], "x | exact | "+long+" | wrong | "+long[199:299])
	for _, row := range rows {
		f := strings.Split(strings.ReplaceAll(row, `\n`, "\n"), " | ")
		text, cut := strings.CutSuffix(f[2], " ...")
		task, err := NewTask("a question", f[0], TaskKind(f[1]))
		if err != nil {
			t.Fatalf("%s: %v", row, err)
		}
		if o, said := task.Grade(text, cut); string(o) != f[3] || cmp.Or(said, "-") != f[4] {
			t.Errorf("%s: %s | %s", row, o, said)
		}
	}
}

func TestNew(t *testing.T) {
	for _, c := range []struct {
		want string
		kind TaskKind
	}{{"", ""}, {" ", Exact}, {"x", Number}, {"K", Choice}, {"(", "regexp"}, {"x", "fuzzy"}, {"####", ""}} {
		if _, err := NewTask("a question", c.want, c.kind); err == nil {
			t.Errorf("%q, graded by %q, is a task", c.want, c.kind)
		}
	}
	one, _ := NewTask("a question", "5", "")
	other, _ := NewTask("another question", "5", "")
	same, _ := NewTask("a question", " 5 ", Number)
	if one.Key == other.Key || one.Key != same.Key {
		t.Errorf("keys %s, %s, %s", one.Key, other.Key, same.Key)
	}
}

// FuzzGrade has answers of any text.
func FuzzGrade(f *testing.F) {
	f.Add("The answer is (B) 42", false)
	tasks := make([]*Task, 0, 3)
	for _, c := range []struct {
		want string
		kind TaskKind
	}{{"42", Number}, {"B", Choice}, {"Paris", Exact}} {
		task, _ := NewTask("q", c.want, c.kind)
		tasks = append(tasks, task)
	}
	f.Fuzz(func(t *testing.T, text string, cut bool) {
		for _, task := range tasks {
			if o, said := task.Grade(text, cut); len(said) > maxSaid || o == "" || o == Right && said == "" {
				t.Errorf("%s: %s %q", task.Kind, o, said)
			}
		}
	})
}
