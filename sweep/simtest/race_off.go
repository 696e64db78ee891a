//go:build !race

package simtest

// RaceDetector reports whether the race detector is on.
const RaceDetector = false
