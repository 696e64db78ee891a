package testkit

import (
	"testing"
)

// With the variable a target is tried on very many inputs, most of them different from each other.
func TestWith(t *testing.T) {
	t.Setenv(durationVariable, "100ms")
	n, different := 0, map[string]bool{}
	MutatedWith(func(_ *testing.T, s string, b []byte, u uint16, _ bool) {
		n++
		different[s+string(b)] = true
	})(t, "data: {\"a\": 1}\n", []byte("x"), uint16(3), true)
	if n < 10 || len(different) < n/4 {
		t.Errorf("%d inputs, %d of them different", n, len(different))
	}
}

func TestWithout(t *testing.T) {
	t.Setenv(durationVariable, "")
	n := 0
	MutatedWith(func(*testing.T, []byte) { n++ })(t, nil)
	if n != 1 {
		t.Errorf("%d executions", n)
	}
}
