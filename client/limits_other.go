//go:build !unix

package client

// ReadLimits returns no limits: they are not known on this system.
func ReadLimits() LocalLimits { return LocalLimits{} }
