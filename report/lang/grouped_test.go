package lang

import "testing"

// Thousands are set apart in large numbers, and in nothing that only looks like one.
func TestGrouped(t *testing.T) {
	for s, want := range map[string]string{
		"9999": "9999", "10000": "10,000", "1234567.25": "1,234,567.25", "> 20000": "> 20,000", "12345?": "12,345?",
		"0.123456": "0.123456", "n/a": "n/a", "": "",
		"127.0.0.1:18101": "127.0.0.1:18101", "asynchronous@12345": "asynchronous@12345", "12000 - 13000": "12000 - 13000",
		"12345 ms": "12,345 ms", "1 - 12345": "1 - 12345",
	} {
		if got := Grouped(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}
