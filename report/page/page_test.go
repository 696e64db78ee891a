package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	stdhtml "html"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"llmsweep/client/note"
	"llmsweep/client/testkit"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/saturation"
)

// realRun is a run against a real server, with its records.
const realRun = "../../examples/real/vllm-cpu"

func openReal() *rundir.Run { return testkit.Must(store.Open(realRun)) }

// parsedPage is a parsed page.
type parsedPage struct {
	text  string
	nodes []*html.Node
}

// writeRun writes the page of a run, which is sound, and parses it.
func writeRun(t *testing.T, run *rundir.Run, dir string) parsedPage {
	t.Helper()
	return checkPage(t, func(w io.Writer) error { return Run(w, run, dir, WriteOptions{}) })
}

// elements are those of a name.
func (p parsedPage) elements(name string) []*html.Node {
	return slices.DeleteFunc(slices.Clone(p.nodes),
		func(n *html.Node) bool { return n.Type != html.ElementNode || n.Data != name })
}

// main is the text of the page in a language.
func (p parsedPage) main(l string) string { return elementText(p.elements("main")[0], l) }

// rows are the cells of a table, in English.
func (p parsedPage) rows(id string) (rows [][]string) {
	for _, table := range p.elements("table") {
		for tr := range table.Descendants() {
			var cells []string
			for c := range tr.ChildNodes() {
				if attribute(table, "id") == id && tr.Data == "tr" && c.Data == "td" {
					cells = append(cells, elementText(c, "en"))
				}
			}
			if len(cells) > 0 {
				rows = append(rows, cells)
			}
		}
	}
	return rows
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
func elementText(n *html.Node, l string) (s string) {
	if n.Type == html.TextNode {
		return n.Data
	}
	if own := attribute(n, "class"); own != l && (own == "en" || own == "zh") {
		return ""
	}
	for c := range n.ChildNodes() {
		s += elementText(c, l)
	}
	return s
}

// checkPage fails where a page is not sound: ids that are there twice, references to none, anything loaded, a handler
// in an attribute, or a policy that does not allow exactly the style and the script of the page.
func checkPage(t *testing.T, write func(io.Writer) error) parsedPage {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	p := parsedPage{text: b.String()}
	p.nodes = slices.Collect(testkit.Must(html.Parse(&b)).Descendants())
	ids, refers, policy := map[string]bool{}, map[string]string{}, ""
	for _, n := range p.nodes {
		for _, a := range n.Attr {
			switch {
			case a.Key == "id":
				if ids[a.Val] {
					t.Errorf("the id %q is there twice", a.Val)
				}
				ids[a.Val] = true
			case a.Key == "aria-labelledby" || a.Key == "for":
				for _, id := range strings.Fields(a.Val) {
					refers[id] = n.Data
				}
			case a.Key == "src" || a.Key == "srcset" || a.Key == "action" || a.Key == "style" ||
				strings.HasPrefix(a.Key, "on") || a.Key == "href" && !strings.HasPrefix(a.Val, "#"):
				t.Errorf("%s has %s=%q", n.Data, a.Key, a.Val)
			}
		}
		if attribute(n, "http-equiv") == "Content-Security-Policy" {
			policy = attribute(n, "content")
		}
	}
	for id, element := range refers {
		if !ids[id] {
			t.Errorf("%s refers to %q, which is not there", element, id)
		}
	}
	for _, name := range []string{"style", "script"} {
		own := slices.DeleteFunc(p.elements(name), func(n *html.Node) bool { return attribute(n, "type") != "" })
		if len(own) != 1 {
			t.Fatalf("the page has %d elements %s", len(own), name)
		}
		sum := sha256.Sum256([]byte(own[0].FirstChild.Data))
		want := fmt.Sprintf("%s-src 'sha256-%s'", name, base64.StdEncoding.EncodeToString(sum[:]))
		if !strings.Contains(policy, want) {
			t.Errorf("the policy %q does not allow the page's own %s: %s", policy, name, want)
		}
	}
	if !strings.HasPrefix(policy, "default-src 'none'") || strings.Contains(policy, "unsafe") {
		t.Errorf("the policy is %q", policy)
	}
	if own, _, _ := strings.Cut(p.text, `"use strict"`); regexp.MustCompile("ZgotmplZ|NaN|%!").MatchString(own) {
		t.Error("the page has a value that could not be written")
	}
	return p
}

// A page begins with the answer and the table; drawings come next. It has no section without content, and says once how
// far the run got. Its tables have the numbers of run.json, and its words are explained at the end.
func TestPageOfARun(t *testing.T) {
	run := openReal()
	p := writeRun(t, run, realRun)
	var ids []string
	for _, n := range p.elements("section") {
		if attribute(n, "class") == "part" {
			ids = append(ids, attribute(n, "id"))
		}
	}
	if want := []string{"answer", "rows", "rates", "stages", "environment", "words"}; !slices.Equal(ids, want) {
		t.Errorf("sections %v, want %v", ids, want)
	}
	text := elementText(p.elements("body")[0], "en")
	if strings.Count(text, "Complete: all") != 1 || !strings.Contains(p.text, "(95 %: 54-65)") ||
		!strings.Contains(text, "time from sending the request to the first token") ||
		!strings.Contains(p.main("zh"), "从发出请求到首个 token 的时间") {
		t.Error(text)
	}
	rows := p.rows("t-ttft")
	for i := range run.Stages {
		s := &run.Stages[i]
		at := slices.IndexFunc(rows, func(cells []string) bool { return cells[0] == findings.StageName(s) })
		if at < 0 {
			t.Fatalf("there is no row of %s", s.Name)
		}
		cells := rows[at]
		for j, name := range []string{"p50", "p90", "p99"} {
			want := lang.Time(s.TTFT.Get(name))
			if !s.TTFT.Supported(name) {
				want += "?"
			}
			if got := cells[2+2*j]; got != want {
				t.Errorf("%s: TTFT %s is %q on the page, %q in run.json", s.Name, name, got, want)
			}
		}
		if got, want := cells[len(cells)-1], lang.Verdict(s.Verdict, lang.English); got != want {
			t.Errorf("%s: the verdict is %q, want %q", s.Name, got, want)
		}
	}
}

// What a server, a file or a person says is text, in HTML, in drawings and in the data of the script.
func TestEscaping(t *testing.T) {
	run := openReal()
	const evil = `</script></title></style><script>alert(1)</script><img src=x onerror=alert(2)>"'` + "`\u2028\u202e"
	run.Labels.Model, run.Target.Model, run.Target.Engine, run.Target.URL = evil, evil, evil, "http://"+evil
	run.Command.Args, run.Plan.SLO = []string{"llmsweep", "sweep", evil}, []string{evil}
	run.Warnings, run.Failure = append(run.Warnings, note.Text.New(evil)), note.Text.New(evil)
	for i := range run.Stages {
		s := &run.Stages[i]
		s.Errors, s.Examples = map[string]int{evil: 1}, map[string]string{evil: evil}
		s.Verdict += evil
		s.Kind, s.Role = evil, s.Role+evil
	}
	run.Stages[1].Name = evil // without records; its row remains
	p := writeRun(t, run, realRun)
	if scripts, images := len(p.elements("script")), len(p.elements("img")); scripts != 2 || images != 0 {
		t.Errorf("the page has %d scripts, want the data and its own, and %d images", scripts, images)
	}
	if !strings.Contains(p.text, "&lt;/script&gt;") || strings.ContainsAny(p.text, "\u202e\u2028") {
		t.Error("the name is not on the page, or a sign that turns the direction of text is")
	}
}

// The page of a run with 20 long stages is smaller than a megabyte, and says what it does not draw.
func TestSize(t *testing.T) {
	dir := t.TempDir()
	d := testkit.Must(store.Create(dir))
	run := openReal()
	like := run.Stages[len(run.Stages)-1]
	run.Stages = nil
	gaps := make([]int64, 40)
	for i := range gaps {
		gaps[i] = int64(9000 + 977*(i*i%17))
	}
	for i := range 20 {
		s := like
		s.Name = fmt.Sprintf("poisson@%d.00", i+1)
		s.Rate, s.Elapsed, s.WindowFrom, s.Window = rundir.Exactly(float64(i+1)), 90, 5, 80
		run.Stages = append(run.Stages, s)
		for j := range 500 {
			due := 0.16 * float64(j)
			first := due + 0.05*float64(1+j%37)
			if err := d.Append(&rundir.Record{
				Stage: s.Name, Seq: j, Due: rundir.Exactly(due), Sent: rundir.Exactly(due + 0.0001),
				FirstToken: rundir.Exactly(first), LastToken: rundir.Exactly(first + 1.2), End: rundir.Exactly(first + 1.21),
				Status: "ok", OutputTokens: rundir.Exactly(41), GapsUS: gaps,
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if p := writeRun(t, run, dir); len(p.text) > 1_000_000 || !strings.Contains(p.text, "of 500 requests are drawn") {
		t.Errorf("the page has %d bytes, or does not say how many requests it draws", len(p.text))
	}
}

// replicatedRun is a run of two servers.
func replicatedRun() *rundir.Run {
	run := openReal()
	run.Target.Replicas = make([]rundir.Replica, 2)
	for i := range run.Stages {
		for j := range 2 {
			done := run.Stages[i].Rates.Completed.Value()/2 + float64(j)
			share := rundir.ReplicaShare{Completed: rundir.Exactly(done)}
			share.TTFT.Mean = rundir.Exactly(0.01 * float64(j+1))
			run.Stages[i].Replicas = append(run.Stages[i].Replicas, share)
		}
	}
	return run
}

// Pages of unusual runs are sound: nothing measured, one stage, imported, failed, of several servers. These draw each
// server's share, and tables of them have visible headings.
func TestUnusualRuns(t *testing.T) {
	one, imported, failed := openReal(), openReal(), openReal()
	one.Stages, one.Saturation, one.Plan.Kind = one.Stages[:1], nil, "run"
	imported.Source = &rundir.Source{File: "results.md", Line: 3}
	failed.State, failed.Saturation = rundir.Failed, nil
	for i := range failed.Stages {
		s := &failed.Stages[i]
		*s = rundir.Stage{Name: s.Name, Kind: s.Kind, Role: s.Role, Verdict: s.Verdict, Rate: s.Rate, Elapsed: s.Elapsed,
			Window: s.Window, Requests: rundir.Requests{Due: 5, Sent: 5, Error: 5}}
	}
	for _, run := range []*rundir.Run{{State: rundir.Running}, one, imported, failed} {
		for _, dir := range []string{"", realRun} {
			if p := writeRun(t, run, dir); len(p.elements("h1")) != 1 {
				t.Error("there is no heading")
			}
		}
	}
	p := writeRun(t, replicatedRun(), "")
	for _, id := range []string{"t-replica-done", "t-replica-ttft", "replicas-1"} {
		if len(p.rows(id)) < len(imported.Stages) {
			t.Errorf("the table %s has %d rows", id, len(p.rows(id)))
		}
	}
	if !slices.ContainsFunc(p.elements("h3"),
		func(h *html.Node) bool { return strings.Contains(elementText(h, "en"), "by replica") }) {
		t.Error("no table by replica has a heading")
	}
}

// A drawing can be had alone, by its name.
func TestDrawings(t *testing.T) {
	run := openReal()
	names := Drawings(run, realRun)
	for _, want := range []string{"output", "ttft", "itl", "latency", "speed", "time@poisson@28.71"} {
		if !slices.Contains(names, want) {
			t.Errorf("there is no drawing %s among %v", want, names)
		}
	}
	for _, name := range names {
		var b strings.Builder
		if err := Drawing(&b, name, run, realRun, lang.Chinese); err != nil || !strings.HasPrefix(b.String(), "<svg xmlns=") {
			t.Errorf("%s: %v, %.40s", name, err, b.String())
		}
		explained := strings.Contains(b.String(), ">保持<") && strings.Contains(b.String(), ">积压<")
		if explained == strings.HasPrefix(name, "time@") ||
			name == "ttft" && !strings.Contains(b.String(), ">60 req/s (54–65)<") {
			t.Errorf("%s explains its markers: %v, or does not name the rate", name, explained)
		}
	}
	err := Drawing(io.Discard, "pie", run, realRun, lang.English)
	if err == nil || !strings.Contains(err.Error(), "ttft") {
		t.Errorf("an unknown drawing: %v", err)
	}
	if got := Caption("pie", run, lang.English); got != "" {
		t.Errorf("its caption is %q", got)
	}
}

// What pages say first of runs with all kinds of answers, and what the drawing of the output says of them: the digits
// are those of the answer's sentence, which stands beneath the number. Cautions stand above it, and once.
func TestAnswersOfPages(t *testing.T) {
	n := rundir.Exactly
	answered := func(change func(*rundir.Answer)) *rundir.Run {
		run := openReal()
		run.Answer, run.Warnings = saturation.AnswerOf(run), nil
		change(run.Answer)
		return run
	}
	unlike := func(kind rundir.AnswerKind, rate rundir.Number, low, high float64) *rundir.Run {
		return answered(func(a *rundir.Answer) {
			a.Kind, a.Rate, a.Low, a.High, a.Comfortable = kind, rate, n(low), n(high), nil
		})
	}
	judged := func(v rundir.SLOVerdict) *rundir.Run {
		run := openReal()
		st := run.Stages[2]
		st.Goodput = &rundir.Goodput{Verdict: v,
			Terms: []rundir.TermResult{{Term: "ttft:p90<500ms", Verdict: v, Value: n(0.7)}}}
		run.Stages, run.Saturation, run.SLO, run.Warnings = []rundir.Stage{st}, nil, nil, nil
		run.Client, run.Plan = rundir.Client{Valid: true}, rundir.Plan{Kind: rundir.KindRun, SLO: []string{"ttft:p90<500ms"}}
		return run
	}
	users := &rundir.Run{State: rundir.Complete, Plan: rundir.Plan{Kind: rundir.KindUsers},
		Answer: &rundir.Answer{Kind: rundir.Carries, Carried: &rundir.UserCapacity{Verdict: rundir.Met, Users: n(5),
			Low: n(4), High: n(6), Within: &rundir.CarriedRow{Stage: "users@4", Users: 4, Hits: n(0.8), Output: n(92.8)}}}}
	drops, running := openReal(), openReal()
	drops.Warnings = []note.Note{{Code: "habit.drops", Args: map[string]any{"count": 50.0, "share": 0.1}}}
	running.State = rundir.Running
	none, nan := rundir.Number{}, math.NaN()
	var said strings.Builder
	for _, c := range []struct {
		what string
		run  *rundir.Run
		live string
	}{
		{"saturates", answered(func(a *rundir.Answer) {}), ""},
		{"sustains", answered(func(a *rundir.Answer) { a.Kind, a.Overload = rundir.Sustains, n(40) }), ""},
		{"accepts", answered(func(a *rundir.Answer) { a.Kind = rundir.Accepts }), ""},
		{"at least", unlike(rundir.AtLeast, rundir.Over(8.5266), nan, nan), ""},
		{"between", unlike(rundir.Between, none, 6.876, 18.96), ""}, {"at most", unlike(rundir.AtMost, none, nan, 3.217), ""},
		{"a caution", answered(func(a *rundir.Answer) {
			a.Cautions = []note.Note{saturation.FailsAlways.New(0.2, 0.19, "http_5xx")}
		}), ""},
		{"a warning of the server", drops, ""}, {"met", judged(rundir.Met), ""}, {"missed", judged(rundir.Missed), ""},
		{"unsure", judged(rundir.Unsure), ""}, {"users", users, ""}, {"killed", running, ""}, {"goes on", running, "1"},
	} {
		p := checkPage(t, func(w io.Writer) error { return Run(w, c.run, "", WriteOptions{Live: c.live}) })
		fmt.Fprintf(&said, "%s; live %v\n", c.what, strings.Contains(p.text, `data-live="1"`))
		for _, section := range p.elements("section") {
			if attribute(section, "id") == "answer" {
				for _, l := range []string{"en", "zh"} {
					fmt.Fprintf(&said, "  %s\n", strings.Join(strings.Fields(elementText(section, l)), " "))
				}
			}
		}
		for _, f := range newView(c.run).loadFigures() {
			fmt.Fprintf(&said, "  %s\n  %s\n", Caption(f.Name, c.run, lang.English), Caption(f.Name, c.run, lang.Chinese))
		}
		fmt.Fprintf(&said, "  marks %+v\n", newView(c.run).saturation())
		text := elementText(p.elements("body")[0], "en")
		for _, once := range []string{"fail at every load", "drops connections", "when saturated", "as load grows",
			"Nothing was noticed", "all 1 stages", "Killed", "In progress."} {
			if n := strings.Count(text, once); n > 0 {
				fmt.Fprintf(&said, "  %d times: %s\n", n, once)
			}
		}
	}
	testkit.CheckGolden(t, "answers.txt", []byte(said.String()))
}

// What stands in the Chinese spans of a page is Chinese: a run of English words is a sentence that was not translated.
// Names and units are the same in both languages.
func TestChineseIsWhole(t *testing.T) {
	names := regexp.MustCompile(`--[a-z-]+|[a-z0-9_]+@[\d.]+[!*?]*|[a-z_]+:[a-z0-9]+[<>=]\S+|https?://\S+|\b(llmsweep|` +
		`tiny-random-qwen2|vllm|vLLM|CPUs?|linux|amd64|go[\d.]+|chat|completions|openai|qwen2|synchronous|throughput|` +
		`poisson|tok|req|TTFT|ITL|SLO|GPU|KV|ms|p\d+|json|records|run|model|engine)\b`)
	words := regexp.MustCompile(`[A-Za-z]{3,}[ ,]+[A-Za-z]{2,}`)
	spans := regexp.MustCompile(`<(?:span|tspan) class="zh" lang="zh">([^<]*)<`)
	cut := openReal()
	cut.State, cut.Stages[2].State = rundir.Interrupted, rundir.Interrupted
	for _, r := range []*rundir.Run{openReal(), cut, {State: rundir.Failed}} {
		found := spans.FindAllStringSubmatch(writeRun(t, r, realRun).text, -1)
		if len(found) < 20 {
			t.Errorf("%d texts are in Chinese", len(found))
		}
		for _, m := range found {
			if left := names.ReplaceAllString(stdhtml.UnescapeString(m[1]), "|"); words.MatchString(left) {
				t.Errorf("%q in %q", words.FindString(left), m[1])
			}
		}
	}
}
