package grade

import (
	"strings"
	"testing"
)

func TestGrade(t *testing.T) {
	for _, c := range []struct {
		want string
		kind TaskKind
		text string
		cut  bool
		o    TaskOutcome
		said string
	}{
		{"42", "", "The sum is 42.", false, Right, "42"},
		{"42", "", "First 42, then 43", false, Wrong, "43"},
		{"42", "", "The answer is 42, since 40 + 2 = 42 and 7 is odd", false, Right, "42"},
		{"42", "", "7 apples.\n#### 42", false, Right, "42"},
		{"42", "", `so \boxed{42} in 3 steps`, false, Right, "42"},
		{"1234.5", Number, "It costs $1,234.50.", false, Right, "1,234.50"},
		{"-4", Number, "x = -4", false, Right, "-4"},
		{"-4", Number, "x = −4", false, Right, "−4"},
		{"4", Number, "the range 3-4", false, Right, "4"},
		{"5", Number, "I do not know", false, None, ""},
		{"5", Number, "", false, None, ""},
		{"5", Number, "5", true, Cut, ""},
		{"5", Number, "<think>It may be 7</think>It is 5", false, Right, "5"},
		{"5", Number, "<think>It may be 5", true, Cut, ""},
		{"5", Number, "<think>It may be 5", false, None, ""},
		{"B", "", "B", false, Right, "B"},
		{"B", "", "B", true, Right, "B"},
		{"B", "", "(b) because", true, Right, "B"},
		{"B", "", "C. It is not B", true, Wrong, "C"},
		{"B", "", "The answer is (B).", false, Right, "B"},
		{"B", "", "The answer is (B).", true, Cut, ""},
		{"A", "", "A dog would choose option (C), but the correct answer is **A**", false, Right, "A"},
		{"A", "", "A dog is no answer", false, None, ""},
		{"C", Choice, "Not (A), not (B), hence (C)", false, Right, "C"},
		{"C", Choice, "I think that C fits", false, Right, "C"},
		{"Paris", "", " paris. ", false, Right, "paris"},
		{"Paris", "", "\"Paris\"", false, Right, "Paris"},
		{"Paris", "", "It is Paris", false, Wrong, "It is Paris"},
		{"Paris", "", "Paris", true, Cut, ""},
		{"3 + 4 = 7\n#### 7", "", "It is 7", false, Right, "7"},
		{"x", Exact, strings.Repeat("ab ", 100), false, Wrong, strings.Repeat("ab ", 100)[199:299]},
	} {
		task, err := NewTask("a question", c.want, c.kind)
		if err != nil {
			t.Errorf("%q: %v", c.want, err)
			continue
		}
		if o, said := task.Grade(c.text, c.cut); o != c.o || said != c.said {
			t.Errorf("%s %q, answer %q (cut: %v): %s %q, want %s %q", task.Kind, c.want, c.text, c.cut, o, said, c.o, c.said)
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
			if o, said := task.Grade(text, cut); len(said) > mostSaid || o == "" || o == Right && said == "" {
				t.Errorf("%s: %s %q", task.Kind, o, said)
			}
		}
	})
}
