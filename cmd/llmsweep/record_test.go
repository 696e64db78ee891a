package main

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/rundir/store"
)

// TestRecord records two requests, prints the result, and replays the traffic.
func TestRecord(t *testing.T) {
	t.Parallel()
	server, err := simserver.Start(t.Context(), "plain8")
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // a free port
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	dir := filepath.Join(t.TempDir(), "traffic")
	m, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	live := m.Addr().String()
	m.Close()
	ctx, stop := context.WithCancel(t.Context())
	var out, errs strings.Builder
	code := make(chan int, 1)
	go func() {
		code <- executeAgain([]string{"record", server, "--listen", address, "--out", dir, "--slo", "ttft:p95<1s", "--live", live}, console.NewConsole(ctx, &out, &errs))
	}()
	const body = `{"model":"plain8","stream":true,"stream_options":{"include_usage":true},"max_tokens":3,"messages":[{"role":"user","content":"one two"}]}`
	for range 2 {
		for { // until it listens
			resp, err := http.Post("http://"+address+"/v1/chat/completions", "application/json", strings.NewReader(body))
			if err == nil {
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	for tries, shown := 0, ""; !strings.Contains(shown, "llmsweep_completed_requests_total 2\n"); time.Sleep(50 * time.Millisecond) { // until it is told
		if tries++; tries > 600 {
			t.Fatal(shown)
		}
		resp, err := http.Get("http://" + live + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		shown = string(b)
	}
	if resp, err := http.Get("http://" + live + "/"); err != nil || resp.StatusCode != http.StatusOK {
		t.Error(resp, err)
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	stop()
	if c := <-code; c != console.Undecided && c != console.Done {
		t.Errorf("exit %d\n%s%s", c, out.String(), errs.String())
	}
	run, err := store.Open(dir)
	if err != nil || len(run.Stages) != 1 || run.Stages[0].Requests.OK != 2 || run.Stages[0].Goodput == nil {
		t.Fatalf("%v\n%+v", err, run)
	}
	for _, file := range []string{"report.md", "report.html", "traffic.jsonl"} {
		if s, err := os.Stat(filepath.Join(dir, file)); err != nil || s.Size() == 0 {
			t.Error(file, err)
		}
	}
	if !strings.Contains(out.String(), "recorded@") {
		t.Error(out.String())
	}
	small := filepath.Join(t.TempDir(), "small.json")
	for args, want := range map[string]int{
		"workload " + dir + " --k 2 --out " + small: console.Done, "workload " + dir + " --out " + small: console.WrongUsage,
		"workload " + dir: console.WrongUsage, "workload " + dir + " --k 1 --out " + small: console.WrongUsage,
	} {
		var table, errs strings.Builder
		if c := executeAgain(strings.Fields(args), console.NewConsole(t.Context(), &table, &errs)); c != want || want != console.Done && strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%s: exit %d\n%s%s", args, c, table.String(), errs.String())
		}
	}
	var without strings.Builder
	if c := executeAgain([]string{"run", server, "--rate", "50", "--arrivals", "clients", "--plain"}, console.NewConsole(t.Context(), io.Discard, &without)); c != console.WrongUsage || !strings.Contains(without.String(), "--workload") {
		t.Errorf("exit %d\n%s", c, without.String())
	}
	var replays sync.WaitGroup // at the same time: they wait for a server in real time
	for i, load := range []string{"--arrivals trace:" + dir, "--workload " + dir + " --concurrency 2 --requests 4", "--workload " + dir + " --rate 50 --requests 4", "--workload " + dir + " --rate 50 --arrivals clients --requests 4", "--workload " + small + " --concurrency 1 --requests 2"} {
		args := append([]string{"run", server, "--out", filepath.Join(t.TempDir(), "again"), "--warmup", "1", "--no-selftest", "--plain"}, strings.Fields(load)...)
		replays.Go(func() {
			var replayed strings.Builder
			if c := executeAgain(args, console.NewConsole(t.Context(), &replayed, io.Discard)); c != console.Done {
				t.Errorf("%s: exit %d\n%s", load, c, replayed.String())
			}
			if drawn := strings.Contains(replayed.String(), "sessions are drawn"); drawn != (i > 0) {
				t.Errorf("%s:\n%s", load, replayed.String())
			}
		})
	}
	replays.Wait()
}

// TestCheck lets llmsweep measure through a recording, and checks its counts and rates: they are those that passed.
func TestCheck(t *testing.T) {
	t.Parallel()
	server, err := simserver.Start(t.Context(), "plain8")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	traffic, result := filepath.Join(dir, "traffic"), filepath.Join(dir, "result")
	l, _ := net.Listen("tcp", "127.0.0.1:0") // a free port
	address := l.Addr().String()
	l.Close()
	ctx, stop := context.WithCancel(t.Context())
	recorded := make(chan int, 1)
	go func() {
		recorded <- executeAgain([]string{"record", server, "--listen", address, "--out", traffic}, console.NewConsole(ctx, io.Discard, io.Discard))
	}()
	for c, err := net.Dial("tcp", address); ; c, err = net.Dial("tcp", address) {
		if err == nil {
			c.Close()
			break
		}
	}
	var out, errs strings.Builder
	args := []string{"run", "http://" + address, "--concurrency", "4", "--requests", "12", "--warmup", "2", "--prompt-tokens", "20", "--output-tokens", "5", "--no-selftest", "--out", result}
	if code := executeAgain(args, console.NewConsole(t.Context(), io.Discard, &errs)); code != console.Done {
		t.Fatal(code, errs.String())
	}
	stop()
	<-recorded
	executeAgain([]string{"check", traffic, result, "--format", "json"}, console.NewConsole(t.Context(), &out, &errs))
	var all struct {
		Figures []struct{ Figure, Outcome string }
		Remarks []string
	}
	if err := json.Unmarshal([]byte(out.String()), &all); err != nil || len(all.Figures) < 20 {
		t.Fatal(err, out.String(), errs.String())
	}
	for _, f := range all.Figures { // those in units of time may differ by what this machine does meanwhile
		if f.Outcome != "agrees" && slices.Contains([]string{"requests", "output tokens", "prompt tokens"}, f.Figure) {
			t.Errorf("%+v", f)
		}
	}
	if text := strings.Join(all.Remarks, " "); !strings.Contains(text, "Not counted here") {
		t.Error(all.Remarks)
	}
	for _, format := range []string{"console", "markdown"} {
		var page strings.Builder
		executeAgain([]string{"check", traffic, result, "--format", format, "--lang", "zh"}, console.NewConsole(t.Context(), &page, &errs))
		if !strings.Contains(page.String(), "线路") {
			t.Error(page.String())
		}
	}
	for _, args := range [][]string{{"check"}, {"check", dir, result}, {"check", traffic, filepath.Join(dir, "none.json")}, {"check", result, traffic}, {"check", result, result}} {
		errs.Reset()
		if code := executeAgain(args, console.NewConsole(t.Context(), io.Discard, &errs)); code != console.WrongUsage && code != console.Failed {
			t.Errorf("%v: exit %d, %s", args, code, errs.String())
		}
	}
}

// TestRecordRefuses: what makes no sense is one line with the remedy.
func TestRecordRefuses(t *testing.T) {
	for _, args := range [][]string{
		{"record"}, {"record", "http://127.0.0.1:1", "--sample", "0"}, {"record", "http://127.0.0.1:1", "--listen", "nowhere:x"},
		{"record", "http://127.0.0.1:1", "--period", "1ms"}, {"record", "ftp://x"}, {"record", "http://127.0.0.1:1", "--format", "png"},
	} {
		var errs strings.Builder
		args = append(args, "--lang", "en")
		if code := executeAgain(args, console.NewConsole(t.Context(), io.Discard, &errs)); code != console.WrongUsage || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%v: exit %d, %q", args, code, errs.String())
		}
	}
}
