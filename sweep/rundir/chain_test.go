package rundir

import "testing"

// A step's rate follows from its number in flight by Little's law, also where it was repeated.
func TestRateOfAStep(t *testing.T) {
	for name, c := range map[string]struct{ latency, want float64 }{
		"search@12": {3, 4}, "search@12-again": {3, 4}, "search@8": {0, 0}, "search": {3, 0},
	} {
		s := SearchStep{Name: name, Latency: Exactly(c.latency)}
		if got := s.Rate(); got != c.want {
			t.Errorf("%s in %v s: %v per second, want %v", name, c.latency, got, c.want)
		}
	}
	if got := (&SearchStep{Name: "search@8"}).Rate(); got != 0 {
		t.Errorf("without a latency: %v", got)
	}
}

// By the clock of another stage instants move, and neither durations nor what did not happen do.
func TestShifted(t *testing.T) {
	f := Exactly
	r := Record{Due: f(1), Sent: f(2), Headers: f(3), FirstToken: f(4), LastToken: f(6), End: f(7), Queued: f(1),
		Dial: f(0.5)}
	want := Record{Due: f(-4), Sent: f(-3), Headers: f(-2), FirstToken: f(-1), LastToken: f(1), End: f(2), Queued: f(1),
		Dial: f(0.5)}
	got := r.Shifted(-5)
	for i, n := range [][2]Number{{got.Due, want.Due}, {got.Sent, want.Sent}, {got.Headers, want.Headers},
		{got.FirstToken, want.FirstToken}, {got.FirstAnswer, want.FirstAnswer}, {got.LastToken, want.LastToken},
		{got.End, want.End}, {got.Queued, want.Queued}, {got.Dial, want.Dial}} {
		if n[0] != n[1] {
			t.Errorf("number %d: %v, want %v", i, n[0], n[1])
		}
	}
	if r.Due != f(1) {
		t.Error("the record itself changed")
	}
}
