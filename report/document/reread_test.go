package document

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client/testkit"
	"llmsweep/report/audit"
	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir/store"
)

// outline counts what a text says, by all that does not depend on the line: the configurations that it compares, the
// figures of their rows, what the audit finds, and what could not be read. A row of zeros has no figures: nothing was
// measured in it.
func outline(name string, text []byte) map[string]int {
	doc := testkit.Must(published.ParseText(name, bytes.NewReader(text)))
	all := map[string]int{}
	var subjects []audit.Subject
	for i := range doc.Runs {
		run := &doc.Runs[i]
		subjects = append(subjects, audit.Subject{File: "doc", Run: run})
		for j := range run.Stages {
			s := &run.Stages[j]
			if s.Rates.Completed.Or(1) > 0 {
				all[fmt.Sprintf("%+v %s: %v %v %v %v %v", run.Labels, s.Name, s.Rates.Completed, s.Latency.Mean, s.TTFT.Mean,
					s.InterToken, s.TokensPerS.Output)]++
			}
		}
	}
	for _, f := range audit.Runs(subjects) {
		args := maps.Clone(f.Args)
		delete(args, "line")
		delete(args, "response_line")
		all[fmt.Sprintln(f.Rule, f.Grade, args)]++
	}
	for _, r := range doc.Remarks {
		if r.Unread {
			all["unread: "+r.Text]++
		}
	}
	for _, s := range loaded(doc) {
		all[setup.Description(s.Run, lang.English)+", "+s.Run.Workload.Dataset]++
	}
	return all
}

func loaded(doc *published.Document) []setup.Setup {
	doc = published.Join(doc)
	var in []setup.Input
	for i := range doc.Runs {
		in = append(in, setup.Input{Path: doc.Name, Run: &doc.Runs[i]})
	}
	return setup.Load(in)
}

// TestOwnDocumentsRead: the document that is written of published results has their figures and configurations, and the
// audit finds in it what it finds in them. No stress table and no serving block becomes six columns.
func TestOwnDocumentsRead(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"guidellm-tables.md", "stress-tables.txt", "serving-blocks.txt", "scaling-a10.txt"} {
		text := testkit.Must(os.ReadFile("../published/testdata/" + name))
		want := outline(name, text)
		for _, l := range lang.All() {
			doc := testkit.Must(published.ParseText(name, bytes.NewReader(text)))
			from := func(path string) string { return path }
			out := testkit.Must(Write(loaded(doc), Options{Lang: l, Base: "report", From: from}))
			if diff := cmp.Diff(want, outline(name, out.Document)); diff != "" {
				t.Errorf("%s %s (-original +document):\n%s", name, l, diff)
			}
			if six := strings.Contains(string(out.Document), "Inter Token Latency"); six != (name == "guidellm-tables.md") {
				t.Errorf("%s %s: six columns %v", name, l, six)
			}
		}
	}
}

// TestMarks: whoever reads a document knows which of its results llmsweep measured.
func TestMarks(t *testing.T) {
	dir := "../../examples/real/vllm-cpu"
	in := append(readInputs("guidellm-tables.md")[:2], setup.Input{Path: dir, Run: testkit.Must(store.Open(dir))})
	out := testkit.Must(Write(setup.Load(in), Options{Lang: lang.English, Base: "report", AnyWorkload: true,
		From: func(path string) string { return path }}))
	measured := map[string]bool{}
	for _, run := range testkit.Must(published.ParseText("doc", bytes.NewReader(out.Document))).Runs {
		measured[run.Labels.Model] = run.Source.Windowed
	}
	if want := map[string]bool{in[0].Run.Labels.Model: false, in[2].Run.Labels.Model: true}; !maps.Equal(measured, want) {
		t.Errorf("measured: %v", measured)
	}
}
