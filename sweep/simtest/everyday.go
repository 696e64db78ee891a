//go:build !statistics

package simtest

// tagged reports whether the build has the tag "statistics".
const tagged = false
