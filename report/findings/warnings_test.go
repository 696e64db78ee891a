package findings

import (
	"slices"
	"strings"
	"testing"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

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
	for _, term := range Glossary(&rundir.Run{Stages: []rundir.Stage{st}}) {
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
