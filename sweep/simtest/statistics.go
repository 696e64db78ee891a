//go:build statistics

package simtest

// Statistics reports whether statistical tests run at full size.
const Statistics = true
