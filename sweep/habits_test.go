package sweep

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"llmsweep/client/sim"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/stats"
)

// habitOutcome is what the sweeps of servers with one habit showed.
type habitOutcome struct {
	mu                          sync.Mutex
	servers, named, other       int
	answered, holds, unanswered int
	errs, widths, minutes       []float64
	lines                       []string
}

func (o *habitOutcome) add(t *testing.T, k *trial, name string, run *rundir.Run) {
	var named []string
	for _, w := range run.Warnings {
		if h, ok := strings.CutPrefix(w.Code, "habit."); ok {
			if !slices.Contains(named, h) {
				named = append(named, h)
			}
		}
	}
	low, high := sustained(t, k, name)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.servers++
	line := ""
	if slices.Contains(named, name) {
		o.named++
	} else if name != "" {
		line += " NOT NAMED"
	}
	for _, h := range named {
		if h != name {
			o.other++
			line += " WRONGLY " + h
		}
	}
	if low > 0 {
		if s := run.Saturation; s == nil || !s.Rate.Known() {
			o.unanswered++
			line += " NO ANSWER"
		} else {
			o.answered++
			truth := min(max(s.Rate.Value(), low), high)
			o.errs = append(o.errs, math.Abs(s.Rate.Value()/truth-1))
			last := run.Stages[len(run.Stages)-1]
			o.minutes = append(o.minutes, (last.Started+last.Elapsed)/60)
			o.widths = append(o.widths, (s.High.Value()-s.Low.Value())/2/s.Rate.Value())
			if s.Low.Value() <= high && low <= s.High.Value() {
				o.holds++
			} else {
				line += " OFF"
			}
			line += fmt.Sprintf(" found %.3f (%.3f-%.3f) limit %q", s.Rate.Value(), s.Low.Value(), s.High.Value(), s.Limit)
		}
	}
	if strings.ContainsAny(line, "NWO") {
		line = fmt.Sprintf("%v: sustains %.3f-%.3f%s%v", k, low, high, line, rows(run, high))
		for _, st := range run.Stages {
			if tr := st.Traits; tr != (rundir.Traits{}) || st.Refused.Known() {
				line += fmt.Sprintf("\n      %s traits %+v refused %.3f", st.Name, tr, st.Refused.Value())
			}
		}
		o.lines = append(o.lines, line)
	}
}

// summary returns what the sweeps so far showed.
func (o *habitOutcome) summary(name string) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	line := fmt.Sprintf("%-12s %3d servers: named in %d, another habit in %d", name, o.servers, o.named, o.other)
	if o.answered+o.unanswered > 0 {
		slices.Sort(o.errs)
		slices.Sort(o.widths)
		slices.Sort(o.minutes)
		line += fmt.Sprintf("; the interval holds what it sustains in %d of %d (%d without answer)", o.holds, o.answered,
			o.unanswered)
	}
	if o.answered > 0 {
		line += fmt.Sprintf("; error median %.1f %%, worst %.1f %%; half-width median %.1f %%; cost median %.0f min",
			stats.Quantile(o.errs, 0.5)*100, o.errs[len(o.errs)-1]*100, stats.Quantile(o.widths, 0.5)*100,
			stats.Quantile(o.minutes, 0.5))
	}
	return line
}

// sustained returns between which rates the truth about a server lies; 0 where it has none, because connections that it
// drops count as failures.
func sustained(t *testing.T, k *trial, name string) (low, high float64) {
	switch name {
	case "drops":
		return 0, 0
	case "sheds":
		k.measure(t, 1, 60) // what it accepts when 1.5 times its capacity arrives
	}
	bare := &trial{Trial: &simtest.Trial{Server: k.Server, Work: k.Work, Spread: k.Spread}}
	bare.Server.Habits = sim.Habits{}
	bare.measure(t, 1, 150)
	capacity := bare.truth
	if name == "sheds" { // with few slots and places to wait it is idle now and then, at any load
		return (1 - tolerated) * min(k.truth, capacity), capacity
	}
	h := k.Server.Habits
	capacity /= 1 - h.Caches
	if p := h.Pauses; p.Length > 0 {
		capacity *= 1 - p.Length.Seconds()/p.Every.Seconds()
	}
	if l := h.Limits; l.Tokens {
		capacity = min(capacity, l.PerMinute/60/float64(k.Work.Prompt+k.Work.Output))
	} else if l.PerMinute > 0 {
		capacity = min(capacity, l.PerMinute/60)
	}
	return capacity, capacity
}

