package page

import (
	"slices"
	"testing"

	"llmsweep/report/compare"
	"llmsweep/report/draw"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// A difference that is not shown is not drawn as better or worse.
func TestForest(t *testing.T) {
	one := compare.Difference{
		Name:  lang.Same("ITL"),
		Text:  "+1 %",
		Ratio: rundir.Exactly(0.01),
		Low:   rundir.Exactly(0.005),
		High:  rundir.Exactly(0.015),
	}
	shown := one
	shown.Shown = true
	for _, c := range []struct {
		d    compare.Difference
		mean string
	}{{shown, compare.WordWorse.In(lang.English)}, {one, meansNothing.In(lang.English)}} {
		f := forest("f", lang.Same("B"), []compare.Difference{c.d})
		if got := f.Table.Rows[0][2].Text.EN; got != c.mean || (f.Key[0].Shape == draw.Triangle) != c.d.Shown {
			t.Errorf("%+v is %q: %v", c.d, got, f.Key)
		}
	}
}

// The answer of two results is their table, and of several what sentences say.
func TestComparisonAnswer(t *testing.T) {
	setups := publishedSetups(t)
	for n, wantTable := range map[int]bool{2: true, 3: false} {
		c, err := compare.Of(setups[:n], true)
		if err != nil {
			t.Fatal(err)
		}
		sections := c.Report(1)
		d := comparisonDocument(c, setups[:n], sections)
		first := d.Sections[0].Blocks[0]
		if (first.Table != nil) != wantTable || (first.Lines != nil) == wantTable {
			t.Fatalf("%d results: %+v", n, first)
		}
		grids := 0 // with the rows of the first section
		named := func(x, y []table.Cell) bool { return x[0].Text == y[0].Text }
		for _, s := range d.Sections {
			for _, b := range s.Blocks {
				if b.Table != nil && slices.EqualFunc(b.Table.Rows, sections[0].Table.Rows, named) {
					grids++
				}
			}
		}
		if wantTable && grids != 1 {
			t.Errorf("%d results: the first table is printed %d times", n, grids)
		}
	}
}
