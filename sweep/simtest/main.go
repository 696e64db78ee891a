package simtest

import (
	"os"
	"runtime/debug"
	"testing"
)

// Main runs the tests of a package that simulates much. They allocate fast and keep little: rarer garbage collections take a
// quarter off their processor time.
func Main(m *testing.M) {
	debug.SetGCPercent(collectAt)
	os.Exit(m.Run())
}

// collectAt is the growth of the heap in percent between two collections. Go's default is 100.
const collectAt = 800
