package main

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	simserver "llmsweep/client/sim/server"
	"llmsweep/cmd/llmsweep/console"
	"llmsweep/sweep/rundir/store"
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
	config := simtest.Preset(w.t, "demo")
	config.PrefixCache = true
	c := &resetting{Handler: w.simulation(config, simserver.Options{Engine: engine}), refuses: refuses}
	url, _ := w.server(c)
	return url, c
}

// onePrompt writes a dataset of one prompt.
func (w *world) onePrompt() string {
	return w.write("one.jsonl", fmt.Sprintf("{\"prompt\":%q}\n", strings.Repeat("river stone market ", 100)))
}

// TestResetCache measures one prompt at three loads. With --reset-cache it is in no cache at the beginning of a row,
// nor is it among the hits that the run allows.
func TestResetCache(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		set := w.onePrompt()
		flag := []string{"--reset-cache"}
		for _, tc := range []struct {
			engine string
			flag   []string
			resets int32
		}{{"vllm", flag, 3}, {"sglang", flag, 3}, {"vllm", nil, 0}, {"sglang", nil, 0}} {
			url, server := w.caching(tc.engine, 0)
			out := w.path(fmt.Sprint(tc.engine, len(tc.flag)))
			w.must(append([]string{"run", url, "--concurrency", "1,2,3", "--requests", "6", "--dataset", set, "--max-tokens",
				"4",
				"--no-selftest", "--plain", "--out", out}, tc.flag...)...)
			if n := server.asked.Load(); n != tc.resets {
				t.Errorf("%s %v: %d requests to empty the cache, want %d", tc.engine, tc.flag, n, tc.resets)
			}
			cold, ideal := map[string]int{}, map[string]int{}
			for r, err := range store.Records(out) {
				if err != nil {
					t.Fatal(err)
				}
				if r.CachedTokens.Or(0) < r.PromptTokens.Value()/2 {
					cold[r.Stage]++
				}
				if r.IdealTokens == 0 {
					ideal[r.Stage]++
				}
			}
			for _, st := range open(t, out).Stages {
				if (cold[st.Name] > 0) != (tc.resets > 0) || (ideal[st.Name] == 1) != (tc.resets > 0) {
					t.Errorf("%s %v: in %s %d prompts were new to the server, by the run %d",
						tc.engine, tc.flag, st.Name, cold[st.Name], ideal[st.Name])
				}
			}
		}
	})
}

// TestResetCacheOfReplicas empties the caches of all servers, and says of one without such a request what that means.
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
		page, _ := w.must("report", w.path("bad"), "--format", "markdown")
		for where, text := range map[string]string{"console": out, "progress": errs, "report": page} {
			flat := strings.Join(strings.Fields(text), " ")
			if strings.Count(flat, said) != 1 || !strings.Contains(flat, means) {
				t.Errorf("%s: it is not said once that the cache was kept:\n%s", where, text)
			}
		}
		chinese, _ := w.must("report", w.path("bad"), "--lang", "zh")
		if !strings.Contains(chinese, "未能清空服务的前缀缓存") {
			t.Error(chinese)
		}
		if n := refusing.asked.Load(); n != 2 {
			t.Errorf("the server that has none was asked %d times", n)
		}
		if run := open(t, w.path("bad")); len(run.Warnings) != 1 || run.Warnings[0].Code != "server.cache-kept" {
			t.Errorf("run.json has %v", run.Warnings)
		}
		if code, _, errs := w.llmsweep("report", w.path("bad"), "--reset-cache"); code != console.WrongUsage {
			t.Errorf("exit %d: %s", code, errs)
		}
	})
}

// TestResetCacheOfBothServers compares two servers live: the cache of each is emptied, also to find the loads.
func TestResetCacheOfBothServers(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		a, first := w.caching("vllm", 0)
		b, second := w.caching("sglang", 0)
		w.must(pairwise(a, b, "--concurrency", "2", "--reset-cache")...)
		if m, n := first.asked.Load(), second.asked.Load(); m < 5 || m != n {
			t.Errorf("%d and %d requests to empty the caches", m, n)
		}
	})
}
