package page

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
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

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// The tests of this file use a page as a reader does, in Chromium. They are skipped where there is none, unless
// LLMSWEEP_BROWSER is "required", as .ci/run sets it. With LLMSWEEP_PAGES=DIR they leave pages and pictures of them
// there, and with LLMSWEEP_AXE=FILE they run axe-core on them.

// browser starts a browser of its own; a problem that a page reports fails the test.
func browser(t *testing.T) context.Context {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	switch {
	case path == "" && os.Getenv("LLMSWEEP_BROWSER") == "required":
		t.Fatal("there is no Chromium, and LLMSWEEP_BROWSER is required: apt-get install chromium")
	case path == "":
		t.Skip("there is no Chromium: pages are not tested in a browser (apt-get install chromium)")
	case testing.Short() || os.Getenv("LLMSWEEP_BROWSER") == "" && os.Getenv("CI") == "":
		t.Skip("LLMSWEEP_BROWSER is not set: pages are not tested in a browser")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path),
		chromedp.NoSandbox, chromedp.WindowSize(1280, 1000), chromedp.Flag("hide-scrollbars", false))
	allocated, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel := chromedp.NewContext(allocated)
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 4*time.Minute)
	t.Cleanup(cancel)
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
	return ctx
}

// user is a reader of a page.
type user struct {
	*testing.T
	ctx  context.Context
	path string
}

