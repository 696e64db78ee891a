//go:build !linux

package apart

// Error returns the largest error of the machine's clock, which this system does not tell.
func Error() (seconds float64, ok bool) { return 0, false }
