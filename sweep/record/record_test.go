package record

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/client/sim"
	simserver "llmsweep/client/sim/server"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
)

// recording is a recorder in front of a server.
type recording struct {
	url  string
	dir  *store.Dir
	run  *rundir.Run
	stop func() error // ends it, and returns its error
	*Recorder
}

func start(t *testing.T, server string, change func(*Options)) *recording {
	t.Helper()
	dir, err := store.Create(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	o := Options{Address: strings.TrimPrefix(server, "http://"), Period: time.Hour, Share: 1, Most: 1 << 30, Linger: 5 * time.Second, Tolerance: 0.05}
	if change != nil {
		change(&o)
	}
	r := &recording{url: "http://" + l.Addr().String(), dir: dir, run: &rundir.Run{Schema: rundir.Schema, Plan: rundir.Plan{Kind: rundir.KindRun}}}
	r.Recorder = New(o, r.run, dir)
	ctx, cancel := context.WithCancel(context.Background())
	served := make(chan error, 1)
	go func() { served <- r.Serve(ctx, l) }()
	r.stop = sync.OnceValue(func() error {
		cancel()
		return errors.Join(<-served, dir.Close())
	})
	t.Cleanup(func() { r.stop() })
	return r
}

// end ends the recording, and returns its records.
func (r *recording) end(t *testing.T) (all []*rundir.Record) {
	t.Helper()
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	for record, err := range store.Records(r.dir.Path) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, record.Clone())
	}
	return all
}

// simulated starts a simulated server.
func simulated(t *testing.T, o simserver.Options) string {
	t.Helper()
	config, err := sim.Preset("plain8")
	if err != nil {
		t.Fatal(err)
	}
	live, err := sim.Start(config)
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(simserver.New(live, o))
	t.Cleanup(func() { s.Close(); live.Close() })
	return s.URL
}

// TestRecordsSayWhatTheClientSaw sends requests through the recorder with each API, and compares its records with the client's own results.
func TestRecordsSayWhatTheClientSaw(t *testing.T) {
	for _, engine := range []struct{ name, api string }{
		{"vllm", "chat"}, {"vllm", "completions"}, {"openai", "responses"}, {"anthropic", "messages"}, {"ollama", "ollama"}, {"sglang", "sglang"}, {"lmdeploy", "lmdeploy"}, {"tgi", "tgi"}, {"llamacpp", "llamacpp"},
	} {
		t.Run(engine.name+"/"+engine.api, func(t *testing.T) {
			r := start(t, simulated(t, simserver.Options{Engine: engine.name}), nil)
			c, err := client.New(client.Options{URL: r.url, API: engine.api, Params: api.Params{Model: "plain8", Fields: api.AllFields}})
			if err != nil {
				t.Fatal(err)
			}
			var want client.Result
			want.Reset(time.Now())
			p, err := c.Prepare(&api.Request{Messages: []api.Message{{Role: "user", Content: "one two three"}}, OutputTokens: 12})
			if err != nil {
				t.Fatal(err)
			}
			c.Do(t.Context(), p, &want)
			c.CloseIdle()
			all := r.end(t)
			if len(all) != 1 || want.Status != client.StatusOK {
				t.Fatalf("%d records; the client has %s %s", len(all), want.Status, want.Message)
			}
			got := all[0]
			if got.Status != string(want.Status) || got.HTTP != want.HTTP || got.Finish != want.Finish || got.OutputTokens.Value() != float64(want.OutputTokens) ||
				got.TokenSource != want.TokenSource || len(got.GapsUS) != len(want.Gaps) {
				t.Errorf("got %+v\nwant %+v", got, want)
			}
			// What the recorder sees is between what the client does and what it sees.
			if ours, its := want.FirstToken-want.Sent, rundir.Duration(got.FirstToken.Value()-got.Sent.Value()); its <= 0 || its > ours {
				t.Errorf("the recorder has a TTFT of %v, the client one of %v", its, ours)
			}
			if st := r.run.Stages[0]; st.Requests.OK != 1 || st.Rates.Offered.Value() <= 0 {
				t.Errorf("the row is %+v", st)
			}
		})
	}
}

// TestNothingIsKept plants texts, keys and headers, and looks for them in all files.
func TestNothingIsKept(t *testing.T) {
	const canary = "canary-4711-Zyx"
	for _, answer := range []http.HandlerFunc{
		func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Secret", canary)
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: {\"choices\":[{\"delta\":{\"content\":%q},\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", canary, canary)
		},
		func(w http.ResponseWriter, _ *http.Request) { http.Error(w, canary, http.StatusBadRequest) },
		func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, "data: {\"error\":{\"message\":%q}}\n\n", canary)
		},
		func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "data: {"+canary) },
		func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"choices":[{"message":{"content":%q},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":5}}`, canary)
		},
	} {
		server := httptest.NewServer(answer)
		r := start(t, server.URL, nil)
		body := fmt.Sprintf(`{"model":"m","user":%[1]q,"messages":[{"role":"user","content":%[1]q}]}`, canary)
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/v1/chat/completions?key="+canary, strings.NewReader(body))
		req.Header.Set("Authorization", "Bearer "+canary)
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		if n := len(r.end(t)); n != 1 {
			t.Errorf("%d records", n)
		}
		files, err := filepath.Glob(filepath.Join(r.dir.Path, "*"))
		if err != nil || len(files) < 2 {
			t.Fatal(files, err)
		}
		for _, f := range files {
			if b, err := os.ReadFile(f); err != nil || bytes.Contains(b, []byte(canary)) {
				t.Errorf("%s holds the canary (%v):\n%s", f, err, b)
			}
		}
		server.Close()
	}
}

