//go:build race

package wire

// raceDetector reports whether the race detector is on.
const raceDetector = true
