package sweep

import (
	"testing"

	"llmsweep/sweep/simtest"
)

func TestMain(m *testing.M) { simtest.StatisticsMain(m) }
