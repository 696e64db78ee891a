package slo

import "testing"

func TestFewest(t *testing.T) {
	for text, want := range map[string]int{"fidelity>99%": 299, "fidelity>95%": 59} {
		term, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if n := term.Fewest(); n != want {
			t.Errorf("%s takes %d answers, want %d", text, n, want)
		}
	}
}
