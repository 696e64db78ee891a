//go:build !race

package wire

// raceDetector says that the race detector watches.
const raceDetector = false
