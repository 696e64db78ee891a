package findings

import (
	"testing"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Every column is one alone, can be picked, and is either for people, for files, or for both.
func TestColumns(t *testing.T) {
	row := StageRow{Run: &rundir.Run{}, Stage: &rundir.Stage{Name: "synchronous", Role: rundir.Floor}}
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
func TestLegendIsOfTheMarks(t *testing.T) {
	if got := Legend(table.Table{Rows: [][]table.Cell{{table.Literal("why?"), table.Literal("> not a number")}}}); len(got) > 0 {
		t.Errorf("text without marks is explained: %v", got)
	}
	got := Legend(table.Table{Rows: [][]table.Cell{{{Mark: table.MarkCut + table.MarkInvalid}, table.Seconds(rundir.Over(60))}}})
	if want := []lang.Text{legendBound.Text(), legendCut.Text(), legendInvalid.Text()}; len(got) != len(want) || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("%v, want %v", got, want)
	}
}
