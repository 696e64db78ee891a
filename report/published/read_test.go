package published

import (
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

func parseFile(t testing.TB, name string) *Document {
	t.Helper()
	f := testkit.Must(os.Open(filepath.Join("testdata", name)))
	defer f.Close()
	doc := testkit.Must(ParseText(name, f))
	return doc
}

func parseText(t testing.TB, text string) *Document {
	t.Helper()
	doc := testkit.Must(ParseText("doc", strings.NewReader(text)))
	return doc
}

// reference is a document or a file of results that somebody published, and what it was read as.
type reference struct {
	name, text string
	doc        *Document
}

// references are the published documents, and the files in testdata/results, by what is in them.
func references(t testing.TB) (all []reference) {
	t.Helper()
	files, err := filepath.Glob("testdata/results/*.[jy]*")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	for _, name := range []string{tables, stress, blocks, scaled} {
		files = append(files, filepath.Join("testdata", name))
	}
	for _, file := range files {
		b := testkit.Must(os.ReadFile(file))
		doc := testkit.Must(ParseText(filepath.Base(file), strings.NewReader(string(b))))
		all = append(all, reference{filepath.Base(file), string(b), doc})
	}
	return all
}

// TestReferences: each reference is read as its golden file tells, line by line.
func TestReferences(t *testing.T) {
	for _, r := range references(t) {
		testkit.CheckGolden(t, "read/"+r.name+".txt", []byte(kindsOf(r.doc)+describe(t, r.doc, false)))
		checkDocument(t, r.doc)
	}
	testkit.CheckGolden(t, "read/joined.txt", []byte(describe(t, Join(parseFile(t, scaled)), false)))
}

// TestUnreadableInput: what is too large is refused, and a line that is too long is not read.
func TestUnreadableInput(t *testing.T) {
	for text, want := range map[string]string{
		"\x7fELF\x00\x01": "doc: not text (it holds zero bytes); give the text that the tool printed, as UTF-8",
		strings.Repeat("0123456789abcdef", 2<<20+1): "doc: larger than 32 MiB, which published results never are; " +
			"cut the results out of it",
	} {
		if _, err := ParseText("doc", strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for n, want := range map[int]string{64 << 10: "", 64<<10 + 1: "the line is longer than 64 KiB and was not read"} {
		if doc := parseText(t, strings.Repeat("x", n)); len(doc.Remarks) != len(want[:min(1, len(want))]) ||
			want != "" && (doc.Remarks[0].Text != want || doc.Lines[0] != Unread) {
			t.Errorf("%d bytes: %v", n, doc.Remarks)
		}
	}
}

// TestOverride: a label that the user gives replaces that of the document, and the difference is noted.
func TestOverride(t *testing.T) {
	run := Join(parseFile(t, scaled)).Runs[2]
	Override(&run, rundir.Labels{GPUs: 8, Engine: "SGLang"})
	notes := ImportNotes(&run)
	if l := run.Source.Labels["gpus"]; run.Labels.GPUs != 8 || l.Line != 0 || l.Text != "--label gpus=8" ||
		Words().Say(notes[len(notes)-1], "en") != "gpus is 8, as --label says; line 264 has 2" {
		t.Errorf("%d, %+v, %v", run.Labels.GPUs, l, notes)
	}
}
