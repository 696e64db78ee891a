package input

import "testing"

func TestName(t *testing.T) {
	names := []string{"stage-time", "stage-requests", "points", "metrics", "slots", "api-key"}
	for s, want := range map[string]string{
		"stage-tiem": "stage-time", "metrix": "metrics", "Points": "points", "poi": "points", "slot": "slots",
		"slotsize": "slots",
		"nonsense": "", "x": "", "po": "", "apikey": "api-key",
	} {
		got, ok := Nearest(s, names)
		if got != want || ok != (want != "") {
			t.Errorf("%s: %q, %v, want %q", s, got, ok, want)
		}
	}
}
