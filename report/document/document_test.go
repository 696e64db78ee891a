package document

import (
	"bytes"
	"encoding/xml"
	"html"
	"io"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"llmsweep/client/testkit"
	"llmsweep/report/choose"
	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/report/setup"
	"llmsweep/sweep/slo"
)

// readInputs returns the results that somebody published.
func readInputs(name string) []setup.Input {
	doc := testkit.Must(published.ParseFile("../published/testdata/" + name))
	var all []setup.Input
	for i := range doc.Runs {
		all = append(all, setup.Input{Path: name, Run: &doc.Runs[i]})
	}
	return all
}

func options(l lang.Lang) Options {
	return Options{
		Lang: l, Base: "report", From: func(path string) string { return path },
		ChoiceNote: map[string]string{"demand": "20rps -- or so"},
		Choice: &choose.Options{Terms: testkit.Must(slo.ParseAll([]string{"itl:mean<50ms", "ttft:mean<200ms"})),
			Demand: choose.Demand{Amount: 20}, Prices: choose.Prices{"L20": 1.2, "A100": 3.6}, Headroom: 0.2},
	}
}

func written(in []setup.Input, old []byte, o Options) Output {
	return testkit.Must(Write(setup.Load(in), old, o))
}

// firstDocuments are the documents of the published results in all languages.
var firstDocuments = sync.OnceValue(func() map[lang.Lang]Output {
	all := map[lang.Lang]Output{}
	for _, l := range lang.All() {
		all[l] = written(readInputs("guidellm-tables.md"), nil, options(l))
	}
	return all
})

// TestDrawings: a drawing has what its points rest on and a legend, and nothing without a mark is drawn.
func TestDrawings(t *testing.T) {
	for l, out := range firstDocuments() {
		for name, b := range out.Files {
			checkWellFormed(t, name, b)
			figures := 2 // beside each other
			if strings.HasSuffix(name, "-cost.svg") {
				figures = 1
			}
			for text, least := range map[string]int{`<text class="title"`: 1 + figures, "<title>guidellm-tables.md:": figures,
				">#1 ": 1} {
				if n := strings.Count(string(b), text); n < least {
					t.Errorf("%s has %q %d times, fewer than %d", name, text, n, least)
				}
			}
			if !strings.Contains(string(out.Document), "]("+name+")") {
				t.Errorf("%s is not shown", name)
			}
		}
		names := strings.Join(slices.Sorted(maps.Keys(out.Files)), " ")
		if want := "report-qwen2-14b-instruct-cost.svg report-qwen2-14b-instruct-latency.svg " +
			"report-qwen2-14b-instruct-throughput.svg report-qwen2-7b-instruct-cost.svg " +
			"report-qwen2-7b-instruct-latency.svg report-qwen2-7b-instruct-throughput.svg " +
			"report-qwen2-moe-57b-a14b-instruct-latency.svg " +
			"report-qwen2-moe-57b-a14b-instruct-throughput.svg"; names != want {
			t.Errorf("%s: drawings %s", l, names)
		}
	}
	ladders := written(readInputs("scaling-a10.txt"), nil, options(lang.English)).Files
	for name, svg := range ladders {
		if !strings.Contains(string(svg), "requests kept in flight") || len(ladders) != 2 {
			t.Errorf("%s, one of %d, is not over the number in flight", name, len(ladders))
		}
	}
}

// checkWellFormed fails unless a drawing is XML that needs nothing from elsewhere.
func checkWellFormed(t *testing.T, name string, b []byte) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(b))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if e, ok := token.(xml.StartElement); ok {
			if slices.Contains([]string{"script", "image", "use", "foreignObject"}, e.Name.Local) {
				t.Errorf("%s: has <%s>", name, e.Name.Local)
			}
			for _, a := range e.Attr {
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf") || strings.Contains(a.Name.Local, "href") {
					t.Errorf("%s: <%s %s=%q>", name, e.Name.Local, a.Name.Local, a.Value)
				}
			}
		}
	}
}

var cellText = regexp.MustCompile(`(?s)<t[hd](?: [^>]*)?>(.*?)</t[hd]>`)

