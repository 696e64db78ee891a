package findings

import (
	"slices"
	"strings"
	"testing"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Every column is one alone, can be picked, and is either for people, for files, or for both.
func TestColumns(t *testing.T) {
	row := StageRow{Run: &rundir.Run{}, Stage: &rundir.Stage{Name: "synchronous", Role: rundir.Synchronous}}
	seen := map[string]bool{}
	for _, c := range Columns() {
		if seen[c.ID] || Pick(c.ID)[0].ID != c.ID {
			t.Errorf("two columns are called %s", c.ID)
		}
		seen[c.ID] = true
		if c.Cell == nil && c.Number == nil && c.Word == nil {
			t.Errorf("nobody sees %s", c.ID)
		}
		if !c.Head.IsZero() && (c.Cell == nil || c.Cell(row).Text.IsZero()) {
			t.Errorf("%s has a heading and no cell, or an empty one", c.ID)
		}
		if c.Number != nil && Field(&c, row) != "" {
			t.Errorf("%s of a stage without metrics is %q", c.ID, Field(&c, row))
		}
	}
}

// The legend is made of the marks in the cells, and of nothing else.
func TestLegend(t *testing.T) {
	if got := Legend(table.Table{Rows: [][]table.Cell{{table.Literal("why?"),
		table.Literal("> not a number")}}}); len(got) > 0 {
		t.Errorf("text without marks is explained: %v", got)
	}
	got := Legend(table.Table{Rows: [][]table.Cell{{{Mark: table.MarkUnsupported}, table.Seconds(rundir.Over(60))}}})
	if want := []lang.Text{legendBound.Text(), legendUnsupported.Text()}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// People see the same columns in every run, and choose the percentiles.
func TestMainColumns(t *testing.T) {
	heads := func(percentiles []string) (all []string) {
		for _, c := range MainColumns(percentiles) {
			all = append(all, c.Head.EN)
		}
		return all
	}
	want := []string{"load", "offered", "done", "TTFT", "p90", "p99", "ITL", "latency", "tok/s", "in flight", ""}
	if got := heads(nil); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	names, err := ParsePercentiles([]string{"50", " p95"})
	if got := heads(names); err != nil || !slices.Equal(got[4:6], []string{"p50", "p95"}) {
		t.Errorf("%q, %v", got, err)
	}
	for _, wrong := range []string{"101", "", "mean", "p"} {
		if _, err := ParsePercentiles([]string{wrong}); err == nil || !strings.Contains(err.Error(), "p90") {
			t.Errorf("%q: %v", wrong, err)
		}
	}
}

// TestTPOTColumns: TPOT weighs requests alike and stands beside ITL, which weighs tokens alike; a run without it has no
// column of it.
func TestTPOTColumns(t *testing.T) {
	s := &rundir.Stage{InterToken: rundir.Exactly(0.019)}
	s.TPOT.Mean, s.TPOT.P50, s.TPOT.P95 = rundir.Exactly(0.055), rundir.Exactly(0.054), rundir.Exactly(0.095)
	var tpot []string
	for _, c := range PercentileColumns([]string{"p50", "p95"}) {
		if c.Head.EN == "TPOT" {
			tpot = append(tpot, c.Sub.EN, c.Cell(StageRow{&rundir.Run{}, s}).In(lang.English))
		}
	}
	if want := []string{"mean", "55.0 ms", "p95", "95.0 ms"}; !slices.Equal(tpot, want) {
		t.Errorf("%q, want %q", tpot, want)
	}
	for _, with := range []bool{true, false} {
		runs := []rundir.Run{{Stages: []rundir.Stage{*s}}}
		if got := len(SelectColumns(runs, Pick("tpot_s_mean", "tpot_s_p99"))); got > 0 != with {
			t.Errorf("%d columns; TPOT is known: %v", got, with)
		}
		s.TPOT = rundir.Dist{}
	}
}

// Where requests pile up, their times depend on how long that lasted.
func TestHideGrowing(t *testing.T) {
	run := &rundir.Run{}
	s := &rundir.Stage{State: rundir.Complete, Rate: rundir.Exactly(9), Verdict: rundir.Saturated,
		InterToken: rundir.Exactly(0.1)}
	s.TTFT.Mean, s.TTFT.P90, s.Latency.Mean = rundir.Exactly(1), rundir.Exactly(2), rundir.Exactly(3)
	row := func() (texts []string) {
		for _, c := range MainColumns([]string{"p90"}) {
			texts = append(texts, c.Cell(StageRow{run, s}).In(lang.English))
		}
		return texts[3:]
	}
	if got := row(); got[0] != "grows" || got[1] != "-" || got[2] != "100 ms" || got[3] != "-" || got[6] != "piled up" {
		t.Errorf("%q", got)
	}
	s.Role, run.Saturation = rundir.Grid, &rundir.Saturation{HighestStable: rundir.Exactly(10)}
	if got := row(); got[0] != "1.00 s" || got[6] != "too short" {
		t.Errorf("below a rate that was held: %q", got)
	}
}

// The words of a sweep by users are explained, and not those of requests one at a time; one class of turns has no row
// of its own.
func TestGlossaryOfUsers(t *testing.T) {
	group := rundir.TurnGroup{Class: rundir.FirstTurn, N: 3}
	st := rundir.Stage{Name: "users@1", Kind: rundir.KindOfUsers, Role: rundir.Synchronous,
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
