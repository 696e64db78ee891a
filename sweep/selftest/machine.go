package selftest

import (
	"fmt"
	"os"

	"llmsweep/sweep/rundir"
)

// resident returns the memory that this process occupies, in bytes; absent where the system does not tell.
func resident() rundir.Number {
	b, _ := os.ReadFile("/proc/self/statm")
	var size, pages int
	if n, _ := fmt.Sscan(string(b), &size, &pages); n < 2 {
		return rundir.Number{}
	}
	return rundir.Exactly(float64(pages * os.Getpagesize()))
}

// loadAverage returns how many processes wanted a core in the last minute; absent where the system does not tell.
func loadAverage() rundir.Number {
	b, _ := os.ReadFile("/proc/loadavg")
	var load float64
	if n, _ := fmt.Sscan(string(b), &load); n < 1 {
		return rundir.Number{}
	}
	return rundir.Exactly(load)
}
