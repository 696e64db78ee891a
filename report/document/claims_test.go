package document

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client/testkit"
	"llmsweep/report/compare"
	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/report/setup"
	"llmsweep/report/table"
)

// load reads a document, joins its tables to runs, and makes setups of them.
func load(t *testing.T, name, text string) (*published.Document, []setup.Setup) {
	t.Helper()
	doc, err := published.ParseText(name, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	var all []setup.Input
	joined := published.Join(doc)
	for i := range joined.Runs {
		all = append(all, setup.Input{Path: name, Run: &joined.Runs[i]})
	}
	return doc, setup.Load(all)
}

func scaling(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../published/testdata/scaling-a10.txt")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestOwnConclusion: what the document concludes of 2 and 4 GPUs follows from its tables, in both languages, beside its own
// sentences; what its tables do not show is pointed out.
func TestOwnConclusion(t *testing.T) {
	doc, setups := load(t, "scaling-a10.txt", scaling(t))
	c, err := compare.Of(setups, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	found := claimsOf(doc, setups)
	for _, l := range lang.All() {
		var b bytes.Buffer
		sections := append(c.Sections(1), ClaimSection("scaling-a10.txt", found, 2))
		if err := table.WriteSections(&b, "console", sections, table.Style{Lang: l}); err != nil {
			t.Fatal(err)
		}
		name := map[lang.Lang]string{lang.English: "english", lang.Chinese: "chinese"}[l] // which quotes the document, so it has English
		testkit.CheckGolden(t, "scaling-a10."+name+".txt", b.Bytes())
	}
	var says []string
	for i := range c.Factors {
		if c.Factors[i].What == compare.ByGPUs {
			says = append(says, c.Factors[i].Says)
		}
	}
	for _, want := range []string{
		"vLLM, 2 to 4 x A10: +9 to +19 % at 30 in flight (11.12-12.00 to 13.12-13.22 req/s); no difference shown (0 to +4 %) at 50 in flight (15.07-15.27 to 15.20-15.61 req/s); +4 to +10 % at 100 in flight (17.40-17.99 to 18.73-19.13 req/s).",
		"+88 % at 30 in flight (10.78 to 20.27 req/s), of which the audit doubts 3; +40 to +41 % at 50 in flight (17.34-17.52 to 24.48 req/s), of which the audit doubts 3.",
	} {
		if !strings.Contains(strings.Join(says, " "), want) {
			t.Errorf("%q is not said in %q", want, says)
		}
	}
	verdicts := map[Verdict]int{}
	failing := map[int]Verdict{}
	for _, f := range found {
		if verdicts[f.Verdict]++; f.Verdict != Holds {
			failing[f.Line] = f.Verdict
		}
	}
	if diff := cmp.Diff(map[Verdict]int{Holds: 25, Partly: 2, NotShown: 3}, verdicts); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[int]Verdict{841: Partly, 842: NotShown, 843: Partly, 845: NotShown}, failing); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

// TestChangedSentences: a sentence that says something else than the tables is contradicted.
func TestChangedSentences(t *testing.T) {
	for _, c := range []struct {
		from, to string
		want     Verdict
	}{
		{"(88% improvement)", "(120% improvement)", Contradicted},
		{"15-20% for 30", "12-16% for 30", Partly},
		{"15-20% for 30", "9-19% for 30", Holds},
		{"~1217 tokens/s", "~1300 tokens/s", Contradicted},
		{"11.12-12.00 req/s", "11.12-12.50 req/s", Partly},
		{"10.78 req/s →", "12.78 req/s →", Contradicted},
		{"- Throughput improves by approximately 15-20% for 30 concurrent requests", "- 30 并发时吞吐提升 9-19%", Holds},
		{"- Throughput improves by approximately 15-20% for 30 concurrent requests", "- 30 并发时吞吐提升 30%", Contradicted},
		{"For 30 concurrent requests: 10.78", "For 40 concurrent requests: 10.78", NotShown},
	} {
		text := scaling(t)
		changed := strings.Replace(text, c.from, c.to, 1)
		if changed == text {
			t.Fatalf("%q is not in the document", c.from)
		}
		line := strings.Count(changed[:strings.Index(changed, c.to)], "\n") + 1
		doc, setups := load(t, "doc", changed)
		worst := Holds
		for _, f := range claimsOf(doc, setups) {
			if f.Line == line && f.Verdict != Holds {
				worst = f.Verdict
			}
		}
		if worst != c.want {
			t.Errorf("%s -> %s: %s, want %s", c.from, c.to, worst, c.want)
		}
	}
}

// FuzzClaims: no text makes the reader of claims panic.
func FuzzClaims(f *testing.F) {
	text, err := os.ReadFile("../published/testdata/scaling-a10.txt")
	if err != nil {
		f.Fatal(err)
	}
	doc, err := published.ParseText("doc", bytes.NewReader(text))
	if err != nil {
		f.Fatal(err)
	}
	var all []setup.Input
	joined := published.Join(doc)
	for i := range joined.Runs {
		all = append(all, setup.Input{Path: "doc", Run: &joined.Runs[i]})
	}
	setups := setup.Load(all)
	for _, l := range doc.Prose {
		f.Add(l.Text)
	}
	f.Fuzz(testkit.MutatedWith(func(t *testing.T, text string) {
		d := published.Document{Name: "doc"}
		for i, line := range strings.Split("vLLM from 2 to 4 GPUs, 30 concurrent\n"+text, "\n") {
			d.Prose = append(d.Prose, published.Line{Line: i + 1, Text: line})
		}
		for _, c := range claimsOf(&d, setups) {
			for _, l := range lang.All() {
				c.Sentence(l)
			}
		}
	}))
}
