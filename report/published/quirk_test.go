package published

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"llmsweep/sweep/rundir"
)

// TestWaysOfWriting: what people change in the six-column table without changing what it says.
func TestWaysOfWriting(t *testing.T) {
	want := []string{"synchronous 0.51 1.96 0.09557 0.02101 45.36", "poisson@1.57 1.56 2.26 0.10442 0.02596 1129.68"}
	for name, text := range map[string]string{
		"as published": `
- **M-AWQ**, **2**张**L20 48GB**, **vLLM**, prompt_tokens=512,generated_tokens=128

| Benchmark | Requests per Second | Request Latency | Time to First Token | Inter Token Latency | Output Token Throughput |
| :---: | :---: | :---: | :---: | :---: | :---: |
| synchronous | 0.51 req/sec | 1.96 sec | 95.57 ms | 21.01 ms | 45.36 tokens/second |
| asynchronous@1.57 req/sec | 1.56 req/sec | 2.26 sec | 104.42 ms | 25.96 ms | 1,129.68 tokens/second |`,
		"English, no spaces, other units, remarks": `
$ llm-bench --sweep   // how it was run
* **M-AWQ**, **2** x **L20 48GB**, vLLM, prompt_tokens=512, generated_tokens=128
// all idle before
|Benchmark|Requests per Second|Request Latency|Time to First Taken|Inter Tokn Latency|Output Token Throughput|
|---|---|---|---|---|---|
|synchronous|0.51req/s|1960ms|0.09557 s|21.01|45.36tok/s|
|async @ 1.57|1.56|2.26s|104420 us|25.96ms|1129.68 tokens/sec|`,
		"Chinese, other order, no outer pipes": `
- **M-AWQ**，2张L20 48GB，vLLM，prompt_tokens=512，generated_tokens=128

测试 | 请求延迟 | 每秒请求数 | 首 Token 时延 | Token 间延迟 | 输出 Token 吞吐量
--- | --- | --- | --- | --- | ---
同步 | 1.96 秒 | 0.51 请求/秒 | 95.57 毫秒 | 21.01 毫秒 | 45.36 tokens/秒
异步@1.57 | 2.26 秒 | 1.56 req/s | 104.42 ms | 25.96 ms | 1129.68`,
	} {
		doc := parseText(t, strings.ReplaceAll(text, "tokens/秒", "tokens/s"))
		if len(doc.Runs) != 1 {
			t.Errorf("%s: %d results; %v", name, len(doc.Runs), doc.Remarks)
			continue
		}
		var got []string
		for _, s := range doc.Runs[0].Stages {
			got = append(got, fmt.Sprintf("%s %g %g %g %g %g", s.Name, s.Rates.Completed.Value(), s.Latency.Mean.Value(),
				s.TTFT.Mean.Value(), s.InterToken.Value(), s.TokensPerS.Output.Value()))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		labels := rundir.Labels{Model: "M", Quant: "AWQ", GPU: "L20 48GB", GPUs: 2, Engine: "vLLM"}
		if diff := cmp.Diff(labels, doc.Runs[0].Labels); diff != "" {
			t.Errorf("%s: labels (-want +got):\n%s", name, diff)
		}
		for _, r := range doc.Remarks {
			if r.Unread {
				t.Errorf("%s: %v", name, r)
			}
		}
	}
}

// TestOtherFrames: stress tables drawn by other means, and blocks with noise in them.
func TestOtherFrames(t *testing.T) {
	for name, text := range map[string]string{
		"ascii": `
+---------------------+---------------+
| Metric              | Value         |
+=====================+===============+
| Sucessful Requests  | 100 (100.0%)  |
| Total Test Duration | 1,259.1 s     |
| P90 Response Time   | 25.15 seconds |
+---------------------+---------------+`,
		"Markdown": "| Metric | Value |\r\n|---|---|\r\n| Successful Requests | 100 |\r\n| Total Test Duration | 1259.1seconds |\r\n| P90 Response Time | 25150 ms |\r\n",
		"serving, cut off": `
===== Serving Benchmark Result =====
Successful requests: 100
// a remark
Benchmark duration (s):     1259.10
P90 E2E Latency (ms):  25150`,
	} {
		doc := parseText(t, text)
		if len(doc.Runs) != 1 {
			t.Errorf("%s: %d results; %v", name, len(doc.Runs), doc.Remarks)
			continue
		}
		s := doc.Runs[0].Stages[0]
		if s.Requests.OK != 100 || s.Window != 1259.1 || s.Latency.P90 != rundir.Exactly(25.15) {
			t.Errorf("%s: %d requests, %v s, p90 %v", name, s.Requests.OK, s.Window, s.Latency.P90)
		}
	}
}

// TestUnreadLinesAreNamed: nothing that looks like a result is dropped in silence.
func TestUnreadLinesAreNamed(t *testing.T) {
	head := "| Benchmark | Requests per Second | Request Latency | Time to First Token | Inter Token Latency | Output Token Throughput |\n|---|---|---|---|---|---|\n"
	box := "┃ Metric ┃ Value ┃\n│ Total Requests │ 100 │\n"
	block := "==== Serving Benchmark Result ====\nSuccessful requests: 3\n"
	for text, want := range map[string]Remark{
		"- **M**, prompt_tokens=5,generated_tokens=x\n" + head + "| synchronous | 1 | 1 | 1 | 1 | 1 |": {Line: 1,
			Text: `"generated_tokens=x" is not a length`, Unread: true},
		"- **M**, **E**, prompt_tokens=5, generated_tokens=9\nprose": {Line: 1,
			Text: "the line names a configuration, but no six-column table follows it", Unread: true},
		head: {Line: 1, Text: "the table has no row", Unread: true},
		head + "| synchronous | 1 | fast | 1 | 1 | 1 |": {Line: 3,
			Text: `Request Latency: "fast" is no number`, Unread: true},
		head + "| synchronous | 1 tokens/sec | 1 | 1 | 1 | 1 |": {Line: 3,
			Text: `Requests per Second: "1 tokens/sec" is in "tokens/sec", which measures something else`, Unread: true},
		head + "| synchronous | 1 | 1 furlong | 1 | 1 | 1 |": {Line: 3,
			Text: `Request Latency: "1 furlong" has the unknown unit "furlong"`, Unread: true},
		head + "| synchronous | 1 | 1e400 | 1 | 1 | 1 |": {Line: 3,
			Text: `Request Latency: "1e400" is no number that a benchmark prints`, Unread: true},
		head + "| asynchronous@fast | 1 | 1 | 1 | 1 | 1 |": {Line: 3,
			Text: `"asynchronous@fast": no rate behind the @`, Unread: true},
		head + "| synchronous | 1 | 1 |": {Line: 3, Text: "the row has 3 cells, the heading 6",
			Unread: true},
		box + "│ Luck │ 7 │": {Line: 3,
			Text: `"Luck" is not a line of this format`, Unread: true},
		box + "│ Total Requests │ 90 │": {Line: 3, Text: "Total Requests is repeated here",
			Unread: true},
		box + "│ Failed Requests │ some │": {Line: 3,
			Text: `Failed Requests: "some" is no number`, Unread: true},
		box + "│ Failed Requests │ 1.5 │": {Line: 3, Text: `Failed Requests: "1.5" is no count`,
			Unread: true},
		box + "│ Failed Requests │ 1 │ 2 │": {Line: 3, Text: "the row has 3 cells, the heading 2",
			Unread: true},
		block + "Karma: 3\n==================================": {Line: 3,
			Text: `"Karma" is not a line of this format`, Unread: true},
		block + "P42 TTFT (ms): 3\n==================================": {Line: 3,
			Text: `"P42 TTFT (ms)" is not a line of this format`, Unread: true},
		block + "well\n==================================": {Line: 3, Text: `"well" is not a line of a serving block`,
			Unread: true},
		strings.Repeat("|", maxTextLine+1): {Line: 1, Text: "the line is longer than 64 KiB and was not read", Unread: true},
	} {
		doc := parseText(t, text)
		found := false
		for _, r := range doc.Remarks {
			found = found || r.Line == want.Line && r.Text == want.Text && r.Unread == want.Unread
		}
		if !found {
			t.Errorf("%.200s\nremarks %v, want %v", text, doc.Remarks, want)
		}
		if doc.Lines[want.Line-1] != Unread && want.Text != "the table has no row" &&
			!strings.Contains(want.Text, "is not a length") {
			t.Errorf("%.200s\nline %d was taken for %d", text, want.Line, doc.Lines[want.Line-1])
		}
	}
}

func TestUnreadableInput(t *testing.T) {
	for text, want := range map[string]string{
		"\x7fELF\x00\x01": "doc: not text (it holds zero bytes); give the text that the tool printed, as UTF-8",
		strings.Repeat("0123456789abcdef", maxBytes/16+
			1): "doc: larger than 32 MiB, which published results never are; cut the results out of it",
	} {
		if _, err := ParseText("doc", strings.NewReader(text)); err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
