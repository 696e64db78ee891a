package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"llmsweep/client/note"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// real is a run against a real server, with its records.
const real = "../../examples/real/vllm-cpu"

// rendered is a page, parsed.
type parsed struct {
	text  string
	nodes []*html.Node
}

func parse(t *testing.T, page []byte) parsed {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	p := parsed{text: string(page)}
	for n := range root.Descendants() {
		p.nodes = append(p.nodes, n)
	}
	return p
}

// elements are those of a name.
func (p parsed) elements(name string) []*html.Node {
	var all []*html.Node
	for _, n := range p.nodes {
		if n.Type == html.ElementNode && n.Data == name {
			all = append(all, n)
		}
	}
	return all
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// words is the text of an element in a language.
func words(n *html.Node, l string) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	if own := attribute(n, "class"); own != l && (own == "en" || own == "zh") {
		return ""
	}
	s := ""
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		s += words(c, l)
	}
	return s
}

func openReal(t *testing.T) *rundir.Run {
	t.Helper()
	run, err := store.Open(real)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func write(t *testing.T, run *rundir.Run, dir string) parsed {
	t.Helper()
	var b bytes.Buffer
	if err := Run(&b, run, dir, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return parse(t, b.Bytes())
}

// check fails where a page is not sound: ids that are there twice, references to none, anything loaded, a handler in an attribute, or a
// policy that does not allow exactly the style and the script of the page.
func check(t *testing.T, p parsed) {
	t.Helper()
	ids := map[string]bool{}
	for _, n := range p.nodes {
		if id := attribute(n, "id"); id != "" {
			if ids[id] {
				t.Errorf("the id %q is there twice", id)
			}
			ids[id] = true
		}
	}
	for _, n := range p.nodes {
		for _, a := range n.Attr {
			switch {
			case a.Key == "aria-labelledby" || a.Key == "for":
				for _, id := range strings.Fields(a.Val) {
					if !ids[id] {
						t.Errorf("%s refers to %q, which is not there", n.Data, id)
					}
				}
			case a.Key == "src" || a.Key == "srcset" || a.Key == "action" || a.Key == "style" || strings.HasPrefix(a.Key, "on"):
				t.Errorf("%s has %s=%q", n.Data, a.Key, a.Val)
			case a.Key == "href" && !strings.HasPrefix(a.Val, "#"):
				t.Errorf("%s leads to %q", n.Data, a.Val)
			}
		}
	}
	policy := ""
	for _, n := range p.elements("meta") {
		if attribute(n, "http-equiv") == "Content-Security-Policy" {
			policy = attribute(n, "content")
		}
	}
	for name, kind := range map[string]string{"style": "", "script": ""} {
		found := 0
		for _, n := range p.elements(name) {
			if attribute(n, "type") != kind {
				continue
			}
			found++
			sum := sha256.Sum256([]byte(n.FirstChild.Data))
			if want := fmt.Sprintf("%s-src 'sha256-%s'", name, base64.StdEncoding.EncodeToString(sum[:])); !strings.Contains(policy, want) {
				t.Errorf("the policy %q does not allow the page's own %s: %s", policy, name, want)
			}
		}
		if found != 1 {
			t.Errorf("the page has %d elements %s", found, name)
		}
	}
	if !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %q", policy)
	}
	if own, _, _ := strings.Cut(p.text, `"use strict"`); strings.Contains(own, "ZgotmplZ") || strings.Contains(own, "NaN") || strings.Contains(own, "%!") {
		t.Error("the page has a value that could not be written")
	}
}

// The tables of the page have the numbers of run.json.
func TestNumbersOfTheRun(t *testing.T) {
	run := openReal(t)
	p := write(t, run, real)
	check(t, p)
	var table *html.Node
	for _, n := range p.elements("table") {
		if attribute(n, "id") == "t-ttft" {
			table = n
		}
	}
	if table == nil {
		t.Fatal("there is no table of TTFT")
	}
	rows := map[string][]string{}
	for n := range table.Descendants() {
		if n.Data != "tr" {
			continue
		}
		var cells []string
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Data == "td" {
				cells = append(cells, words(c, "en"))
			}
		}
		if len(cells) > 0 {
			rows[cells[0]] = cells
		}
	}
	for i := range run.Stages {
		s := &run.Stages[i]
		cells := rows[findings.StageName(s)]
		if cells == nil {
			t.Fatalf("there is no row of %s", s.Name)
		}
		for j, name := range []string{"p50", "p90", "p99"} {
			if got, want := strings.TrimSuffix(cells[2+2*j], "?"), lang.Time(s.TTFT.Get(name)); got != want {
				t.Errorf("%s: TTFT %s is %q on the page, %q in run.json", s.Name, name, got, want)
			}
			if got := strings.HasSuffix(cells[2+2*j], "?"); got == s.TTFT.Supported(name) {
				t.Errorf("%s: TTFT %s is marked %v", s.Name, name, got)
			}
		}
		if got, want := cells[len(cells)-1], lang.Verdict(s.Verdict, lang.English); got != want {
			t.Errorf("%s: the verdict is %q, want %q", s.Name, got, want)
		}
	}
	if want := "95 % interval: 54 to 65"; !strings.Contains(p.text, want) {
		t.Errorf("the headline lacks %q", want)
	}
}

