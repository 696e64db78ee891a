//go:build unix

package load

import (
	"runtime"
	"syscall"
	"time"
)

// cpuMeter measures the share of the machine's cores that this process uses.
type cpuMeter struct {
	used time.Duration
	at   time.Time
}

func startCPU() cpuMeter { return cpuMeter{cpuUsed(), time.Now()} }

// fraction returns the share of all cores since the start; negative where it is unknown.
func (c cpuMeter) fraction() float64 {
	wall := time.Since(c.at)
	if wall <= 0 {
		return -1
	}
	return (cpuUsed() - c.used).Seconds() / wall.Seconds() / float64(runtime.GOMAXPROCS(0))
}

func cpuUsed() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
