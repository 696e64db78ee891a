// Package testkit has what tests of all packages share: comparison with golden files, and many inputs for a fuzz target
// in one process.
package testkit
