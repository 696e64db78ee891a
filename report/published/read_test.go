package published

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"llmsweep/client/testkit"
	"llmsweep/sweep/rundir"
)

// The published documents that the formats were taken from.
const (
	tables = "guidellm-tables.md"
	stress = "stress-tables.txt"
	blocks = "serving-blocks.txt"
	scaled = "scaling-a10.txt"
)

func parseFile(name string) *Document {
	b := testkit.Must(os.ReadFile(filepath.Join("testdata", name)))
	return testkit.Must(ParseText(filepath.Base(name), bytes.NewReader(b)))
}

func parseText(text string) *Document { return testkit.Must(ParseText("doc", strings.NewReader(text))) }

// references are what the published documents, and the files in testdata/results, are read as.
func references() (all []*Document) {
	for _, file := range testkit.Must(filepath.Glob("testdata/results/*.[jy]*")) {
		all = append(all, parseFile("results/"+filepath.Base(file)))
	}
	return append(all, parseFile(tables), parseFile(stress), parseFile(blocks), parseFile(scaled))
}

// TestReferences: each reference is read as its golden file tells, line by line.
func TestReferences(t *testing.T) {
	for _, doc := range references() {
		testkit.CheckGolden(t, "read/"+doc.Name+".txt", []byte(kindsOf(doc)+describe(doc, false)))
		checkDocument(t, doc)
	}
	testkit.CheckGolden(t, "read/joined.txt", []byte(describe(Join(parseFile(scaled)), false)))
}

// TestUnreadableInput: what is too large is refused, and a line that is too long is not read.
func TestUnreadableInput(t *testing.T) {
	for text, want := range map[string]string{
		"\x7fELF\x00\x01":             "not text (it holds zero bytes); give the text that the tool printed, as UTF-8",
		strings.Repeat("x", 32<<20+1): "larger than 32 MiB, which published results never are; cut the results out of it",
	} {
		if _, err := readLines([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for n, want := range map[int]string{64 << 10: "", 64<<10 + 1: "the line is longer than 64 KiB and was not read"} {
		if doc := parseText(strings.Repeat("x", n)); len(doc.Remarks) != len(want[:min(1, len(want))]) ||
			want != "" && (doc.Remarks[0].Text != want || doc.Lines[0] != Unread) {
			t.Errorf("%d bytes: %v", n, doc.Remarks)
		}
	}
}

// TestOverride: a label that the user gives replaces that of the document, and the difference is noted.
func TestOverride(t *testing.T) {
	run := Join(parseFile(scaled)).Runs[2]
	Override(&run, rundir.Labels{GPUs: 8, Engine: "SGLang"})
	notes := ImportNotes(&run)
	if l := run.Source.Labels["gpus"]; run.Labels.GPUs != 8 || l.Line != 0 || l.Text != "--label gpus=8" ||
		Words().Say(notes[len(notes)-1], "en") != "gpus is 8, as --label says; line 264 has 2" {
		t.Errorf("%d, %+v, %v", run.Labels.GPUs, l, notes)
	}
}
