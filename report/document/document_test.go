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
		Choice: &choose.Options{Terms: testkit.Must(slo.ParseAll([]string{"itl:mean<50ms", "ttft:mean<200ms"})),
			Demand: choose.Demand{Amount: 20}, Prices: choose.Prices{"L20": 1.2, "A100": 3.6}, Headroom: 0.2},
	}
}

func written(in []setup.Input, o Options) Output {
	return testkit.Must(Write(setup.Load(in), o))
}

// firstDocuments are the documents of the published results in all languages.
var firstDocuments = sync.OnceValue(func() map[lang.Lang]Output {
	all := map[lang.Lang]Output{}
	for _, l := range lang.All() {
		all[l] = written(readInputs("guidellm-tables.md"), options(l))
	}
	return all
})

// TestDrawings: a drawing has what its points rest on and a legend, and nothing without a mark is drawn.
func TestDrawings(t *testing.T) {
	for l, out := range firstDocuments() {
		for name, b := range out.Drawings {
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
		names := strings.Join(slices.Sorted(maps.Keys(out.Drawings)), " ")
		if want := "report-qwen2-14b-instruct-cost.svg report-qwen2-14b-instruct-latency.svg " +
			"report-qwen2-14b-instruct-throughput.svg report-qwen2-7b-instruct-cost.svg " +
			"report-qwen2-7b-instruct-latency.svg report-qwen2-7b-instruct-throughput.svg " +
			"report-qwen2-moe-57b-a14b-instruct-latency.svg " +
			"report-qwen2-moe-57b-a14b-instruct-throughput.svg"; names != want {
			t.Errorf("%s: drawings %s", l, names)
		}
	}
	ladders := written(readInputs("scaling-a10.txt"), options(lang.English)).Drawings
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

// The sections are in the order that is asked for, small models first.
func TestOrder(t *testing.T) {
	in, o := readInputs("guidellm-tables.md"), options(lang.English)
	o.Order = []string{"model", "gpu"}
	var headings []string
	for line := range strings.Lines(string(written(in, o).Document)) {
		if rest, ok := strings.CutPrefix(line, "### Qwen2"); ok {
			headings = append(headings, strings.TrimSpace(rest))
		}
	}
	if want := []string{"-7B-Instruct, A100 80GB", "-7B-Instruct, L20 48GB", "-14B-Instruct, L20 48GB",
		"-MoE-57B-A14B-Instruct, A100 80GB"}; !slices.Equal(headings, want) {
		t.Errorf("headings %q", headings)
	}
}
