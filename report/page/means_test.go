package page

import (
	"slices"
	"strings"
	"testing"

	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
)

// TestMeansBesidePercentiles: a configuration of which only means are known stands in drawings of latency beside one
// that has percentiles.
func TestMeansBesidePercentiles(t *testing.T) {
	run := func(percentiles bool) *rundir.Run {
		r := &rundir.Run{State: rundir.Complete}
		for i, name := range []string{"poisson@2.00", "poisson@4.00", "poisson@6.00"} {
			s := rundir.Stage{
				Name:     name,
				Kind:     "poisson",
				Role:     rundir.Grid,
				State:    rundir.Complete,
				Verdict:  rundir.Stable,
				Requests: rundir.Requests{OK: 100, Due: 100},
				Rate:     rundir.Exactly(float64(2 + 2*i)),
				TTFT:     rundir.Dist{N: 100, Mean: rundir.Exactly(0.1 * float64(1+i))},
			}
			s.Rates.Offered, s.Rates.Completed = s.Rate, s.Rate
			if percentiles {
				s.TTFT.P50, s.TTFT.P99 = rundir.Exactly(0.08*float64(1+i)), rundir.Exactly(0.3*float64(1+i))
			}
			r.Stages = append(r.Stages, s)
		}
		return r
	}
	setups := setup.Load([]setup.Input{{Path: "means", Run: run(false)}, {Path: "all", Run: run(true)}})
	figures := newOverlay(setups, setupNames(setups), "").figures()
	names := func(what string) (all []string) {
		i := slices.IndexFunc(figures, func(f FigureBlock) bool { return f.Name == what })
		if i < 0 {
			return nil
		}
		for _, row := range figures[i].Table.Rows {
			all = append(all, row[0].In("en"))
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	if got := names("all-ttft-mean"); len(got) != 2 {
		t.Errorf("means are drawn of %q", got)
	}
	if got := names("all-ttft-p50"); len(got) != 1 {
		t.Errorf("medians are drawn of %s", strings.Join(got, ", "))
	}
}
