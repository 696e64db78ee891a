package sweep

import (
	"flag"
	"testing"

	"llmsweep/sweep/simtest"
)

// Under the race detector, tests run one after another: rows in virtual time are valid by the real processor time of
// this process, of which a second test would take a part.
func TestMain(m *testing.M) {
	flag.Parse()
	if simtest.RaceDetector {
		if err := flag.Set("test.parallel", "1"); err != nil {
			panic(err)
		}
	}
	simtest.StatisticsMain(m)
}
