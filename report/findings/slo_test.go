package findings

import "testing"

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{0: "0", 4.3e-8: "0", 0.00017: "0.017", 0.0017: "0.17", 0.022: "2.2", 0.126: "13", 0.999: "100", 1: "100"} {
		if got := percent(share); got != want {
			t.Errorf("%v is %s %%, want %s", share, got, want)
		}
	}
}
