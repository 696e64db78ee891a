package probe

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client"
	"llmsweep/client/testkit"
)

// A busy server is waited for as long as it asks, within a limit. A silent one costs a limited time.
func TestPatience(t *testing.T) {
	const models, chat, always, s = "/v1/models", "/v1/chat/completions", 1000, time.Second
	for name, tt := range map[string]struct {
		path          string // where the server is busy
		status        int    // 0: it never answers
		after         string // the value of Retry-After
		times         int    // it is busy for that many requests
		timeout, took time.Duration
		kind          kind // of the error; "" for none
	}{
		"models, 7 s":             {models, 429, "7", 1, 0, 7 * s, ""},
		"chat, 7 s, twice":        {chat, 429, "7", 2, 0, 14 * s, ""},
		"chat, a date":            {chat, 429, "Sat, 01 Jan 2000 00:00:09 GMT", 1, 0, 9 * s, ""},
		"chat, no time named":     {chat, 429, "", 3, 0, 7 * s, ""},
		"chat, 503 with a time":   {chat, 503, "2", 1, 0, 2 * s, ""},
		"chat, 503 without":       {chat, 503, "", 2, 0, 3 * s, ""},
		"models, loading":         {models, 503, "", 4, 0, 15 * s, ""},
		"chat, 503 always":        {chat, 503, "", always, 0, 31 * s, kindServer},
		"models, always":          {models, 429, "", always, 0, 31 * s, kindBusy},
		"chat, too long":          {chat, 429, "3600", always, 0, 0, kindBusy},
		"chat, silent":            {chat, 0, "", always, 0, trialTime, kindTimeout},
		"chat, silent, --timeout": {chat, 0, "", always, 20 * s, 20 * s, kindTimeout},
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

// slow serves requests that take two seconds each.
type slow struct {
	fake
	slots   chan struct{} // for requests at once
	refuses bool          // those beyond are refused, and do not wait
}

func (s *slow) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/v1/chat/completions" {
		select {
		case s.slots <- struct{}{}:
		default:
			if s.refuses {
				refuse(w, 429, "one at a time")
				return
			}
			s.slots <- struct{}{}
		}
		defer func() { <-s.slots }()
		time.Sleep(2 * time.Second)
	}
	s.fake.ServeHTTP(w, r)
}

// Texts are counted while the trial goes on, and each is paid for once. A server that takes one request at a time
// counts them one after another.
func TestTextsAreCountedDuringTheTrial(t *testing.T) {
	for name, c := range map[string]struct {
		width   int
		refuses bool
		rejects map[string]string
		took    time.Duration // at most
	}{
		"at once":               {9, false, nil, 2100 * time.Millisecond},
		"one waits for another": {1, false, nil, 7 * time.Second},
		"one at a time":         {1, true, nil, 9 * time.Second},
		"a field is rejected":   {9, false, map[string]string{"min_tokens": "min_tokens?"}, 6100 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var served atomic.Int32
				server := &slow{fake{models: vllmModels, letters: true, rejects: c.rejects, chat: func(a *asked) {
					served.Add(1)
					for n := range a.n {
						time.Sleep(time.Millisecond)
						a.say("content", n+1)
					}
					a.end("length", a.n)
				}}, make(chan struct{}, c.width), c.refuses}
				p := prober(t, client.Options{URL: "server", Dial: testkit.ServePipes(t, server)})
				start, texts := time.Now(), []string{"one", "a longer text"}
				f, err := p.Preflight(t.Context(), Workload{Texts: texts})
				if err != nil || len(f.Notes) != len(c.rejects) {
					t.Fatalf("%v, notes %v", err, f.Notes)
				}
				counts, err := p.Count(t.Context(), texts...)
				took := time.Since(start)
				if err != nil || counts[0] != 3 || counts[1] != 13 || p.CountSource() != countUsage {
					t.Errorf("%v from %q, %v", counts, p.CountSource(), err)
				}
				if served.Load() != 3 || took > c.took {
					t.Errorf("%d requests were answered in %v, want 3 in %v at most", served.Load(), took, c.took)
				}
			})
		})
	}
}
