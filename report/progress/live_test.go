package progress

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"llmsweep/client/note"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
)

// listen serves at a free port of this machine.
func listen(t *testing.T) *LiveServer {
	t.Helper()
	s, err := ListenLive("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
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
		"192.0.2.1:80": "", "example.com:80": "",
		"nonsense": "", "localhost.example.com:0": "",
	} {
		s, err := ListenLive(address)
		switch {
		case err == nil:
			host, _, _ := net.SplitHostPort(s.address.String())
			if host != want && !(address == "localhost:0" && host == "::1") {
				t.Errorf("%s serves at %s", address, host)
			}
			s.Close()
		case want != "":
			t.Errorf("%s: %v", address, err)
		case !strings.Contains(err.Error(), "--live "+address):
			t.Errorf("%v", err)
		}
	}
}

// TestOnlyReadsForThisMachine sends what a page of another site, or a name that it lets point here, would send.
func TestOnlyReadsForThisMachine(t *testing.T) {
	s := listen(t)
	s.Draw()
	const host = "127.0.0.1:8089"
	for _, c := range []struct {
		method, path, host string
		header             map[string]string
		want               int
	}{
		{"GET", "/", host, nil, 200},
		{"HEAD", "/", host, nil, 200},
		{"GET", "/metrics", host, nil, 200},
		{"GET", "/", "localhost:1", nil, 200},
		{"GET", "/", "[::1]:8089", nil, 200},
		{"GET", "/run.json", host, nil, 404},
		{"GET", "/metrics/../etc/passwd", host, nil, 307},
		{"POST", "/", host, nil, 405}, {"PUT", "/metrics", host, nil, 405}, {"DELETE", "/", host, nil, 405},
		{"OPTIONS", "/", host, nil, 405},
		{"GET", "/", "[::1]", nil, 200}, {"GET", "/", "127.0.0.1", nil, 200}, {"GET", "/", "127.9.9.9:1", nil, 200},
		{"GET", "/", "[::ffff:127.0.0.1]:1", nil, 200},
		{"GET", "/", "", nil, 421}, {"GET", "/", ":8089", nil, 421}, {"GET", "/", "localhost.evil.example", nil, 421},
		{"GET", "/", "127.1", nil, 421},
		{"GET", "/", "0.0.0.0:8089", nil, 421}, {"GET", "/", "[::]:8089", nil, 421}, {"GET", "/", "[fe80::1]:8089", nil,
			421}, {"GET", "/", "2130706433", nil, 421},
		{"GET", "/", "localhost@evil.example", nil, 421}, {"GET", "/", "127.0.0.1:8089:8089", nil, 421},
		{"GET", "/", host, map[string]string{"Origin": "http://localhost:8089"}, 403},
		{"GET", "/", host, map[string]string{"Origin": "http://127.0.0.1:9"}, 403},
		{"GET", "/", host, map[string]string{"Origin": "http://me@" + host + "@evil.example"}, 403},
		{"GET", "/", host, map[string]string{"Origin": "file://"}, 403},
		{"GET", "/", host, map[string]string{"Sec-Fetch-Site": "same-site", "Sec-Fetch-Mode": "cors"}, 403},
		{"GET", "/", "evil.example", nil, 421}, {"GET", "/", "127.0.0.1.evil.example:8089", nil, 421},
		{"GET", "/metrics", "192.0.2.7:8089", nil, 421},
		{"GET", "/", host, map[string]string{"Origin": "http://" + host}, 200},
		{"GET", "/", host, map[string]string{"Origin": "http://evil.example"}, 403},
		{"GET", "/", host, map[string]string{"Origin": "null"}, 403},
		{"GET", "/", host, map[string]string{"Origin": "https://" + host}, 403},
		{"GET", "/metrics", host, map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, 403},
		{"GET", "/", host, map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, 200},
		{"GET", "/", host, map[string]string{"Sec-Fetch-Site": "none"}, 200},
	} {
		r := httptest.NewRequest(c.method, "http://x"+c.path, nil)
		r.Host = c.host
		for k, v := range c.header {
			r.Header.Set(k, v)
		}
		w := httptest.NewRecorder()
		s.Handler().ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("%s %s, Host %s, %v: %d, want %d", c.method, c.path, c.host, c.header, w.Code, c.want)
		}
		for _, name := range []string{"Access-Control-Allow-Origin", "Access-Control-Allow-Private-Network",
			"Access-Control-Allow-Credentials"} {
			if v := w.Header().Get(name); v != "" {
				t.Errorf("%s %s: %s: %s", c.method, c.path, name, v)
			}
		}
		if p := w.Header().Get("Content-Security-Policy"); !strings.Contains(p, "frame-ancestors 'none'") {
			t.Errorf("%s %s: policy %q", c.method, c.path, p)
		}
		if w.Code != 200 && strings.Contains(w.Body.String(), "the page") ||
			w.Header().Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s %s: %v %q", c.method, c.path, w.Header(), w.Body)
		}
	}
}