// A strict Markdown reader finds as many tables with the same cells as were written.
func TestRendersOnAStrictParser(t *testing.T) {
	for l, out := range firstDocuments() {
		doc := out.Document
		var page bytes.Buffer
		if err := goldmark.New(goldmark.WithExtensions(extension.Table)).Convert(doc, &page); err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for _, m := range cellText.FindAllStringSubmatch(page.String(), -1) {
			got = append(got, html.UnescapeString(strings.NewReplacer("<code>", "", "</code>", "").Replace(m[1])))
		}
		for _, line := range strings.Split(string(doc), "\n") {
			if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| :--") || strings.HasPrefix(line, "| --") {
				continue
			}
			for _, cell := range strings.Split(strings.Trim(strings.ReplaceAll(line, `\|`, "\x00"), "| "), " | ") {
				want = append(want, html.UnescapeString(strings.NewReplacer("\x00", "|", `\~`, "~", "`", "").Replace(cell)))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-written +read):\n%s", l, diff)
		}
		if strings.Contains(page.String(), "<li>\n<ul>") {
			t.Errorf("%s: a mark began a list", l)
		}
		if strings.Contains(page.String(), "<p>|") {
			t.Errorf("%s: a table was not seen as one", l)
		}
	}
}

// What people write in a document stays where they wrote it when a run is added, and twice is as once.
func TestHandWrittenTextIsKept(t *testing.T) {
	in, o := readInputs("guidellm-tables.md"), options(lang.English)
	first := string(written(in[:4], nil, o).Document)
	title, details, end := "# Our servers, spring",
		"Measured by Li on **rack 7**; see <https://example.com>.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
		"\n## What we decided\n\nTwo L20.\n"
	edited := strings.Replace(first, "# LLM inference compared", title, 1)
	edited = strings.Replace(edited, "## Details\n", "## Details\n\n"+details, 1)
	second := strings.Index(edited, "<!-- /llmsweep:run ")
	second += strings.Index(edited[second:], "\n") + 1
	edited = edited[:second] + "\nThis one is loud.\n\n" + edited[second:] + end
	again := string(written(in, []byte(edited), o).Document)
	for _, text := range []string{title, details, "\nThis one is loud.\n", end} {
		if strings.Count(again, text) != 1 {
			t.Errorf("%q is there %d times", text, strings.Count(again, text))
		}
	}
	before, _, _ := strings.Cut(again, "This one is loud.")
	if strings.Count(before, "<!-- llmsweep:run") < 1 || !strings.Contains(before, "lmdeploy") &&
		!strings.Contains(before, "SGLang") && !strings.Contains(before, "vLLM") {
		t.Error("the remark on a table moved away from it")
	}
	if n := strings.Count(again, "<!-- llmsweep:run "); n != len(in) {
		t.Errorf("%d runs in the document, want %d", n, len(in))
	}
	if third := string(written(in, []byte(again), o).Document); third != again {
		t.Errorf("written once more it changed:\n%s", cmp.Diff(again, third))
	}
	kept, err := storedRuns([]byte(again))
	if err != nil || len(kept) != len(in) {
		t.Fatalf("%d runs listed, %v", len(kept), err)
	}
	if n := ChoiceNote([]byte(again)); !strings.Contains(n, `20rps -\u002d or so`) {
		t.Errorf("the choice's note is %q", n)
	}
	// A document of which only some runs are given keeps the others as they are.
	fewer := string(written(in[:2], []byte(again), o).Document)
	if n := strings.Count(fewer, "<!-- llmsweep:run "); n != len(in) {
		t.Errorf("%d runs are left", n)
	}
}

// What people wrote within a generated part is not lost without a word, wherever it is. Other line ends are no change.
func TestChangedPartsAreRefused(t *testing.T) {
	in, o := readInputs("guidellm-tables.md"), options(lang.English)
	first := string(firstDocuments()[lang.English].Document)
	lines := strings.SplitAfter(first, "\n")
	inside, edited := false, ""
	for i, line := range lines {
		if generated := strings.HasPrefix(line, "<!-- llmsweep:"); generated || strings.HasPrefix(line, "<!-- /llmsweep:") {
			inside = generated
		} else if i%25 > 0 { // the lines between markers are alike
			continue
		}
		noted := strings.Join(lines[:i+1], "") + "my note\n" + strings.Join(lines[i+1:], "")
		pieces := testkit.Must(split(noted))
		if err := checkIntact(pieces); inside != (err != nil) {
			t.Errorf("a note behind line %d, %q: %v", i+1, line, err)
		}
		if inside {
			edited = noted
		}
	}
	if _, err := Write(setup.Load(in), []byte(edited), o); err == nil || !strings.Contains(err.Error(), "--force") ||
		!strings.Contains(err.Error(), "lines ") {
		t.Errorf("a note in a generated part: %v", err)
	}
	forced := o
	forced.Force = true
	if got := string(written(in, []byte(edited), forced).Document); got != first {
		t.Errorf("with force the note stays:\n%s", cmp.Diff(first, got))
	}
	written(in, []byte("# Somebody's own document\n"), forced)
	written(in, []byte(strings.ReplaceAll(first, "\n", "\r\n")), o)
	unmarked := regexp.MustCompile(`(<!-- /llmsweep:\w+) \w+`).ReplaceAllString(first, "$1")
	if _, err := Write(setup.Load(in), []byte(unmarked), o); err == nil {
		t.Error("parts without a checksum were overwritten")
	}
}

