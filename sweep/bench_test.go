package sweep

import (
	"encoding/json"
	"flag"
	"fmt"
	"hash/fnv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// The bench of the plan: bench.md says what it is.
var (
	benchSets    = flag.String("bench-set", "", "sets of servers to sweep: lab, random, families, unforeseen")
	benchBudgets = flag.String("bench-budgets", "5m", "budgets of the sweeps; 0 for none")
	benchSeeds   = flag.String("bench-seeds", "", `seeds "from-to"; empty for those of the set`)
	benchOnly    = flag.String("bench-only", "", "beginnings of the names of the servers to sweep; empty for all")
	benchOut     = flag.String("bench-out", "", "file of a line of JSON for each sweep; without sets it is read")
	benchAgainst = flag.String("bench-against", "", "such a file of another revision, to compare with")
	benchEach    = flag.Bool("bench-each", false, "a row for each server or family")
	benchRuns    = flag.String("bench-runs", "", "directory that keeps run.json of each sweep")
	benchTruth   = flag.String("bench-truth", filepath.Join(os.TempDir(), "llmsweep-truth"),
		"directory that keeps truths; remove it when an unforeseen family changes")
)

// benched is a server of known truth.
type benched struct {
	set, name string
	seed      uint64
	open      func(t *testing.T) (truth, func(t *testing.T, c *Config) *rundir.Run)
}

// truth is what long runs alone show of a server.
type truth struct {
	Low, High float64   // between which lies what it sustains, in requests per second
	TTFT      []float64 // means at ttftLoads, in seconds; empty where it is not known
}

// ttftLoads are loads as shares of what a server sustains.
var ttftLoads = []float64{0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.65, 0.7, 0.74, 0.78, 0.8, 0.82, 0.85, 0.88, 0.9, 0.92,
	0.94, 0.96, 0.98}

// ttft returns the mean time to first token at a rate; infinite above the loads, where it grows.
func (k truth) ttft(rate float64) float64 {
	load := rate / k.Low
	i, _ := slices.BinarySearch(ttftLoads, load)
	switch {
	case i == len(ttftLoads):
		return math.Inf(1)
	case i == 0:
		return k.TTFT[0]
	}
	share := (load - ttftLoads[i-1]) / (ttftLoads[i] - ttftLoads[i-1])
	return k.TTFT[i-1] + share*(k.TTFT[i]-k.TTFT[i-1])
}

// kept returns what a file of the directory of truths holds, or else what is made, which is kept there.
func kept[T any](t *testing.T, name string, made func() T) (v T) {
	path := filepath.Join(*benchTruth, name+".json")
	if text, err := os.ReadFile(path); err == nil && json.Unmarshal(text, &v) == nil {
		return v
	}
	v = made()
	writeJSON(t, path, v)
	return v
}

func writeJSON(t *testing.T, path string, v any) {
	text, err := json.Marshal(v)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o755)
	}
	if err == nil {
		err = os.WriteFile(path, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// truth returns what is known of a simulated server: with loads also its times to first token, which take longer.
func (k simulated) truth(t *testing.T, loads bool) truth {
	hash := fnv.New64()
	fmt.Fprintf(hash, "%+v %+v", *k.Trial, k.Work.Capacity(k.Server)) // which changes with the simulator
	name := fmt.Sprintf("sim-%x", hash.Sum64())
	tr := kept(t, name, func() (tr truth) { tr.Low, tr.High = k.Sustains(); return tr })
	if loads {
		tr.TTFT = kept(t, name+"-ttft", func() (times []float64) {
			for _, load := range ttftLoads {
				times = append(times, k.MeanTTFT(load*tr.Low))
			}
			return times
		})
	}
	return tr
}

// swept returns the run of a sweep in virtual time.
func (k simulated) swept(t *testing.T, c *Config) *rundir.Run {
	run := &rundir.Run{Workload: rundir.Workload{Forced: true}}
	simtest.Beside(t, k.Server, func(t *testing.T, d load.Doer) {
		one := k.config(d, c.Seed)
		one.Budget = c.Budget
		if err := Sweep(t.Context(), one, run); err != nil {
			t.Error(err)
		}
	})
	return run
}

func (k simulated) open(loads bool) func(*testing.T) (truth, func(*testing.T, *Config) *rundir.Run) {
	return func(t *testing.T) (truth, func(*testing.T, *Config) *rundir.Run) { return k.truth(t, loads), k.swept }
}

// drawnBenched is a server of a family.
func drawnBenched(set, name string, seed uint64, draw func(t *testing.T) *drawnServer) benched {
	return benched{set, name, seed, func(t *testing.T) (truth, func(*testing.T, *Config) *rundir.Run) {
		k := draw(t)
		return truth{Low: k.low, High: k.high}, func(t *testing.T, c *Config) *rundir.Run {
			return k.sweep(t, func(one *Config) { one.Budget = c.Budget })
		}
	}}
}

// benchServers returns the servers of a set; loads as in [simulated.truth]. Without seeds they are those of the set.
func benchServers(t *testing.T, set, seeds string, loads bool) (all []benched) {
	defaults := map[string]string{"lab": "44-44", "random": "340-379", "families": "7000-7000", "unforeseen": "5000-5003"}
	if seeds == "" {
		seeds = defaults[set]
	}
	var from, to uint64
	if _, err := fmt.Sscanf(seeds, "%d-%d", &from, &to); err != nil {
		t.Fatalf("set %q, seeds %q: %v", set, seeds, err)
	}
	for seed := from; seed <= to; seed++ {
		switch set {
		case "lab":
			for _, k := range simtest.Lab() {
				all = append(all, benched{set, k.Name, seed, simulated{k.Trial}.open(loads)})
			}
		case "random":
			all = append(all, benched{set, "random", seed, simulated{simtest.Random(seed)}.open(loads)})
		case "families":
			for _, f := range families {
				all = append(all, drawnBenched(set, f.name, seed, func(*testing.T) *drawnServer { return server(f.name, seed) }))
			}
		case "unforeseen":
			for _, f := range unforeseenFamilies {
				draw := func(t *testing.T) *drawnServer { return unforeseen(t, f.name, seed) }
				all = append(all, drawnBenched(set, f.name, seed, draw))
			}
		}
	}
	return all
}

// benchLine is what a sweep showed, beside the truth. Rates are requests per second.
type benchLine struct {
	Set, Name, Budget  string
	Seed               uint64
	Low, High          float64 // the truth
	Kind               rundir.AnswerKind
	Rate, From, To     float64 // the answer and its interval; 0 where there is none
	Rows, Means        int     // of the grid, and those that are long enough for means
	Minutes, Announced float64
	Measured           bool // the load at which to run has a row of its own
	At                 *benchRow
	Loads              []benchRow // rows of the grid up to 95 % of the truth
}

// benchRow is a published load, beside the truth.
type benchRow struct {
	Rate, TTFT, TrueTTFT, Done float64 // TTFT in seconds, TrueTTFT 0 where it grows
	Marked                     bool
}

func newBenchLine(b benched, budget string, tr truth, c *Config, run *rundir.Run) *benchLine {
	l := &benchLine{Set: b.set, Name: b.name, Budget: budget, Seed: b.seed, Low: tr.Low, High: tr.High,
		Kind: rundir.Unanswerable}
	if a := run.Answer; a != nil {
		l.Kind, l.Rate, l.From, l.To = a.Kind, a.Rate.Or(0), a.Low.Or(0), a.High.Or(0)
		if a.Kind == rundir.AtLeast {
			l.Rate, l.From, l.To = 0, a.Rate.Value(), 0
		}
		if at := a.Comfortable; at != nil && len(tr.TTFT) > 0 && at.TTFTMean.Known() {
			l.Measured = len(at.Stages) == 1
			l.At = newBenchRow(tr, at.Rate.Value(), at.TTFTMean)
		}
	}
	for i := range run.Stages {
		st := &run.Stages[i]
		l.Minutes = st.EndsAt().Minutes()
		if st.Role == rundir.Synchronous {
			said := c.outlook(until(run, st), imagined{}, rundir.Duration(st.Ended)).Takes + rundir.Duration(st.Ended)
			l.Announced = said.Minutes()
		}
		if st.Role != rundir.Grid {
			continue
		}
		l.Rows++
		if st.TTFT.Mean.Known() {
			l.Means++
		}
		const below = 0.95 // of the truth: beyond it hours would not be enough
		if rate := st.Rate.Value(); len(tr.TTFT) > 0 && rate < below*tr.Low && st.TTFT.Mean.Known() {
			row := newBenchRow(tr, rate, st.TTFT.Mean)
			row.Done, row.Marked = st.Rates.Completed.Or(0), !st.TTFT.Supported("mean")
			l.Loads = append(l.Loads, *row)
		}
	}
	return l
}

func newBenchRow(tr truth, rate float64, ttft rundir.Number) *benchRow {
	row := &benchRow{Rate: rate, TTFT: ttft.Value(), TrueTTFT: tr.ttft(rate)}
	if math.IsInf(row.TrueTTFT, 1) {
		row.TrueTTFT = 0
	}
	return row
}

// located reports whether the answer is a rate, and miss by how much its interval, or its bounds, miss the truth.
func (l *benchLine) located() bool { return l.Rate > 0 }

func (l *benchLine) miss() float64 {
	miss := max(0, l.From/l.High-1)
	if l.To > 0 {
		miss = max(miss, 1-l.To/l.Low)
	}
	return miss
}

// holds reports whether the interval or the bounds hold the truth; the truth itself is known to within 1 %.
func (l *benchLine) holds() bool { return l.miss() <= 0.01 }

func (l *benchLine) String() string {
	return fmt.Sprintf("%s %d, %s: truth %.4g-%.4g, %s %.4g (%.4g-%.4g)", l.Name, l.Seed, l.Budget, l.Low, l.High, l.Kind,
		l.Rate, l.From, l.To)
}

// bench sweeps servers, as many at a time as there are processors, with each of some budgets. Each sweep is in a bubble
// of its own, so that they share nothing.
func bench(t *testing.T, servers []benched, budgets []string) (lines []*benchLine) {
	var mu sync.Mutex
	t.Run("sweeps", func(t *testing.T) {
		for _, b := range servers {
			t.Run(fmt.Sprintf("%s/%s/%d", b.set, b.name, b.seed), func(t *testing.T) {
				t.Parallel()
				tr, swept := b.open(t)
				for _, budget := range budgets {
					c := Defaults()
					c.Seed = b.seed
					if budget != "0" {
						var err error
						if c.Budget, err = time.ParseDuration(budget); err != nil {
							t.Fatal(err)
						}
					}
					run := swept(t, &c)
					if *benchRuns != "" {
						name := fmt.Sprintf("%s-%d-%s.json", b.name, b.seed, budget)
						writeJSON(t, filepath.Join(*benchRuns, strings.NewReplacer(" ", "-", "/", "-").Replace(name)), run)
					}
					line := newBenchLine(b, budget, tr, &c, run)
					mu.Lock()
					lines = append(lines, line)
					mu.Unlock()
				}
			})
		}
	})
	return lines
}

// TestPlanBench sweeps the sets of servers that the flags name, and prints the table of bench.md, beside that of
// another revision if there is one.
func TestPlanBench(t *testing.T) {
	if *benchSets == "" && *benchAgainst == "" {
		t.Skip("go test -run TestPlanBench ./sweep -bench-set lab,random -bench-budgets 3m,5m,0")
	}
	var servers []benched
	for set := range strings.SplitSeq(*benchSets, ",") {
		if set != "" {
			servers = append(servers, benchServers(t, set, *benchSeeds, true)...)
		}
	}
	servers = slices.DeleteFunc(servers, func(b benched) bool {
		begins := func(s string) bool { return strings.HasPrefix(b.name, s) }
		return !slices.ContainsFunc(strings.Split(*benchOnly, ","), begins)
	})
	var before, after []*benchLine
	if *benchAgainst != "" {
		before = readBench(t, *benchAgainst)
	}
	if len(servers) > 0 {
		after = bench(t, servers, strings.Split(*benchBudgets, ","))
		if *benchOut != "" {
			writeBench(t, *benchOut, after)
		}
	} else {
		after = readBench(t, *benchOut)
	}
	fmt.Print(benchTable(before, after, *benchEach))
	if testing.Verbose() {
		for _, l := range after {
			if !l.holds() {
				fmt.Println(l)
			}
		}
	}
}
