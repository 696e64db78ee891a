package simtest

import (
	"llmsweep/client/testkit"
	"os"
	"runtime/debug"
	"testing"
)

// StatisticsMain runs the tests of a package that simulates much. They allocate fast and keep little: rarer garbage
// collections take a quarter off their processor time.
func StatisticsMain(m *testing.M) {
	testkit.ClearEnvironment()
	debug.SetGCPercent(collectAt)
	debug.SetMemoryLimit(collectFrom)
	os.Exit(m.Run())
}

// collectAt is the growth of the heap in percent between two collections. Go's default is 100.
const collectAt = 800

// collectFrom is the memory in bytes from which collections are as frequent as needed: at full size the tests would
// otherwise take more than 16 GB.
const collectFrom = 4 << 30