// What a server, a file or a person says is text, in HTML, in drawings and in the data of the script.
func TestNothingIsTrusted(t *testing.T) {
	run := openReal(t)
	const evil = `</script></title></style><script>alert(1)</script><img src=x onerror=alert(2)>"'` + "`\u2028\u202e"
	run.Labels.Model, run.Target.Model, run.Target.Engine, run.Target.URL = evil, evil, evil, "http://"+evil
	run.Command.Args = []string{"llmsweep", "sweep", evil}
	run.Plan.SLO = []string{evil}
	run.Warnings = append(run.Warnings, note.Text.New(evil))
	run.Failure = note.Text.New(evil)
	for i := range run.Stages {
		s := &run.Stages[i]
		s.Errors, s.Examples = map[string]int{evil: 1}, map[string]string{evil: evil}
		s.Verdict += evil
		s.Kind, s.Role = evil, s.Role+evil
	}
	run.Stages[1].Name = evil // without records; its row remains
	p := write(t, run, real)
	check(t, p)
	if n := len(p.elements("script")); n != 2 { // the data and the page's own
		t.Errorf("the page has %d scripts, want 2", n)
	}
	if n := len(p.elements("img")); n != 0 {
		t.Errorf("the page has %d images", n)
	}
	if !strings.Contains(p.text, "&lt;/script&gt;") {
		t.Error("the name is not on the page at all")
	}
	if strings.ContainsAny(p.text, "\u202e\u2028") {
		t.Error("a sign that turns the direction of text is on the page")
	}
}

