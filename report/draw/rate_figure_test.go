package draw

import (
	"slices"
	"strings"
	"testing"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
)

// TestChartOfUsers: a sweep by users is drawn against their number, with two rows of one number joined.
func TestChartOfUsers(t *testing.T) {
	run := &rundir.Run{Answer: &rundir.Answer{Carried: &rundir.UserCapacity{Users: rundir.Exactly(2)}}}
	for _, row := range []struct {
		users        int
		done, output float64
	}{{1, 5, 10}, {2, 4, 30}, {2, 9, 50}} {
		s := rundir.Stage{Kind: rundir.KindOfUsers, Role: rundir.Grid, MaxConcurrency: row.users}
		s.Rates.Completed, s.TokensPerS.Output = rundir.Exactly(row.done), rundir.Exactly(row.output)
		run.Stages = append(run.Stages, s)
	}
	f := OutputByRate(run)
	points := f.Panels[0].Series[0].Points
	if len(points) != 2 || points[0].X != 1 || points[0].Y != 10 || points[1].X != 2 || points[1].Y != 40 {
		t.Errorf("points %+v", points)
	}
	if len(f.Spans) != 1 || f.Spans[0].Mark != 2 {
		t.Errorf("marks %+v", f.Spans)
	}
	lines := f.Terminal(lang.English, 20, 0, false)
	if ruler := strings.Fields(lines[len(lines)-1]); !slices.Equal(ruler, []string{"0", "2"}) {
		t.Errorf("numbers of users %q", ruler)
	}
}
