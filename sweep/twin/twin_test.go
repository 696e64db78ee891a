package twin

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestTheFileIsRead writes a twin, reads it again, and gets the same server; unknown keys and nonsense are refused.
func TestTheFileIsRead(t *testing.T) {
	tw := &Twin{Version: Version, Slots: 8, StepTokens: 256, Step: Step{Read: Read{FixedMS: 10}}, Draws: [][]float64{{1, 2, 3, 4, 5, 6, 7, 8}},
		Intervals: map[string][2]float64{"step.read.fixed_ms": {9, 11}}, Unknown: []string{"kv_tokens"}}
	b, err := tw.Encode()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "twin.yaml")
	open := func(text string) (*Twin, error) {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return Open(path)
	}
	again, err := open(string(b))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(tw, again); diff != "" {
		t.Errorf("(-written +read):\n%s", diff)
	}
	for text, want := range map[string]string{
		string(b) + "speed: 3\n":                                     "speed",
		strings.Replace(string(b), "twin: 1", "twin: 2", 1):          "twin: 1",
		strings.Replace(string(b), "slots: 8", "slots: 0", 1):        "slots",
		strings.Replace(string(b), "fixed_ms: 10", "fixed_ms: 0", 1): "no time",
		"url: http://x\n": "url",
	} {
		if _, err := open(text); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q instead of an error about %s", err, want)
		}
	}
}
