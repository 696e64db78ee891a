package report

import (
	"bytes"
	"encoding/xml"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"llmsweep/client/note"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"

	"pgregory.net/rapid"
)

func stage(name string, verdict rundir.Promised, terms ...rundir.Promise) rundir.Stage {
	s := rundir.Stage{Name: name, State: rundir.Complete, Elapsed: 12.5, Requests: rundir.Requests{Due: 10, OK: 10}}
	if len(terms) > 0 {
		s.Goodput = &rundir.Goodput{Verdict: verdict, Terms: terms}
	}
	return s
}

func term(text string, verdict rundir.Promised) rundir.Promise {
	return rundir.Promise{Term: text, Verdict: verdict, Value: rundir.Exactly(1.5)}
}

// outcomes returns "class name: outcome" of each check.
func outcomes(s GateSuite) string {
	var all []string
	for _, c := range s.Checks {
		all = append(all, c.Class+" "+c.Name+": "+[]string{"passed", "failed", "undecided"}[c.Outcome])
	}
	return strings.Join(all, "\n")
}

func TestOutcomes(t *testing.T) {
	cut := stage("cut", "")
	cut.State = rundir.Interrupted
	dead := stage("dead", "")
	dead.Requests, dead.Errors = rundir.Requests{Due: 3, Error: 3}, map[string]int{"connect": 3}
	frozen := stage("frozen", "broken", term("errors<1%", "kept"))
	frozen.FrozenSince = rundir.Exactly(4)
	invalid := stage("invalid", "kept", term("errors<1%", "kept"))
	invalid.Invalid = note.Kind{Code: "x"}.New()
	run := rundir.Run{Plan: rundir.Plan{Kind: "run"}, Stages: []rundir.Stage{
		stage("good", "broken", term("ttft:p50<1s", "broken"), term("errors<1%", "kept"), term("ttft:p99<2s", "unsure")), cut, dead, frozen, invalid,
	}}
	want := `stage good: passed
slo ttft:p50<1s @ good: failed
slo errors<1% @ good: passed
slo ttft:p99<2s @ good: undecided
stage cut: undecided
stage dead: failed
stage frozen: failed
slo errors<1% @ frozen: failed
stage invalid: undecided
slo errors<1% @ invalid: undecided`
	s := GateOfRun(&run, lang.English)
	if got := outcomes(s); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	for _, c := range s.Checks {
		if (c.Message == "") != (c.Outcome == GatePassed) {
			t.Errorf("%s: message %q", c.Name, c.Message)
		}
	}
}

// A sweep is judged once: at its highest rates each objective is missed by design.
func TestSweepIsJudgedOnce(t *testing.T) {
	for verdict, want := range map[rundir.Promised]GateOutcome{"kept": GatePassed, "broken": GateFailed, "unsure": GateUndecided} {
		run := rundir.Run{
			Plan: rundir.Plan{Kind: "sweep"}, Stages: []rundir.Stage{stage("a", "broken", term("ttft:p50<1s", "broken"))},
			SLO: &rundir.SLO{Terms: []string{"ttft:p50<1s"}, Verdict: verdict},
		}
		if verdict == "kept" {
			run.SLO.Rate = rundir.Exactly(3)
		}
		s := GateOfRun(&run, lang.English)
		if len(s.Checks) != 2 || s.Checks[1].Class != classSLO || s.Checks[1].Outcome != want {
			t.Errorf("%s:\n%s", verdict, outcomes(s))
		}
	}
	unfinished := rundir.Run{Plan: rundir.Plan{Kind: "sweep", SLO: []string{"ttft:p50<1s"}}}
	if s := GateOfRun(&unfinished, lang.English); len(s.Checks) != 1 || s.Checks[0].Outcome != GateUndecided {
		t.Errorf("an unfinished sweep: %v", outcomes(s))
	}
}

// TestJUnitTakesAnyText checks that names and messages, which come from servers and people, cannot break the document, and that it has the
// structure that the schema of jUnit XML asks for: the elements in its order, with its attributes, and counts that are true.
func TestJUnitTakesAnyText(t *testing.T) {
	hostile := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{`"><script>`, "]]>", "a\x00b\x1b[31m", "\xff\xfe", "&lt;", "", " "}))
	rapid.Check(t, func(t *rapid.T) {
		text := func() string { return hostile.Draw(t, "text") }
		s := GateSuite{Name: text(), Seconds: 1, Properties: []findings.EnvironmentFact{{Name: text(), Text: text()}}, Lines: []string{text()}}
		for range rapid.IntRange(0, 4).Draw(t, "checks") {
			s.Checks = append(s.Checks, GateCheck{Class: classSLO, Name: text(), Message: text(), Outcome: GateOutcome(rapid.IntRange(0, 2).Draw(t, "outcome"))})
		}
		var b bytes.Buffer
		if err := WriteJUnit(&b, []GateSuite{s, s}); err != nil {
			t.Fatal(err)
		}
		if !utf8.Valid(b.Bytes()) {
			t.Fatal("not UTF-8")
		}
		checkStructure(t, b.String(), &s)
	})
}

