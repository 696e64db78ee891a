package load

import (
	"runtime/metrics"
	"time"
)

// meter measures what this process itself takes of the machine.
type meter struct {
	cpu   cpuMeter
	gc    float64 // core-seconds at the start
	began time.Time
}

func startMeter() meter { return meter{startCPU(), gcSeconds(), time.Now()} }

// gcFraction returns the share of all cores that garbage collection took, as the runtime estimates it.
func (m meter) gcFraction(cores int) float64 {
	return (gcSeconds() - m.gc) / time.Since(m.began).Seconds() / float64(cores)
}

func gcSeconds() float64 {
	s := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindFloat64 {
		return 0
	}
	return s[0].Value.Float64()
}
