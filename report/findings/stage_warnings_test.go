package findings

import (
	"strings"
	"testing"
	"time"

	"llmsweep/client/note"
	"llmsweep/report/lang"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
)

// TestRepeatedWarnings has the same warning with other numbers in many rows.
func TestRepeatedWarnings(t *testing.T) {
	run := &rundir.Run{State: rundir.Complete, Client: rundir.Client{Valid: true},
		Stages: []rundir.Stage{{Name: "poisson@1"}, {Name: "poisson@2"}, {Name: "poisson@3"}, {Name: "poisson@4"}}}
	for i, lag := range []float64{0.08, 0.09, 0.5} {
		run.Stages[i].Warnings = []note.Note{{Code: "client.sent-late", Args: map[string]any{"lag_p99": lag}}}
	}
	run.Stages[3].Warnings = []note.Note{{Code: "requests.resent", Args: map[string]any{"count": 64.0}}}
	for _, l := range lang.All() {
		lines := Warnings(run, l)
		if len(lines) != 2 || !strings.Contains(lines[0], lang.StageName("poisson@3")) || !strings.Contains(lines[0], "80") ||
			strings.Contains(lines[0], "500") {
			t.Errorf("%q", lines)
		}
	}
}

// TestClientWarning has a client that was the limit in some rows: the answer rests on the others.
func TestClientWarning(t *testing.T) {
	late := note.Note{Code: "client.sent-late", Args: map[string]any{"lag_p99": 0.08}}
	run := &rundir.Run{State: rundir.Complete, Stages: []rundir.Stage{{Name: "poisson@1"},
		{Name: "poisson@2", Invalid: late}, {Name: "poisson@3"}}}
	for _, l := range lang.All() {
		run.Stages[0].Invalid = note.Note{}
		run.Saturation = &rundir.Saturation{Rate: rundir.Exactly(2)}
		if lines := strings.Join(Warnings(run, l), "\n"); !strings.HasPrefix(lines, warnClientRows.In(l, 2, 3)) {
			t.Error(lines)
		}
		run.Saturation, run.Stages[0].Invalid = nil, late
		if lines := strings.Join(Warnings(run, l), "\n"); !strings.HasPrefix(lines, warnClient.In(l)) {
			t.Error(lines)
		}
	}
}

// Hits that the shared parts of the prompts explain are no warning: the columns of hits tell them. Hits beyond are.
func TestExpectedCacheHitsNoWarning(t *testing.T) {
	stage := rundir.Stage{Name: "concurrent@4", CachedTokens: rundir.Exactly(240),
		PromptTokens: rundir.TokenStats{Mean: rundir.Exactly(512)}}
	run := &rundir.Run{Stages: []rundir.Stage{stage}}
	warns := func() bool {
		return strings.Contains(strings.Join(Warnings(run, lang.English), "\n"), warnCached.In(lang.English))
	}
	if !warns() {
		t.Error("no warning of 240 of 512 tokens in the cache")
	}
	run.Stages[0].Hits = &rundir.Hits{Ideal: rundir.Exactly(0.44)}
	if warns() {
		t.Error("a warning of 240 of 512 tokens where the prompts share 44 %")
	}
	run.Stages[0].Hits.Ideal = rundir.Exactly(0.3)
	if !warns() {
		t.Error("no warning of 240 of 512 tokens where the prompts share 30 %")
	}
}

// A warning of many rows names the first three and counts the others.
func TestRowNames(t *testing.T) {
	run := &rundir.Run{Stages: make([]rundir.Stage, 20)}
	names := strings.Split("a b c d e f g h", " ")
	if got, want := rowNames(names, run, lang.English), "a, b, c and 5 other rows"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := rowNames(names[:6], run, lang.English), "a, b, c, d, e, f"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestStoppedClientWarning checks that a row in which the client was stopped has a warning of that only.
func TestStoppedClientWarning(t *testing.T) {
	run := &rundir.Run{Client: rundir.Client{Valid: true}, Stages: []rundir.Stage{{Name: "poisson@5.00"}}}
	s := &run.Stages[0]
	s.Invalid = measure.Stopped(8 * time.Second)
	s.Warnings = []note.Note{s.Invalid}
	s.TTFT.P99, s.TTFTDue.P99 = rundir.Exactly(0.1), rundir.Exactly(8)
	for l, want := range map[lang.Lang]string{
		lang.English: "asynchronous@5.00: llmsweep itself did not run for 8.00 s: it was stopped, or the machine slept.",
		lang.Chinese: "asynchronous@5.00：llmsweep 自身停顿了 8.00 s：进程被暂停，或机器休眠。",
	} {
		if lines := Warnings(run, l); len(lines) != 1 || lines[0] != want {
			t.Errorf("%q, want %q", lines, want)
		}
	}
}
