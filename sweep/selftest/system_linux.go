package selftest

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// monotonic is the system's clock, in nanoseconds.
func monotonic() int64 {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &t) != nil { // never on Linux
		return time.Now().UnixNano()
	}
	return t.Nano()
}

// nap sleeps in a system call: Go's timers are late by up to a millisecond.
func nap(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	syscall.Nanosleep(&t, nil)
}
