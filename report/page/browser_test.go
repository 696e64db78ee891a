package page

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	cdppage "github.com/chromedp/cdproto/page"
	cdpruntime "github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"llmsweep/client/testkit"
	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// The tests of this file use a page as a reader does, in Chromium. They are skipped where there is none, unless
// LLMSWEEP_BROWSER is "required", as .ci/run sets it. With LLMSWEEP_PAGES=DIR they leave pages and pictures of them
// there, and with LLMSWEEP_AXE=FILE they run axe-core on them.

// user is a reader of a page.
type user struct {
	*testing.T
	ctx context.Context
	url string
}

// browser starts a browser of its own; a problem that a page reports fails the test.
func browser(t *testing.T) user {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	switch required := os.Getenv("LLMSWEEP_BROWSER"); {
	case path == "" && required == "required":
		t.Fatal("there is no Chromium, and LLMSWEEP_BROWSER is required: apt-get install chromium")
	case path == "" || testing.Short() || required == "" && os.Getenv("CI") == "":
		t.Skip("pages are tested in a browser where LLMSWEEP_BROWSER is set and there is one (apt-get install chromium)")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path),
		chromedp.NoSandbox, chromedp.WindowSize(1280, 1000), chromedp.Flag("hide-scrollbars", false))
	limited, cancelTimeout := context.WithTimeout(t.Context(), 4*time.Minute)
	allocated, cancelBrowser := chromedp.NewExecAllocator(limited, options...)
	ctx, cancel := chromedp.NewContext(allocated)
	t.Cleanup(func() { cancel(); cancelBrowser(); cancelTimeout() })
	chromedp.ListenTarget(ctx, func(e any) {
		switch e := e.(type) {
		case *cdpruntime.EventExceptionThrown:
			t.Errorf("the page's script failed: %v", e.ExceptionDetails)
		case *cdpruntime.EventConsoleAPICalled:
			if e.Type == cdpruntime.APITypeError {
				t.Errorf("the page reports an error: %v", e.Args)
			}
		}
	})
	return user{t, ctx, ""}
}

// open writes a page to a file, and opens it.
func (u *user) open(name string, write func(io.Writer) error) {
	u.Helper()
	dir := os.Getenv("LLMSWEEP_PAGES")
	if dir == "" {
		dir = u.TempDir()
	}
	_ = os.MkdirAll(dir, 0o755)
	path := testkit.Must(filepath.Abs(filepath.Join(dir, name+".html")))
	f := testkit.Must(os.Create(path))
	defer f.Close()
	if err := write(f); err != nil {
		u.Fatal(err)
	}
	u.url = "file://" + path
	u.do(chromedp.Navigate(u.url))
}

func (u user) do(actions ...chromedp.Action) {
	u.Helper()
	if err := chromedp.Run(u.ctx, actions...); err != nil {
		u.Fatal(err)
	}
}

// visit opens the page anew with a fragment of its address.
func (u user) visit(fragment string) {
	u.Helper()
	u.do(chromedp.Navigate(u.url+fragment), chromedp.Reload())
}

// ask sets v to the value of an expression in the page.
func (u user) ask(expression string, v any) {
	u.Helper()
	u.do(chromedp.Evaluate("("+expression+")", v, func(p *cdpruntime.EvaluateParams) *cdpruntime.EvaluateParams {
		return p.WithAwaitPromise(true)
	}))
}

// want fails where the value of an expression in the page, as text, does not hold what is wanted.
func (u user) want(expression string, parts ...string) {
	u.Helper()
	var v any
	u.ask(expression, &v)
	for _, part := range parts {
		if got := fmt.Sprint(v); !strings.Contains(got, part) {
			u.Errorf("%s is %q, which lacks %q", expression, got, part)
		}
	}
}

// click clicks on the last element that a selector finds.
func (u user) click(selector string) {
	u.Helper()
	u.do(chromedp.Evaluate(fmt.Sprintf("[...document.querySelectorAll(%q)].pop().click()", selector), nil))
}

// choose sets the value of a field.
func (u user) choose(id, value string) {
	u.Helper()
	u.do(chromedp.Evaluate(fmt.Sprintf(`(function (f) { f.value = %q;
		f.dispatchEvent(new Event("change", {bubbles: true})); })(document.getElementById(%q))`, value, id), nil))
}

