package sweep

import (
	"math"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"llmsweep/client/note"
	"llmsweep/sweep/arrival"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// repeatedSweep is a short sweep of the demo server whose rates are measured three times each.
func repeatedSweep(t *testing.T, seed uint64, budget time.Duration) (*rundir.Run, Config) {
	t.Helper()
	run := &rundir.Run{}
	var c Config
	simtest.Beside(t, simtest.Preset(t, "demo"), func(t *testing.T, d load.Doer) {
		c = experimentWith(d, simtest.SameInAll(64, 16))
		c.Points, c.Repeats, c.Seed, c.Budget = 4, 3, seed, budget
		c.StageTime, c.StageMax, c.Precision = 5*time.Second, 10*time.Second, 0
		if err := Sweep(t.Context(), c, run); err != nil {
			t.Fatal(err)
		}
	})
	return run, c
}

// gridNames are the names of the stages of a grid as they ran.
func gridNames(run *rundir.Run) []string {
	var names []string
	for _, st := range run.Stages {
		if st.Role == rundir.Grid {
			names = append(names, st.Name)
		}
	}
	return names
}

func TestRepetitionsAreShuffled(t *testing.T) {
	t.Parallel()
	run, c := repeatedSweep(t, 42, 0)
	again, _ := repeatedSweep(t, 42, 0)
	other, _ := repeatedSweep(t, 43, 0)
	if diff := cmp.Diff(gridNames(run), gridNames(again)); diff != "" {
		t.Errorf("the same seed gave another order:\n%s", diff)
	}
	if slices.Equal(gridNames(run), gridNames(other)) {
		t.Errorf("another seed gave the same order: %v", gridNames(run))
	}
	roles, names, times := map[rundir.Role]int{}, map[string]bool{}, map[float64][]int{}
	first := map[float64]map[float64]bool{} // when the first request was due, by rate
	var rates []float64
	for _, st := range run.Stages {
		roles[st.Role]++
		if names[st.Name] {
			t.Errorf("two stages are called %s", st.Name)
		}
		names[st.Name] = true
		if st.Role != rundir.Grid {
			if st.Repeat != 0 {
				t.Errorf("%s is repetition %d", st.Name, st.Repeat)
			}
			continue
		}
		rate := st.Rate.Value()
		rates = append(rates, rate)
		times[rate] = append(times[rate], st.Repeat)
		records, err := collect(c.Log, st.Name)
		if err != nil || len(records) == 0 {
			t.Fatalf("%s: %d records, %v", st.Name, len(records), err)
		}
		if first[rate] == nil {
			first[rate] = map[float64]bool{}
		}
		first[rate][slices.MinFunc(records, func(a, b *rundir.Record) int { return a.Seq - b.Seq }).Due.Value()] = true
		if want := (experiment.Stage{Name: "poisson@" + arrival.RateName(rate)}).Repetition(st.Repeat).Name; st.Name != want {
			t.Errorf("repetition %d of %v req/s is called %s, want %s", st.Repeat, rate, st.Name, want)
		}
	}
	if roles[rundir.Floor] != 1 || roles[rundir.Ceiling] != 1 || roles[rundir.Grid] != 12 || len(times) != 4 {
		t.Errorf("stages by role: %v; %d rates", roles, len(times))
	}
	for rate, numbers := range times {
		if slices.Sort(numbers); !slices.Equal(numbers, []int{1, 2, 3}) {
			t.Errorf("%v req/s has the repetitions %v", rate, numbers)
		}
		if len(first[rate]) != 3 {
			t.Errorf("the repetitions of %v req/s share arrivals: they begin at %v", rate, first[rate])
		}
	}
	if slices.IsSorted(rates) {
		t.Errorf("the rates were measured in order: %v", rates)
	}
	if run.Plan.Repeats != 3 || run.State != rundir.Complete || run.Saturation == nil {
		t.Errorf("plan %+v, state %s, saturation %v", run.Plan, run.State, run.Saturation)
	}
}

// A budget shares its time out over all repetitions: where it is short there are fewer rates, each as often, and where it is
// too short for that each is measured once.
func TestABudgetCountsRepetitions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		budget             time.Duration
		least, most, times int
	}{{2 * time.Minute, 2, 4, 3}, {75 * time.Second, 1, 3, 3}, {42 * time.Second, 1, 2, 1}} {
		run, _ := repeatedSweep(t, 42, c.budget)
		if took := run.Ended.Sub(run.Started); took > c.budget*101/100 {
			t.Errorf("a budget of %v took %v", c.budget, took)
		}
		times := map[float64]int{}
		for _, st := range run.Stages {
			if st.Role == rundir.Grid {
				times[st.Rate.Value()]++
			}
		}
		if len(times) < c.least || len(times) > c.most {
			t.Errorf("%v: %d rates, want %d to %d", c.budget, len(times), c.least, c.most)
		}
		for rate, n := range times {
			if n != c.times {
				t.Errorf("%v: %v req/s was measured %d times, want %d", c.budget, rate, n, c.times)
			}
		}
		if once := slices.ContainsFunc(run.Warnings, func(n note.Note) bool { return n.Is(noteNoTimeRepeats) }); once != (c.times == 1) || once != (run.Plan.Repeats == 0) {
			t.Errorf("%v: warnings %q, plan %+v", c.budget, run.Warnings, run.Plan)
		}
		// The floor's share of the time counts the repetitions that are to come: 4 times 3, and 4 stages more.
		if took, share := run.Stages[0].Elapsed, max(c.budget.Seconds()/16, 5); took > 1.2*share {
			t.Errorf("%v: the floor took %.1f s, its share is %.1f", c.budget, took, share)
		}
	}
}

func TestRepeatedStages(t *testing.T) {
	t.Parallel()
	order := func(seed uint64) (names []string) {
		run := &rundir.Run{}
		synctest.Test(t, func(t *testing.T) {
			c := experimentWith(steady(), simtest.SameInAll(4, 1))
			c.Warmup, c.Repeats, c.Seed = experiment.Warmup{}, 3, seed
			var stages []experiment.Stage
			for n := range 3 {
				for _, width := range []int{2, 4, 8} {
					stages = append(stages, experiment.NewStage(arrival.Closed{Concurrency: width}, 24, 0).Repetition(n+1))
				}
			}
			if err := Run(t.Context(), c, stages, run); err != nil {
				t.Fatal(err)
			}
		})
		for _, st := range run.Stages {
			names = append(names, st.Name)
			if want := (experiment.Stage{Name: "concurrent@" + strconv.Itoa(st.MaxConcurrency)}).Repetition(st.Repeat).Name; st.Name != want || st.Repeat == 0 {
				t.Errorf("%s is repetition %d of %d in flight", st.Name, st.Repeat, st.MaxConcurrency)
			}
			if got := st.Rates.Completed.Value(); math.Abs(got-float64(st.MaxConcurrency)/0.05) > 1e-3 {
				t.Errorf("%s: %v req/s", st.Name, got)
			}
		}
		return names
	}
	a, b, c := order(1), order(1), order(2)
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("the same seed gave another order:\n%s", diff)
	}
	asked := []string{
		"concurrent@2", "concurrent@4", "concurrent@8", "concurrent@2#2", "concurrent@4#2", "concurrent@8#2",
		"concurrent@2#3", "concurrent@4#3", "concurrent@8#3",
	}
	if slices.Equal(a, c) || slices.Equal(a, asked) {
		t.Errorf("the order %v is not shuffled by the seed", a)
	}
	slices.Sort(a)
	if slices.Sort(asked); !slices.Equal(a, asked) {
		t.Errorf("stages %v, want %v", a, asked)
	}
}
