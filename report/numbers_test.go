package report

import (
	"slices"
	"strings"
	"testing"

	"llmsweep/client/note"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// A stage that completed more than the answer and its interval is named, whatever its kind.
func TestRowsThatDidMoreThanTheAnswerAreNamed(t *testing.T) {
	run, err := store.Open("testdata/native")
	if err != nil {
		t.Fatal(err)
	}
	more := func(l lang.Lang) string {
		lines := findings.Warnings(run, l)
		i := slices.IndexFunc(lines, func(s string) bool {
			return strings.Contains(s, "synchronous（") || strings.Contains(s, "synchronous (")
		})
		if i < 0 {
			return ""
		}
		return lines[i]
	}
	run.Answer, run.Warnings = nil, nil
	for _, l := range []lang.Lang{lang.English, lang.Chinese} {
		if got := more(l); !strings.Contains(got, "16.20 req/s") || !strings.Contains(got, "16.34 req/s") ||
			!strings.Contains(got, " 15 req/s") || strings.Contains(got, "8.17") {
			t.Errorf("%s: %q", l, got)
		}
	}
	run.Saturation.High = rundir.Exactly(17)
	if got := more(lang.English); got != "" {
		t.Errorf("all is within the interval, and yet: %s", got)
	}
}

// A run over an API that is spoken no more, with a note that nobody writes any more, opens and names them.
func TestRunsOfRemovedAPIs(t *testing.T) {
	run, err := store.Open("testdata/native")
	if err != nil {
		t.Fatal(err)
	}
	run.Target.Notes = append(run.Target.Notes, note.Note{Code: "probe.native-api",
		Args: map[string]any{"engine": "llama.cpp", "api": "llamacpp"}})
	for _, l := range []lang.Lang{lang.English, lang.Chinese} {
		var b strings.Builder
		if err := Markdown(&b, []rundir.Run{*run}, l); err != nil || !strings.Contains(b.String(), "llamacpp") {
			t.Errorf("%s: %v\n%s", l, err, b.String())
		}
	}
}
