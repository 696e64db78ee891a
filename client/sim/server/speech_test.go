package server

import (
	"math"
	"testing"
)

func TestDifferences(t *testing.T) {
	const length = 64
	plain := newSpeech(7)
	for n := 1; n <= length; n++ {
		top := plain.Top(n, 5)
		sum := 0.0
		for i, c := range top {
			sum += math.Exp(c.LogP)
			if i > 0 && (c.LogP > top[i-1].LogP || c.Text == top[i-1].Text) {
				t.Errorf("token %d: %v is not in order", n, top)
			}
		}
		if gap := top[0].LogP - top[1].LogP; sum > 1.0001 || top[0].Text != plain.Word(n) || (gap < 0.1) != plain.Tied(n) {
			t.Errorf("token %d: %v, sum %g, tied %t", n, top, sum, plain.Tied(n))
		}
	}
	tie, ok := plain.Tie(20, length, 99)
	first := firstDifference(plain, tie, length)
	if !ok || !plain.Tied(first) || tie.Word(first) != plain.Top(first, 2)[1].Text || tie.Top(first, 2)[1].Text != plain.Word(first) {
		t.Errorf("a tie at %d: %q in place of %v", first, tie.Word(first), plain.Top(first, 2))
	}
	if got := firstDifference(plain, plain.Turn(33, 5), length); got != 33 {
		t.Errorf("a turn at 33 shows at %d", got)
	}
	shifted := plain.Shift(0.05)
	if firstDifference(plain, shifted, length) != 0 || shifted.Top(1, 1)[0].LogP == plain.Top(1, 1)[0].LogP {
		t.Error("a shift changes log-probabilities alone")
	}
}

func firstDifference(a, b spokenAnswer, length int) int {
	for n := 1; n <= length; n++ {
		if a.Word(n) != b.Word(n) {
			return n
		}
	}
	return 0
}
