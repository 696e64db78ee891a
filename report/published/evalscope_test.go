package published

import (
	"os"
	"path/filepath"
	"testing"

	"llmsweep/client/testkit"
)

// FuzzEvalScopePercentiles fuzzes the file beside evalscope's summary.
func FuzzEvalScopePercentiles(f *testing.F) {
	b, err := os.ReadFile(filepath.Join("testdata/results/evalscope-1.14.1", evalScopePercentiles))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(b))
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, text string) {
		doc, err := ParseResults("doc", []byte(`{"Test Duration (s)": 1, "Total Requests": 10}`))
		if err != nil {
			t.Fatal(err)
		}
		if err := addPercentiles(&doc.Runs[0], "percentiles", text); err != nil {
			return
		}
		for _, d := range doc.Runs[0].Stages {
			for key, p := range d.Source.Printed {
				if p.Line < 1 || p.File == "" && p.Line > len(doc.Lines) {
					t.Errorf("%s is in line %d", key, p.Line)
				}
			}
		}
	}))
}
