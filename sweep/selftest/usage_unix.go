//go:build unix

package selftest

import (
	"math"
	"syscall"
)

// descriptors is how many files this process may have open. Go has raised it as far as it may by now. 0 is unknown, or
// no limit.
func descriptors() int {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil || uint64(l.Cur) > math.MaxInt32 {
		return 0
	}
	return int(l.Cur)
}
