package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestSlidersJudgePercentiles: on the page, a configuration that was measured here and meets a percentile also meets it at a longer limit.
func TestSlidersJudgePercentiles(t *testing.T) {
	notInShort(t)
	virtually(t, func(t *testing.T, w *world) {
		w.must("sweep", w.slow(), "--label", "gpus=1,gpu=L20", "--out", w.path("l20"), "--stage-time", "5s", "--no-selftest", "--points", "3", "--warmup", "1",
			"--prompt-tokens", "64", "--output-tokens", "8", "--max-concurrency", "16", "--precision", "0", "--plain")
		page := w.path("choice.html")
		w.must("choose", w.path("l20"), "--slo", "ttft:p99<1s", "--demand", "5rps", "--html", page)
		text, err := os.ReadFile(filepath.Clean(page))
		if err != nil {
			t.Fatal(err)
		}
		var data map[string]json.RawMessage
		if err := json.Unmarshal(regexp.MustCompile(`(?s)<script[^>]*application/json[^>]*>(.*?)</script>`).FindSubmatch(text)[1], &data); err != nil {
			t.Fatal(err)
		}
		var choice struct {
			Setups []struct{ Limits []*[3]*float64 }
		}
		if err := json.Unmarshal(data["choose-1"], &choice); err != nil || len(choice.Setups) != 1 {
			t.Fatal(err, len(choice.Setups))
		}
		limits, met := choice.Setups[0].Limits, 0.0
		for step, l := range limits {
			switch {
			case l == nil && met > 0:
				t.Errorf("step %d: not met, but at a shorter limit", step)
			case l != nil && *l[0] < 0.7*met: // the rate is read from a fitted curve; where it is not located, its low end counts
				t.Errorf("step %d: %g req/s, %g at a shorter limit", step, *l[0], met)
			case l != nil:
				met = max(met, *l[0])
			}
		}
		if len(limits) != 13 || met == 0 {
			t.Errorf("%d steps, %g req/s", len(limits), met)
		}
	})
}
