package main

import (
	"strings"
	"testing"
	"time"

	"llmsweep/client/sim"
	"llmsweep/sweep/simtest"
)

// TestFixedTimes makes a server of 19.5 requests a second from flags.
func TestFixedTimes(t *testing.T) {
	c := simtest.Preset(t, "demo")
	c.MaxNumSeqs = 8
	noError(t, (fixedTimes{100 * time.Millisecond, 10 * time.Millisecond}).apply(&c))
	k := sim.CapacityOf(c, sim.Workload{PromptTokens: 64, OutputTokens: 32})
	if k.RequestsPerSecond < 19.51 || k.RequestsPerSecond > 19.52 || k.SyncTTFT != 100*time.Millisecond {
		t.Errorf("%+v", k)
	}
	for _, f := range []fixedTimes{{FirstToken: time.Second}, {PerToken: time.Second}} {
		c := simtest.Preset(t, "demo")
		if err := f.apply(&c); err == nil || !strings.Contains(err.Error(), "belong together") {
			t.Errorf("%+v: %v", f, err)
		}
	}
}
