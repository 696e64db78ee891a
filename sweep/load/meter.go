package load

import (
	"runtime"
	"runtime/metrics"
	"time"
)

// Meter measures what this process itself takes of the machine.
type Meter struct {
	known bool
	cpu   time.Duration // processor time at the start
	gc    float64       // core-seconds of garbage collection at the start
	began time.Time
}

// NewMeter starts a meter. Only an exact timer is sure to wait in real time: processor time is no share of a simulated
// one.
func NewMeter(w Waiter) Meter {
	m := Meter{gc: gcSeconds(), began: time.Now()}
	if _, ok := w.(*ExactTimer); ok {
		m.cpu, m.known = ProcessorTime()
	}
	return m
}

// Shares returns the shares of all cores that this process took since the start, and that its garbage collection took,
// as the runtime estimates it; negative where they are unknown.
func (m Meter) Shares() (cpu, gc float64) {
	available := time.Since(m.began).Seconds() * float64(runtime.GOMAXPROCS(0))
	if !m.known || available <= 0 {
		return -1, -1
	}
	used, _ := ProcessorTime()
	return (used - m.cpu).Seconds() / available, (gcSeconds() - m.gc) / available
}

func gcSeconds() float64 {
	s := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindFloat64 {
		return 0
	}
	return s[0].Value.Float64()
}
