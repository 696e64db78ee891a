package inputs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const oneRow = `- **M**, **1** x **L20**, **vLLM**, prompt_tokens=512, generated_tokens=128

| Benchmark | Requests per Second | Request Latency | Time to First Token | Inter Token Latency | Output Token Throughput |
|---|---|---|---|---|---|
| synchronous | 0.93 req/sec | 1.07 sec | 81.01 ms | 7.72 ms | 119.32 tokens/sec |
`

// TestReadSaysWhatItDidNotRead checks the note on a row that is lost, and the error for a document without results.
func TestReadSaysWhatItDidNotRead(t *testing.T) {
	for _, c := range []struct{ text, said, err string }{
		{oneRow, "", ""},
		{oneRow + "\nNext page\n\n| asynchronous@7.42 | 7.19 req/sec | 4.11 sec | 98 ms | 31 ms | 919 tokens/sec |\n",
			"1 figures or lines could not be read", ""},
		{"Test of 2025-06-11\n\n| Engine | Power |\n|---|---|\n| vLLM | 300 W |\n", "",
			"a table with other columns (Engine, Power) is not read; known are Benchmark and at least three of Requests per Second"},
		{"==== Serving Benchmark Result ====    ==== Serving Benchmark Result ====\nBackend: vllm    Backend: sglang\n", "",
			"side by side"},
	} {
		path := filepath.Join(t.TempDir(), "doc.md")
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		_, err := Read(&said, []string{path})
		if (err != nil) != (c.err != "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q: %v, want %q", c.text, err, c.err)
		}
		if !strings.Contains(said.String(), c.said) || (said.String() != "") != (c.said != "") {
			t.Errorf("%q: %q, want %q", c.text, said.String(), c.said)
		}
	}
}
