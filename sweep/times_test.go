package sweep

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// A sweep of slower requests takes longer, and a budget is kept.
func TestOutlook(t *testing.T) {
	c := Defaults()
	quick, slow := c.Outlook(time.Second)
	if quick.Takes < 5*time.Minute || slow.Takes < quick.Takes*5/4 || slow.Takes > 30*time.Minute ||
		quick.Requests < 1000 || quick.Rows != c.Points || !slow.Brackets {
		t.Errorf("%+v, %+v", quick, slow)
	}
	if long, _ := c.Outlook(10 * time.Second); long.Takes < 2*quick.Takes {
		t.Errorf("%v, and %v where requests take 10 s", quick.Takes, long.Takes)
	}
	c.Budget = 4 * time.Minute
	if quick, _ := c.Outlook(2 * time.Second); quick.Takes > c.Budget || quick.Takes < c.Budget/2 {
		t.Errorf("%v of a budget of %v", quick.Takes, c.Budget)
	}
	if _, slow := c.Outlook(time.Minute); slow.Brackets {
		t.Errorf("four minutes bracket the rate of requests of a minute: %+v", slow)
	}
}

// shares are what is said of a sweep's time, as a share of the time that it takes.
type shares struct{ before, floor, ceiling []float64 }

// within counts the times that are right within a third.
func within(shares []float64) (n int) {
	for _, share := range shares {
		if share > 2./3 && share < 4./3 {
			n++
		}
	}
	return n
}

// until returns a run as it was after a stage.
func until(run *rundir.Run, last *rundir.Stage) *rundir.Run {
	r := &rundir.Run{Workload: run.Workload}
	for i := range run.Stages {
		if run.Stages[i].Started <= last.Started {
			r.Stages = append(r.Stages, run.Stages[i])
		}
	}
	for _, step := range run.Search {
		if step.Ended <= last.Ended {
			r.Search = append(r.Search, step)
		}
	}
	return r
}

// The time that is announced is right, for requests of 0.1 to 30 s on LLM servers of all kinds: within a third after
// the synchronous stage for most: how many holds are needed is chance. Before the start there are bounds.
func TestTimes(t *testing.T) {
	t.Parallel()
	lone, lab, servers := []float64{30, 10, 3, 1, 0.3, 0.1}, simtest.Lab(), []simtest.LabServer{}
	for i := 0; i < len(lab); i += 3 {
		servers = append(servers, lab[i])
	}
	if !simtest.Full() {
		lone, servers = []float64{1}, []simtest.LabServer{lab[0], lab[10]}
	}
	all := shares{}
	for _, alone := range lone {
		c, one, needed := Defaults(), shares{}, []float64{}
		quick, slow := c.Outlook(rundir.Duration(alone))
		for _, k := range servers {
			run := simulated{k.Trial}.sweepSlowed(t, alone)
			end := run.Stages[len(run.Stages)-1].Ended
			says := func(st *rundir.Stage) float64 {
				after := c.outlook(until(run, st), imagined{}, rundir.Duration(st.Ended)).Takes
				return (st.Ended + after.Seconds()) / end
			}
			needed = append(needed, end/60)
			one.floor = append(one.floor, says(run.First(rundir.Synchronous)))
			one.ceiling = append(one.ceiling, says(run.First(rundir.Throughput)))
			const near = 0.1 // of a bound
			if end > (1-near)*quick.Takes.Seconds() && end < (1+near)*slow.Takes.Seconds() {
				one.before = append(one.before, 1)
			} else {
				one.before = append(one.before, 0)
			}
		}
		fmt.Printf("%4v s alone: %5.1f min (%.1f-%.1f); before %.0f-%.0f min: %d of %d; after synchronous %.2f (%.2f-%.2f): "+
			"%d; after throughput %.2f (%.2f-%.2f): %d\n", alone, quantile(needed, 0.5), slices.Min(needed), slices.Max(needed),
			quick.Takes.Minutes(), slow.Takes.Minutes(), within(one.before), len(servers),
			quantile(one.floor, 0.5), quantile(one.floor, 0.1), quantile(one.floor, 0.9), within(one.floor),
			quantile(one.ceiling, 0.5), quantile(one.ceiling, 0.1), quantile(one.ceiling, 0.9), within(one.ceiling))
		all.before, all.floor = append(all.before, one.before...), append(all.floor, one.floor...)
		all.ceiling = append(all.ceiling, one.ceiling...)
	}
	n := len(all.floor)
	if within(all.before)*4 < n*3 || within(all.floor)*3 < n*2 || within(all.ceiling)*3 < n*2 {
		t.Errorf("of %d: %d within the bounds before, %d right after synchronous, %d after throughput", n, within(all.before),
			within(all.floor), within(all.ceiling))
	}
	simtest.Claim(t, "the time of a sweep is announced",
		"within a third, for two of three servers: the number of holds is chance", "%d and %d of %d", within(all.floor), within(all.ceiling), n)
}

// sweepSlowed sweeps a server that is slowed, or sped up, until a lone request takes a time in seconds.
func (k simulated) sweepSlowed(t *testing.T, alone float64) *rundir.Run {
	slowed := *k.Trial
	slowed.Server = simtest.Slowed(k.Server, alone/k.Work.Capacity(k.Server).SyncLatency.Seconds())
	return simulated{&slowed}.swept(t, &Config{Config: experiment.Config{Seed: 42}})
}
