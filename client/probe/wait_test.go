package probe

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client"
	"llmsweep/client/testkit"
)

// A busy server is waited for as long as it asks, within a limit. A silent one costs a limited time.
func TestPatience(t *testing.T) {
	for name, tt := range map[string]struct {
		path    string // where the server is busy
		status  int    // 0: it never answers
		after   string // the value of Retry-After
		times   int    // it is busy for that many requests
		timeout time.Duration
		took    time.Duration
		kind    kind // of the error; "" for none
	}{
		"models, 7 s":      {path: "/v1/models", status: 429, after: "7", times: 1, took: 7 * time.Second},
		"chat, 7 s, twice": {path: "/v1/chat/completions", status: 429, after: "7", times: 2, took: 14 * time.Second},
		"chat, a date": {path: "/v1/chat/completions", status: 429, after: "Sat, 01 Jan 2000 00:00:09 GMT",
			times: 1, took: 9 * time.Second},
		"chat, no time named":   {path: "/v1/chat/completions", status: 429, times: 3, took: 7 * time.Second},
		"chat, 503 with a time": {path: "/v1/chat/completions", status: 503, after: "2", times: 1, took: 2 * time.Second},
		"chat, 503 without":     {path: "/v1/chat/completions", status: 503, times: 2, took: 3 * time.Second},
		"models, loading":       {path: "/v1/models", status: 503, times: 4, took: 15 * time.Second},
		"chat, 503 always": {path: "/v1/chat/completions", status: 503, times: 1000, took: 31 * time.Second,
			kind: kindServer},
		"models, always": {path: "/v1/models", status: 429, times: 1000, took: 31 * time.Second, kind: kindBusy},
		"chat, too long": {path: "/v1/chat/completions", status: 429, after: "3600", times: 1000, kind: kindBusy},
		"chat, silent":   {path: "/v1/chat/completions", times: 1000, took: trialTime, kind: kindTimeout},
		"chat, silent, --timeout": {path: "/v1/chat/completions", times: 1000, timeout: 20 * time.Second,
			took: 20 * time.Second, kind: kindTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, left := &fake{models: vllmModels, chat: forced(1)}, tt.times
				dial := testkit.ServePipes(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					switch {
					case r.URL.Path != tt.path || left == 0:
						f.ServeHTTP(w, r)
					case tt.status == 0:
						r.Body.Read(make([]byte, 1<<20))
						<-r.Context().Done()
					default:
						left--
						if tt.after != "" {
							w.Header().Set("Retry-After", tt.after)
						}
						refuse(w, tt.status, "busy")
					}
				}))
				start := time.Now()
				p := prober(t, client.Options{URL: "server", Dial: dial, Timeout: tt.timeout})
				facts, err := p.Preflight(t.Context(), Workload{})
				p.Close()
				if took := time.Since(start); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
				var e *Error
				switch errors.As(err, &e); {
				case tt.kind == "" && err != nil, tt.kind != "" && (e == nil || e.Kind != tt.kind):
					t.Errorf("%v, want kind %q", err, tt.kind)
				case err == nil && (len(facts.Notes) == 0 || facts.Notes[0].Code != noteBusy.Code ||
					facts.Notes[0].Args["seconds"] != tt.took.Seconds()):
					t.Errorf("notes %v, want "+strconv.Itoa(int(tt.took.Seconds()))+" s", facts.Notes)
				}
			})
		})
	}
}

// A server that speaks only HTTP/2 is measured over it, unless the user forbids that.
func TestOnlyHTTP2(t *testing.T) {
	s := httptest.NewUnstartedServer(&fake{models: vllmModels, chat: forced(1)})
	s.Config.Protocols = &http.Protocols{}
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	defer s.Close()
	for version, works := range map[string]bool{"": true, "auto": true, "2": true, "1": false} {
		p := prober(t, client.Options{URL: s.URL, HTTP: version})
		f, err := p.Preflight(t.Context(), Workload{})
		if (err == nil) != works || works && (p.Options().HTTP != "2" || len(f.Notes) == 0 ||
			f.Notes[0].Code != noteHTTP2.Code) {
			t.Errorf("--http %q: %v, %v, HTTP %q", version, err, f.Notes, p.Options().HTTP)
		}
		p.Close()
	}
}

// counting serves requests that take two seconds each.
type counting struct {
	fake    *fake
	width   int  // requests at once
	refuses bool // those beyond are refused, and do not wait
	mu      sync.Mutex
	busy    int
	served  int
}

func (c *counting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/v1/chat/completions" {
		c.fake.ServeHTTP(w, r)
		return
	}
	for entered := false; !entered; {
		c.mu.Lock()
		if entered = c.busy < c.width; entered {
			c.busy++
		}
		c.mu.Unlock()
		if !entered && c.refuses {
			refuse(w, 429, "one at a time")
			return
		}
		if !entered {
			time.Sleep(10 * time.Millisecond)
		}
	}
	time.Sleep(2 * time.Second)
	answer := &answered{ResponseWriter: w}
	c.fake.ServeHTTP(answer, r)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.busy--
	if answer.status == 0 {
		c.served++
	}
}

// answered notes the status of a refusal.
type answered struct {
	http.ResponseWriter
	status int
}

func (a *answered) WriteHeader(status int) {
	a.status = status
	a.ResponseWriter.WriteHeader(status)
}

func (a *answered) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// Texts are counted while the trial goes on, and each is paid for once. A server that takes one request at a time
// counts them one after another.
func TestTextsAreCountedDuringTheTrial(t *testing.T) {
	texts := []string{"one", "a longer text"}
	for name, c := range map[string]struct {
		server *counting
		served int
		took   time.Duration // at most
		notes  int
	}{
		"at once":               {&counting{width: 9}, 3, 2100 * time.Millisecond, 0},
		"one waits for another": {&counting{width: 1}, 3, 7 * time.Second, 0},
		"one at a time":         {&counting{width: 1, refuses: true}, 3, 9 * time.Second, 0},
		"a field is rejected": {&counting{width: 9, fake: &fake{rejects: map[string]string{"min_tokens": "min_tokens?"}}},
			3, 6100 * time.Millisecond, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if c.server.fake == nil {
					c.server.fake = &fake{}
				}
				c.server.fake.models, c.server.fake.letters = vllmModels, true
				c.server.fake.chat = func(a *asked) {
					for n := range a.n {
						time.Sleep(time.Millisecond)
						a.say("content", n+1)
					}
					a.end("length", a.n)
				}
				dial := testkit.ServePipes(t, c.server)
				p := prober(t, client.Options{URL: "server", Dial: dial})
				defer p.Close()
				start := time.Now()
				f, err := p.Preflight(t.Context(), Workload{Texts: texts})
				if err != nil || len(f.Notes) != c.notes {
					t.Fatalf("%v, notes %v", err, f.Notes)
				}
				counts, err := p.Count(t.Context(), texts...)
				took := time.Since(start)
				if err != nil || counts[0] != 3 || counts[1] != 13 || p.CountSource() != countUsage {
					t.Errorf("%v from %q, %v", counts, p.CountSource(), err)
				}
				if c.server.served != c.served || took > c.took {
					t.Errorf("%d requests were answered in %v, want %d in %v at most", c.server.served, took, c.served, c.took)
				}
			})
		})
	}
}
