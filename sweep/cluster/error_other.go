//go:build !linux

package cluster

// ApartError returns the largest error of the machine's clock, which this system does not tell.
func ApartError() (seconds float64, ok bool) { return 0, false }
