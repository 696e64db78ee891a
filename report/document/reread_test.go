package document

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"llmsweep/report/audit"
	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/report/setup"
)

// audited counts what the audit finds in a text, by all that does not depend on the line; what could not be read, too.
func audited(t *testing.T, text []byte) map[string]int {
	t.Helper()
	doc, err := published.ParseText("doc", strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	var all []audit.Subject
	for i := range doc.Runs {
		all = append(all, audit.Subject{File: "doc", Run: &doc.Runs[i]})
	}
	found := map[string]int{}
	for _, f := range audit.Runs(all) {
		args := maps.Clone(f.Args)
		for _, key := range []string{"line", "response_line"} {
			delete(args, key)
		}
		found[fmt.Sprintln(f.Rule, f.Grade, args)]++
	}
	for _, r := range doc.Remarks {
		if r.Unread {
			found["unread: "+r.Text]++
		}
	}
	return found
}

// configurations are the names of what a text compares.
func configurations(t *testing.T, text []byte) []string {
	t.Helper()
	doc, err := published.ParseText("doc", strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, s := range loaded(doc) {
		names = append(names, setup.Description(s.Run, lang.English)+", "+s.Run.Workload.Dataset)
	}
	slices.Sort(names)
	return names
}

func loaded(doc *published.Document) []setup.Setup {
	doc = published.Join(doc)
	var in []setup.Input
	for i := range doc.Runs {
		in = append(in, setup.Input{Path: doc.Name, Run: &doc.Runs[i]})
	}
	return setup.Load(in)
}

// TestOwnDocumentsRead: in the document that is written of published results, the audit finds what it finds in them,
// and the configurations are the same. No stress table and no serving block becomes six columns.
func TestOwnDocumentsRead(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"guidellm-tables.md", "stress-tables.txt", "serving-blocks.txt", "scaling-a10.txt"} {
		text, err := os.ReadFile("../published/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		findings, labels := audited(t, text), configurations(t, text)
		for _, l := range lang.All() {
			doc, err := published.ParseText(name, strings.NewReader(string(text)))
			if err != nil {
				t.Fatal(err)
			}
			from := func(path string) string { return path }
			out, err := Write(loaded(doc), nil, Options{Lang: l, Base: "report", From: from})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(findings, audited(t, out.Document)); diff != "" {
				t.Errorf("%s %s (-original +document):\n%s", name, l, diff)
			}
			if diff := cmp.Diff(labels, configurations(t, out.Document)); diff != "" {
				t.Errorf("%s %s (-original +document):\n%s", name, l, diff)
			}
			if six := strings.Contains(string(out.Document), "Inter Token Latency"); six != (name == "guidellm-tables.md") {
				t.Errorf("%s %s: six columns %v", name, l, six)
			}
		}
	}
}
