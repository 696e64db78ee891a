package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	simserver "llmsweep/client/sim/server"
)

// TestMeasurementsBeginSoon has a server whose first tokens come after two seconds: what must be known before the first
// stage is asked at the same time, and takes one such wait.
func TestMeasurementsBeginSoon(t *testing.T) {
	for name, args := range map[string][]string{
		"run": {"run", "--concurrency", "4", "--requests", "8"}, "sweep": {"sweep", "--stage-time", "1s", "--points", "1",
			"--budget", "20s"},
	} {
		t.Run(name, func(t *testing.T) {
			virtually(t, func(t *testing.T, w *world) {
				const ttft = 2 * time.Second
				var mu sync.Mutex
				var asked int
				var first time.Duration
				began, sim := time.Now(), w.simulated(simserver.Options{})
				url, _ := w.server(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
					body, _ := io.ReadAll(r.Body)
					r.Body = io.NopCloser(bytes.NewReader(body))
					var o struct {
						Tokens int `json:"max_tokens"`
					}
					if json.Unmarshal(body, &o) == nil && o.Tokens > 0 {
						mu.Lock()
						switch {
						case first > 0:
						case o.Tokens == 8:
							first = time.Since(began)
						default:
							asked++
						}
						mu.Unlock()
						time.Sleep(ttft)
					}
					sim.ServeHTTP(rw, r)
				}))
				w.must(append(args, url, "--warmup", "0", "--prompt-tokens", "64", "--output-tokens", "8", "--no-selftest",
					"--plain")...)
				if asked != 3 || first < ttft || first > 2*ttft {
					t.Errorf("%d requests before the first measured one, which was sent after %v", asked, first)
				}
			})
		})
	}
}
