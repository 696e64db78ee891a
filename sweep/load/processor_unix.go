//go:build unix

package load

import (
	"syscall"
	"time"
)

// ProcessorTime returns the processor time that this process has used; ok is false where the system does not tell.
func ProcessorTime() (used time.Duration, ok bool) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}
