package progress

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"llmsweep/client/note"
	"llmsweep/client/testkit"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// listen serves at a free port of this machine.
func listen(t *testing.T) *LiveServer {
	t.Helper()
	s := testkit.Must(ListenLive("127.0.0.1:0"))
	t.Cleanup(func() { s.Close() })
	s.Render = func(w io.Writer, version string) error {
		_, err := io.WriteString(w, "<!doctype html>the page")
		return err
	}
	return s
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		":0": "127.0.0.1", "127.0.0.1:0": "127.0.0.1", "localhost:0": "127.0.0.1", "0.0.0.0:0": "", "[::]:0": "",
		"192.0.2.1:80": "", "example.com:80": "", "nonsense": "", "localhost.example.com:0": "",
	} {
		s, err := ListenLive(address)
		if err != nil {
			if want != "" || !strings.Contains(err.Error(), "--live "+address) {
				t.Errorf("%s: %v", address, err)
			}
			continue
		}
		if host, _, _ := net.SplitHostPort(s.address.String()); host != want && !(address == "localhost:0" && host == "::1") {
			t.Errorf("%s serves at %s", address, host)
		}
		s.Close()
	}
}

// get returns what the server answers to a request with headers "Name: value".
func get(s *LiveServer, method, path, host string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, "http://x"+path, nil)
	r.Host = host
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

// What a page of another site, or a name that it lets point here, would send is refused.
func TestOnlyReadsForThisMachine(t *testing.T) {
	s := listen(t)
	s.Draw()
	const host = "127.0.0.1:8089"
	check := func(want int, method, path, host string, headers ...string) {
		t.Helper()
		w := get(s, method, path, host, headers...)
		if w.Code != want {
			t.Errorf("%s %s, Host %s, %v: %d, want %d", method, path, host, headers, w.Code, want)
		}
		for name := range w.Header() {
			if strings.HasPrefix(name, "Access-Control-Allow") {
				t.Errorf("%s %s: %s", method, path, name)
			}
		}
		if h := w.Header(); !strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") ||
			h.Get("X-Content-Type-Options") != "nosniff" || w.Code != 200 && strings.Contains(w.Body.String(), "the page") {
			t.Errorf("%s %s: %v %q", method, path, h, w.Body)
		}
	}
	for code, requests := range map[int][]string{
		200: {"GET /", "HEAD /", "GET /metrics"}, 404: {"GET /run.json"}, 307: {"GET /metrics/../etc/passwd"},
		405: {"POST /", "PUT /metrics", "DELETE /", "OPTIONS /"},
	} {
		for _, r := range requests {
			method, path, _ := strings.Cut(r, " ")
			check(code, method, path, host)
		}
	}
	for code, hosts := range map[int][]string{
		200: {"localhost:1", "[::1]:8089", "[::1]", "127.0.0.1", "127.9.9.9:1", "[::ffff:127.0.0.1]:1"},
		421: {"", ":8089", "localhost.evil.example", "127.1", "0.0.0.0:8089", "[::]:8089", "[fe80::1]:8089", "2130706433",
			"localhost@evil.example", "127.0.0.1:8089:8089", "evil.example", "127.0.0.1.evil.example:8089", "192.0.2.7:8089"},
	} {
		for _, h := range hosts {
			check(code, "GET", "/", h)
		}
	}
	for code, origins := range map[int][]string{
		200: {"http://" + host}, 403: {"http://localhost:8089", "http://127.0.0.1:9", "http://me@" + host + "@evil.example",
			"file://", "http://evil.example", "null", "https://" + host},
	} {
		for _, o := range origins {
			check(code, "GET", "/", host, "Origin: "+o)
		}
	}
	const site, mode = "Sec-Fetch-Site: ", "Sec-Fetch-Mode: "
	check(403, "GET", "/", host, site+"same-site", mode+"cors")
	check(403, "GET", "/metrics", host, site+"cross-site", mode+"no-cors")
	check(200, "GET", "/", host, site+"cross-site", mode+"navigate")
	check(200, "GET", "/", host, site+"none")
}

// noteRecorder keeps the notes that it is told.
type noteRecorder struct {
	experiment.Observer
	notes []note.Note
}

func (n *noteRecorder) Note(x note.Note) { n.notes = append(n.notes, x) }

