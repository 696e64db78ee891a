package pair

import (
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client/testkit"
	"llmsweep/sweep"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/simtest"
)

// The numbers of a seeded comparison in virtual time stay the same.
func TestGoldenPair(t *testing.T) {
	record, runs := &rundir.Pair{}, [2]*rundir.Run{{}, {}}
	var rows []Row
	synctest.Test(t, func(t *testing.T) {
		c := Config{Budget: 4 * time.Minute, Planned: func(int, int, time.Duration) {},
			Save: func(*rundir.Pair) error { return nil }}
		for i := range c.Sides {
			side, server := sweep.Defaults(), simtest.NewSlotted()
			side.Doer, side.Scrape, side.Log, side.Seed = server, server.Gauges, &store.Memory{}, 7
			side.Sources = func(stage string) load.Source { return simtest.Mixed(7, stage) }
			side.Points, side.StageTime, side.StageMax = 4, 2*time.Second, 12*time.Second
			side.Warmup = experiment.Warmup{Requests: 3}
			c.Sides[i] = side
		}
		if err := Run(t.Context(), c, runs, record); err != nil {
			t.Fatal(err)
		}
		rows = Rows(record, runs[0], runs[1])
	})
	testkit.CheckGolden(t, "pair.json", simtest.Numbers(t, record))
	var numbers []map[string]any
	for _, r := range rows {
		numbers = append(numbers, map[string]any{
			"key": r.Key, "a": r.A, "b": r.B, "ratio": r.Ratio, "low": r.Low, "high": r.High, "shown": r.Shown,
		})
	}
	testkit.CheckGolden(t, "pair-rows.json", simtest.Numbers(t, numbers))
}
