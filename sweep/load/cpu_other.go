//go:build !unix

package load

// cpuMeter does not know the processor time on this system.
type cpuMeter struct{}

func startCPU() cpuMeter { return cpuMeter{} }

func (cpuMeter) fraction() float64 { return -1 }
