//go:build !race

package sweep

// raced says that the race detector watches.
const raced = false