// The page of a run with 20 long stages is smaller than a megabyte, and says what it does not draw.
func TestSize(t *testing.T) {
	dir := t.TempDir()
	d, err := store.Create(dir)
	if err != nil {
		t.Fatal(err)
	}
	run := openReal(t)
	like := run.Stages[len(run.Stages)-1]
	run.Stages = nil
	gaps := make([]int64, 40)
	for i := range gaps {
		gaps[i] = int64(9000 + 977*(i*i%17))
	}
	const stages, requests = 20, 500
	for i := range stages {
		s := like
		s.Name = fmt.Sprintf("poisson@%d.00", i+1)
		s.Rate, s.Elapsed, s.WindowFrom, s.Window = rundir.Exactly(float64(i+1)), 90, 5, 80
		run.Stages = append(run.Stages, s)
		for j := range requests {
			due := 0.16 * float64(j)
			first := due + 0.05*float64(1+j%37)
			r := &rundir.Record{
				Stage: s.Name, Seq: j, Due: rundir.Exactly(due), Sent: rundir.Exactly(due + 0.0001), FirstToken: rundir.Exactly(first), LastToken: rundir.Exactly(first + 1.2),
				End: rundir.Exactly(first + 1.21), Status: "ok", OutputTokens: rundir.Exactly(41), GapsUS: gaps,
			}
			if err := d.Append(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	p := write(t, run, dir)
	check(t, p)
	if len(p.text) > 1_000_000 {
		t.Errorf("the page of %d stages has %d bytes", stages, len(p.text))
	}
	if want := fmt.Sprintf("of %d requests are drawn", requests); !strings.Contains(p.text, want) {
		t.Errorf("the page does not say how many %s", want)
	}
}

// Pages of runs that are unusual are sound: nothing measured, one stage, imported, interrupted.
func TestUnusualRuns(t *testing.T) {
	one := openReal(t)
	one.Stages, one.Saturation, one.Plan.Kind = one.Stages[:1], nil, "run"
	imported := openReal(t)
	imported.Source = &rundir.Source{File: "results.md", Line: 3}
	failed := openReal(t)
	failed.State, failed.Saturation = rundir.Failed, nil
	for i := range failed.Stages {
		s := &failed.Stages[i]
		s.TTFT, s.ITL, s.Latency, s.TokensPerS, s.Rates = rundir.Dist{}, rundir.Dist{}, rundir.Dist{}, rundir.TokenRates{}, rundir.Rates{}
		s.Requests = rundir.Requests{Due: 5, Sent: 5, Error: 5}
	}
	for name, run := range map[string]*rundir.Run{"empty": {State: rundir.Running}, "one": one, "imported": imported, "failed": failed} {
		t.Run(name, func(t *testing.T) {
			for _, dir := range []string{"", real} {
				p := write(t, run, dir)
				check(t, p)
				if len(p.elements("h1")) != 1 {
					t.Error("there is no heading")
				}
			}
		})
	}
}

// A drawing can be had alone, by its name.
func TestDrawings(t *testing.T) {
	run := openReal(t)
	names := Drawings(run, real)
	for _, want := range []string{"output", "ttft", "itl", "latency", "speed", "time@poisson@28.71"} {
		if !slices.Contains(names, want) {
			t.Errorf("there is no drawing %s among %v", want, names)
		}
	}
	for _, name := range names {
		var b bytes.Buffer
		if err := Drawing(&b, name, run, real, lang.Chinese); err != nil || !strings.HasPrefix(b.String(), "<svg xmlns=") {
			t.Errorf("%s: %v, %.40s", name, err, b.String())
		}
	}
	if err := Drawing(io.Discard, "pie", run, real, lang.English); err == nil || !strings.Contains(err.Error(), "ttft") {
		t.Errorf("an unknown drawing: %v", err)
	}
}

// The numbers of one page agree: the large number, the sentence beneath it, the drawings and the comfortable load have one source and the same digits,
// and what the number means is what the sentence says.
func TestNumbersAgree(t *testing.T) {
	run := openReal(t)
	for _, c := range []struct {
		change func(*rundir.Saturation)
		unit   string
	}{
		{func(*rundir.Saturation) {}, "saturation rate"},
		{func(s *rundir.Saturation) { s.Overload = rundir.Exactly(40) }, "highest rate that the server sustains"},
		{func(s *rundir.Saturation) { s.Reason = note.Note{Code: "saturation.refused"} }, "accepts"},
	} {
		run := *run
		sat := *run.Saturation
		run.Saturation = &sat
		c.change(&sat)
		v := newView(&run)
		h := v.headline()
		sentence := findings.Answer(&run, lang.English)[0]
		if said := h.Sentence.EN; said != sentence && (said != "" || c.unit != "saturation rate") {
			t.Errorf("%q stands beneath the number, and the answer is %q", said, sentence)
		}
		if h.Number != "60" || !strings.Contains(h.Unit.EN, c.unit) || !strings.Contains(sentence, " 60 req/s (95 %: 54-65)") || !strings.Contains(h.Interval.EN, "54 to 65") {
			t.Errorf("%q, %q, %q, %q", h.Number, h.Unit.EN, h.Interval.EN, h.Sentence.EN)
		}
		answer := strings.Join(findings.Answer(&run, lang.English), "\n")
		if !slices.ContainsFunc(h.Also, func(t Tile) bool { return strings.Contains(t.Text.EN, " at 48 req/s") }) || !strings.Contains(answer, "Run it at 48 req/s (80 %): TTFT") {
			t.Errorf("the comfortable load is %v, and in the sentence\n%s", h.Also, answer)
		}
	}
}

// What is said above is not said again below: a page names each caution once.
func TestCautionsStandOnce(t *testing.T) {
	run := openReal(t)
	run.Answer, run.Warnings = nil, []note.Note{{Code: "habit.drops", Args: map[string]any{"count": 50.0, "share": 0.1}}}
	p := write(t, run, "")
	for _, n := range p.elements("main") {
		text := words(n, "en")
		if got := strings.Count(text, "drops connections"); got != 1 {
			t.Errorf("a caution stands %d times", got)
		}
	}
}
