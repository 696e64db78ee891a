//go:build !race

package sweep

// raced reports whether the race detector watches.
const raced = false
