//go:build !linux

package selftest

import "time"

// monotonic is a clock that all processes share, in nanoseconds: here the wall's.
func monotonic() int64 { return time.Now().UnixNano() }

// nap sleeps.
func nap(d time.Duration) { time.Sleep(d) }
