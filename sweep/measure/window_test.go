package measure

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// A window of whole waves lies within the stage, also where a little of its first wave is missing.
func TestWholeWavesLieInTheStage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		to := time.Duration(rapid.Int64Range(1, int64(time.Hour)).Draw(t, "to"))
		from := time.Duration(rapid.Int64Range(0, int64(to)).Draw(t, "from"))
		service := time.Duration(rapid.Int64Range(-1, int64(to)+1).Draw(t, "service"))
		if got := wholeWaves(from, to, service); got < 0 || got > to {
			t.Fatalf("the window begins at %v of %v", got, to)
		}
	})
	if got := wholeWaves(0, 59*time.Second+900*time.Millisecond, 20*time.Second); got != 0 {
		t.Errorf("three waves of which a little is missing begin at %v", got)
	}
}
