package main

import (
	"math"
	"strings"
	"testing"
	"time"

	"llmsweep/client/sim"
	simserver "llmsweep/client/sim/server"
	"llmsweep/sweep/rundir"
)

// TestSweepOfItems sweeps embeddings and scores on a server that takes 400 ms for a request and eight at a time: 20 requests per second. The reports have
// latencies and items, and nothing of tokens that are not there.
func TestSweepOfItems(t *testing.T) {
	notInShort(t)
	virtually(t, func(t *testing.T, w *world) {
		config, err := sim.Preset("plain8")
		if err != nil {
			t.Fatal(err)
		}
		config.Plain = sim.Plain{FirstToken: 400 * time.Millisecond, PerToken: 10 * time.Millisecond}
		url, _ := w.server(w.simulation(config, simserver.Options{}))
		for name, args := range map[string][]string{"one": {"--api", "embeddings"}, "eight": {"--api", "rerank", "--items", "8", "--slo", "latency:p90<600ms"}} {
			out, errs := w.must(append([]string{"sweep", url, "--prompt-tokens", "256", "--stage-time", "5s", "--points", "4", "--precision", "0", "--no-selftest", "--plain",
				"--out", w.path(name)}, args...)...)
			run := open(t, w.path(name))
			items := map[string]float64{"one": 1, "eight": 8}[name]
			if s := run.Saturation; s == nil || math.Abs(s.Rate.Value()-20) > 1 || math.Abs(s.Output.Value()/s.Rate.Value()-items) > 0.1*items {
				t.Errorf("%s: saturates at %+v, want 20 req/s", name, run.Saturation)
			}
			for i := range run.Stages {
				if s := &run.Stages[i]; s.TTFT.N > 0 || s.ITL.N > 0 || s.Latency.N == 0 || s.TokenSource != "items" || !s.TokensPerS.Input.Known() && s.Verdict != rundir.Undecided {
					t.Errorf("%s: %s has %+v", name, s.Name, s)
				}
			}
			_, errs, _ = strings.Cut(errs, "synchronous") // before the first answer the warm-up has no items
			markdown, _ := w.must("report", w.path(name), "--format", "markdown")
			page, _ := w.must("report", w.path(name), "--format", "html")
			for what, text := range map[string]string{"console": out, "progress": errs, "Markdown": markdown, "page": page} {
				if strings.Contains(text, "TTFT") && what != "page" || strings.Contains(text, "ITL p") || !strings.Contains(text, "items/s") && what != "Markdown" {
					t.Errorf("%s: %s: %s", name, what, excerpt(text))
				}
			}
		}
		out, _ := w.must("compare", w.path("one"), w.path("eight"), "--any-workload")
		if strings.Contains(out, "TTFT") || !strings.Contains(out, "items/s") {
			t.Error(out)
		}
	})
}

// excerpt returns where a text speaks of tokens.
func excerpt(text string) string {
	i := max(0, strings.Index(text, "TTFT")-300)
	return text[i:min(len(text), i+600)]
}

// TestItemsNeedTheirAPI refuses flags that make no sense, in one line.
func TestItemsNeedTheirAPI(t *testing.T) {
	virtually(t, func(t *testing.T, w *world) {
		url, _ := w.server(w.simulated(simserver.Options{}))
		for _, args := range [][]string{
			{"--items", "4"}, {"--api", "rerank", "--output-tokens", "8"}, {"--api", "score", "--slo", "ttft:p99<1s"}, {"--api", "embeddings", "--turns", "2"},
			{"--api", "embeddings", "--items", "0"},
		} {
			if code, _, errs := w.llmsweep(append([]string{"run", url, "--rate", "5", "--requests", "5", "--no-selftest", "--plain"}, args...)...); code != 2 || strings.Count(errs, "\n") > 1 {
				t.Errorf("%q: exit %d, %s", args, code, errs)
			}
		}
	})
}
