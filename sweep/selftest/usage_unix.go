//go:build unix

package selftest

import (
	"math"
	"syscall"
	"time"
)

// processor is the processor time that this process has used.
func processor() (used time.Duration, ok bool) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, false
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano()), true
}

// descriptors is how many files this process may have open. Go has raised it as far as it may by now. 0 is unknown, or
// no limit.
func descriptors() int {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil || uint64(l.Cur) > math.MaxInt32 {
		return 0
	}
	return int(l.Cur)
}