// openPage writes a page to a file, and opens it.
func openPage(t *testing.T, ctx context.Context, name string, b []byte) user {
	t.Helper()
	dir := os.Getenv("LLMSWEEP_PAGES")
	if dir == "" {
		dir = t.TempDir()
	} else if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	path, err := filepath.Abs(filepath.Join(dir, name+".html"))
	if err == nil {
		err = os.WriteFile(path, b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	u := user{t, ctx, path}
	u.do(chromedp.Navigate("file://" + path))
	return u
}

func (u user) do(actions ...chromedp.Action) {
	u.Helper()
	if err := chromedp.Run(u.ctx, actions...); err != nil {
		u.Fatal(err)
	}
}

// ask returns the value of an expression in the page, as text.
func (u user) ask(expression string) string {
	u.Helper()
	var v any
	u.do(chromedp.Evaluate("("+expression+")", &v))
	return fmt.Sprint(v)
}

// point returns where the marker of a table's row is on the screen, after scrolling to it.
func (u user) point(figure, variant string, row int, series string) (x, y float64) {
	u.Helper()
	var at []float64
	u.do(chromedp.Evaluate(fmt.Sprintf(`(function () {
		var p = document.querySelector('#%s .plot[data-v=%s] .sr[data-k="%s"] .pt[data-r="%d"]');
		p.scrollIntoView({ block: "center", behavior: "instant" });
		var r = p.getBoundingClientRect();
		return [r.left + r.width / 2, r.top + r.height / 2];
	})()`, figure, variant, series, row), &at))
	return at[0], at[1]
}

// A reader points at a drawing, keeps what it says, hides a series, changes the axis, chooses a stage and a percentile,
// copies a table, and reads it all in Chinese; what is read are the numbers of run.json.
func TestReadingARun(t *testing.T) {
	ctx := browser(t)
	run := openReal(t)
	v := newRunPage(run)
	var b strings.Builder
	if err := Run(&b, run, realRun, WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	u := openPage(t, ctx, "run", []byte(b.String()))
	at := slices.IndexFunc(v.Rows, func(r findings.StageRow) bool { return r.Stage.Verdict == rundir.Saturated })
	s := v.Rows[at].Stage
	x, y := u.point("ttft", "log", at+1, "p99")
	u.do(chromedp.MouseEvent("mouseMoved", x, y))
	tip := u.ask(`document.getElementById("tip").innerText`)
	for _, want := range []string{findings.StageName(s), lang.Time(s.TTFT.P50), lang.Time(s.TTFT.P99),
		lang.Verdict(s.Verdict, lang.English)} {
		if !strings.Contains(tip, want) {
			t.Errorf("pointing at %s reads %q, which lacks %q", s.Name, tip, want)
		}
	}
	u.do(chromedp.MouseClickXY(x, y), chromedp.MouseEvent("mouseMoved", 5, 5))
	if u.ask(`document.getElementById("tip").hidden`) != "false" {
		t.Error("a click does not keep what was read")
	}
	u.do(chromedp.KeyEvent("\u001b"))
	if u.ask(`document.getElementById("tip").hidden`) != "true" {
		t.Error("Escape does not let go")
	}
	u.do(
		chromedp.Focus(`#output .plot`),
		chromedp.KeyEvent("\ue010"),
		chromedp.Evaluate(
			`document.querySelector("#output .plot").dispatchEvent(new KeyboardEvent("keydown", {key: "End", bubbles: true}))`,
			nil,
		),
	)
	if got := u.ask(
		`document.getElementById("tip").innerText`,
	); !strings.Contains(got, findings.StageName(v.Rows[len(v.Rows)-1].Stage)) &&
		!strings.Contains(got, "req/s") {
		t.Errorf("the keyboard reads %q", got)
	}
	u.do(chromedp.Evaluate(`document.querySelector('#ttft button.switch[data-k=p99]').click()`, nil))
	if got := u.ask(
		`[...document.querySelectorAll("#ttft svg .sr[data-k=p99]")].every(e => getComputedStyle(e).display === "none")`,
	); got != "true" {
		t.Errorf("p99 is still drawn: %s", got)
	}
	u.do(chromedp.Evaluate(`document.querySelector('#ttft button.axis[data-v=lin]').click()`, nil))
	if got := u.ask(
		`document.querySelector("#ttft .plot[data-v=log]").hidden && !document.querySelector("#ttft .plot[data-v=lin]").hidden`,
	); got != "true" {
		t.Error("the axis did not change")
	}
	if got := u.ask(`location.hash`); got != "#axis-ttft=lin&hide-ttft=p99" {
		t.Errorf("the address keeps %s", got)
	}
	u.stage(s, at)
	u.do(
		chromedp.Evaluate(
			`document.querySelector('#t-ttft').closest(".numbers").querySelector(".copy[data-as=csv]").click()`, nil),
	)
	if got := u.ask(`window.copied`); !strings.Contains(got, findings.StageName(s)+",") ||
		!strings.Contains(got, lang.Time(s.TTFT.P90)) {
		t.Errorf("copied as CSV: %s", got)
	}
	u.do(chromedp.Evaluate(`document.getElementById("lang").click()`, nil))
	if got := u.ask(
		`document.documentElement.lang + document.querySelector("h2:not(.hidden)").innerText`); got != "zh结论" {
		t.Errorf("in Chinese: %s", got)
	}
	u.do(chromedp.Reload())
	if got := u.ask(
		`document.documentElement.lang + document.querySelector("#ttft .plot[data-v=log]").hidden + document.getElementById("stage").value`,
	); got != fmt.Sprintf("zhtrues%d", at+1) {
		t.Errorf("after loading the same address again: %s", got)
	}
	u.audit()
	u.pictures("run")
}

// stage chooses a stage and a percentile: all requests that are listed are at least as slow.
func (u user) stage(s *rundir.Stage, at int) {
	u.Helper()
	u.do(
		chromedp.Evaluate(
			fmt.Sprintf(
				`(function () { var c = document.getElementById("stage"); c.value = "s%d"; c.dispatchEvent(new Event("change", {bubbles: true})); })()`,
				at+1,
			),
			nil,
		),
	)
	if got := u.ask(
		fmt.Sprintf(
			`getComputedStyle(document.getElementById("s%d")).display + document.querySelectorAll(".panel.on").length`,
			at+1),
	); got != "block1" {
		u.Errorf("the stage is not shown alone: %s", got)
	}
	u.do(
		chromedp.Evaluate(
			fmt.Sprintf(`[...document.querySelectorAll("#s%d button.behind[data-m=ttft]")].pop().click()`, at+1), nil),
	)
	limit, _ := json.Number(u.ask(fmt.Sprintf(`[...document.querySelectorAll("#s%d button.behind[data-m=ttft]")].pop().dataset.at`, at+1))).
		Float64()
	var rows [][]string
	u.do(
		chromedp.Evaluate(
			fmt.Sprintf(
				`[...document.querySelectorAll("#t-s%d-slowest tbody tr:not([hidden])")].map(r => [r.dataset.ttft, r.cells[3].innerText])`,
				at+1,
			),
			&rows,
		),
	)
	if len(rows) == 0 || rows[0][1] != lang.Time(s.TTFT.Max) {
		u.Errorf("the slowest request of %s is listed as %v, run.json has %s", s.Name, rows, lang.Time(s.TTFT.Max))
	}
	for _, r := range rows {
		if v, _ := json.Number(r[0]).Float64(); v < limit*0.999 {
			u.Errorf("%v is listed beyond %v", r, limit)
		}
	}
}

// The page opens in the language of the browser; one that has another language is shown the page as it was made, and
// what a reader chose comes first.
func TestLanguageOfTheBrowser(t *testing.T) {
	ctx := browser(t)
	var b bytes.Buffer
	if err := Run(&b, openReal(t), "", WriteOptions{Lang: lang.Chinese}); err != nil {
		t.Fatal(err)
	}
	u := openPage(t, ctx, "language", b.Bytes())
	for _, c := range []struct{ browser, hash, want string }{{"en-GB", "", "en"}, {"zh-TW", "", "zh"}, {"de", "", "zh"},
		{"zh-CN", "#lang=en", "en"}} {
		u.do(
			emulation.SetUserAgentOverride("Mozilla/5.0").WithAcceptLanguage(c.browser),
			chromedp.Navigate("file://"+u.path+c.hash),
			chromedp.Reload(),
		)
		if got := u.ask(`document.documentElement.lang`); got != c.want {
			t.Errorf("%s%s: the page is in %s", c.browser, c.hash, got)
		}
	}
}

// A reader filters an index, and chooses which runs are drawn; the address keeps it.
func TestReadingAnIndex(t *testing.T) {
	ctx := browser(t)
	u := openPage(t, ctx, "index", otherPages(t)["index"])
	u.do(
		chromedp.Evaluate(
			`(function () { var f = document.getElementById("f-engine"); f.value = "llama.cpp"; f.dispatchEvent(new Event("change", {bubbles: true})); })()`,
			nil,
		),
	)
	if got := u.ask(
		`[...document.querySelectorAll("#index tbody tr:not([hidden])")].map(r => r.dataset.engine + " " + r.cells[0].innerText.trim()).join()`,
	); !strings.HasPrefix(got, "llama.cpp #1 ") ||
		strings.Contains(got, ",") {
		t.Errorf("filtered by engine: %s", got)
	}
	if got := u.ask(
		`[...document.querySelectorAll("#all-output-output .plot .sr")].filter(e => getComputedStyle(e).display !== "none").map(e => e.dataset.k).filter((k, i, a) => a.indexOf(k) === i).join()`,
	); got != "r0" {
		t.Errorf("drawn: %s", got)
	}
	if got := u.ask(`location.hash`); got != "#f-engine=llama.cpp" {
		t.Errorf("the address keeps %s", got)
	}
	u.do(chromedp.Navigate("file://"+u.path+"#off=r1"), chromedp.Reload())
	if got := u.ask(
		`[...document.querySelectorAll("input.pick")].map(p => p.checked).join() + document.querySelectorAll("#index tbody tr[hidden]").length`,
	); got != "true,false,true0" {
		t.Errorf("an address with one run left out: %s", got)
	}
	u.audit()
	u.pictures("index")
}

// Pages of a choice and of a comparison are sound.
func TestReadingAChoice(t *testing.T) {
	ctx := browser(t)
	pages := otherPages(t)
	u := openPage(t, ctx, "choice", pages["choice"])
	u.audit()
	u.pictures("choice")
	u = openPage(t, ctx, "compare", pages["compare"])
	u.audit()
	u.pictures("compare")
}

// Pages of several machines, of several servers and of a run that goes on are sound, too.
func TestReadingOtherRuns(t *testing.T) {
	ctx := browser(t)
	for _, c := range []struct {
		name string
		run  *rundir.Run
		o    WriteOptions
	}{{"replicas", replicatedRun(t), WriteOptions{}}, {"going-on", openReal(t), WriteOptions{Live: "1"}}} {
		var b bytes.Buffer
		if err := Run(&b, c.run, realRun, c.o); err != nil {
			t.Fatal(err)
		}
		u := openPage(t, ctx, c.name, b.Bytes())
		u.audit()
		u.pictures(c.name)
	}
}

// The page of a run that goes on loads itself again when a stage has ended. What a reader looks at stays where it is,
// although more stands above it, and nothing moves while a page is loaded.
func TestReadingALivePage(t *testing.T) {
	ctx := browser(t)
	pages := make([][]byte, 2)
	for i := range pages {
		run := openReal(t)
		if i == 0 {
			run.Warnings = nil
		}
		var b bytes.Buffer
		if err := Run(&b, run, realRun, WriteOptions{Live: strconv.Itoa(i + 1)}); err != nil {
			t.Fatal(err)
		}
		pages[i] = b.Bytes()
	}
	var ended atomic.Int32 // stages
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n := ended.Load(); r.URL.Path == "/" {
			w.Header().Set("ETag", strconv.Quote(strconv.Itoa(int(n)+1)))
			_, _ = w.Write(pages[n])
		}
	}))
	t.Cleanup(server.Close)
	u := user{t, ctx, ""}
	u.do(emulation.SetDeviceMetricsOverride(1280, 900, 1, false), chromedp.Navigate(server.URL+"/#lang=zh&theme=dark"),
		chromedp.Evaluate(`document.getElementById("rows").scrollIntoView({ behavior: "instant" })`, nil))
	place := `Math.round(document.getElementById("rows").getBoundingClientRect().top) + 0` // + 0: -0 is no JSON
	before := u.ask(place)
	ended.Store(1)
	for again := false; !again; { // the page may be going away while it is asked; the test's time limit ends this
		if err := chromedp.Run(
			ctx,
			chromedp.Evaluate(`document.documentElement.dataset.live === "2" && document.readyState === "complete"`, &again),
		); err != nil &&
			ctx.Err() != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
	}
	if got := u.ask(place); got != before {
		t.Errorf("the table stood at %s, and stands at %s once the page is loaded again", before, got)
	}
	if got := u.ask(`document.documentElement.lang + document.documentElement.dataset.theme`); got != "zhdark" {
		t.Errorf("loaded again as %s", got)
	}
	var shifted float64
	u.do(chromedp.Evaluate(`new Promise(function (done) {
		var sum = 0;
		new PerformanceObserver(function (l) { l.getEntries().forEach(function (e) { sum += e.value; }); }).observe({ type: "layout-shift", buffered: true });
		setTimeout(function () { done(sum); }, 500);
	})`, &shifted, func(p *cdpruntime.EvaluateParams) *cdpruntime.EvaluateParams { return p.WithAwaitPromise(true) }))
	if shifted > 0.02 {
		t.Errorf("what was seen moved by %v of the screen", shifted)
	}
}