// The page is drawn between stages and not by a request. A failure leaves it, and the run says so, once.
func TestPageDrawnBetweenStages(t *testing.T) {
	s, drawn := listen(t), 0
	told := &noteRecorder{Observer: s.Observer}
	s.Observer = told
	s.Render = func(w io.Writer, version string) error {
		if drawn++; drawn >= 3 {
			return errors.New("disk full")
		}
		_, err := io.WriteString(w, strings.Repeat("x", drawn))
		return err
	}
	var seen []string
	look := func() {
		w := get(s, "GET", "/", "127.0.0.1")
		seen = append(seen, fmt.Sprint(w.Code, w.Header().Get("ETag")))
		seen = slices.Compact(seen)
	}
	look()
	s.Draw()
	for range 3 {
		for range 3 {
			look()
		}
		s.StageBegins(&rundir.Stage{}, 0)
		s.Progress(load.Snapshot{})
		s.StageEnds(&rundir.Stage{})
	}
	if drawn != 4 || string(s.page) != "xx" || len(seen) != 3 || seen[0] != "503" {
		t.Errorf("drawn %d times, %q, versions %q", drawn, s.page, seen)
	}
	if len(told.notes) != 1 || !told.notes[0].Is(noteNotDrawn) || told.notes[0].String("error") != "disk full" {
		t.Errorf("%v", told.notes)
	}
}

// scrape returns the samples of /metrics.
func scrape(t *testing.T, s *LiveServer) map[string]string {
	t.Helper()
	answer := testkit.Must(http.Get(s.URL() + "metrics"))
	defer answer.Body.Close()
	b := testkit.Must(io.ReadAll(answer.Body))
	parser := expfmt.NewTextParser(model.UTF8Validation)
	if _, err := parser.TextToMetricFamilies(bytes.NewReader(b)); err != nil {
		t.Error(err)
	}
	all := map[string]string{}
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && !strings.HasPrefix(line, "#") {
			all[strings.TrimPrefix(name, "llmsweep_")] = value
		}
	}
	return all
}

// reportAll brings a server to where all of its metrics are known.
func reportAll(s *LiveServer) {
	s.StageBegins(&rundir.Stage{Rate: rundir.Exactly(4)}, 0)
	s.Progress(load.Snapshot{Done: 10, Failed: 2, Errors: map[string]int{"timeout": 2}})
	s.StageEnds(&rundir.Stage{
		Rates: rundir.Rates{Completed: rundir.Exactly(3.5)}, TokensPerS: rundir.TokenRates{Output: rundir.Exactly(450)},
		TTFT: rundir.Dist{Mean: rundir.Exactly(0.1), P99: rundir.Exactly(0.5)}, InterToken: rundir.Exactly(0.02),
	})
	s.StageBegins(&rundir.Stage{Rate: rundir.Exactly(8)}, 0)
	s.Left(time.Minute, 2*time.Minute)
	s.Progress(load.Snapshot{
		InFlight: 7, Done: 5, Failed: 1, Errors: map[string]int{"timeout": 1}, TTFT: 150 * time.Millisecond,
		ITL: 20 * time.Millisecond, TokensPS: 500, Elapsed: 3 * time.Second,
	})
}

// Counters of /metrics add up over stages, times are in seconds, and what is not known is left out. Prometheus's own
// reader takes all of it.
func TestMetrics(t *testing.T) {
	s := listen(t)
	s.StageBegins(&rundir.Stage{}, 0)
	s.Left(-1, -1)
	got := scrape(t, s)
	for _, name := range strings.Fields("ttft_seconds itl_seconds left_low_seconds stage_requests_per_second " +
		"last_stage_ttft_mean_seconds") {
		if v, ok := got[name]; ok {
			t.Errorf("%s is %s before it is known", name, v)
		}
	}
	reportAll(s)
	got = scrape(t, s)
	delete(got, "elapsed_seconds") // of real time
	delete(got, "page_seconds")
	samples := ""
	for _, name := range slices.Sorted(maps.Keys(got)) {
		samples += name + " " + got[name] + "\n"
	}
	testkit.CheckGolden(t, "metrics.txt", []byte(samples))
}

// Each metric that the Grafana dashboard queries exists.
func TestDashboard(t *testing.T) {
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(testkit.Must(os.ReadFile("../../examples/grafana/llmsweep.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	s := listen(t)
	reportAll(s)
	names, queries := scrape(t, s), 0
	metric := regexp.MustCompile(`\bllmsweep_([a-z0-9_]+)`)
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			for _, m := range metric.FindAllStringSubmatch(target.Expr, -1) {
				if queries++; names[m[1]] == "" && names[m[1]+`{class="timeout"}`] == "" {
					t.Errorf("%s queries %s, which does not exist", p.Title, m[0])
				}
			}
		}
	}
	if queries < 10 {
		t.Errorf("the dashboard has only %d queries", queries)
	}
}
