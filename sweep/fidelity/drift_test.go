package fidelity

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"llmsweep/client/api"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// likely is a token whose rival is nearly as likely, or far less likely.
func driftToken(text, rival string, tie bool) api.LogProbToken {
	gap := 2.0
	if tie {
		gap = 0.05
	}
	return api.LogProbToken{Text: text, LogP: -0.1, Top: []api.LogProbChoice{{Text: text, LogP: -0.1}, {Text: rival, LogP: -0.1 - gap}}}
}

// said returns the answer to a canary: three tokens, the second of which has a rival.
func said(canary int, second string, tie bool) *Answer {
	a := &Answer{Output: 3, Tokens: []api.LogProbToken{driftToken(fmt.Sprintf("n%d", canary), " x", false), driftToken(second, " other", tie), driftToken(" end", " x", false)}}
	a.Text = spelled(a.Tokens)
	return a
}

// run returns a run of n canaries, whose answers differ from others in the canaries of which the function says so.
func run(name string, n int, differs func(canary, time int) bool, tie bool) *DriftRun {
	r := &DriftRun{
		Name: name, alone: map[int]*Answer{}, again: map[int]*Answer{},
		Run: &rundir.Run{Fidelity: &rundir.Fidelity{Canaries: n, Set: "s"}, Target: rundir.Target{API: "chat"}},
	}
	for i := range n {
		for time, to := range []map[int]*Answer{r.alone, r.again} {
			second := " same"
			if differs(i, time) {
				second = " other"
			}
			to[i] = said(i, second, tie)
		}
	}
	return r
}

func never(int, int) bool { return false }

func TestDriftVerdicts(t *testing.T) {
	first := func(n int) func(int, int) bool { return func(i, _ int) bool { return i < n } }
	second := func(i, time int) bool { return i%2 == 0 && time == 1 || i%2 == 1 && time == 0 }
	for name, c := range map[string]struct {
		a, b      func(int, int) bool
		tie       bool
		verdict   rundir.FidelityVerdict
		condition string
		outcome   DriftOutcome
	}{
		"equal":                  {never, never, false, DriftSame, "match>90%", DriftHolds},
		"ties":                   {never, first(12), true, DriftTies, "match>75%", DriftHolds},
		"changes":                {never, first(12), false, DriftDiffers, "changes>5%", DriftHolds},
		"one change is chance":   {never, first(1), false, DriftSame, "match>99%", DriftUnsure},
		"the candidate wavers":   {never, second, false, rundir.FidelityUndecided, "match>90%", DriftBroken},
		"both waver alike":       {second, second, false, DriftSame, "kl<0.05", DriftHolds},
		"a limit that is broken": {never, first(90), false, DriftDiffers, "match>20%", DriftBroken},
	} {
		d, err := CompareDrift(run("a", 100, c.a, c.tie), run("b", 100, c.b, c.tie))
		if err != nil {
			t.Fatal(name, err)
		}
		if d.Verdict != c.verdict || !d.LogProbs || d.Canaries != 100 {
			t.Errorf("%s: %s, want %s: %+v", name, d.Verdict, c.verdict, d.Alone)
		}
		condition, err := ParseCondition(c.condition)
		if err != nil || condition.String() != c.condition {
			t.Fatal(condition, err)
		}
		if condition.Of(d) != c.outcome {
			t.Errorf("%s: %s gives %d, want %d: %+v", name, c.condition, condition.Of(d), c.outcome, d.Metric(condition.Key))
		}
	}
}

