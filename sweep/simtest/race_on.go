//go:build race

package simtest

// raced reports whether the race detector is on.
const raced = true
