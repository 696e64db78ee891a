package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"llmsweep/client/sim"
	"llmsweep/sweep/rundir"
)

// TestMain lets the test binary stand in for llmsweep itself, to be killed.
func TestMain(m *testing.M) {
	helps := len(os.Args) > 1 && os.Args[1] == selftestHelper // which knows nothing of the environment
	if helps || os.Getenv("LLMSWEEP_BE_MAIN") != "" {
		main()
	}
	os.Exit(m.Run())
}

// llmsweep runs a command line in this process.
func llmsweep(args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = run(args, &o, &e)
	return code, o.String(), e.String() + followSchemas()
}

// hurried are the flags that make a sweep short enough for a test.
var hurried = []string{"--stage-time", "300ms", "--points", "2", "--warmup", "1", "--prompt-tokens", "64", "--output-tokens", "8", "--max-concurrency", "32", "--no-selftest", "--plain"}

// simulated is a simulated server's handler.
func simulated(t *testing.T, o sim.ServerOptions) http.Handler {
	t.Helper()
	config, err := sim.Preset("demo")
	if err != nil {
		t.Fatal(err)
	}
	live, err := sim.Start(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(live.Close)
	return sim.NewHandler(live, o)
}

// serve puts a handler on a port of its own.
func serve(t *testing.T, h http.Handler) (url string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL
}

// server is a simulated server on a port of its own.
func server(t *testing.T, o sim.ServerOptions) string {
	t.Helper()
	return serve(t, simulated(t, o))
}

func TestSweepAndReport(t *testing.T) {
	t.Chdir(t.TempDir())
	code, out, errs := llmsweep(append([]string{"sweep", "sim:", "--label", "gpu=L20 48GB,gpus=2"}, hurried...)...)
	if code != exitDone || !strings.Contains(out, "Saturates at") || !strings.Contains(out, "computed capacity") {
		t.Fatalf("exit %d\n%s\n%s", code, out, errs)
	}
	for _, name := range []string{rundir.RunFile, rundir.RecordsFile, rundir.ReportFile} {
		if info, err := os.Stat(filepath.Join("llmsweep-run", name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if strings.Contains(out, "\x1b") {
		t.Error("escape sequences where there is no terminal")
	}
	for format, want := range map[string]string{
		"console": "Saturates at", "markdown": "| synchronous |", "csv": "latency_s_mean", "json": `"schema": "llmsweep.run/v1"`,
	} {
		if code, out, errs := llmsweep("report", "llmsweep-run", "--format", format); code != exitDone || !strings.Contains(out, want) {
			t.Errorf("report --format %s: exit %d, no %q\n%s%s", format, code, want, out, errs)
		}
	}
	if code, out, _ := llmsweep("report", "llmsweep-run", "--format", "markdown", "--lang", "zh"); code != exitDone ||
		!strings.Contains(out, "**2**张**L20 48GB**") || !strings.Contains(out, "提要") {
		t.Errorf("the Chinese report: exit %d\n%s", code, out)
	}
	// The next run must not overwrite this one.
	if code, _, errs := llmsweep(append([]string{"sweep", "sim:", "--out", "llmsweep-run"}, hurried...)...); code != exitUsage || !strings.Contains(errs, "already holds a run") {
		t.Errorf("a second run into the same directory: exit %d, %s", code, errs)
	}
}

// Every wrong thing gets one line that names it and says what to do.
func TestErrorsTeach(t *testing.T) {
	t.Chdir(t.TempDir())
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := "http://" + closed.Addr().String()
	closed.Close()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<!doctype html><title>Welcome to nginx!</title>")
	}))
	defer page.Close()
	missing := httptest.NewServer(http.NotFoundHandler())
	defer missing.Close()
	broken := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{"data":7`) }))
	defer broken.Close()
	locked := server(t, sim.ServerOptions{APIKey: "right"})
	fine := server(t, sim.ServerOptions{})
	if err := os.WriteFile("bad.yaml", []byte("stage-tiem: 3s\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("worse.yaml", []byte("a: [1,\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		says []string
	}{
		{"sweep " + nobody, exitFailed, []string{nobody, "connection refused", "Is the server up?"}},
		{"sweep http://no-such-host.invalid", exitFailed, []string{"no-such-host.invalid"}},
		{"sweep " + page.URL, exitFailed, []string{page.URL, "HTML"}},
		{"sweep " + missing.URL, exitFailed, []string{missing.URL, "404"}},
		{"sweep " + broken.URL, exitFailed, []string{broken.URL}},
		{"sweep " + locked, exitFailed, []string{"401", "--api-key"}},
		{"sweep " + locked + " --api-key wrong-key-7", exitFailed, []string{"401", "--api-key"}},
		{"sweep " + fine + " --model nope", exitFailed, []string{"nope", "Qwen2-7B"}},
		{"sweep http://", exitUsage, []string{"http://"}},
		{"sweep ftp://host", exitUsage, []string{"ftp"}},
		{"sweep http://host:port", exitUsage, []string{"port"}},
		{"sweep", exitUsage, []string{"url"}},
		{"sweep sim:nonsense", exitUsage, []string{"nonsense", "Qwen2-7B/L20"}},
		{"sweep sim: --points 0", exitUsage, []string{"--points"}},
		{"sweep sim: --repeats 0", exitUsage, []string{"--repeats"}},
		{"sweep sim: --repeats 2 --adaptive", exitUsage, []string{"--repeats", "--adaptive"}},
		{"run sim: --concurrency 4 --repeats 101", exitUsage, []string{"--repeats", "100"}},
		{"sweep sim: --stage-time -3s", exitUsage, []string{"--stage-time"}},
		{"sweep sim: --stage-time 3", exitUsage, []string{"--stage-time"}},
		{"sweep sim: --prompt-tokens many", exitUsage, []string{"--prompt-tokens", "many"}},
		{"sweep sim: --output-tokens mean=5,min=9", exitUsage, []string{"--output-tokens"}},
		{"sweep sim: --warmup soon", exitUsage, []string{"--warmup", "auto"}},
		{"sweep sim: --label gpus=two", exitUsage, []string{"gpus=two"}},
		{"sweep sim: --label color=red", exitUsage, []string{"color", "engine"}},
		{"sweep sim: --body [1]", exitUsage, []string{"--body"}},
		{"sweep sim: --header nocolon", exitUsage, []string{"--header"}},
		{"sweep sim: --max-error-rate 2", exitUsage, []string{"--max-error-rate"}},
		{"sweep sim: --think --no-think", exitUsage, []string{"think"}},
		{"sweep sim: --ca /no/such/file", exitUsage, []string{"/no/such/file"}},
		{"sweep sim: --config bad.yaml", exitUsage, []string{"stage-tiem", "stage-time"}},
		{"sweep sim: --config worse.yaml", exitUsage, []string{"YAML"}},
		{"sweep sim: --config none.yaml", exitUsage, []string{"none.yaml"}},
		{"report nowhere", exitUsage, []string{"nowhere", "run.json"}},
		{"report . --format pdf", exitUsage, []string{"run.json"}},
		{"sim --preset x", exitUsage, []string{"x"}},
		{"sim --listen 1.2.3.4:5", exitUsage, []string{"1.2.3.4:5"}},
		{"sim --faults meteor:1", exitUsage, []string{"meteor"}},
		{"run sim:", exitUsage, []string{"--concurrency", "--rate"}},
		{"run sim: --rate 5 --concurrency 3", exitUsage, []string{"--concurrency", "--rate"}},
		{"run sim: --rate 5 --arrivals sometimes", exitUsage, []string{"sometimes", "gamma"}},
		{"run sim: --arrivals constant", exitUsage, []string{"--rate"}},
		{"run sim: --arrivals ramp:1-5 --rate 3", exitUsage, []string{"ramp"}},
		{"run sim: --arrivals trace:none.jsonl", exitUsage, []string{"none.jsonl"}},
		{"run sim: --arrivals trace:bad.yaml", exitUsage, []string{"bad.yaml"}},
		{"run sim: --concurrency 0", exitUsage, []string{"--concurrency"}},
		{"run sim: --concurrency 4,4", exitUsage, []string{"twice"}},
		{"run sim: --concurrency 4 --requests -1", exitUsage, []string{"--requests"}},
		{"run sim: --concurrency 4 --dataset none.json", exitUsage, []string{"none.json"}},
		{"run sim: --concurrency 4 --dataset bad.yaml", exitUsage, []string{"bad.yaml"}},
		{"run sim: --concurrency 4 --tokenizer bad.yaml", exitUsage, []string{"bad.yaml", "tokenizer.json"}},
		{"run sim: --concurrency 4 --prompt x --turns 3", exitUsage, []string{"--prompt", "--turns"}},
		{"run sim: --concurrency 4 --think-time forever", exitUsage, []string{"--think-time"}},
		{"run sim: --rate 2 --format pdf", exitUsage, []string{"pdf", "serving"}},
		{"frobnicate", exitUsage, []string{"frobnicate"}},
		{"sweep sim: --frob", exitUsage, []string{"--frob"}},
	} {
		code, out, errs := llmsweep(strings.Fields(c.args)...)
		if code != c.code {
			t.Errorf("%s: exit %d, want %d\n%s%s", c.args, code, c.code, out, errs)
		}
		if lines := strings.Split(strings.TrimSpace(errs), "\n"); len(lines) != 1 || !strings.HasPrefix(errs, "llmsweep: ") {
			t.Errorf("%s: not one line:\n%s", c.args, errs)
		}
		for _, want := range c.says {
			if !strings.Contains(errs, want) {
				t.Errorf("%s: does not say %q: %s", c.args, want, errs)
			}
		}
		if strings.Contains(errs, "wrong-key-7") {
			t.Errorf("%s: the key is in the error: %s", c.args, errs)
		}
		if _, err := os.Stat("llmsweep-run"); err == nil {
			t.Fatalf("%s: left a run directory", c.args)
		}
	}
}

func TestHelpHasExamples(t *testing.T) {
	code, out, _ := llmsweep("--help")
	if code != exitDone || !strings.Contains(out, "sweep") {
		t.Fatalf("exit %d\n%s", code, out)
	}
	for _, command := range []string{"demo", "sweep", "run", "report", "import", "audit", "compare", "choose", "sim", "selftest"} {
		if code, out, _ := llmsweep(command, "--help"); code != exitDone || !strings.Contains(out, "Examples:") || !strings.Contains(out, "llmsweep "+command) {
			t.Errorf("%s --help: exit %d\n%s", command, code, out)
		}
	}
}

// A server that passes the preflight and then fails each request gives rows without figures, and exit code 1.
func TestAServerThatFailsAfterPreflight(t *testing.T) {
	t.Chdir(t.TempDir())
	good := simulated(t, sim.ServerOptions{})
	url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, err := os.Stat("llmsweep-run"); err == nil && r.Method == http.MethodPost {
			http.Error(w, `{"error":{"message":"CUDA out of memory"}}`, http.StatusInternalServerError)
			return
		}
		good.ServeHTTP(w, r)
	}))
	code, out, errs := llmsweep(append([]string{"sweep", url}, hurried...)...)
	if code != exitFailed || !strings.Contains(out, "n/a") || !strings.Contains(out, "http_5xx") || !strings.Contains(out, "CUDA out of memory") {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
	for _, line := range strings.Split(out, "\n") {
		if strings.Contains(line, "synchronous  ") && !strings.Contains(line, "n/a") {
			t.Errorf("a row of figures that nobody measured: %s", line)
		}
	}
}

func TestCtrlCKeepsWhatWasMeasured(t *testing.T) {
	t.Chdir(t.TempDir())
	go func() {
		for { // once the first stage is whole
			if run, err := rundir.Open("llmsweep-run"); err == nil && len(run.Stages) > 1 {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		syscall.Kill(os.Getpid(), syscall.SIGINT)
	}()
	code, out, errs := llmsweep(append([]string{"sweep", "sim:", "--out", "llmsweep-run"}, hurried...)...)
	if code != exitInterrupted || !strings.Contains(errs, "interrupted") {
		t.Fatalf("exit %d\n%s\n%s", code, out, errs)
	}
	code, again, errs := llmsweep("report", "llmsweep-run")
	if code != exitDone || !strings.Contains(again, "synchronous") || !strings.Contains(again, "nterrupted") {
		t.Errorf("the directory does not render: exit %d\n%s\n%s", code, again, errs)
	}
}

func TestAKilledRunRenders(t *testing.T) {
	t.Chdir(t.TempDir())
	victim := exec.Command(os.Args[0], append([]string{"sweep", "sim:", "--out", "run"}, hurried...)...)
	victim.Args = append(victim.Args, "--stage-time", "2s")
	victim.Env = append(os.Environ(), "LLMSWEEP_BE_MAIN=1")
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	for range 2000 {
		if run, err := rundir.Open("run"); err == nil && len(run.Stages) > 1 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(1500 * time.Millisecond) // some records are flushed by then
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := victim.Wait(); !errors.As(err, &exit) {
		t.Fatalf("it was not killed: %v", err)
	}
	code, out, errs := llmsweep("report", "run", "--format", "markdown")
	if code != exitDone || !strings.Contains(out, "| synchronous |") || !strings.Contains(out, "killed") {
		t.Errorf("exit %d\n%s\n%s", code, out, errs)
	}
}

// The key must be in no file, no report and no error, also where the server throws it back.
func TestTheKeyIsWrittenNowhere(t *testing.T) {
	t.Chdir(t.TempDir())
	const key = "sk-very-secret-0123456789"
	good := simulated(t, sim.ServerOptions{APIKey: key})
	var n atomic.Int64
	url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n := n.Add(1); n > 20 && n%3 == 0 && r.Method == http.MethodPost {
			http.Error(w, `{"error":{"message":"no quota for `+r.Header.Get("Authorization")+`"}}`, http.StatusTooManyRequests)
			return
		}
		good.ServeHTTP(w, r)
	}))
	t.Setenv("LLMSWEEP_API_KEY", key)
	code, out, errs := llmsweep(append([]string{"sweep", url, "--max-error-rate", "1"}, hurried...)...)
	if code != exitDone || !strings.Contains(out, "http_429") {
		t.Fatalf("exit %d\n%s\n%s", code, out, errs)
	}
	found := func(where, text string) {
		if strings.Contains(text, key) {
			t.Errorf("the key is in %s", where)
		}
	}
	found("the output", out)
	found("the errors", errs)
	filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Error(err)
			}
			found(path, string(b))
		}
		return err
	})
}

func TestAConfigFile(t *testing.T) {
	t.Chdir(t.TempDir())
	config := "stage-time: 300ms\nno-selftest: true\npoints: 1\nwarmup: 1\nprompt-tokens: 64\noutput-tokens: 8\nmax-concurrency: 16\nlabel:\n  - gpu=H100\n  - gpus=4\n"
	if err := os.WriteFile("c.yaml", []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, out, errs := llmsweep("sweep", "sim:", "--config", "c.yaml", "--out", "run", "--points", "2"); code != exitDone {
		t.Fatalf("exit %d\n%s\n%s", code, out, errs)
	}
	b, err := os.ReadFile("run/run.json")
	if err != nil {
		t.Fatal(err)
	}
	var run rundir.Run
	if err := json.Unmarshal(b, &run); err != nil {
		t.Fatal(err)
	}
	if run.Labels.GPU != "H100" || run.Labels.GPUs != 4 || run.Plan.Points != 2 || run.Plan.StageTime != 0.3 {
		t.Errorf("labels %+v, plan %+v", run.Labels, run.Plan)
	}
}
