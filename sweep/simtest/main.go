package simtest

import (
	"os"
	"runtime/debug"
	"testing"

	"llmsweep/client/testkit"
)

// StatisticsMain runs the tests of a package that simulates much. They allocate fast and keep little: rarer garbage
// collections take a quarter off their processor time.
func StatisticsMain(m *testing.M) {
	testkit.ClearEnvironment()
	debug.SetGCPercent(800)
	debug.SetMemoryLimit(4 << 30) // at full size the tests would otherwise take more than 16 GB
	os.Exit(m.Run())
}
