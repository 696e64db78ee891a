//go:build race

package sweep

// raced reports whether the race detector watches, which makes the statistical tests ten times slower and learns nothing from
// more of the same.
const raced = true
