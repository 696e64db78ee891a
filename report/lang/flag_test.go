package lang

import (
	"testing"
	"time"
)

func TestFlagValue(t *testing.T) {
	for seconds, want := range map[float64]string{0.2: "1s", 45: "45s", 90: "1m30s", 480: "8m", 600: "10m", 3600: "1h",
		5400: "1h30m", 4210: "1h10m10s"} {
		got := FlagValue(seconds)
		if d, err := time.ParseDuration(got); got != want || err != nil || d.Seconds() < seconds {
			t.Errorf("%v s: %q, want %q (%v)", seconds, got, want, err)
		}
	}
}
