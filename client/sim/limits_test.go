package sim

import (
	"errors"
	"testing"
)

func TestFits(t *testing.T) {
	c := MachineConfig{Model: Models()[0], GPU: GPUs()[0], MaxModelLen: 100, KVTokens: 64}.WithDefaults()
	for _, tc := range []struct {
		prompt, output int
		ok             bool
	}{{50, 15, true}, {50, 16, false}, {90, 11, false}} {
		if err := c.Fits(tc.prompt, tc.output); (err == nil) != tc.ok || err != nil && !errors.Is(err, errTooLong) {
			t.Errorf("%d -> %d: %v", tc.prompt, tc.output, err)
		}
	}
}
