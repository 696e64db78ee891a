//go:build unix

package client

import (
	"fmt"
	"math"
	"os"
	"strings"
	"syscall"
)

// ReadLimits returns the limits of this system.
func ReadLimits() LocalLimits {
	var s LocalLimits
	var l syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l) == nil && uint64(l.Cur) <= math.MaxInt32 {
		s.Files = int(l.Cur)
	}
	var low, high, reuse int
	if b, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		if n, _ := fmt.Sscan(string(b), &low, &high); n == 2 && high >= low {
			s.Ports = high - low + 1
		}
	}
	if b, err := os.ReadFile("/proc/sys/net/ipv4/tcp_tw_reuse"); err == nil {
		fmt.Sscan(strings.TrimSpace(string(b)), &reuse)
		s.Reuse, s.ReuseLocal = reuse == 1, reuse == 1 || reuse == 2
	}
	return s
}
