//go:build unix

package selftest

import (
	"math"
	"syscall"
)

// descriptors returns how many files this process may have open; Go raises its soft limit to the hard one as it starts. It returns 0
// where that is not known or there is no limit.
func descriptors() int {
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) != nil || uint64(l.Cur) > math.MaxInt32 {
		return 0
	}
	return int(l.Cur)
}
