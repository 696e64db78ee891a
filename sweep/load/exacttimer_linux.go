package load

import (
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// coarseMargin is how long before the instant Go's timer is given up: it is late by up to 1 ms.
	coarseMargin = 3 * time.Millisecond
	// spinMargin is the same for the kernel's timer, which is nearly always late by less.
	spinMargin = 100 * time.Microsecond
)

// ExactTimer waits as exactly as the system allows: with one of Go's timers until the instant is near, then with a
// timer of the kernel, and for the last 0.1 ms by reading the clock again and again. The zero ExactTimer works like a
// [Timer]; use [NewExactTimer]. It is not safe for concurrent use.
type ExactTimer struct {
	coarse Timer
	fd     int
	kernel *os.File // nil where there is no such timer
	count  [8]byte
}

// NewExactTimer returns an exact waiter; [ExactTimer.Close] frees its timer.
func NewExactTimer() *ExactTimer {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return &ExactTimer{}
	}
	return &ExactTimer{fd: fd, kernel: os.NewFile(uintptr(fd), "timerfd")}
}

// Close frees the kernel's timer.
func (e *ExactTimer) Close() error {
	if e.kernel == nil {
		return nil
	}
	return e.kernel.Close()
}

// Wait waits for an instant and returns true, at once where it has passed. It returns false once quit is closed, up to
// 3 ms later.
func (e *ExactTimer) Wait(until time.Time, quit <-chan struct{}) bool {
	if e.kernel == nil {
		return e.coarse.Wait(until, quit)
	}
	if !e.coarse.Wait(until.Add(-coarseMargin), quit) {
		return false
	}
	for left := time.Until(until); left > 0; left = time.Until(until) {
		if left <= spinMargin || !e.sleep(left-spinMargin) {
			runtime.Gosched()
		}
	}
	select {
	case <-quit:
		return false
	default:
		return true
	}
}

// sleep reports whether the kernel's timer worked.
func (e *ExactTimer) sleep(d time.Duration) bool {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
	if unix.TimerfdSettime(e.fd, 0, &spec, nil) != nil {
		return false
	}
	_, err := e.kernel.Read(e.count[:])
	return err == nil
}
