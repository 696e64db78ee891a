package published

import (
	"bytes"
	"maps"
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

func parseFile(name string) *Document {
	b := testkit.Must(os.ReadFile(filepath.Join("testdata", name)))
	return testkit.Must(ParseText(filepath.Base(name), bytes.NewReader(b)))
}

func parseText(text string) *Document { return testkit.Must(ParseText("doc", strings.NewReader(text))) }

// references are what the published documents, and the files in testdata/results, are read as.
func references() (all []*Document) {
	for _, file := range testkit.Must(filepath.Glob("testdata/results/*.json")) {
		all = append(all, parseFile("results/"+filepath.Base(file)))
	}
	return append(all, parseFile(tables), parseFile(stress), parseFile(blocks), parseFile(scaled))
}

// TestReferences: each reference is read as its golden file tells, line by line, and no number of it is lost.
func TestReferences(t *testing.T) {
	for _, doc := range references() {
		testkit.CheckGolden(t, "read/"+doc.Name+".txt", []byte(kindsOf(doc)+describe(doc, false)))
		checkDocument(t, doc)
		kept := map[int]string{} // by line
		for i := range doc.Runs {
			for _, s := range doc.Runs[i].Stages {
				for _, p := range slices.Concat(slices.Collect(maps.Values(s.Source.Printed)),
					slices.Collect(maps.Values(s.Source.Other))) {
					kept[p.Line] += p.Text + "\n"
				}
			}
		}
		numbers, file := numbersOfText, filepath.Join("testdata", doc.Name)
		if filepath.Ext(doc.Name) == ".json" {
			numbers, file = numbersOfJSON, filepath.Join("testdata/results", doc.Name)
		}
		n := 0
		for line, all := range numbers(doc, string(testkit.Must(os.ReadFile(file)))) {
			n += len(all)
			for _, number := range all {
				if !strings.Contains(kept[line], number) {
					t.Errorf("%s:%d: %s is lost: %s", doc.Name, line, number, kept[line])
				}
			}
		}
		if n < 14 {
			t.Errorf("%s: only %d numbers", doc.Name, n)
		}
	}
	testkit.CheckGolden(t, "read/joined.txt", []byte(describe(Join(parseFile(scaled)), false)))
}

// numbersOfText returns the numbers on the lines of a text that hold numbers, by line.
func numbersOfText(doc *Document, text string) map[int][]string {
	labels, number := regexp.MustCompile(`P9[059]|1st token|E2E`), regexp.MustCompile(`\d[\d,.]*`)
	all := map[int][]string{}
	for i, line := range strings.Split(text, "\n") {
		if i < len(doc.lineKinds) && doc.lineKinds[i] == lineNumbers {
			all[i+1] = number.FindAllString(labels.ReplaceAllString(line, ""), -1)
		}
	}
	return all
}

// numbersOfJSON returns the numbers of a file of results, by line, but for those of what was asked, and some others.
func numbersOfJSON(_ *Document, text string) map[int][]string {
	leftOut := regexp.MustCompile(`^(config|args|input_config|run_info|metadata|telemetry_data|warnings)|` +
		`^scheduler_metrics\.(start_time|end_time|request_|measure_)|^(start_time|end_time|cooldown_duration|burstiness)|` +
		`^(benchmark_(start|end)_time_unix|min_request_timestamp|max_response_timestamp)|_ci\.|percentile_cis|\.total\.`)
	text = withoutNaN(text)
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
	for _, v := range testkit.Must(topLevel(text)) {
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
		"\x7fELF\x00\x01":             "not text (it holds zero bytes); give the text that the tool printed, as UTF-8",
		strings.Repeat("x", 32<<20+1): "larger than 32 MiB, which published results never are; cut the results out of it",
	} {
		if _, err := readLines([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
	for n, want := range map[int]string{64 << 10: "", 64<<10 + 1: "the line is longer than 64 KiB and was not read"} {
		if doc := parseText(strings.Repeat("x", n)); len(doc.Remarks) != len(want[:min(1, len(want))]) ||
			want != "" && (doc.Remarks[0].Text != want || doc.lineKinds[0] != lineUnread) {
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
