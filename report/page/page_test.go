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
	"llmsweep/report/draw"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/saturation"
)

// realRun is a run against a real server, with its records.
const realRun = "../../examples/real/vllm-cpu"

// parsedPage is a parsed page.
type parsedPage struct {
	text  string
	nodes []*html.Node
}

func parse(t *testing.T, page []byte) parsedPage {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	p := parsedPage{text: string(page)}
	for n := range root.Descendants() {
		p.nodes = append(p.nodes, n)
	}
	return p
}

// elements are those of a name.
func (p parsedPage) elements(name string) []*html.Node {
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

// elementText is the text of an element in a language.
func elementText(n *html.Node, l string) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	if own := attribute(n, "class"); own != l && (own == "en" || own == "zh") {
		return ""
	}
	s := ""
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		s += elementText(c, l)
	}
	return s
}

func openReal(t *testing.T) *rundir.Run {
	t.Helper()
	run, err := store.Open(realRun)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func writeRun(t *testing.T, run *rundir.Run, dir string) parsedPage {
	t.Helper()
	var b bytes.Buffer
	if err := Run(&b, run, dir, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	return parse(t, b.Bytes())
}

// checkPage fails where a page is not sound: ids that are there twice, references to none, anything loaded, a handler
// in an attribute, or a policy that does not allow exactly the style and the script of the page.
func checkPage(t *testing.T, p parsedPage) {
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
			if want := fmt.Sprintf("%s-src 'sha256-%s'", name, base64.StdEncoding.EncodeToString(sum[:])); !strings.Contains(
				policy, want) {
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
	if own, _, _ := strings.Cut(p.text,
		`"use strict"`); strings.Contains(own, "ZgotmplZ") || strings.Contains(own, "NaN") ||
		strings.Contains(own, "%!") {
		t.Error("the page has a value that could not be written")
	}
}

// The tables of the page have the numbers of run.json.
func TestNumbersOfTheRun(t *testing.T) {
	run := openReal(t)
	p := writeRun(t, run, realRun)
	checkPage(t, p)
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
				cells = append(cells, elementText(c, "en"))
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
	if want := "(95 %: 54-65)"; !strings.Contains(p.text, want) {
		t.Errorf("the headline lacks %q", want)
	}
}

// What a server, a file or a person says is text, in HTML, in drawings and in the data of the script.
func TestEscaping(t *testing.T) {
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
	p := writeRun(t, run, realRun)
	checkPage(t, p)
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
				Stage:        s.Name,
				Seq:          j,
				Due:          rundir.Exactly(due),
				Sent:         rundir.Exactly(due + 0.0001),
				FirstToken:   rundir.Exactly(first),
				LastToken:    rundir.Exactly(first + 1.2),
				End:          rundir.Exactly(first + 1.21),
				Status:       "ok",
				OutputTokens: rundir.Exactly(41),
				GapsUS:       gaps,
			}
			if err := d.Append(r); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	p := writeRun(t, run, dir)
	checkPage(t, p)
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
		s.TTFT, s.ITL, s.Latency, s.TokensPerS, s.Rates = rundir.Dist{}, rundir.Dist{}, rundir.Dist{}, rundir.TokenRates{},
			rundir.Rates{}
		s.Requests = rundir.Requests{Due: 5, Sent: 5, Error: 5}
	}
	for name, run := range map[string]*rundir.Run{"empty": {State: rundir.Running}, "one": one, "imported": imported,
		"failed": failed} {
		t.Run(name, func(t *testing.T) {
			for _, dir := range []string{"", realRun} {
				p := writeRun(t, run, dir)
				checkPage(t, p)
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
	names := Drawings(run, realRun)
	for _, want := range []string{"output", "ttft", "itl", "latency", "speed", "time@poisson@28.71"} {
		if !slices.Contains(names, want) {
			t.Errorf("there is no drawing %s among %v", want, names)
		}
	}
	for _, name := range names {
		var b bytes.Buffer
		if err := Drawing(&b, name, run, realRun, lang.Chinese); err != nil ||
			!strings.HasPrefix(b.String(), "<svg xmlns=") {
			t.Errorf("%s: %v, %.40s", name, err, b.String())
		}
		if name == "ttft" && !strings.Contains(b.String(), ">60 req/s (54–65)<") {
			t.Errorf("%s does not name the rate", name)
		}
		explained := strings.Contains(b.String(), ">保持<") && strings.Contains(b.String(), ">积压<")
		if explained == strings.HasPrefix(name, "time@") {
			t.Errorf("%s explains its markers: %v", name, explained)
		}
	}
	if err := Drawing(io.Discard, "pie", run, realRun, lang.English); err == nil ||
		!strings.Contains(err.Error(), "ttft") {
		t.Errorf("an unknown drawing: %v", err)
	}
}

// The large number and the drawings have the digits of the answer's sentence, which stands beneath the number, whatever
// kind of answer it is. Nothing else on the page states a rate of it.
func TestNumbersAgree(t *testing.T) {
	f := rundir.Exactly
	for _, c := range []struct {
		change func(*rundir.Answer)
		number string
		tag    string // above the drawing of the output
		read   string // in its caption
	}{
		{func(a *rundir.Answer) {}, "60", "60 req/s (54–65)", "levels off at 60 req/s (54–65)."},
		{func(a *rundir.Answer) { a.Kind, a.Overload = rundir.Sustains, f(40) }, "60", "60 req/s (54–65)",
			"falls beyond 60 req/s (54–65)."},
		{func(a *rundir.Answer) { a.Kind = rundir.Accepts }, "60", "60 req/s (54–65)", "levels off at 60 req/s (54–65)."},
		{func(a *rundir.Answer) {
			a.Kind, a.Rate, a.Low, a.High, a.Comfortable = rundir.AtLeast, rundir.Over(8.5266), rundir.Number{},
				rundir.Number{}, nil
		}, "≥ 8.53", "≥ 8.53 req/s", "limit: ≥ 8.53 req/s."},
		{func(a *rundir.Answer) {
			a.Kind, a.Rate, a.Low, a.High, a.Comfortable = rundir.Between, rundir.Number{}, f(6.876), f(18.96), nil
		}, "6.88–18.96", "6.88–18.96 req/s", "limit: 6.88–18.96 req/s."},
		{func(a *rundir.Answer) {
			a.Kind, a.Rate, a.Low, a.High, a.Comfortable = rundir.AtMost, rundir.Number{}, rundir.Number{}, f(3.217), nil
		}, "≤ 3.22", "≤ 3.22 req/s", "limit: ≤ 3.22 req/s."},
	} {
		run := openReal(t)
		run.Answer = saturation.AnswerOf(run)
		c.change(run.Answer)
		v := newRunPage(run)
		h, sentence := v.headline(), findings.Answer(run, lang.English)[0]
		if h.Number != c.number || h.Unit.EN != "req/s" || h.Sentence.EN != sentence || len(h.Also) > 0 {
			t.Errorf("%q, %q, %q, %v; the answer is %q", h.Number, h.Unit.EN, h.Sentence.EN, h.Also, sentence)
		}
		for _, part := range strings.Split(strings.TrimLeft(h.Number, "≥≤ "), "–") {
			if !strings.Contains(sentence, part) {
				t.Errorf("%q is not in %q", part, sentence)
			}
		}
		output := v.loadFigures()[0]
		if spans := output.shown().Spans; len(spans) != 1 || spans[0].Text.EN != c.tag ||
			!strings.HasSuffix(output.Caption.EN, c.read) {
			t.Errorf("%q stands in the drawing of %q: %+v", output.Caption.EN, sentence, spans)
		}
		if text := elementText(writeRun(t, run, "").elements("main")[0], "en"); c.number != "60" &&
			strings.Contains(text, "when saturated") {
			t.Errorf("%s: the page tells of saturation", c.number)
		}
	}
}

// A caution that the answer begins with stands above the number, once, and the sentence of the number beneath it.
func TestCautionBeforeTheAnswer(t *testing.T) {
	run := openReal(t)
	run.Answer = saturation.AnswerOf(run)
	run.Answer.Cautions = []note.Note{saturation.FailsAlways.New(0.2, 0.19, "http_5xx")}
	lines := findings.Answer(run, lang.English)
	text := elementText(writeRun(t, run, "").elements("main")[0], "en")
	last := -1
	for _, s := range []string{lines[0], "req/s", lines[1], lines[2]} {
		at := strings.Index(text[max(last, 0):], s)
		if at < 0 {
			t.Fatalf("%q is not on the page, or in another order:\n%.800s", s, text)
		}
		last = max(last, 0) + at
	}
	if n := strings.Count(text, lines[0]); n != 1 {
		t.Errorf("%q stands %d times", lines[0], n)
	}
}

// A page begins with the answer and the table; drawings come next. It has no section without content, and says once how
// far the run got.
func TestOrderOfSections(t *testing.T) {
	p := writeRun(t, openReal(t), realRun)
	var ids []string
	for _, n := range p.elements("section") {
		if attribute(n, "class") == "part" {
			ids = append(ids, attribute(n, "id"))
		}
	}
	if want := []string{"answer", "rows", "rates", "stages", "environment", "words"}; !slices.Equal(ids, want) {
		t.Errorf("sections %v, want %v", ids, want)
	}
	if n := strings.Count(elementText(p.elements("body")[0], "en"), "Complete: all"); n != 1 {
		t.Errorf("the state is said %d times", n)
	}
}

// A point of a drawing tells the file and the line that it is from, and no local path.
func TestNoLocalPaths(t *testing.T) {
	setups := publishedSetups(t)
	for _, f := range newOverlay(setups, setupNames(setups), "").figures() {
		for _, s := range f.Variants[0].Drawn.Panels[0].Series {
			for _, p := range s.Points {
				if s.Style != draw.Front && !strings.HasPrefix(p.Title, "report.md:") {
					t.Fatalf("a point of %s is called %q", f.Name, p.Title)
				}
			}
		}
	}
}

// The caption of a drawing names both axes with their units, in both languages.
func TestCaption(t *testing.T) {
	run := openReal(t)
	for name, want := range map[string][2]string{
		"output": {"Output (tok/s) against arrival rate (req/s); levels off at 60 req/s (54–65).",
			"输出（tok/s）随到达率（req/s）的变化；在 60 req/s (54–65) 处趋平。"},
		"ttft": {"TTFT p50, p90, p99 (s) against arrival rate (req/s); grows beyond 60 req/s (54–65).",
			"TTFT p50、p90、p99（s）随到达率（req/s）的变化；超过 60 req/s (54–65) 后上升。"},
		"pie": {"", ""},
	} {
		if en, zh := Caption(name, run, lang.English), Caption(name, run, lang.Chinese); en != want[0] ||
			zh != want[1] {
			t.Errorf("%s: %q, %q", name, en, zh)
		}
	}
}

// What is said above is not said again below: a page names each caution once.
func TestCautionsOnce(t *testing.T) {
	run := openReal(t)
	run.Answer, run.Warnings = nil, []note.Note{
		{Code: "habit.drops", Args: map[string]any{"count": 50.0, "share": 0.1}},
	}
	p := writeRun(t, run, "")
	for _, n := range p.elements("main") {
		text := elementText(n, "en")
		if got := strings.Count(text, "drops connections"); got != 1 {
			t.Errorf("a caution stands %d times", got)
		}
	}
}
