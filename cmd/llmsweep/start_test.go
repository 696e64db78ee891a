package main

import (
	"testing"
	"time"

	"github.com/tidwall/gjson"

	simserver "llmsweep/client/sim/server"
)

// TestMeasurementsBeginSoon has a server whose first tokens come after two seconds: what must be known before the first
// stage is asked at the same time, and takes one such wait.
func TestMeasurementsBeginSoon(t *testing.T) {
	each(t, map[string][]string{"run": {"run", "--concurrency", "4", "--requests", "8"},
		"sweep": {"sweep", "--stage-time", "1s", "--points", "1", "--budget", "20s"}}, func(t *testing.T, w *world, args []string) {
		const ttft = 2 * time.Second
		began := time.Now()
		server, url := w.watched(simserver.Options{})
		server.wait = ttft
		w.must(append(args, url, "--warmup", "0", "--prompt-tokens", "64", "--output-tokens", "8", "--no-selftest",
			"--plain")...)
		before, first := 0, time.Duration(0)
		for i, body := range server.bodies {
			if n := gjson.GetBytes(body, "max_tokens").Int(); n == 8 {
				first = server.at[i].Sub(began)
				break
			} else if n > 0 {
				before++
			}
		}
		if before != 3 || first < ttft || first > 2*ttft {
			t.Errorf("%d requests before the first measured one, which was sent after %v", before, first)
		}
	})
}
