package cluster

import "golang.org/x/sys/unix"

// ApartError returns the largest error of the machine's clock in seconds, as the kernel reckons it from what chronyd, ntpd or systemd-timesyncd told it;
// ok is false where none of them keeps the clock.
func ApartError() (seconds float64, ok bool) {
	const unsynchronized, microseconds = 0x40, 1e6 // STA_UNSYNC of <linux/timex.h>
	var t unix.Timex
	if _, err := unix.Adjtimex(&t); err != nil || t.Status&unsynchronized != 0 {
		return 0, false
	}
	return float64(t.Maxerror) / microseconds, true
}
