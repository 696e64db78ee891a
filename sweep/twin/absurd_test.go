package twin

import (
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
	} {
		twin := fine()
		spoil(twin)
		if err := twin.validate(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
