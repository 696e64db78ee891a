package report

import (
	"bytes"
	"testing"

	"llmsweep/client/testkit"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// TestFixedFormats: the formats of other tools, of which only the notes beneath differ by language.
func TestFixedFormats(t *testing.T) {
	runs := map[string][]rundir.Run{
		"swept": {sweptRun()}, "failed": {failedRun()}, "single": {singleRun()}, "ladder": {ladderRun()},
		"several": {simulatedRun(), singleRun()},
	}
	for name, rs := range runs {
		for _, format := range []string{"stress", "serving"} {
			for _, l := range lang.All() {
				if name != "ladder" && l == lang.Chinese {
					continue
				}
				t.Run(name+"."+format, func(t *testing.T) {
					var b bytes.Buffer
					if err := Render(&b, format, rs, Options{Lang: l}); err != nil {
						t.Fatal(err)
					}
					testkit.CheckGolden(t, name+"."+string(l)+"."+format+".txt", b.Bytes())
				})
			}
		}
	}
}
