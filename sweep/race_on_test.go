//go:build race

package sweep

// raced says that the race detector watches, which makes the statistical tests ten times slower and learns nothing from
// more of the same.
const raced = true