// A reader points at a drawing, keeps what it says, hides a series, changes the axis, chooses a stage and a percentile,
// copies a table, and reads it all in Chinese; what is read are the numbers of run.json.
func TestReadingARun(t *testing.T) {
	u, run := browser(t), openReal()
	u.open("run", func(w io.Writer) error { return Run(w, run, realRun, WriteOptions{}) })
	rows := newView(run).Rows
	at := slices.IndexFunc(rows, func(r findings.StageRow) bool { return r.Stage.Verdict == rundir.Saturated })
	s, id := rows[at].Stage, fmt.Sprintf("s%d", at+1)
	var place []float64
	u.ask(fmt.Sprintf(`(function (p) { p.scrollIntoView({ block: "center", behavior: "instant" });
		var r = p.getBoundingClientRect(); return [r.left + r.width / 2, r.top + r.height / 2];
	})(document.querySelector('#ttft .plot[data-v=log] .sr[data-k=p99] .pt[data-r="%d"]'))`, at+1), &place)
	const tip, kept = `document.getElementById("tip").innerText`, `!document.getElementById("tip").hidden`
	u.do(chromedp.MouseEvent("mouseMoved", place[0], place[1]))
	u.want(tip, findings.StageName(s), lang.Time(s.TTFT.P50), lang.Time(s.TTFT.P99), lang.Verdict(s.Verdict, lang.English))
	u.do(chromedp.MouseClickXY(place[0], place[1]), chromedp.MouseEvent("mouseMoved", 5, 5))
	u.want(kept, "true")
	u.do(chromedp.KeyEvent("\u001b")) // Escape
	u.want(kept, "false")
	u.do(chromedp.Focus(`#output .plot`), chromedp.KeyEvent("\ue010")) // End
	u.want(tip, "req/s")

	u.click("#ttft button.switch[data-k=p99]")
	u.want(`[...document.querySelectorAll("#ttft svg .sr[data-k=p99]")].every(
		e => getComputedStyle(e).display === "none")`, "true")
	u.click("#ttft button.axis[data-v=lin]")
	u.want(`["log", "lin"].map(v => document.querySelector("#ttft .plot[data-v=" + v + "]").hidden).join()`, "true,false")
	u.want(`location.hash`, "#axis-ttft=lin&hide-ttft=p99")

	u.choose("stage", id)
	u.want(`getComputedStyle(document.getElementById("`+id+`")).display + document.querySelectorAll(".panel.on").length`,
		"block1")
	u.click("#" + id + " button.behind[data-m=ttft]")
	const listed = `[...document.querySelectorAll("#t-%s-slowest tbody tr:not([hidden])")]`
	u.want(fmt.Sprintf(listed+`[0].cells[3].innerText`, id), lang.Time(s.TTFT.Max))
	u.want(fmt.Sprintf(`(function (least) { return `+listed+`.every(r => r.dataset.ttft >= least * 0.999);
		})([...document.querySelectorAll("#%[1]s button.behind[data-m=ttft]")].pop().dataset.at)`, id), "true")
	u.do(chromedp.Evaluate(
		`document.querySelector('#t-ttft').closest(".numbers").querySelector(".copy[data-as=csv]").click()`, nil))
	u.want(`window.copied`, findings.StageName(s)+",", lang.Time(s.TTFT.P90))

	u.click("#lang")
	u.want(`document.documentElement.lang + document.querySelector("h2:not(.hidden)").innerText`, "zh结论")
	u.do(chromedp.Reload())
	u.want(`document.documentElement.lang + document.querySelector("#ttft .plot[data-v=log]").hidden +
		document.getElementById("stage").value`, "zhtrue"+id)
	u.audit("run")
}

// The page opens in the language of the browser; one that has another language is shown the page as it was made, and
// what a reader chose comes first.
func TestReadingInOnesLanguage(t *testing.T) {
	u := browser(t)
	u.open("language", func(w io.Writer) error { return Run(w, openReal(), "", WriteOptions{Lang: lang.Chinese}) })
	for _, c := range []struct{ browser, fragment, want string }{{"en-GB", "", "en"}, {"zh-TW", "", "zh"},
		{"de", "", "zh"}, {"zh-CN", "#lang=en", "en"}} {
		u.do(emulation.SetUserAgentOverride("Mozilla/5.0").WithAcceptLanguage(c.browser))
		u.visit(c.fragment)
		u.want(`document.documentElement.lang`, c.want)
	}
}

// A reader filters an index, and chooses which runs are drawn; the address keeps it.
func TestReadingAnIndex(t *testing.T) {
	u := browser(t)
	u.open("index", pages["index"])
	u.choose("f-engine", "llama.cpp")
	u.want(`[...document.querySelectorAll("#index tbody tr:not([hidden])")].map(
		r => r.dataset.engine + " " + r.cells[0].innerText.trim().slice(0, 3)).join() + "."`, "llama.cpp #1 .")
	u.want(`[...new Set([...document.querySelectorAll("#all-output-output .plot .sr")].filter(
		e => getComputedStyle(e).display !== "none").map(e => e.dataset.k))].join() + "."`, "r0.")
	u.want(`location.hash`, "#f-engine=llama.cpp")
	u.visit("#off=r1")
	u.want(`[...document.querySelectorAll("input.pick")].map(p => p.checked).join() +
		document.querySelectorAll("#index tbody tr[hidden]").length`, "true,false,true0")
	u.audit("index")
}

