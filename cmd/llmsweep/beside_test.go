package main

import (
	"encoding/csv"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"llmsweep/cmd/llmsweep/console"
)

// TestPredictedBesideMeasured measures a twin at a rate and in a closed loop. What the same twin predicts is what was measured; what a twin of
// half the speed predicts is not.
func TestPredictedBesideMeasured(t *testing.T) {
	notInShort(t)
	if !apart(t) {
		return
	}
	t.Chdir(t.TempDir())
	inBubble(t, "", func(t *testing.T, w *world) {
		defer w.cancel(nil)
		w.write("twin.yaml", twinYAML)
		w.write("slow.yaml", strings.Replace(twinYAML, "fixed_ms: 10", "fixed_ms: 20", 1))
		flags := []string{"--requests", "300", "--warmup", "1", "--no-selftest", "--prompt-tokens", "64", "--output-tokens", "11", "--plain"}
		w.must(append([]string{"run", "sim:twin.yaml", "--concurrency", "2,6", "--out", "a"}, flags...)...)
		w.must(append([]string{"run", "sim:twin.yaml", "--rate", "25", "--out", "b"}, flags...)...)
		worst := func(dir, file string) (worst float64, seen map[string]bool) {
			out, _ := w.must("report", dir, "--twin", file, "--format", "csv")
			rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			seen = map[string]bool{}
			for _, r := range rows[1:] {
				off, err := strconv.ParseFloat(r[5], 64)
				if err != nil {
					t.Errorf("no error in %q", r)
				}
				if seen[r[2]] = true; !strings.Contains(r[2], "ttft") { // whose tokens the latency of the network of pipes is in
					worst = max(worst, math.Abs(off))
				}
			}
			return worst, seen
		}
		same, seen := worst("a", "twin.yaml")
		for _, metric := range []string{"saturation_output_tokens_per_s", "requests_per_s", "output_tokens_per_s", "ttft_p50_ms", "ttft_p99_ms", "itl_p50_ms", "itl_p99_ms"} {
			if !seen[metric] {
				t.Errorf("no row has %s", metric)
			}
		}
		if slow, _ := worst("a", "slow.yaml"); same > 0.04 || slow < 0.4 {
			t.Errorf("the same twin is off by %v, a slow one by %v", same, slow)
		}
		if off, _ := worst("b", "twin.yaml"); off > 0.04 {
			t.Errorf("at a rate the same twin is off by %v", off)
		}
		out, _ := w.must("report", "a", "--twin", "twin.yaml", "--lang", "zh", "--format", "markdown")
		if !strings.Contains(out, "concurrent") || !strings.Contains(out, "饱和点") || !strings.Contains(out, "未见过") {
			t.Error(out)
		}
		// Of the run that it was fitted to, what the check left out has the check's prediction.
		run := open(t, w.path("a"))
		w.write("own.yaml", twinYAML+fmt.Sprintf("measured: [%s]\ncheck: {error: 0, passed: true, rows: [{stage: %q, predicted: {itl_p50_ms: 77}, measured: {}}]}\n",
			run.Started.UTC().Truncate(time.Second).Format(time.RFC3339), run.Stages[0].Name))
		out, _ = w.must("report", "a", "--twin", "own.yaml", "--format", "csv")
		if !strings.Contains(out, run.Stages[0].Name+",held-out,itl_p50_ms,77,10,") || !strings.Contains(out, run.Stages[1].Name+",fitted,itl_p50_ms,10,10,") {
			t.Error(out)
		}
		page, _ := w.must("report", "a", "--twin", "twin.yaml", "--format", "html")
		for _, part := range []string{"predicted-loop-ttft", "predicted-loop-output", "Dashed line: predicted", "虚线为预测值"} {
			if !strings.Contains(page, part) {
				t.Errorf("the page has no %q", part)
			}
		}
		for _, wrong := range [][]string{{"report", "a", "a", "--twin", "twin.yaml"}, {"report", "a", "--twin", "none.yaml"}, {"report", "a", "--twin", "twin.yaml", "--format", "svg"}} {
			if code, _, errs := w.llmsweep(wrong...); code != console.WrongUsage {
				t.Errorf("%q: exit %d\n%s", wrong, code, errs)
			}
		}
	})
}
