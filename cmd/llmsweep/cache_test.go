package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	simserver "llmsweep/client/sim/server"
	"llmsweep/sweep/simtest"
)

// resetting counts the requests that empty the cache of a server, and refuses them with a status; 0 for not at all.
type resetting struct {
	http.Handler
	refuses int
	asked   atomic.Int32
}

func (c *resetting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodPost && (r.URL.Path == "/reset_prefix_cache" || r.URL.Path == "/flush_cache") {
		c.asked.Add(1)
		if c.refuses > 0 {
			http.Error(w, http.StatusText(c.refuses), c.refuses)
			return
		}
	}
	c.Handler.ServeHTTP(w, r)
}

// caching starts a caching server of an engine.
func (w *world) caching(engine string, refuses int) (string, *resetting) {
	w.t.Helper()
	config := simtest.Slowed(simtest.Preset(w.t, "demo"), 5)
	config.PrefixCache = true
	c := &resetting{Handler: w.simulation(config, simserver.Options{Engine: engine}), refuses: refuses}
	url, _ := w.server(c)
	return url, c
}

// TestResetCache measures one prompt at three loads. With --reset-cache it is in no cache at the beginning of a row,
// nor is it among the hits that the run allows. In compare --live the caches of both servers are emptied.
func TestResetCache(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		set := w.write("one.jsonl", fmt.Sprintf("{\"prompt\":%q}\n", strings.Repeat("river stone market ", 100)))
		var urls []string
		var servers []*resetting
		for i, engine := range []string{"vllm", "sglang", "vllm"} {
			url, server := w.caching(engine, 0)
			urls, servers = append(urls, url), append(servers, server)
			resets, out := i < 2, w.path(fmt.Sprint(i))
			args := []string{"run", url, "--concurrency", "1,2,3", "--requests", "6", "--dataset", set, "--max-tokens", "4",
				"--no-selftest", "--plain", "--out", out}
			if resets {
				args = append(args, "--reset-cache")
			}
			w.must(args...)
			if n := server.asked.Load(); (n == 3) != resets {
				t.Errorf("%s: %d requests to empty the cache", engine, n)
			}
			cold, ideal := map[string]int{}, map[string]int{}
			for _, r := range recordsOf(t, out) {
				if r.CachedTokens.Or(0) < r.PromptTokens.Value()/2 {
					cold[r.Stage]++
				}
				if r.IdealTokens == 0 {
					ideal[r.Stage]++
				}
			}
			for _, st := range open(t, out).Stages {
				if (cold[st.Name] > 0) != resets || (ideal[st.Name] == 1) != resets {
					t.Errorf("%s %t: in %s %d prompts were new to the server, by the run %d", engine, resets, st.Name,
						cold[st.Name], ideal[st.Name])
				}
			}
		}
		w.must(pairwise(urls[0], urls[1], "--concurrency", "2", "--reset-cache")...)
		if m, n := servers[0].asked.Load(), servers[1].asked.Load(); m < 8 || m != n {
			t.Errorf("%d and %d requests to empty the caches", m, n)
		}
	})
}

// TestResetCacheOfReplicas empties the caches of all servers, and says once of one without such a request what that
// means, and asks it no more.
func TestResetCacheOfReplicas(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		good, counted := w.caching("vllm", 0)
		bad, refusing := w.caching("vllm", http.StatusNotFound)
		args := []string{"--concurrency", "2,4,6", "--requests", "20", "--reset-cache"}
		_, errs := w.must(brief(append([]string{"run", good, good, "--out", w.path("good")}, args...)...)...)
		if n := counted.asked.Load(); n != 6 || !strings.Contains(errs, "prefix cache is emptied before each row") {
			t.Errorf("%d requests for 3 rows of 2 servers\n%s", n, errs)
		}
		out, errs := w.must(brief(append([]string{"run", good, bad, "--out", w.path("bad")}, args...)...)...)
		const said = "The server's prefix cache was not emptied before concurrent@2 ("
		const means = "VLLM_SERVER_DEV_MODE=1): rows may be answered from what earlier rows left in it."
		for where, text := range map[string]string{"console": out, "progress": errs} {
			flat := strings.Join(strings.Fields(text), " ")
			if strings.Count(flat, said) != 1 || !strings.Contains(flat, means) {
				t.Errorf("%s: it is not said once that the cache was kept:\n%s", where, text)
			}
		}
		if run, n := open(t, w.path("bad")), refusing.asked.Load(); n != 2 || len(run.Warnings) != 1 ||
			run.Warnings[0].Code != "server.cache-kept" {
			t.Errorf("asked %d times, run.json has %v", n, run.Warnings)
		}
	})
}
