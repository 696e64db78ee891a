package findings

import (
	"slices"
	"strings"
	"testing"
	"time"

	"llmsweep/client/note"
	"llmsweep/report/lang"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
)

// The same warning in many rows is one line with the first numbers and the row of the largest; a client that was the
// limit in some rows is a warning of these, and in all of the run; a row in which it was stopped has no other.
func TestWarnings(t *testing.T) {
	late := func(lag float64) note.Note {
		return note.Note{Code: "client.sent-late", Args: map[string]any{"lag_p99": lag}}
	}
	resent := note.Note{Code: "requests.resent", Args: map[string]any{"count": 64.0}}
	stopped := measure.Stopped(8 * time.Second)
	for _, c := range []struct {
		invalid []note.Note // of the rows
		warn    []note.Note
		rate    float64
		en, zh  string // the first line begins with it
		lines   int
	}{
		{nil, []note.Note{late(0.08), late(0.09), late(0.5), resent}, 0,
			"asynchronous@1, asynchronous@2, asynchronous@3: ", "asynchronous@1、asynchronous@2、asynchronous@3：", 2},
		{[]note.Note{{}, late(0.08), {}}, nil, 2, warnClientRows.In(lang.English, 2, 3),
			warnClientRows.In(lang.Chinese, 2, 3), 0},
		{[]note.Note{late(0.08), late(0.08), {}}, nil, 0, warnClient.In(lang.English), warnClient.In(lang.Chinese), 0},
		{[]note.Note{stopped}, []note.Note{stopped}, 0,
			"asynchronous@1: llmsweep itself did not run for 8.00 s: it was stopped, or the machine slept.",
			"asynchronous@1：llmsweep 自身停顿了 8.00 s：进程被暂停，或机器休眠。", 1},
	} {
		run := &rundir.Run{State: rundir.Complete, Client: rundir.Client{Valid: c.invalid == nil || c.lines == 1}}
		for i := range max(len(c.invalid), len(c.warn)) {
			s := rundir.Stage{Name: "poisson@" + lang.Shortest(float64(i+1))}
			if c.invalid != nil {
				s.Invalid = c.invalid[i]
			}
			if c.warn != nil {
				s.Warnings = []note.Note{c.warn[i]}
			}
			run.Stages = append(run.Stages, s)
		}
		if c.lines == 1 {
			run.Stages[0].TTFT.P99, run.Stages[0].TTFTDue.P99 = exactly(0.1), exactly(8)
		}
		if c.rate > 0 {
			run.Saturation = &rundir.Saturation{Rate: exactly(c.rate)}
		}
		for l, want := range map[lang.Lang]string{lang.English: c.en, lang.Chinese: c.zh} {
			got := Warnings(run, l)
			if len(got) == 0 || !strings.HasPrefix(got[0], want) || c.lines > 0 && len(got) != c.lines {
				t.Errorf("%q, want %q", got, want)
			}
		}
	}
}

// Hits that the shared parts of the prompts explain are no warning: the columns of hits tell them. Hits beyond are.
func TestExpectedCacheHitsNoWarning(t *testing.T) {
	for ideal, warns := range map[float64]bool{0: true, 0.3: true, 0.44: false} {
		st := rundir.Stage{CachedTokens: exactly(240), PromptTokens: rundir.TokenStats{Mean: exactly(512)}}
		if ideal > 0 {
			st.Hits = &rundir.Hits{Ideal: exactly(ideal)}
		}
		all := strings.Join(Warnings(&rundir.Run{Stages: []rundir.Stage{st}}, lang.English), "\n")
		if strings.Contains(all, warnCached.In(lang.English)) != warns {
			t.Errorf("240 of 512 tokens in the cache where the prompts share %v: %s", ideal, all)
		}
	}
}

// A warning of many rows names the first three and counts the others.
func TestRowNames(t *testing.T) {
	run := &rundir.Run{Stages: make([]rundir.Stage, 20)}
	for names, want := range map[string]string{"a b c d e f g h": "a, b, c and 5 other rows",
		"a b c d e f": "a, b, c, d, e, f"} {
		if got := rowNames(strings.Fields(names), run, lang.English); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A row that misses one term, and is unsure of another, misses one.
func TestMissedTermsNamed(t *testing.T) {
	s := &rundir.Stage{Name: "poisson@3.00", Goodput: &rundir.Goodput{Verdict: rundir.Missed, Terms: []rundir.TermResult{
		{Term: "ttft:p90<300ms", Verdict: rundir.Unsure}, {Term: "errors<1%", Verdict: rundir.Missed, Value: exactly(0.33)},
	}}}
	if got, want := rowSLO(s, lang.English), "asynchronous@3.00 misses errors<1%: errors is 33%."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	for share, want := range map[float64]string{0: "0", 4.3e-8: "0", 0.00017: "0.017", 0.0017: "0.17", 0.022: "2.2",
		0.126: "13", 0.999: "100", 1: "100"} {
		if got := percent(share); got != want {
			t.Errorf("%v is %s %%, want %s", share, got, want)
		}
	}
}

// The words of a sweep by users are explained, and not those of requests one at a time; one class of turns has no row
// of its own.
func TestGlossaryOfUsers(t *testing.T) {
	st := rundir.Stage{Name: "users@1", Kind: rundir.KindOfUsers, Role: rundir.Synchronous,
		Hits: &rundir.Hits{Ideal: exactly(0.5)},
		Sessions: &rundir.Sessions{Good: exactly(1), Classes: []rundir.TurnGroup{{Class: rundir.FirstTurn, N: 3}},
			Turns: []rundir.TurnGroup{{N: 3}}}}
	var names []string
	for _, term := range Glossary([]rundir.Stage{st}) {
		names = append(names, term.Name.EN)
	}
	for name, want := range map[string]bool{"users@N": true, "hits allowed": true, "sessions good": true,
		"computed again": false, "synchronous": false} {
		if slices.Contains(names, name) != want {
			t.Errorf("words %v", names)
		}
	}
	if n := len(turnTable(&st).Rows); n != 1 {
		t.Errorf("%d rows of turns, want that of the first", n)
	}
}
