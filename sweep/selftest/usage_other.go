//go:build !unix

package selftest

import "time"

func processorTime() (used time.Duration, ok bool) { return 0, false }