// Pages of a choice, of a comparison, of several servers and of a run that goes on are sound, too.
func TestReadingOtherPages(t *testing.T) {
	u := browser(t)
	for name, write := range map[string]func(io.Writer) error{
		"choice": pages["choice"], "compare": pages["compare"],
		"replicas": func(w io.Writer) error { return Run(w, replicatedRun(), realRun, WriteOptions{}) },
		"live":     func(w io.Writer) error { return Run(w, openReal(), realRun, WriteOptions{Live: "1"}) },
	} {
		u.open(name, write)
		u.audit(name)
	}
}

// The page of a run that goes on loads itself again when a stage has ended. What a reader looks at stays where it is,
// although more stands above it, and nothing moves while a page is loaded.
func TestReadingALivePage(t *testing.T) {
	u := browser(t)
	var ended atomic.Int32 // stages
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			return
		}
		run, n := openReal(), ended.Load()
		if n == 0 {
			run.Warnings = nil
		}
		w.Header().Set("ETag", fmt.Sprintf(`"%d"`, n+1))
		_ = Run(w, run, realRun, WriteOptions{Live: strconv.Itoa(int(n) + 1)})
	}))
	t.Cleanup(server.Close)
	u.do(emulation.SetDeviceMetricsOverride(1280, 900, 1, false), chromedp.Navigate(server.URL+"/#lang=zh&theme=dark"),
		chromedp.Evaluate(`document.getElementById("rows").scrollIntoView({ behavior: "instant" })`, nil))
	var before, shifted float64
	const place = `Math.round(document.getElementById("rows").getBoundingClientRect().top) + 0` // + 0: -0 is no JSON
	u.ask(place, &before)
	ended.Store(1)
	const loaded = `document.documentElement.dataset.live === "2" && document.readyState === "complete"`
	for again := false; !again; { // the page may be going away while it is asked; the test's time limit ends this
		if err := chromedp.Run(u.ctx, chromedp.Evaluate(loaded, &again)); err != nil && u.ctx.Err() != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	u.want(place, fmt.Sprint(before))
	u.want(`document.documentElement.lang + document.documentElement.dataset.theme`, "zhdark")
	u.ask(`new Promise(function (done) {
		var sum = 0, add = l => l.getEntries().forEach(function (e) { sum += e.value; });
		new PerformanceObserver(add).observe({ type: "layout-shift", buffered: true });
		setTimeout(function () { done(sum); }, 500);
	})`, &shifted)
	if shifted > 0.02 {
		t.Errorf("what was seen moved by %v of the screen", shifted)
	}
}

// audit runs axe-core on a page, where it is at hand, and leaves pictures of it where LLMSWEEP_PAGES says: light, dark,
// narrow, Chinese, and printed. No page is wider than its screen.
func (u user) audit(name string) {
	u.Helper()
	if file := os.Getenv("LLMSWEEP_AXE"); file != "" {
		axe := string(testkit.Must(os.ReadFile(file)))
		for _, theme := range []string{"light", "dark"} {
			u.visit("#theme=" + theme)
			var found []string
			u.do(chromedp.Evaluate(axe+";0", nil))
			u.ask(`axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.map(v => v.id + ": " + v.help + ": " +
				v.nodes.slice(0, 3).map(n => n.target + " " + n.failureSummary).join(" | ")))`, &found)
			for _, f := range found {
				u.Errorf("axe-core, %s: %s", theme, f)
			}
		}
	}
	dir := os.Getenv("LLMSWEEP_PAGES")
	if dir == "" {
		return
	}
	keep := func(file string, b []byte) {
		if err := os.WriteFile(filepath.Join(dir, name+"-"+file), b, 0o644); err != nil {
			u.Fatal(err)
		}
	}
	for _, p := range []struct {
		name, fragment string
		width          int64
	}{{"light", "#theme=light", 1280}, {"dark", "#theme=dark", 1280}, {"narrow", "#theme=light", 360},
		{"chinese", "#lang=zh&theme=light", 1280}} {
		u.do(emulation.SetDeviceMetricsOverride(p.width, 900, 1, p.width < 500))
		u.visit(p.fragment)
		u.want(`document.documentElement.scrollWidth <= innerWidth`, "true")
		var b []byte
		u.do(chromedp.FullScreenshot(&b, 100))
		keep(p.name+".png", b)
	}
	u.do(emulation.ClearDeviceMetricsOverride())
	u.visit("")
	u.do(chromedp.ActionFunc(func(ctx context.Context) error {
		b, _, err := cdppage.PrintToPDF().WithPreferCSSPageSize(true).Do(ctx)
		keep("print.pdf", b)
		return err
	}))
}
