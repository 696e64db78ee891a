package report

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"llmsweep/client/testkit"
)

// English words that may stand in a Chinese text: units, names and keys that are the same in every language.
var (
	englishNames = regexp.MustCompile(`llmsweep sweep URL|--[a-z-]+|\b[a-z_]+_[a-z_]+\b|[a-z]+[@:.][a-z0-9.<>%]+|https?://\S+|\bllmsweep\b|` +
		`llmsweep help [a-z]+|openai api|native api|max_token 512 with|no think mode|no think|the server ignores min_tokens|(before|after) saturation|old +new|Total Test Duration|Benchmark duration|P99 Response Time|Theoretical Max Throughput|Max Tokens|` +
		`\b(req|tok|tokens?|ms|sec|KB|MB|tokens/sec|req/sec|tok/s|req/s|rps|TTFT|TPOT|ITL|SLO|KV|GPU|CPU|CPUs|API|JSONL?|CSV|p\d+|vLLM|SGLang|lmdeploy|Ollama|Triton|` +
		`Qwen[\w.-]*|L20|A100|AWQ|GPTQ-Int\d|chat|completions|synchronous|throughput|asynchronous|linux|amd64|go|GB|Instruct|prompt|messages|conversations|usage)\b`)
	englishRun = regexp.MustCompile(`[A-Za-z]{3,}[ ,]+[A-Za-z]{2,}`)
)

// checkChinese fails on runs of English words. The six-column table and other fixed formats have English headings.
func checkChinese(t *testing.T, what, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "| Benchmark | Requests per Second") {
			continue
		}
		left := englishNames.ReplaceAllString(line, "|")
		if found := englishRun.FindString(left); found != "" {
			t.Errorf("%s: %q in %s", what, found, line)
		}
	}
}

// TestChineseIsWhole: no golden file in Chinese has a run of English words, but for what servers and tests say. Package
// lang tests each phrase alone.
func TestChineseIsWhole(t *testing.T) {
	files := slices.Concat(testkit.Must(filepath.Glob("*/testdata/*.zh.*")),
		testkit.Must(filepath.Glob("testdata/*.zh.*")))
	if len(files) < 20 {
		t.Fatal(files)
	}
	others := regexp.MustCompile(`^progress|^testdata/(failed|interrupted|several|selftest)|serving|stress`)
	for _, path := range files {
		if !others.MatchString(path) {
			checkChinese(t, path, string(testkit.Must(os.ReadFile(path))))
		}
	}
}