// TestPageDrawnBetweenStages: it is drawn between stages and not by a request, and a failure leaves it.
func TestPageDrawnBetweenStages(t *testing.T) {
	s := listen(t)
	drawn := 0
	s.Render = func(w io.Writer, version string) error {
		if drawn++; drawn == 3 {
			return errors.New("disk full")
		}
		_, err := io.WriteString(w, strings.Repeat("x", drawn))
		return err
	}
	versions := map[string]bool{}
	get := func() (int, string) {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", s.URL(), nil)
		s.Handler().ServeHTTP(w, r)
		versions[w.Header().Get("ETag")] = true
		return w.Code, w.Body.String()
	}
	if code, _ := get(); code != http.StatusServiceUnavailable {
		t.Errorf("before the run: %d", code)
	}
	s.Draw()
	for _, want := range []string{"x", "xx", "xx"} {
		for range 3 {
			if _, got := get(); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		}
		s.StageBegins(&rundir.Stage{}, 0)
		s.Progress(load.Snapshot{})
		s.StageEnds(&rundir.Stage{})
	}
	if drawn != 4 || len(versions) != 3 { // none before the first, and two pages
		t.Errorf("drawn %d times, versions %v", drawn, versions)
	}
}

// scrape returns the samples of /metrics.
func scrape(t *testing.T, s *LiveServer) map[string]string {
	t.Helper()
	answer, err := http.Get(s.URL() + "metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	parser := expfmt.NewTextParser(model.UTF8Validation)
	if _, err := parser.TextToMetricFamilies(bytes.NewReader(b)); err != nil {
		t.Error(err)
	}
	all := map[string]string{}
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), " "); ok && !strings.HasPrefix(line, "#") {
			all[name] = value
		}
	}
	return all
}

// reportAll brings a server to where all of its metrics are known.
func reportAll(s *LiveServer) {
	s.StageBegins(&rundir.Stage{Rate: rundir.Exactly(4)}, 0)
	s.Progress(load.Snapshot{Done: 10, Failed: 2, Errors: map[string]int{"timeout": 2}})
	end := rundir.Stage{
		Rates: rundir.Rates{Completed: rundir.Exactly(3.5)}, TokensPerS: rundir.TokenRates{Output: rundir.Exactly(450)},
		TTFT: rundir.Dist{Mean: rundir.Exactly(0.1), P99: rundir.Exactly(0.5)}, InterToken: rundir.Exactly(0.02),
	}
	s.StageEnds(&end)
	s.StageBegins(&rundir.Stage{Rate: rundir.Exactly(8)}, 0)
	s.Left(time.Minute, 2*time.Minute)
	s.Progress(load.Snapshot{
		InFlight: 7, Done: 5, Failed: 1, Errors: map[string]int{"timeout": 1}, TTFT: 150 * time.Millisecond,
		ITL: 20 * time.Millisecond, TokensPS: 500, Elapsed: 3 * time.Second,
	})
}

