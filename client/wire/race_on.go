//go:build race

package wire

// raceDetector reports whether the race detector watches.
const raceDetector = true
