package testkit

import (
	"bytes"
	"strings"
	"testing"
)

// With the variable a target is tried on very many inputs, most of them different from each other.
func TestWith(t *testing.T) {
	t.Setenv(mutated, "100ms")
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
	t.Setenv(mutated, "")
	n := 0
	MutatedWith(func(*testing.T, []byte) { n++ })(t, nil)
	if n != 1 {
		t.Errorf("%d executions", n)
	}
}

func TestSplice(t *testing.T) {
	if got := splice([]byte("abcdef"), 2, 4, []byte("--")); !bytes.Equal(got, []byte("ab--ef")) {
		t.Errorf("%q", got)
	}
	if got := string(splice([]byte("ab"), 2, 2, []byte("c"))); !strings.HasSuffix(got, "abc") {
		t.Errorf("%q", got)
	}
}
