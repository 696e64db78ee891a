package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client/testkit"
	"llmsweep/report/lang"
	"llmsweep/report/published"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

func subjects(runs []rundir.Run) []Subject {
	var all []Subject
	for i := range runs {
		all = append(all, Subject{Run: &runs[i]})
	}
	return all
}

func parsed(name string) *published.Document {
	text := testkit.Must(os.ReadFile("../published/testdata/" + name))
	return testkit.Must(published.ParseText(name, bytes.NewReader(text)))
}

// documents audits the published documents, as the command does.
func documents(t *testing.T) []Report {
	t.Helper()
	var all []Report
	for _, name := range []string{"guidellm-tables.md", "stress-tables.txt", "serving-blocks.txt", "scaling-a10.txt"} {
		doc := parsed(name)
		a := Report{File: name, Results: len(doc.Runs), Findings: Runs(subjects(doc.Runs))}
		for i := range doc.Runs {
			a.Rows += len(doc.Runs[i].Stages)
		}
		all = append(all, a)
	}
	return all
}

func TestPublishedDocuments(t *testing.T) {
	all := documents(t)
	for _, l := range lang.All() {
		var text bytes.Buffer
		if err := Text(&text, all, l, true); err != nil {
			t.Fatal(err)
		}
		testkit.CheckGolden(t, "published."+string(l)+".txt", text.Bytes())
	}
	var list bytes.Buffer
	if err := JSON(&list, all[2:3]); err != nil {
		t.Fatal(err)
	}
	testkit.CheckGolden(t, "serving.json", list.Bytes())
}

// TestCases: each rule finds what it is for, and is silent just inside of its tolerance.
func TestCases(t *testing.T) {
	testkit.CheckCases(t, "cases/*.txt", func(t *testing.T, text string, _ bool) string {
		doc := testkit.Must(published.ParseText("doc", strings.NewReader(text)))
		var found strings.Builder
		for _, f := range Runs(subjects(doc.Runs)) {
			found.WriteString(table.Wrap(fmt.Sprintf("  %s %s, line %d: %s", f.Grade, f.Rule, f.Line, f.Text), 120, 4) + "\n")
		}
		if found.Len() == 0 {
			return "  nothing\n"
		}
		return found.String()
	})
}

// TestAlikeIsSaidOnce: what several tables have alike is said above all, with the lines; in one table, it is a finding
// like others.
func TestAlikeIsSaidOnce(t *testing.T) {
	tables := documents(t)[:1]
	var b bytes.Buffer
	for _, l := range lang.All() {
		if err := Text(&b, tables, l, false); err != nil {
			t.Fatal(err)
		}
	}
	tables[0].Findings = slices.DeleteFunc(tables[0].Findings, func(f Finding) bool { return f.Line != 24 })
	if err := Text(&b, tables, lang.English, false); err != nil {
		t.Fatal(err)
	}
	testkit.CheckGolden(t, "alike.txt", b.Bytes())
}

// TestImportedIsAudited: what went through run.json is judged as the document was.
func TestImportedIsAudited(t *testing.T) {
	for _, a := range documents(t) {
		var runs []rundir.Run
		if err := json.Unmarshal(testkit.Must(json.Marshal(parsed(a.File).Runs)), &runs); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(a.Findings, Runs(subjects(runs)), cmp.AllowUnexported(rundir.Number{}, Finding{})); diff != "" {
			t.Errorf("%s (-document +run.json):\n%s", a.File, diff)
		}
	}
}

