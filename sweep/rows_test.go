package sweep

import (
	"testing"
	"time"

	"llmsweep/sweep/rundir"
)

// With a precision rows go on until their means are that exact, where the queue lets that be shown in time; the others
// stay as short as without, and are marked. What is told beforehand is longer.
func TestPrecisionProlongsRows(t *testing.T) {
	usual, exact := Defaults(), Defaults()
	exact.Precision = 0.1
	short, _ := usual.Outlook(2 * time.Second)
	long, _ := exact.Outlook(2 * time.Second)
	if long.Takes <= short.Takes || long.Takes > short.Takes+time.Duration(exact.Points+1)*preciseTime || exact.Longest() <= usual.Longest() {
		t.Errorf("told beforehand: %v, with a precision %v", short.Takes, long.Takes)
	}
	if testing.Short() {
		t.Skip("it sweeps a server twice")
	}
	k := server("plain", 7000)
	rows := func(precision float64) (all []rundir.Stage) {
		run := k.sweep(t, func(c *Config) { c.Precision = precision })
		if run.Plan.Precision != precision {
			t.Errorf("the plan has the precision %v, want %v", run.Plan.Precision, precision)
		}
		for _, st := range run.Stages {
			if st.Role == rundir.Grid && st.Rate.Value() < 0.8*run.Saturation.Rate.Value() {
				all = append(all, st)
			}
		}
		return all
	}
	before, after := rows(0), rows(0.1)
	if len(before) != len(after) || len(after) < 4 {
		t.Fatalf("%d rows, with a precision %d", len(before), len(after))
	}
	for i := range after {
		st := &after[i]
		ci := st.TTFT.CI["mean"]
		t.Logf("%s: %.0f s, before %.0f s; TTFT %.3f, 95 %% %.3f", st.Name, st.Window, before[i].Window, st.TTFT.Mean.Value(), ci)
		exact := ci[1] > 0 && (ci[1]-ci[0])/2 <= 0.1*st.TTFT.Mean.Value()
		if exact != st.TTFT.Supported("mean") || !exact && st.Window < 0.9*preciseTime.Seconds() {
			t.Errorf("%s: after %.0f s the TTFT %v has the interval %v, without %v", st.Name, st.Window, st.TTFT.Mean.Value(), ci,
				st.TTFT.Unsupported)
		}
	}
}
