package twin

import (
	"bytes"
	"fmt"
	"math"
	"testing"
)

// Numbers that no measurement gives are refused before they are simulated.
func TestAbsurdTwinsAreRefused(t *testing.T) {
	fine := func() *Twin {
		t := &Twin{Version: Version, Slots: 8, StepTokens: 2048}
		t.Step.Read.FixedMS = 5
		return t
	}
	if err := fine().validate(); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func(*Twin){
		"slots":     func(t *Twin) { t.Slots = 999999999999 },
		"tokens":    func(t *Twin) { t.KVTokens = math.MaxInt64 },
		"NaN":       func(t *Twin) { t.Step.Read.FixedMS = math.NaN() },
		"infinite":  func(t *Twin) { t.Step.Compute.FixedMS = math.Inf(1) },
		"huge":      func(t *Twin) { t.Step.Read.FixedMS = 1e300 },
		"latency":   func(t *Twin) { t.LatencyMS = math.NaN() },
		"jitter":    func(t *Twin) { t.Jitter = 50 },
		"no number": func(t *Twin) { t.Jitter = math.NaN() },

		"negative block": func(t *Twin) { t.Block = -16 },
		"huge block":     func(t *Twin) { t.Block = mostBlock + 1 },
		"largest block":  func(t *Twin) { t.Block = math.MaxInt64 },
	} {
		twin := fine()
		spoil(twin)
		if err := twin.validate(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// A file says nothing of the size of a block, or a size that a cache can have.
func TestAbsurdBlocksInAFileAreRefused(t *testing.T) {
	fine := &Twin{Version: Version, Slots: 8, StepTokens: 2048}
	fine.Step.Read.FixedMS = 5
	file, err := fine.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(file, []byte("block_tokens")) {
		t.Fatalf("a block that is not known is written:\n%s", file)
	}
	for block, want := range map[string]bool{"": true, "1": true, "16": true, fmt.Sprint(mostBlock): true,
		"0": false, "-1": false, "1000001": false, "1e30": false, ".nan": false, ".inf": false, "many": false} {
		text := file
		if block != "" {
			text = fmt.Appendf(bytes.Clone(file), "block_tokens: %s\n", block)
		}
		if _, err := parse(text); (err == nil) != want {
			t.Errorf("block_tokens: %q: error %v", block, err)
		}
	}
	for _, key := range []string{"kv_tokens", "max_tokens"} {
		if _, err := parse(fmt.Appendf(bytes.Clone(file), "%s: 0\n", key)); err == nil {
			t.Errorf("%s: 0 is accepted", key)
		}
	}
}
