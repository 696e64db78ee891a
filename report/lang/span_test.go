package lang

import (
	"testing"

	"llmsweep/client/note"
)

// TestSpans checks that the length of a plan is words in a text, and the value of a flag in a command.
func TestSpans(t *testing.T) {
	w := Words{"test": Say("{left:span}: --budget {left:flag}", "{left:span}：--budget {left:flag}")}
	for _, c := range []struct {
		seconds float64
		en, zh  string
	}{
		{9.2, "10 s: --budget 10s", "10 秒：--budget 10s"},
		{150, "3 min: --budget 2m30s", "3 分钟：--budget 2m30s"},
		{9000, "2.5 h: --budget 2h30m", "2.5 小时：--budget 2h30m"},
	} {
		n := note.Note{Code: "test", Args: map[string]any{"left": c.seconds}}
		if en, zh := w.Say(n, English), w.Say(n, Chinese); en != c.en || zh != c.zh {
			t.Errorf("%v s: %q, %q", c.seconds, en, zh)
		}
	}
}
