package simtest

import (
	"fmt"
	"strings"
	"testing"
)

// Keys of the test attributes that [Claim] writes. Program examples/evidence collects them.
const (
	ClaimKey      = "claim"
	SmallClaimKey = "small-claim" // of a test that is not at full size
)

// Claim reports one row of the table of evidence: a statistical claim, the limits that the test demands of it at full
// size, and what it found. It has to be called before the test can fail fatally. "go test -json" shows it as an
// attribute of the test.
func Claim(t *testing.T, claim, wanted, gotFormat string, args ...any) {
	t.Helper()
	cells := []string{claim, wanted, fmt.Sprintf(gotFormat, args...)}
	for i, c := range cells {
		cells[i] = strings.NewReplacer("|", "/", "\n", " ").Replace(c)
	}
	key := SmallClaimKey
	if Full() {
		key = ClaimKey
	}
	t.Attr(key, strings.Join(cells, " | "))
}