func TestRecords(t *testing.T) {
	f := rundir.Exactly
	ok := rundir.Record{
		Stage: "s", Status: "ok", Due: f(1), Sent: f(1.001), Headers: f(1.1), FirstToken: f(1.2), LastToken: f(1.4),
		End:         f(1.5),
		AskedTokens: 3, OutputTokens: f(3), Finish: "length", GapsUS: []int64{100_000, 100_000},
	}
	bad := func(change func(*rundir.Record)) *rundir.Record {
		r := ok
		change(&r)
		return &r
	}
	records := []*rundir.Record{
		&ok,
		bad(func(r *rundir.Record) { r.FirstToken, r.GapsUS = f(1.05), []int64{350_000} }),
		bad(func(r *rundir.Record) { r.FirstToken, r.GapsUS = f(1.0989), []int64{301_100} }), // 1.1 ms too early
		bad(func(r *rundir.Record) { r.FirstToken, r.GapsUS = f(1.0991), []int64{300_900} }),
		bad(func(r *rundir.Record) { r.GapsUS = []int64{100_000, 90_000} }),
		bad(func(r *rundir.Record) { r.GapsUS = []int64{100_000, 80_000} }),
		bad(func(r *rundir.Record) { r.AskedTokens, r.OutputTokens = 512, f(128) }),
		bad(func(r *rundir.Record) { r.OutputTokens, r.Finish = f(0), "stop" }),
	}
	found, err := Records(&rundir.Run{}, "records.jsonl", func(yield func(*rundir.Record, error) bool) {
		for _, r := range records {
			if !yield(r, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range found {
		got = append(got, fmt.Sprintf("%d %s: %s", f.Line, f.Rule, f.Text))
	}
	want := []string{
		"2 latency: 2 requests, the first: first_token at 1.05 s, but headers at 1.10 s",
		"5 latency: 2 requests, the first: 2 gaps add up to 190.00 ms, but first and last token are 200.00 ms apart",
		"7 tokens: stopped by length at 128 tokens, 512 were asked for",
		"8 tokens: succeeded with 0 output tokens",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestRules compares the list of rules in both languages with its golden files. Their names must be unique.
func TestRules(t *testing.T) {
	for _, l := range lang.All() {
		var b bytes.Buffer
		if err := TextRules(&b, l); err != nil {
			t.Fatal(err)
		}
		testkit.CheckGolden(t, "rules."+string(l)+".txt", b.Bytes())
	}
	seen := map[string]bool{}
	for _, r := range rules() {
		if r.Name == "" || seen[r.Name] {
			t.Errorf("a rule without a name of its own: %q", r.Name)
		}
		seen[r.Name] = true
	}
}

// TestManyTables: Reprint knows which table is printed again, also in a file of run.json, and what a comparison of more
// than 500 tables would find is left out.
func TestManyTables(t *testing.T) {
	doc := parsed("guidellm-tables.md")
	again := []rundir.Run{doc.Runs[0], doc.Runs[0]}
	again[1].Stages = slices.Clone(again[1].Stages)
	Mark(subjects(again))
	if a, b := Reprint(&again[0]), Reprint(&again[1]); a != 0 || b != again[0].Source.Line {
		t.Errorf("%d and %d", a, b)
	}
	many := slices.Repeat(parsed("stress-tables.txt").Runs[14:15], 502) // with an answer of 128 tokens
	for i := range many {
		many[i].Stages = slices.Clone(many[i].Stages)
		s := &many[i].Stages[0]
		s.AskedTokens, s.Window = rundir.Exactly(float64(512*(1+i%2))), math.Pow(1.1, float64(i/2))
	}
	limits := 0
	for _, f := range Runs(subjects(many)) {
		if f.Code == noteDefaultLimit.Code {
			limits++
		}
	}
	if limits != 500 {
		t.Errorf("%d limits were found", limits)
	}
}

// TestCompletedAboveOffered: in a stage of 120 s at 2 req/s, 24 % more than was offered is more than chance explains,
// and not impossible.
func TestCompletedAboveOffered(t *testing.T) {
	f := rundir.Exactly
	for completed, want := range map[float64]Grade{2.3: "", 2.48: Doubtful, 2.6: Impossible} {
		run := rundir.Run{Stages: []rundir.Stage{{
			Name: "poisson@2.00", Kind: "poisson", Rate: f(2), Window: 120, State: rundir.Complete,
			Rates: rundir.Rates{Offered: f(2), Completed: f(completed)},
		}}}
		found := append(Runs([]Subject{{File: "run", Run: &run}}), Finding{})
		if found[0].Grade != want || want != "" && found[0].Rule != "offered" {
			t.Errorf("%v completed of 2 offered: %+v, want %q", completed, found, want)
		}
	}
}

// TestOldGrades: files written before grades had three names are read.
func TestOldGrades(t *testing.T) {
	var f Finding
	if err := json.Unmarshal([]byte(`{"grade":"wrong"}`), &f); err != nil || f.Grade != Impossible {
		t.Errorf("%q, %v", f.Grade, err)
	}
}

// TestGapsOfChunks: the gaps of vllm bench serve count chunks without text, so latency does not follow from them.
func TestGapsOfChunks(t *testing.T) {
	mean := func(v float64) rundir.Dist { return rundir.Dist{Mean: rundir.Exactly(v)} }
	for format, want := range map[string]int{published.VLLMBench: 0, published.Serving: 1} {
		source := &rundir.Source{File: "x", Line: 1, Format: format}
		run := rundir.Run{Source: source, Stages: []rundir.Stage{{
			Name: "throughput", Kind: "throughput", State: rundir.Complete, Requests: rundir.Requests{OK: 100},
			Source: source, Latency: mean(2), TTFT: mean(0.1), ITL: mean(0.01),
			OutputTokens: rundir.TokenStats{N: 100, Mean: rundir.Exactly(100)},
		}}}
		if found := Runs([]Subject{{Run: &run}}); len(found) != want {
			t.Errorf("%s: %v", format, found)
		}
	}
}
