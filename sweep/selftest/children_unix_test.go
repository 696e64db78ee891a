//go:build unix

package selftest

import (
	"errors"
	"syscall"
	"testing"
)

// childless fails where this process still has a child.
func childless(t *testing.T) {
	t.Helper()
	var status syscall.WaitStatus
	if pid, err := syscall.Wait4(-1, &status, syscall.WNOHANG, nil); !errors.Is(err, syscall.ECHILD) {
		t.Errorf("a child is left: %d, %v", pid, err)
	}
}