func TestOtherTokenizers(t *testing.T) {
	a, b := run("a", 100, never, false), run("b", 100, func(i, _ int) bool { return i < 20 }, false)
	for _, answers := range []map[int]*Answer{b.alone, b.again} {
		for _, answer := range answers { // the first token in two
			first := answer.Tokens[0]
			answer.Tokens = append([]api.LogProbToken{{Text: first.Text[:1], LogP: first.LogP, Top: first.Top}, {Text: first.Text[1:], LogP: first.LogP, Top: first.Top}}, answer.Tokens[1:]...)
		}
	}
	d, err := CompareDrift(a, b)
	if err != nil || d.LogProbs || d.Alone.Unknown != 20 || d.Notes[0].Code != "drift.tokenizers" {
		t.Errorf("%+v, %v", d, err)
	}
	for i := range b.alone {
		b.alone[i].Tokens = nil
	}
	if d, err := CompareDrift(a, b); err != nil || d.LogProbs || d.Notes[0].Code != "drift.no-logprobs" {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestRefused(t *testing.T) {
	no := false
	for name, c := range map[string]struct {
		change func(*DriftRun)
		says   string
	}{
		"other canaries": {func(r *DriftRun) { r.Fidelity.Set = "z" }, "b asked other canaries"},
		"another API":    {func(r *DriftRun) { r.Target.API = "completions" }, "chat template"},
		"thinking":       {func(r *DriftRun) { r.Workload.Think = &no }, "--no-think"},
		"nothing common": {func(r *DriftRun) { clear(r.alone) }, "none of the same canaries"},
	} {
		b := run("b", 10, never, false)
		c.change(b)
		if _, err := CompareDrift(run("a", 10, never, false), b); err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := ReadDrift("dir", &rundir.Run{}); err == nil || !strings.Contains(err.Error(), "dir has no canaries") {
		t.Error(err)
	}
	for _, wrong := range []string{"match>90", "kl<5%", "speed>1%", "match=90%", "match>101%", "accuracy>80%", ""} {
		if c, err := ParseCondition(wrong); err == nil {
			t.Errorf("%q is read as %v", wrong, c)
		}
	}
}

// Conditions on graded answers and on a text are read where these are compared.
func TestParseAny(t *testing.T) {
	for _, text := range []string{"match>90%", "accuracy<80%", "accuracy_change<-2%"} {
		if c, err := ParseAny(text); err != nil || c.String() != text {
			t.Errorf("%s is read as %v, %v", text, c, err)
		}
	}
	for _, wrong := range []string{"accuracy<180%", "accuracy<-1%"} {
		if c, err := ParseAny(wrong); err == nil {
			t.Errorf("%q is read as %v", wrong, c)
		}
	}
}

// What a directory has is what was compared before it was written.
func TestRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run")
	dir, err := store.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	line := func(stage string, canary int, a *Answer) rundir.CanaryAnswer {
		l := rundir.CanaryAnswer{Stage: stage, Canary: canary, Text: a.Text, Output: a.Output}
		for _, token := range a.Tokens {
			l.Tokens, l.LogProbs = append(l.Tokens, token.Text), append(l.LogProbs, token.LogP)
			l.Top = append(l.Top, []rundir.Likely{{Token: token.Top[0].Text, LogP: token.Top[0].LogP}, {Token: token.Top[1].Text, LogP: token.Top[1].LogP}})
		}
		return l
	}
	var lines []rundir.CanaryAnswer
	for i := range 40 {
		lines = append(lines, line(Alone, i, said(i, " same", false)), rundir.CanaryAnswer{Stage: Again, Canary: i, Same: true})
	}
	lines = append(lines, line("poisson@1.00", 3, said(3, " other", false)), rundir.CanaryAnswer{Stage: "poisson@1.00", Canary: 4, Same: true},
		rundir.CanaryAnswer{Stage: "poisson@1.00", Canary: 5, Failed: "timeout"})
	if err := dir.AppendCanaries(lines); err != nil {
		t.Fatal(err)
	}
	dir.Close()
	r, err := ReadDrift(path, &rundir.Run{Fidelity: &rundir.Fidelity{Canaries: 40, Set: "s"}, Target: rundir.Target{API: "chat"}})
	if err != nil {
		t.Fatal(err)
	}
	d, err := CompareDrift(run("a", 40, never, false), r)
	if err != nil || d.Alone.Answers != 40 || d.Alone.Differing() != 0 || d.Null[1].Answers != 40 || d.Load.Answers != 2 || d.Load.Changes != 1 || d.Alone.KL.Mean.Value() != 0 {
		t.Errorf("%+v %+v, %v", d.Alone, d.Load, err)
	}
}