// noteRecorder keeps the notes that it is told.
type noteRecorder struct {
	experiment.Observer
	notes []note.Note
}

func (n *noteRecorder) Note(x note.Note) { n.notes = append(n.notes, x) }

// TestDrawFailureNoted: the page stays as it was, and the run says so, once.
func TestDrawFailureNoted(t *testing.T) {
	s, told := listen(t), &noteRecorder{}
	s.Observer = told
	s.Draw()
	s.Render = func(io.Writer, string) error { return errors.New("disk full") }
	s.Draw()
	s.Draw()
	if len(told.notes) != 1 || !told.notes[0].Is(noteNotDrawn) || told.notes[0].String("error") != "disk full" {
		t.Errorf("%v", told.notes)
	}
	if !strings.Contains(string(s.page), "the page") {
		t.Errorf("the page is %q", s.page)
	}
}

// TestMetrics compares /metrics with what the run reported: counters add up over stages, times are in seconds, and what
// is not known is left out. Prometheus's own reader takes all of it.
func TestMetrics(t *testing.T) {
	s := listen(t)
	if got := scrape(t, s); got["llmsweep_ttft_seconds"] != "0" && got["llmsweep_ttft_seconds"] != "" {
		t.Errorf("TTFT before the run: %v", got)
	}
	s.StageBegins(&rundir.Stage{}, 0)
	s.Left(-1, -1)
	got := scrape(t, s)
	for _, name := range []string{"llmsweep_ttft_seconds", "llmsweep_itl_seconds", "llmsweep_left_low_seconds",
		"llmsweep_stage_requests_per_second", "llmsweep_last_stage_ttft_mean_seconds"} {
		if v, ok := got[name]; ok {
			t.Errorf("%s is %s before it is known", name, v)
		}
	}
	reportAll(s)
	got = scrape(t, s)
	for name, want := range map[string]string{
		"llmsweep_in_flight_requests": "7", "llmsweep_output_tokens_per_second": "500", "llmsweep_ttft_seconds": "0.15",
		"llmsweep_itl_seconds":              "0.02",
		"llmsweep_completed_requests_total": "15", "llmsweep_failed_requests_total": "3",
		`llmsweep_failed_requests_by_class_total{class="timeout"}`: "3",
		"llmsweep_begun_stages_total":                              "3", "llmsweep_ended_stages_total": "1",
		"llmsweep_stage_requests_per_second": "8", "llmsweep_left_low_seconds": "60",
		"llmsweep_left_high_seconds": "120", "llmsweep_last_stage_requests_per_second": "3.5",
		"llmsweep_last_stage_output_tokens_per_second": "450",
		"llmsweep_last_stage_ttft_mean_seconds":        "0.1", "llmsweep_last_stage_ttft_p99_seconds": "0.5",
		"llmsweep_last_stage_itl_mean_seconds": "0.02",
	} {
		if got[name] != want {
			t.Errorf("%s is %s, want %s", name, got[name], want)
		}
	}
}

// TestDashboard: each metric that the Grafana dashboard queries exists.
func TestDashboard(t *testing.T) {
	read := func(path string) string {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal([]byte(read("../../examples/grafana/llmsweep.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	s := listen(t)
	reportAll(s)
	names, queries := scrape(t, s), 0
	metric := regexp.MustCompile(`\bllmsweep_[a-z0-9_]+`)
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			for _, name := range metric.FindAllString(target.Expr, -1) {
				if queries++; names[name] == "" && names[name+`{class="timeout"}`] == "" {
					t.Errorf("%s queries %s, which does not exist", p.Title, name)
				}
			}
		}
	}
	if queries < 10 {
		t.Errorf("the dashboard has only %d queries", queries)
	}
}
