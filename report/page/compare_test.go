package page

import (
	"testing"

	"llmsweep/report/compare"
	"llmsweep/report/draw"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// A difference that is not shown is not drawn as better or worse.
func TestForest(t *testing.T) {
	one := compare.Difference{
		Name: lang.Same(
			"ITL",
		),
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
	}{{shown, meansWorse.In(lang.English)}, {one, meansNothing.In(lang.English)}} {
		f := forest("f", lang.Same("B"), []compare.Difference{c.d})
		if got := f.Table.Rows[0][2].Text.EN; got != c.mean || (f.Key[0].Shape == draw.Triangle) != c.d.Shown {
			t.Errorf("%+v is %q: %v", c.d, got, f.Key)
		}
	}
}
