package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"llmsweep/sweep/rundir"
)

var update = flag.Bool("update", false, "write the golden files")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func TestGolden(t *testing.T) {
	runs := map[string][]rundir.Run{
		"swept":       {sweptRun()},
		"failed":      {failedRun()},
		"interrupted": {interruptedRun()},
		"single":      {singleRun()},
		"empty":       {blankRun()},
		"several":     {simulatedRun(), interruptedRun()},
	}
	for _, c := range []struct {
		file, format string
		o            Options
	}{
		{"en.md", "markdown", Options{}},
		{"zh.md", "markdown", Options{Lang: Chinese}},
		{"en.140.txt", "console", Options{Width: 140, Dir: "llmsweep-run"}},
		{"zh.140.txt", "console", Options{Width: 140, Lang: Chinese}},
		{"en.80.txt", "console", Options{Width: 80, ASCII: true}},
		{"en.ansi", "console", Options{Width: 100, Color: true}},
		{"csv", "csv", Options{}},
		{"json", "json", Options{}},
	} {
		for name, rs := range runs {
			if name != "swept" && !strings.Contains("console markdown", c.format) {
				continue // the others are tested by reading them again
			}
			t.Run(name+"."+c.file, func(t *testing.T) {
				var b bytes.Buffer
				if err := Render(&b, c.format, rs, c.o); err != nil {
					t.Fatal(err)
				}
				golden(t, name+"."+c.file, b.Bytes())
			})
		}
	}
}