// TestAnswersInOnePiece have their counts, and no instants of tokens.
func TestAnswersInOnePiece(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		io.WriteString(w, `{"choices":[{"message":{"content":"a b"},"finish_reason":"length"}],"usage":{"prompt_tokens":3,"completion_tokens":5}}`)
	}))
	defer server.Close()
	r := start(t, server.URL, nil)
	resp, err := http.Post(r.url+"/v1/chat/completions", "application/json", strings.NewReader(`{"messages":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	all := r.end(t)
	if len(all) != 1 {
		t.Fatalf("%d records", len(all))
	}
	if got := all[0]; !got.OK() || got.FirstToken.Known() || got.OutputTokens.Value() != 5 || got.PromptTokens.Value() != 3 || got.Finish != "length" {
		t.Errorf("got %+v", got)
	}
}

// TestFaultsPass lets the server fail in each way, and compares what a client sees with and without the recorder.
func TestFaultsPass(t *testing.T) {
	for _, fault := range []string{"429", "500", "reset", "truncate", "empty", "garbage", "late-error"} {
		url := simulated(t, simserver.Options{})
		see := func(base string) (client.Status, client.Class) {
			h := http.Header{"X-Sim-Fault": {fault}}
			c, err := client.New(client.Options{URL: base, Headers: h, Params: api.Params{Model: "plain8"}})
			if err != nil {
				t.Fatal(err)
			}
			defer c.CloseIdle()
			var res client.Result
			res.Reset(time.Now())
			p, _ := c.Prepare(&api.Request{Messages: []api.Message{{Role: "user", Content: "one"}}, OutputTokens: 4})
			c.Do(t.Context(), p, &res)
			return res.Status, res.Class
		}
		r := start(t, url, nil)
		directStatus, directClass := see(url)
		status, class := see(r.url)
		all := r.end(t)
		if len(all) != 1 {
			t.Fatalf("%s: %d records", fault, len(all))
		}
		if status != directStatus || class != directClass || all[0].Status != string(status) || all[0].Error != string(class) {
			t.Errorf("%s: direct %s %s, through the recorder %s %s, recorded %s %s", fault, directStatus, directClass, status, class, all[0].Status, all[0].Error)
		}
	}
}

// TestLeavingPasses has a client leave in mid-stream: the server sees that, and the record is of no failure.
func TestLeavingPasses(t *testing.T) {
	gone := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		for req.Context().Err() == nil {
			fmt.Fprint(w, "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n")
			w.(http.Flusher).Flush()
			time.Sleep(time.Millisecond)
		}
		close(gone)
	}))
	defer server.Close()
	r := start(t, server.URL, nil)
	ctx, leave := context.WithCancel(t.Context())
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, r.url+"/v1/chat/completions", strings.NewReader(`{"messages":[]}`))
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	io.ReadFull(resp.Body, make([]byte, 100))
	leave()
	<-gone
	all := r.end(t)
	if len(all) != 1 || !all[0].Incomplete() || all[0].Error != "" {
		t.Errorf("%+v", all[0])
	}
}

// TestWaitsForTheServer connects to a server whose TLS handshake takes a while: the request waits in the recorder. That is
// the recorder's own delay, or a part of what the client sees.
func TestWaitsForTheServer(t *testing.T) {
	const wait = 50 * time.Millisecond
	slow := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		http.NewResponseController(w).Flush()
		time.Sleep(time.Millisecond)
		io.WriteString(w, "data: {\"choices\":[{\"text\":\"one\",\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	slow.TLS = &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { time.Sleep(wait); return nil, nil }}
	slow.StartTLS()
	defer slow.Close()
	for _, check := range []bool{false, true} {
		r := start(t, strings.TrimPrefix(slow.URL, "https://"), func(o *Options) { o.TLS, o.Check = &tls.Config{InsecureSkipVerify: true}, check })
		for range 3 { // the kernel takes a moment to begin with timestamps
			resp, err := http.Post(r.url+"/v1/completions", "application/json", strings.NewReader(`{"model":"m","prompt":"one two three","stream":true}`))
			if err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		}
		all := r.end(t)
		if len(all) != 3 {
			t.Fatalf("%d records", len(all))
		}
		last := all[2]
		waited := last.ReadDelay
		if check {
			waited = rundir.Exactly(last.FirstToken.Value() - last.Sent.Value())
		}
		if runtime.GOOS == "linux" && (!waited.Known() || waited.Value() < wait.Seconds()) {
			t.Errorf("check %v: %+v", check, last)
		}
	}
}

// TestNoServer: a server that refuses connections looks to clients as if it broke theirs off, and the recording goes on.
func TestNoServer(t *testing.T) {
	l, _ := net.Listen("tcp", "127.0.0.1:0")
	l.Close()
	r := start(t, "http://"+l.Addr().String(), nil)
	if _, err := http.Post(r.url+"/v1/chat/completions", "", nil); err == nil {
		t.Error("no error")
	}
	if n := len(r.end(t)); n != 0 || r.Counts().Refused == 0 || len(r.run.Warnings) != 1 {
		t.Errorf("%d records, %+v, %v", n, r.Counts(), r.run.Warnings)
	}
}

// TestSessionsAndSharing: turns of a conversation are one session, and prompts that begin alike share the hashes of their beginning.
func TestSessionsAndSharing(t *testing.T) {
	salt, other := []byte("salt"), []byte("other")
	long := strings.Repeat("word ", 200)
	first := []byte(`{"messages":[{"role":"system","content":"` + long + `"},{"role":"user","content":"hello"}]}`)
	second := []byte(`{"messages":[{"role":"system","content":"` + long + `"},{"role":"user","content":"hello"},{"role":"assistant","content":"hi"},{"role":"user","content":"more"}]}`)
	stranger := []byte(`{"messages":[{"role":"system","content":"` + long + `"},{"role":"user","content":"bye"}]}`)
	s := newSessions(salt)
	of := func(body []byte) session {
		a := readAsked(body, salt)
		return s.of(&a, func() bool { return true })
	}
	a, b, c, again := of(first), of(second), of(stranger), of(first)
	if a.id != b.id || b.turn != 1 || c.id == a.id || again.id == a.id || again.turn != 0 {
		t.Errorf("%+v %+v %+v %+v", a, b, c, again)
	}
	x, y, z := readAsked(first, salt), readAsked(second, salt), readAsked(first, other)
	shared := 0
	for shared < min(len(x.blocks), len(y.blocks)) && x.blocks[shared] == y.blocks[shared] {
		shared++
	}
	if want := len(first) / blockBytes; shared < want-1 || shared == len(y.blocks) {
		t.Errorf("%d of %d blocks are shared", shared, len(y.blocks))
	}
	if x.blocks[0] == z.blocks[0] {
		t.Error("the hash does not depend on the salt")
	}
}

// TestSample records whole sessions, and passes all.
func TestSample(t *testing.T) {
	r := start(t, simulated(t, simserver.Options{}), func(o *Options) { o.Share = 1e-12 })
	resp, err := http.Post(r.url+"/v1/chat/completions", "application/json", strings.NewReader(`{"model":"plain8","stream":true,"max_tokens":2,"messages":[{"role":"user","content":"a"}]}`))
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatal(resp, err)
	}
	io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	if n := len(r.end(t)); n != 0 || r.Counts().Left != 1 {
		t.Errorf("%d records, %+v", n, r.Counts())
	}
}

// FuzzPass sends bytes in both directions, whatever they are: they arrive as they were.
func FuzzPass(f *testing.F) {
	f.Add([]byte("POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}"), []byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\ndata:\r\n0\r\n\r\n"), uint64(1))
	f.Add([]byte("\x00\xff"), []byte(""), uint64(2))
	f.Fuzz(func(t *testing.T, up, down []byte, seed uint64) {
		server, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		r := start(t, "http://"+server.Addr().String(), nil)
		if err := passes(server, r.url, up, down, seed); err != nil {
			t.Error(err)
		}
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	})
}

// inPieces writes bytes in pieces of random length.
func inPieces(w io.Writer, b []byte, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 0))
	for len(b) > 0 {
		n := 1 + rng.IntN(len(b))
		w.Write(b[:n])
		b = b[n:]
	}
}

// TestClientsAreToldApart: requests with the same key are those of one client, and without a key those from one address.
func TestClientsAreToldApart(t *testing.T) {
	r := start(t, simulated(t, simserver.Options{}), nil)
	for _, header := range []string{"Authorization: Bearer a", "Authorization: Bearer a", "X-Api-Key: b", "", ""} {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, r.url+"/v1/chat/completions", strings.NewReader(`{"model":"plain8","max_tokens":2,"messages":[{"role":"user","content":"one"}]}`))
		if name, value, ok := strings.Cut(header, ": "); ok {
			req.Header.Set(name, value)
		}
		resp, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	r.end(t)
	var clients []int
	for passed, err := range store.Traffic(r.dir.Path) {
		if err != nil {
			t.Fatal(err)
		}
		clients = append(clients, passed.Client)
	}
	if want := []int{1, 1, 2, 3, 3}; !slices.Equal(clients, want) {
		t.Errorf("%v, want %v", clients, want)
	}
}
