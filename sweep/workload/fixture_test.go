package workload

import (
	"strings"
	"testing"

	"llmsweep/sweep/simtest"
)

// calibrated returns the calibration of such a server.
func calibrated(t *testing.T, tokenize func(string) int, around int) Calibration {
	t.Helper()
	c, err := calibrate(t.Context(), simtest.TextCounter(tokenize, around), 512)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// firstWord returns the first word of a text.
func firstWord(s string) string {
	word, _, _ := strings.Cut(s, " ")
	return word
}
