package published

import (
	"os"
	"slices"
	"strings"
	"testing"

	"llmsweep/client/note"
)

// TestLaterHardware: a table of nvidia-smi that was printed after a result is said to be later, on each result that is
// older.
func TestLaterHardware(t *testing.T) {
	b, err := os.ReadFile("testdata/scaling-a10.txt")
	if err != nil {
		t.Fatal(err)
	}
	later := func(text string) (n int) {
		d, err := ParseText("a10.txt", strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		for i := range d.Runs {
			if slices.ContainsFunc(d.Runs[i].Warnings, func(n note.Note) bool { return n.Code == noteHardwareLater.Code }) {
				n++
			}
		}
		return n
	}
	text := string(b)
	if got := later(text); got != 0 {
		t.Errorf("%d results are older than a table of the day before", got)
	}
	// Its second table stands above all results; at noon of the 29th, those of the 28th are older.
	if got := later(strings.Replace(text, "Sun Apr 27 21:03:12 2025", "Tue Apr 29 12:00:00 2025", 1)); got != 4 {
		t.Errorf("%d results are older than the table", got)
	}
}

func TestGigabytes(t *testing.T) {
	for mib, want := range map[int]string{23028: "24 GB", 24564: "24 GB", 46068: "48 GB", 81559: "80 GB", 40960: "40 GB",
		15360: "16 GB", 143771: "141 GB", 5120: "5 GB"} {
		if got := (&hardware{memory: mib}).gigabytes(); got != want {
			t.Errorf("%d MiB: %s, want %s", mib, got, want)
		}
	}
}
