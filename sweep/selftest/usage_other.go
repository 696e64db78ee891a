//go:build !unix

package selftest

import "time"

// processor is not known here.
func processor() (used time.Duration, ok bool) { return 0, false }

// descriptors is not known here.
func descriptors() int { return 0 }
