package experiment

import "testing"

func TestParseWarmup(t *testing.T) {
	for in, want := range map[string]string{"auto": "auto", "5": "5", "10s": "10s", "0": "0"} {
		if w, err := ParseWarmup(in); err != nil || w.String() != want {
			t.Errorf("%q: %v, %v", in, w, err)
		}
	}
	for _, in := range []string{"", "-1", "x", "-3s"} {
		if w, err := ParseWarmup(in); err == nil {
			t.Errorf("%q is taken for %v", in, w)
		}
	}
}
