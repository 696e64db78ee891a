//go:build unix

package console

import (
	"os"
	"syscall"
)

// ends returns the signals that end or stop a process of a terminal.
func ends() []os.Signal {
	return []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGTTOU, syscall.SIGTSTP}
}
