//go:build !unix

package selftest

import "time"

// processorTime returns the processor time that this process has used; ok is false where the system does not tell, as
// here.
func processorTime() (used time.Duration, ok bool) { return 0, false }
