package probe

import (
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/client/sim"
	simserver "llmsweep/client/sim/server"
	"llmsweep/client/testkit"
)

// serveSimulated returns the URL of a fast simulated engine, with other answers at some paths: JSON, or "" for 404.
func serveSimulated(t testing.TB, o simserver.Options, pages map[string]string) string {
	c := testkit.Must(sim.Preset("Qwen2-7B/H200x4/int8"))
	c.StepOverhead = 100 * time.Microsecond
	live := testkit.Must(sim.Start(c))
	t.Cleanup(live.Close)
	engine := simserver.New(live, o)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		switch {
		case !ok:
			engine.ServeHTTP(w, r)
		case page == "":
			http.NotFound(w, r)
		default:
			io.WriteString(w, page)
		}
	}))
	t.Cleanup(s.CloseClientConnections)
	return s.URL
}

// A key is sent in the way that the server takes it, and the measurement then sends it so too.
func TestKeysAreSentAsTheServerTakesThem(t *testing.T) {
	for _, tt := range []struct{ engine, api, want string }{
		{"anthropic", "auto", "messages"}, {"anthropic", "messages", "messages"}, {"vllm", "auto", "chat"},
		{"vllm", "messages", "messages"},
		{"vllm", "responses", "responses"},
	} {
		url := serveSimulated(t, simserver.Options{Engine: tt.engine, APIKey: "sk-1", Strict: tt.engine != "vllm"}, nil)
		p := prober(t, client.Options{URL: url, API: tt.api, APIKey: "sk-1"})
		got, err := p.Preflight(t.Context(), Workload{})
		if err != nil || got.API != tt.want || !got.Usage ||
			p.Options().Bearer != (tt.engine == "vllm" && tt.api == "messages") {
			t.Errorf("%+v: %+v", tt, got)
		}
		if n, err := p.Count(t.Context(), "one two three four"); err != nil || n[0] < 4 {
			t.Errorf("%+v: count %d, %v", tt, n, err)
		}
		if _, err := prober(t, client.Options{URL: url, API: tt.api, APIKey: "sk-2"}).Preflight(t.Context(),
			Workload{}); err == nil {
			t.Errorf("%+v: a wrong key was accepted", tt)
		}
	}
}

// Texts are counted by the engine's tokenizer where its answers have no counts.
func TestEngineCount(t *testing.T) {
	p := prober(t, client.Options{URL: serveSimulated(t, simserver.Options{Engine: "sglang", NoUsage: true}, nil),
		API: "sglang"})
	if _, err := p.Preflight(t.Context(), Workload{}); err != nil {
		t.Fatal(err)
	}
	if n, err := p.Count(t.Context(), "one two three four"); err != nil || n[0] != 4 || p.CountSource() != countTokenize {
		t.Errorf("count %d, %v", n, err)
	}
}

// The metrics of all engines that have them are understood.
func TestEngineLoad(t *testing.T) {
	for engine, known := range map[string]bool{
		"vllm": true, "sglang": true, "anthropic": false,
	} {
		t.Run(engine, func(t *testing.T) {
			p := prober(t, client.Options{URL: serveSimulated(t, simserver.Options{Engine: engine}, nil),
				Params: api.Params{Model: "m"}})
			l, err := p.Load(t.Context())
			if (err == nil) != known || known && math.IsNaN(l.Running+l.Waiting) {
				t.Errorf("%+v %v", l, err)
			}
		})
	}
}
