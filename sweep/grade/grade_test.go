package grade

import (
	"cmp"
	"os"
	"strings"
	"testing"

	"llmsweep/client"
	"llmsweep/client/testkit"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
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
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, text string, cut bool) {
		for _, task := range tasks {
			if o, said := task.Grade(text, cut); len(said) > maxSaid || o == "" || o == Right && said == "" {
				t.Errorf("%s: %s %q", task.Kind, o, said)
			}
		}
	}))
}

// questions is a source of sessions that all ask one question.
type questions struct{ task *Task }

func (q questions) Next() (load.Session, bool) {
	return load.Session{Tag: q.task, Turns: []load.Turn{{OutputTokens: 8}}}, true
}

// What failed or was cut is counted apart, an unfinished request not at all, and stages that are kept are recalled.
func TestGrader(t *testing.T) {
	g := &Grader{Clean: func(string) string { return "clean" }}
	task, _ := NewTask("a question", "5", "")
	ends := func(stage string, all ...client.Result) {
		source := g.Source(stage, questions{task})
		for i := range all {
			s, _ := source.Next()
			s.Ended(i, 0, &all[i])
		}
	}
	answer := func(text, finish string) client.Result {
		return client.Result{Status: client.StatusOK, Text: []byte(text), Finish: finish}
	}
	ends("a", answer("It is 5", "stop"), answer("It is 6", "stop"), answer("I do not know", "stop"),
		answer("It is", "length"), answer("", "content_filter"),
		client.Result{Status: client.StatusIncomplete}, client.Result{Status: client.StatusError, Class: "timeout"})
	ends("b", answer("5", "stop"))
	run := &rundir.Run{Stages: []rundir.Stage{{Name: "a"}, {Name: "b"}, {Name: "c"}}}
	lines := g.Judge(run)
	want := rundir.Graded{Answers: 3, Right: 1, None: 1, Cut: 1, Failed: 2, Items: 1}
	got := *run.Stages[0].Graded
	if got.Accuracy.Mean.Value() != 1.0/3 || got.Accuracy.Low.Value() > 0.1 || got.Accuracy.High.Value() < 0.9 {
		t.Errorf("accuracy of answers to one question: %+v", got.Accuracy)
	}
	if got.Accuracy = want.Accuracy; got != want || run.Stages[2].Graded != nil {
		t.Errorf("%+v, want %+v", got, want)
	}
	if all := run.Grades.All; all.Answers != 4 || all.Right != 2 || len(run.Grades.Notes) != 2 || len(lines) != 7 ||
		lines[0].Said != "clean" {
		t.Errorf("%+v, notes %v, lines %v", all, run.Grades.Notes, lines)
	}

	saved := &store.Memory{}
	saved.AppendGrades(lines)
	again, now := &Grader{}, &rundir.Run{Stages: run.Stages[:2:2]}
	if err := again.Recall(saved.Grades(), func(stage string) bool { return stage == "a" }); err != nil {
		t.Fatal(err)
	}
	if unsaved := again.Judge(now); len(unsaved) > 0 || now.Stages[0].Graded.Answers != 3 || now.Stages[1].Graded != nil {
		t.Errorf("of stage a: %+v, unsaved %v", now.Grades, unsaved)
	}
}