// audit runs axe-core, where it is at hand, in both themes and on a narrow screen; it finds nothing.
func (u user) audit() {
	u.Helper()
	file := os.Getenv("LLMSWEEP_AXE")
	if file == "" {
		u.Log("LLMSWEEP_AXE is not set: axe-core does not check the page")
		return
	}
	axe, err := os.ReadFile(file)
	if err != nil {
		u.Fatal(err)
	}
	for _, theme := range []string{"light", "dark"} {
		var found []string
		u.do(
			chromedp.Navigate("file://"+u.path+"#theme="+theme),
			chromedp.Reload(),
			chromedp.Evaluate(string(axe)+";0", nil),
			chromedp.Evaluate(
				`axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.map(v => v.id + ": " + v.help + ": " + v.nodes.slice(0, 3).map(n => n.target + " " + n.failureSummary).join(" | ")))`,
				&found,
				func(p *cdpruntime.EvaluateParams) *cdpruntime.EvaluateParams { return p.WithAwaitPromise(true) },
			),
		)
		for _, f := range found {
			u.Errorf("axe-core, %s: %s", theme, f)
		}
	}
}

// pictures leaves pictures of a page where LLMSWEEP_PAGES says: light, dark, narrow, Chinese, and printed.
func (u user) pictures(name string) {
	u.Helper()
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
		name, hash string
		width      int64
	}{{"light", "#theme=light", 1280}, {"dark", "#theme=dark", 1280}, {"narrow", "#theme=light", 360},
		{"chinese", "#lang=zh&theme=light", 1280}} {
		var b []byte
		u.do(
			emulation.SetDeviceMetricsOverride(p.width, 900, 1, p.width < 500),
			chromedp.Navigate("file://"+u.path+p.hash),
			chromedp.Reload(),
		)
		if got := u.ask(`document.documentElement.scrollWidth <= innerWidth`); got != "true" {
			u.Errorf("%s, %d pixels: the page is wider than the screen: %s", name, p.width,
				u.ask(`document.documentElement.scrollWidth`))
		}
		u.do(chromedp.FullScreenshot(&b, 100))
		keep(p.name+".png", b)
	}
	u.do(
		emulation.ClearDeviceMetricsOverride(),
		chromedp.Navigate("file://"+u.path),
		chromedp.Reload(),
		chromedp.ActionFunc(func(ctx context.Context) error {
			b, _, err := cdppage.PrintToPDF().WithPreferCSSPageSize(true).Do(ctx)
			if err == nil {
				keep("print.pdf", b)
			}
			return err
		}),
	)
}
