package published

import "testing"

func TestGigabytes(t *testing.T) {
	for mib, want := range map[int]string{23028: "24 GB", 24564: "24 GB", 46068: "48 GB", 81559: "80 GB", 40960: "40 GB",
		15360: "16 GB", 143771: "141 GB", 5120: "5 GB"} {
		if got := (&hardware{memory: mib}).gigabytes(); got != want {
			t.Errorf("%d MiB: %s, want %s", mib, got, want)
		}
	}
}
