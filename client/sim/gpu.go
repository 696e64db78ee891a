package sim

import (
	"fmt"
	"strings"
)

// GPU has the numbers of an accelerator's data sheet, for dense matrices and one direction of a link.
type GPU struct {
	Name              string
	MemoryBytes       float64 // capacity, decimal as on the sheet
	BandwidthBytes    float64 // of the memory, per second
	PeakFP16          float64 // operations per second, FP32 accumulate
	PeakINT8          float64 // operations per second
	InterconnectBytes float64 // between GPUs of one machine, per second and direction: NVLink, or PCIe 4.0 x16
}

const (
	giga = 1e9
	tera = 1e12
)

// GPUs returns the known accelerators, from NVIDIA's data sheets (the SXM boards where there are several).
func GPUs() []GPU {
	return []GPU{
		{Name: "A10", MemoryBytes: 24 * giga, BandwidthBytes: 600 * giga, PeakFP16: 125 * tera, PeakINT8: 250 * tera,
			InterconnectBytes: 32 * giga},
		{Name: "L20", MemoryBytes: 48 * giga, BandwidthBytes: 864 * giga, PeakFP16: 119.5 * tera, PeakINT8: 239 * tera,
			InterconnectBytes: 32 * giga},
		{Name: "A100 80GB", MemoryBytes: 80 * giga, BandwidthBytes: 2039 * giga, PeakFP16: 312 * tera, PeakINT8: 624 * tera,
			InterconnectBytes: 300 * giga},
		{Name: "H100", MemoryBytes: 80 * giga, BandwidthBytes: 3350 * giga, PeakFP16: 989 * tera, PeakINT8: 1979 * tera,
			InterconnectBytes: 450 * giga},
		{Name: "H200", MemoryBytes: 141 * giga, BandwidthBytes: 4800 * giga, PeakFP16: 989 * tera, PeakINT8: 1979 * tera,
			InterconnectBytes: 450 * giga},
	}
}

// LookupGPU finds a GPU by name, or by the beginning of its name where that is unambiguous ("a100"). Case, spaces and
// hyphens do not matter. The error lists all names.
func LookupGPU(name string) (GPU, error) {
	return lookup("GPU", name, GPUs(), func(g GPU) string { return g.Name })
}

func lookup[T any](kind, name string, all []T, nameOf func(T) string) (T, error) {
	want := plainName(name)
	var names []string
	var matches []T
	for _, v := range all {
		have := plainName(nameOf(v))
		if have == want {
			return v, nil
		}
		if want != "" && strings.HasPrefix(have, want) {
			matches = append(matches, v)
		}
		names = append(names, nameOf(v))
	}
	if len(matches) == 1 {
		return matches[0], nil
	}
	var none T
	return none, fmt.Errorf("no %s is called %q; there are %s", kind, name, strings.Join(names, ", "))
}

func plainName(s string) string {
	return strings.NewReplacer(" ", "", "-", "", "_", "").Replace(strings.ToLower(s))
}