// checkStructure compares a document of two equal suites with the schema and with the suite.
func checkStructure(t *rapid.T, doc string, s *GateSuite) {
	required := map[string][]string{
		"testsuite": {"name", "package", "id", "timestamp", "hostname", "tests", "failures", "errors", "time"},
		"testcase":  {"name", "classname", "time"}, "property": {"name", "value"}, "failure": {"message", "type"}, "error": {"message", "type"},
		"testsuites": nil, "properties": nil, "system-out": nil, "system-err": nil,
	}
	order := map[string]int{"properties": 0, "testcase": 1, "system-out": 2, "system-err": 3}
	count, last, suites := map[string]int{}, 0, 0
	var names []string
	d := xml.NewDecoder(strings.NewReader(doc))
	for {
		token, err := d.Token()
		if token == nil {
			break
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, doc)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		want, known := required[e.Name.Local]
		attributes := map[string]string{}
		for _, a := range e.Attr {
			attributes[a.Name.Local] = a.Value
		}
		for _, name := range want {
			if v, ok := attributes[name]; !ok || name != "message" && name != "value" && v == "" {
				t.Fatalf("<%s> has %s=%q\n%s", e.Name.Local, name, v, doc)
			}
		}
		if !known || len(attributes) != len(want) {
			t.Fatalf("<%s> with %v", e.Name.Local, attributes)
		}
		count[e.Name.Local]++
		if place, ok := order[e.Name.Local]; ok {
			if place < last {
				t.Fatalf("<%s> is out of order", e.Name.Local)
			}
			last = place
		}
		switch e.Name.Local {
		case "testsuite":
			last = 0
			suites++
			if attributes["tests"] != strconv.Itoa(len(s.Checks)) || attributes["id"] != strconv.Itoa(suites-1) {
				t.Fatalf("counts: %v", attributes)
			}
			names = append(names, attributes["failures"], attributes["errors"])
		}
	}
	failed, undecided := 0, 0
	for _, c := range s.Checks {
		switch c.Outcome {
		case GateFailed:
			failed++
		case GateUndecided:
			undecided++
		}
	}
	if suites != 2 || count["failure"] != 2*failed || count["error"] != 2*undecided || count["testcase"] != 2*len(s.Checks) ||
		names[0] != strconv.Itoa(failed) || names[1] != strconv.Itoa(undecided) {
		t.Fatalf("%v for %d failed, %d undecided", count, failed, undecided)
	}
}

// TestAnnotationsAreOneLineEach: text cannot end an annotation or begin another.
func TestAnnotationsAreOneLineEach(t *testing.T) {
	s := GateSuite{Checks: []GateCheck{
		{Name: "passed"},
		{Name: "a:b,c", Message: "50% slow\n::error::injected", Outcome: GateFailed},
		{Name: "d", Message: "too few", Outcome: GateUndecided},
	}}
	var b strings.Builder
	if err := GateAnnotations(&b, []GateSuite{s}, lang.English); err != nil {
		t.Fatal(err)
	}
	want := "::error title=a%3Ab%2Cc missed::50%25 slow ::error::injected\n::warning title=d not decided::too few\n"
	if b.String() != want {
		t.Errorf("got %q", b.String())
	}
}

// TestSummaryStaysBelowTheLimit appends until the file is full: GitHub shows nothing of a larger one.
func TestSummaryStaysBelowTheLimit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "summary.md")
	if err := os.WriteFile(file, []byte("from another command\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	doc := []byte(strings.Repeat("| a row of a table | 通义 |\n", 15_000)) // 0.4 MiB
	size := int64(0)
	for i := range 5 {
		if err := AppendSummary(file, doc, "dir", lang.English); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(file)
		if err != nil || info.Size() > mostSummary || i < 2 && info.Size() < size+int64(len(doc)) {
			t.Fatalf("after %d documents of %d bytes: %d bytes, %v", i+1, len(doc), info.Size(), err)
		}
		size = info.Size()
	}
	b, _ := os.ReadFile(file)
	if !strings.HasPrefix(string(b), "from another command\n") || strings.Count(string(b), "Shortened") != 1 || !utf8.Valid(b) || !bytes.HasSuffix(b, []byte("\n")) {
		t.Errorf("the end is %q", b[max(0, len(b)-200):])
	}
}
