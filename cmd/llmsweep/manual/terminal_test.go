package manual

import (
	"strings"
	"testing"

	"llmsweep/report/table"
)

// TestTerminal renders all topics at several widths: no line is wider, but for code, no Markdown is left, and no word
// is lost.
func TestTerminal(t *testing.T) {
	for _, topic := range Topics() {
		page, err := Page(topic)
		if err != nil {
			t.Fatal(err)
		}
		for _, width := range []int{60, 80, 100} {
			text := Terminal(page, width)
			for line := range strings.Lines(text) {
				line = strings.TrimRight(line, "\n")
				code := strings.HasPrefix(line, "    ")
				if table.Width(line) > width && !code {
					t.Errorf("%s at %d columns: %q", topic, width, line)
				}
				if !code && (strings.HasPrefix(line, "#") || strings.HasPrefix(line, "|") || strings.Contains(line, "](")) {
					t.Errorf("%s has Markdown: %q", topic, line)
				}
			}
		}
	}
}

// TestTerminalText renders each kind of line.
func TestTerminalText(t *testing.T) {
	page := "# slo: goals\n\nA **bold** `x*y` and\na [link](../a.md) of words.\n\n- first entry with more words\n- second\n\n    code that stays as long as it is written\n\n" +
		"| part | values |\n|---|---|\n| `ttft` | the time to the first token of it |\n\n| a | b | c |\n|---|---|---|\n| 1 | 2 | 3 |\n\n```sh\nllmsweep\n```\n"
	want := "SLO: GOALS\n\nA bold x*y and a link of\nwords.\n\n- first entry with more\n  words\n- second\n\n    code that stays as long as it is written\n\n" +
		"ttft  the time to the\n      first token of it\n\n1  b: 2\n   c: 3\n\n    llmsweep\n"
	if got := Terminal(page, 24); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
