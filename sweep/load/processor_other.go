//go:build !unix

package load

import "time"

// ProcessorTime returns the processor time that this process has used; ok is false where the system does not tell, as
// here.
func ProcessorTime() (used time.Duration, ok bool) { return 0, false }
