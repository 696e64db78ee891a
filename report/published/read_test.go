package published

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

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
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := ParseText(name, f)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func parseText(t testing.TB, text string) *Document {
	t.Helper()
	doc, err := ParseText("doc", strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
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
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := ParseText(filepath.Base(file), strings.NewReader(string(b)))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, reference{filepath.Base(file), string(b), doc})
	}
	return all
}

// TestReferences: each reference is read as its golden file tells, line by line, and no number of it is lost.
func TestReferences(t *testing.T) {
	for _, r := range references(t) {
		testkit.CheckGolden(t, "read/"+r.name+".txt", []byte(kindsOf(r.doc)+describe(t, r.doc, false)))
		checkDocument(t, r.doc)
		kept := map[int][]string{} // by line
		for i := range r.doc.Runs {
			for _, s := range r.doc.Runs[i].Stages {
				for _, p := range s.Source.Printed {
					kept[p.Line] = append(kept[p.Line], p.Text)
				}
				for _, p := range s.Source.Other {
					kept[p.Line] = append(kept[p.Line], p.Text)
				}
			}
		}
		numbers := numbersOfText
		if filepath.Ext(r.name) == ".json" || filepath.Ext(r.name) == ".yaml" {
			numbers = numbersOfJSON
		}
		n := 0
		for line, all := range numbers(t, r) {
			for _, number := range all {
				n++
				if !slices.ContainsFunc(kept[line], func(s string) bool { return strings.Contains(s, number) }) {
					t.Errorf("%s:%d: %s is lost: %v", r.name, line, number, kept[line])
				}
			}
		}
		if n < 14 {
			t.Errorf("%s: only %d numbers", r.name, n)
		}
	}
	testkit.CheckGolden(t, "read/joined.txt", []byte(describe(t, Join(parseFile(t, scaled)), false)))
}

// numbersOfText returns the numbers on the lines of a text that hold numbers, by line.
func numbersOfText(_ testing.TB, r reference) map[int][]string {
	labels, number := regexp.MustCompile(`P9[059]|1st token|E2E`), regexp.MustCompile(`\d[\d,.]*`)
	all := map[int][]string{}
	for i, line := range strings.Split(r.text, "\n") {
		if i < len(r.doc.Lines) && r.doc.Lines[i] == Numbers {
			all[i+1] = number.FindAllString(labels.ReplaceAllString(line, ""), -1)
		}
	}
	return all
}

// numbersOfJSON returns the numbers of a file of results, by line, but for those of what was asked, and some others.
func numbersOfJSON(t testing.TB, r reference) map[int][]string {
	leftOut := regexp.MustCompile(`^(run|scenario)\.|` +
		`^(config|args|input_config|run_info|metadata|telemetry_data|warnings)|` +
		`^scheduler_metrics\.(start_time|end_time|request_|measure_)|^(start_time|end_time|cooldown_duration|burstiness)|` +
		`^(benchmark_(start|end)_time_unix|min_request_timestamp|max_response_timestamp)|_ci\.|percentile_cis|\.total\.`)
	text := r.text
	if filepath.Ext(r.name) == ".yaml" {
		converted, err := yamlToJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		text = converted
	}
	text = withoutNaN(text)
	values, err := topLevel(text)
	if err != nil {
		t.Fatal(err)
	}
	f, all := &jsonFile{lines: lineStarts(text)}, map[int][]string{}
	var walk func(v gjson.Result, path string)
	walk = func(v gjson.Result, path string) {
		v.ForEach(func(k, child gjson.Result) bool {
			switch at := path + k.String(); {
			case leftOut.MatchString(at):
			case child.Type == gjson.Number:
				all[f.line(child)] = append(all[f.line(child)], short(child.Raw))
			case child.IsObject():
				walk(child, at+".")
			}
			return true
		})
	}
	for _, v := range values {
		if b := v.Get("benchmarks"); b.IsArray() {
			b.ForEach(func(_, benchmark gjson.Result) bool { walk(benchmark, ""); return true })
			continue
		}
		walk(v, "")
	}
	return all
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
