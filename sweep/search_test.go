package sweep

import "testing"

func TestGrid(t *testing.T) {
	if got := grid(1, 10, 9); got[0] != 2 || got[8] != 10 || len(got) != 9 {
		t.Errorf("grid %v", got)
	}
	if got := grid(1, 1.1, 4); got[0] > 0.3 || got[3] != 1.1 {
		t.Errorf("the grid of a server that takes one at a time is %v", got)
	}
}

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
