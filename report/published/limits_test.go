package published

import (
	"strings"
	"testing"

	"github.com/tidwall/gjson"
)

// TestLimits: what is as large as a limit allows is read, and what is larger by one is not.
func TestLimits(t *testing.T) {
	const (
		heading = "- **M**, **2** x **L20**, **vLLM**, prompt_tokens=512, generated_tokens=128"
		table   = "\n\n| Benchmark | RPS | TTFT (s) | E2E (s) |\n|---|---|---|---|\n" +
			"| synchronous | 0.93 req/s | 0.08 | 1.07 |\n"
	)
	pad := func(s string, n int) string { return s + strings.Repeat("x", n-len(s)) }
	for _, c := range []struct {
		what string
		n    int
		text func(n int) string
		read func(doc *Document) bool
	}{
		{"bytes of a label's text", 300, func(n int) string { return pad(heading+", a=", n) + table },
			func(doc *Document) bool { return doc.Runs[0].Source.Labels["engine"].Text != "vLLM" }},
		{"lines of a command", 40, func(n int) string {
			return "vllm serve /m/M \\\n" + strings.Repeat("--x y \\\n", n-2) + "--tp 4\n\nvLLM Stress Test Results\n" +
				"┃ Metric ┃ Value ┃\n│ Total Requests │ 300 │\n"
		}, func(doc *Document) bool { return doc.Runs[0].Labels.GPUs == 4 }},
		{"rows", 1000,
			func(n int) string { return heading + table + strings.Repeat("| x | 0.93 req/s | 0.08 | 1.07 |\n", n-1) },
			func(doc *Document) bool { return len(doc.Remarks) == 0 }},
	} {
		for _, n := range []int{c.n, c.n + 1} {
			doc, _ := ParseText("doc", strings.NewReader(c.text(n)))
			if read := c.read(doc); read != (n == c.n) {
				t.Errorf("%d %s: read is %v %v", n, c.what, read, doc)
			}
		}
	}
	for n, last := range map[int]string{62: "x", 63: "x │"} { // with the ends of the line, 64 cells
		if cells := splitCells(strings.Repeat("│ x ", n) + "│"); cells[len(cells)-1] != last {
			t.Errorf("%d cells end in %q", n, cells[len(cells)-1])
		}
	}
	for seconds, year := range map[string]int{"999999999": 1, "1000000000": 2001, "9000000000": 2255, "9000000001": 1} {
		if got := unix(gjson.Parse(seconds)).Year(); got != year {
			t.Errorf("%s s is in %d, want %d", seconds, got, year)
		}
	}
}
