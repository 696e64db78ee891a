package page

import (
	"html"
	"regexp"
	"testing"

	"llmsweep/sweep/rundir"
)

// What stands in the Chinese spans of a page is Chinese: a run of English words is a sentence that was not translated.
// Names and units are the same in both languages.
func TestChineseIsWhole(t *testing.T) {
	names := regexp.MustCompile(
		`--[a-z-]+|[a-z0-9_]+@[\d.]+[!*?]*|[a-z_]+:[a-z0-9]+[<>=]\S+|https?://\S+|\b(llmsweep|tiny-random-qwen2|vllm|vLLM|CPUs?|linux|amd64|go[\d.]+|chat|completions|openai|qwen2|synchronous|throughput|poisson|tok|req|TTFT|ITL|SLO|GPU|KV|ms|p\d+|json|records|run|model|engine)\b`,
	)
	words := regexp.MustCompile(`[A-Za-z]{3,}[ ,]+[A-Za-z]{2,}`)
	spans := regexp.MustCompile(`<(?:span|tspan) class="zh" lang="zh">([^<]*)<`)
	run := openReal(t)
	cut := openReal(t)
	cut.State, cut.Stages[2].State = rundir.Interrupted, rundir.Interrupted
	for _, r := range []*rundir.Run{run, cut, {State: rundir.Failed}} {
		found := spans.FindAllStringSubmatch(writeRun(t, r, realRun).text, -1)
		if len(found) < 20 {
			t.Errorf("%d texts are in Chinese", len(found))
		}
		for _, m := range found {
			if left := names.ReplaceAllString(html.UnescapeString(m[1]), "|"); words.MatchString(left) {
				t.Errorf("%q in %q", words.FindString(left), m[1])
			}
		}
	}
}
