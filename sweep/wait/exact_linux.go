package wait

import (
	"os"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

const (
	near = 3 * time.Millisecond   // beyond this Go's timer will do: it is late by no more than a third of that
	spin = 100 * time.Microsecond // a wake-up by the kernel takes less than this, nearly always
)

// Exact waits as exactly as the system allows: by one of Go's timers until the instant is near, then by the kernel's
// timer, and through the last tenth of a millisecond by looking at the clock. The zero Exact is a [Timer]; [NewExact]
// makes one that is better. It is not safe for concurrent use.
type Exact struct {
	coarse Timer
	fd     int
	kernel *os.File // nil where there is no such timer
	count  [8]byte
}

// NewExact returns a waiter; Close frees what it takes.
func NewExact() *Exact {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return &Exact{}
	}
	return &Exact{fd: fd, kernel: os.NewFile(uintptr(fd), "timerfd")}
}

// Close frees the kernel's timer.
func (e *Exact) Close() error {
	if e.kernel == nil {
		return nil
	}
	return e.kernel.Close()
}

// Wait returns at an instant, at once where it has passed: true, or false once quit is closed, which may take it the few
// milliseconds for which the kernel waits.
func (e *Exact) Wait(until time.Time, quit <-chan struct{}) bool {
	if e.kernel == nil {
		return e.coarse.Wait(until, quit)
	}
	if !e.coarse.Wait(until.Add(-near), quit) {
		return false
	}
	for left := time.Until(until); left > 0; left = time.Until(until) {
		if left <= spin || !e.sleep(left-spin) {
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

// sleep waits for the kernel's timer.
func (e *Exact) sleep(d time.Duration) bool {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(d))}
	if unix.TimerfdSettime(e.fd, 0, &spec, nil) != nil {
		return false
	}
	_, err := e.kernel.Read(e.count[:])
	return err == nil
}
