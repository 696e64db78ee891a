package findings

import (
	"testing"

	"llmsweep/sweep/rundir"
)

// The words of a sweep by users are explained, and not those of requests one at a time; one class of turns has no row
// of its own.
func TestWordsOfUsers(t *testing.T) {
	group := rundir.TurnGroup{Class: rundir.FirstTurn, N: 3}
	st := rundir.Stage{Name: "users@1", Kind: rundir.KindOfUsers, Role: rundir.Floor,
		Hits: &rundir.Hits{Ideal: rundir.Exactly(0.5)},
		Sessions: &rundir.Sessions{Good: rundir.Exactly(1), Classes: []rundir.TurnGroup{group},
			Turns: []rundir.TurnGroup{{N: 3}}}}
	names := map[string]bool{}
	for _, term := range Glossary([]rundir.Stage{st}) {
		names[term.Name.EN] = true
	}
	if !names["users@N"] || !names["hits allowed"] || !names["sessions good"] || names["computed again"] ||
		names["synchronous"] {
		t.Errorf("words %v", names)
	}
	if n := len(turnTable(&st).Rows); n != 1 {
		t.Errorf("%d rows of turns, want that of the first", n)
	}
}
