package setup

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"llmsweep/sweep/rundir"
)

// printed is a result of another tool with rows "offered/completed/latency", each of one letter's verdict: "s" for
// stable, "x" for saturated, "h" for shedding; without a letter it has none.
func printed(rows string) *rundir.Run {
	run := &rundir.Run{Source: &rundir.Source{File: "x", Line: 1}}
	for i, row := range strings.Fields(rows) {
		var offered, done, latency float64
		verdict := ""
		fmt.Sscanf(row, "%g/%g/%g%s", &offered, &done, &latency, &verdict)
		run.Stages = append(run.Stages, rundir.Stage{
			Name: fmt.Sprint(i), Kind: "poisson", State: rundir.Complete, Rate: rundir.Exactly(offered),
			Rates: rundir.Rates{Completed: rundir.Exactly(done)}, Latency: rundir.Dist{Mean: rundir.Exactly(latency)},
			Verdict: map[string]rundir.Verdict{"s": rundir.Stable, "x": rundir.Saturated, "h": rundir.Shedding}[verdict],
			Source:  &rundir.Source{File: "x", Line: 2 + i},
		})
	}
	return run
}

// A plateau rises where the last row still completed 5 % more, or half of what was offered in addition, and was not
// saturated; without verdicts, where no row fell behind its arrivals. A row did where it completed less of them than
// the part of the stage that was over before its last answers began, by more than two standard deviations of their
// number. Where a later row completed 15 % more, the plateau is between the two.
func TestPlateau(t *testing.T) {
	for _, c := range []struct{ rows, want string }{
		{"5/5/1s 10/10/1s 20/10.55/1s", "10.55 rising"}, {"5/5/1s 10/10/1s 20/10.45/1s", "10.45"},
		{"5/5/1s 10/10/1s 10.5/10.27/1s", "10.27 rising"}, {"5/5/1s 10/10/1s 10.5/10.23/1s", "10.23"},
		{"2/2/1s 4/4/1s 7/7/1s", "7 rising"}, {"2/2/1s 4/4/1s 7/7/1x", "7"}, {"2/2/1s 4/4/1s 7/7/1h", "7"},
		{"7/7/1s", "7 rising"}, {"5/5/1 10/9.4/1.2", "9.4 rising"}, {"5/5/1 10/9.2/1.2", "9.2"},
		{"5/5/1 10/8.5/12", "8.5 rising"}, {"5/5/1 10/8.3/12", "8.3"}, // in stages of 120 s
		{"10/8/1 14/9.1/1", "9.1"}, {"10/8/1 14/9.3/1", "8 to 9.3"},
	} {
		p := loadRun("x", printed(c.rows)).Plateau
		got := fmt.Sprint(p.Rate.Value())
		if p.Most.Known() {
			got += fmt.Sprintf(" to %v", p.Most.Value())
		}
		if p.Rising {
			got += " rising"
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.rows, got, c.want)
		}
	}
	for completed, bound := range map[float64]bool{4.9: true, 5.5: false} {
		s := printed(fmt.Sprintf("10/%v/1", completed)).Stages[0]
		if s.MaxConcurrency = 20; ConcurrencyBound(&s) != bound {
			t.Errorf("%v of 10 req/s: bound %v", completed, !bound)
		}
	}
}

// All rows of a document show how long its stages lasted, from 10 s to an hour, where requests are long and rows many
// enough; some may have fallen behind.
func TestStageTime(t *testing.T) {
	for _, c := range []struct {
		rows                  int
		latency, lasted, want float64
	}{
		{8, 9, 120, 120}, {7, 9, 120, math.NaN()}, {8, 7.9, 120, math.NaN()}, {8, 9, 11, 11}, {20, 60, 3500, 3500},
		{8, 60, 4000, 3600},
	} {
		var runs []rundir.Run
		for i := range c.rows {
			done := 10 * (1 - c.latency/c.lasted)
			if i%3 == 2 {
				done /= 2
			}
			runs = append(runs, *printed(fmt.Sprintf("10/%v/%v", done, c.latency)))
		}
		EstimateStageTime(runs)
		if got := runs[0].Source.StageTime; got.Known() == math.IsNaN(c.want) || math.Abs(got.Value()/c.want-1) > 0.02 {
			t.Errorf("%d requests of %v s: stages of %v s, want %v", c.rows, c.latency, got, c.want)
		}
	}
}

// A sweep that knows only between which rates it saturates is no sweep of its best row.
func TestPlateauOfBracket(t *testing.T) {
	run := quick()
	hold := run.Stages[1]
	hold.Role, hold.Name = rundir.Hold, "hold@4.00"
	hold.OutputTokens.Mean = rundir.Exactly(100)
	run.Stages = append(run.Stages, hold)
	n := rundir.Exactly
	for _, c := range []struct {
		sat             rundir.Saturation
		rate, most, out float64
	}{
		{rundir.Saturation{Low: n(4), High: n(9)}, 4, 9, 400}, {rundir.Saturation{High: n(9)}, 0, 0, 0},
		{rundir.Saturation{Rate: n(6), Low: n(5), High: n(7), Output: n(600)}, 6, 0, 600},
	} {
		run.Saturation, run.Answer = &c.sat, nil
		p := loadRun("quick", run).Plateau
		if p.Rate.Or(0) != c.rate || p.Most.Or(0) != c.most || p.Output.Or(0) != c.out || p.Rising {
			t.Errorf("%+v: %+v", c.sat, p)
		}
	}
}