// A document whose markers do not match is refused, and so is one that is not ours.
func TestRefusedDocuments(t *testing.T) {
	for doc, says := range map[string]string{
		"<!-- llmsweep:run -->\n":                                "line 1 opens",
		"x\n<!-- /llmsweep:run -->\n":                            "line 2 closes",
		"<!-- llmsweep:run -->\n<!-- llmsweep:choice -->\n":      "line 2 opens",
		"<!-- llmsweep:run -->\nx\n<!-- /llmsweep:compare -->\n": "line 3 closes",
	} {
		if _, err := split(doc); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", doc, err)
		}
	}
	if _, err := Write(nil, []byte("# Somebody's own document\n"), options(lang.English)); err == nil ||
		!strings.Contains(err.Error(), "-o") {
		t.Errorf("a document that is not ours was taken: %v", err)
	}
}

// FuzzSplit: whatever surrounds markers, taking a document apart and joining it changes nothing.
func FuzzSplit(f *testing.F) {
	for _, doc := range []string{
		"", "a", "a\n", "a\n<!-- llmsweep:run {\"from\":\"x\"} -->\nb\n<!-- /llmsweep:run -->\n",
		"<!-- llmsweep:choice -->\n<!-- /llmsweep:choice -->\nend", "<!-- another comment -->\n",
	} {
		f.Add(doc)
	}
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, doc string) {
		pieces, err := split(doc)
		if err != nil || strings.Contains(doc, "\r") {
			return
		}
		if got := join(pieces); got != doc && got != doc+"\n" { // a last marker line may lack its newline
			t.Errorf("%q became %q", doc, got)
		}
	}))
}

// The sections are in the order that is asked for, by the values as they occur; those of an existing document too, with
// the remarks behind them. It keeps its order when it is written again.
func TestOrder(t *testing.T) {
	in, o := readInputs("guidellm-tables.md"), options(lang.English)
	old := string(firstDocuments()[lang.English].Document)
	at := strings.LastIndex(old, "<!-- /llmsweep:run ")
	at += strings.Index(old[at:], "\n") + 1
	old = old[:at] + "\nThe last one is loud.\n\n## Ours\n" + old[at:]
	about := regexp.MustCompile(`(?s)<!-- llmsweep:run ([^\n]*) -->\n[^>]*<!-- /llmsweep:run \w+ -->\n\nThe last one is loud.`)
	o.Order = []string{"model", "gpu"}
	fresh, sorted := written(in, nil, o).Document, written(in, []byte(old), o).Document
	o.Order = nil
	again := written(in, sorted, o).Document
	for name, doc := range map[string][]byte{"new": fresh, "sorted": sorted, "sorted and written again": again} {
		var headings []string
		for line := range strings.Lines(string(doc)) {
			if rest, ok := strings.CutPrefix(line, "### Qwen2"); ok {
				headings = append(headings, strings.TrimSpace(rest))
			}
		}
		if len(headings) == 0 || !strings.Contains(headings[0], ", L20") {
			t.Errorf("%s: headings %q", name, headings)
		}
		if n := len(headings); len(slices.Compact(slices.Sorted(slices.Values(headings)))) != n {
			t.Errorf("%s: headings are there twice: %q", name, headings)
		}
	}
	if !slices.Equal(sorted, again) {
		t.Error("written again it changed")
	}
	want, got := about.FindStringSubmatch(old), about.FindStringSubmatch(string(sorted))
	if want == nil || got == nil || want[1] != got[1] {
		t.Errorf("the remark stood behind %q and stands behind %q", want, got)
	}
	if !regexp.MustCompile(`\n## Ours\n\n<!-- llmsweep:compare`).Match(sorted) {
		t.Error("the heading of the next part moved")
	}
}
