//go:build !unix

package client

// ReadLimits returns the zero System: nothing is known here.
func ReadLimits() LocalLimits { return LocalLimits{} }
