package probe

import (
	"net/http"
	"testing"
	"testing/synctest"

	"llmsweep/client"
	"llmsweep/client/note"
	"llmsweep/client/testkit"
)

// caching answers requests that empty its cache, the first ones while others run.
type caching struct {
	path    string
	refuses int // before it does as asked
	busy    func(http.ResponseWriter)
	done    string
	asked   []string
}

func (c *caching) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.asked = append(c.asked, r.Method+" "+r.URL.Path)
	switch {
	case r.Method != http.MethodPost || r.URL.Path != c.path:
		refuse(w, http.StatusNotFound, "Not Found")
	case len(c.asked) <= c.refuses:
		c.busy(w)
	default:
		w.Write([]byte(c.done))
	}
}

const (
	reset = "/reset_prefix_cache"
	flush = "/flush_cache"
	did   = `{"success":true}`
)

func unsuccessful(w http.ResponseWriter) { w.Write([]byte(`{"success":false}`)) }
func badRequest(w http.ResponseWriter)   { http.Error(w, "Flush cache failed.", http.StatusBadRequest) }
func forbidden(w http.ResponseWriter)    { http.Error(w, "admin key needed", http.StatusForbidden) }

func TestEmptyCache(t *testing.T) {
	const never = 1 << 20
	for name, tt := range map[string]struct {
		engine string
		server caching
		want   note.Kind // the zero value where the cache is emptied
		asked  int
	}{
		"vLLM":              {"vLLM", caching{path: reset, done: did}, note.Kind{}, 1},
		"older vLLM":        {"vLLM", caching{path: reset}, note.Kind{}, 1},
		"vLLM, busy":        {"vLLM", caching{path: reset, refuses: 3, busy: unsuccessful, done: did}, note.Kind{}, 4},
		"vLLM, no dev mode": {"vLLM", caching{}, noteCacheDevMode, 1},
		"SGLang":            {"SGLang", caching{path: flush, done: "Cache flushed.\n"}, note.Kind{}, 1},
		"SGLang, busy": {"SGLang", caching{path: flush, refuses: 2, busy: badRequest, done: "Cache flushed.\n"},
			note.Kind{}, 3},
		"always busy":       {"SGLang", caching{path: flush, refuses: never, busy: badRequest}, noteCacheBusy, 51},
		"SGLang, no key":    {"SGLang", caching{path: flush, refuses: never, busy: forbidden}, noteCacheRefused, 1},
		"SGLang without it": {"SGLang", caching{}, noteCacheRefused, 1},
		"unknown engine":    {"", caching{path: flush, done: "Cache flushed.\n"}, note.Kind{}, 2},
		"unknown, neither":  {"", caching{}, noteCacheNeither, 2},
		"another engine":    {"Ollama", caching{}, noteCacheEngine, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			p := prober(t, client.Options{URL: "server", Dial: testkit.ServePipes(t, &tt.server)})
			why := p.EmptyCache(t.Context(), tt.engine)
			if n := len(tt.server.asked); why.Code != tt.want.Code || n != tt.asked {
				t.Errorf("%s: %v after %d requests, want %q after %d", name, why, n, tt.want.Code, tt.asked)
			}
		})
	}
}