// tolerated is the share of the requests that a server may refuse at the rate that it accepts.
const tolerated = 0.05

// largestMedian is the largest median error of an answer.
const largestMedian = 0.03

// few is by how much the median of n errors may be larger than that of many: of four servers it is chance.
func few(n int) float64 { return 1 + 2/math.Sqrt(float64(n)) }

// habitTrials draws servers with a habit, the plain ones where it is empty. HABITSEEDS lists
// the seeds to run; otherwise HABITFROM is the first, and HABITN how many.
func habitTrials(t *testing.T, name string, n int) (all []*trial) {
	var seeds []uint64
	if list := os.Getenv("HABITSEEDS"); list != "" {
		for text := range strings.SplitSeq(list, ",") {
			seed, err := strconv.ParseUint(text, 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			seeds = append(seeds, seed)
		}
	} else {
		first, _ := strconv.ParseUint(os.Getenv("HABITFROM"), 10, 64)
		if s := os.Getenv("HABITN"); s != "" {
			fmt.Sscan(s, &n)
		}
		for i := range n {
			seeds = append(seeds, first+uint64(i))
		}
	}
	for _, seed := range seeds {
		k := &trial{Trial: simtest.Random(seed)}
		if name != "" {
			k.Trial = simtest.RandomWith(seed, name)
		}
		all = append(all, k)
	}
	return all
}

// keepRun writes a run to the directory HABITDIR, if that is set.
func keepRun(t *testing.T, k *trial, name string, run *rundir.Run) {
	dir := os.Getenv("HABITDIR")
	if dir == "" {
		return
	}
	text, err := json.Marshal(run)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%d.json", name, k.Seed)), text, 0o644)
	}
	if err != nil {
		t.Error(err)
	}
}

// A sweep names the habit of each server, with evidence, and none on a plain server; and it finds what a server
// sustains.
func TestHabitsAreNamed(t *testing.T) {
	t.Parallel()
	names := []string{"sheds", "rate-limited", "pauses", "batches", "caches", "drops", ""}
	if only := os.Getenv("HABITS"); only != "" {
		names = strings.Split(strings.ReplaceAll(only, "plain", ""), ",")
	}
	size := simtest.Evidence(t, 4, 100)
	for _, name := range names {
		n := size
		if name == "" {
			n *= 2
		}
		all := habitTrials(t, name, n)
		o := &habitOutcome{}
		began := time.Now()
		forEach(t, all, func(t *testing.T, k *trial) {
			run := &rundir.Run{}
			simtest.Beside(t, k.Server, func(t *testing.T, d load.Doer) {
				if err := Sweep(t.Context(), k.config(d, k.Seed), run); err != nil {
					t.Fatal(err)
				}
			})
			keepRun(t, k, name, run)
			if o.add(t, k, name, run); simtest.Full() {
				t.Log("so far: " + o.summary(name)) // what a run that is cut short found
			}
		})
		slices.Sort(o.lines)
		for _, line := range o.lines {
			t.Log(line)
		}
		line := o.summary(name)
		t.Logf("%s; %.0f s", line, time.Since(began).Seconds())
		what, wanted := "habit "+name+" is named, and the interval holds what the server sustains",
			fmt.Sprintf("named in 95 %%; interval holds in 93 %%, error median at most %.0f %%", largestMedian*100)
		if name == "" {
			what, wanted = "no habit is named on plain servers",
				"at most 2 % named; interval holds in 93 %, error median at most 3 %"
		}
		simtest.Claim(t, what, wanted, "%s", strings.Join(strings.Fields(line), " "))
		if o.servers == 0 {
			t.Errorf("%q: no server was compared", name)
		}
		named := name != "" && name != "rate-limited" // which is seen as a server that refuses
		if named && float64(o.servers-o.named) > simtest.MayFail(o.servers, 0.05) ||
			float64(o.other) > simtest.MayFail(o.servers, 0.02) && name == "" {
			t.Errorf("%q: named in %d of %d, another habit in %d", name, o.named, o.servers, o.other)
		}
		asked := o.answered + o.unanswered
		if float64(asked-o.holds) > simtest.MayFail(asked, 0.07) || o.answered > 0 &&
			stats.Quantile(o.errs, 0.5) > largestMedian*few(o.answered) {
			t.Errorf("%q: the interval holds what the server sustains in %d of %d", name, o.holds, o.answered+o.unanswered)
		}
	}
}
