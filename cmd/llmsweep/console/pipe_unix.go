//go:build unix

package console

import (
	"os"

	"golang.org/x/sys/unix"
)

// readerGone reports whether nobody reads any more what is written to a file: the other end of its pipe or terminal is
// closed.
func readerGone(f *os.File) bool {
	polled := []unix.PollFd{{Fd: int32(f.Fd())}} // errors and hang-ups are reported unasked
	n, err := unix.Poll(polled, 0)
	return err == nil && n > 0 && polled[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
}
