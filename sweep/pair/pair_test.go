package pair

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"llmsweep/client"
	"llmsweep/client/sim"
	"llmsweep/client/testkit"
	"llmsweep/sweep"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/rundir/store"
	"llmsweep/sweep/simtest"
	"llmsweep/sweep/stats"
)

// slower is the same server with every step taking 1/(1-by) of the time.
func slower(c sim.MachineConfig, by float64) sim.MachineConfig {
	c.StepOverhead = time.Duration(float64(cmp.Or(c.StepOverhead, sim.DefaultStepOverhead)) / (1 - by))
	for _, speed := range []*float64{&c.GPU.BandwidthBytes, &c.GPU.PeakFP16, &c.GPU.PeakINT8, &c.GPU.InterconnectBytes} {
		*speed *= 1 - by
	}
	return c
}

// twoServers is two simulated servers to be measured against each other.
type twoServers struct {
	a, b   sim.MachineConfig
	work   simtest.Fixed
	spread float64 // of its lengths
	stage  time.Duration
	budget time.Duration
	seed   uint64
	tune   func(*Config) // nil for no other settings
}

// outcome is what came of it.
type outcome struct {
	record *rundir.Pair
	runs   [2]*rundir.Run
	took   time.Duration
	logs   [2]experiment.Log
}

func (o *outcome) rows() []Row { return Rows(o.record, o.runs[0], o.runs[1]) }

// run compares in virtual time.
func (c twoServers) run(t *testing.T) *outcome {
	t.Helper()
	o := &outcome{record: &rundir.Pair{}, runs: [2]*rundir.Run{{}, {}}}
	c.b.Seed++ // its steps jitter otherwise
	synctest.Test(t, func(t *testing.T) {
		p := Config{Budget: c.budget, Save: func(*rundir.Pair) error { return nil },
			Planned: func(int, int, time.Duration) {}}
		for i, server := range []sim.MachineConfig{c.a, c.b} {
			live, err := sim.Start(server)
			if err != nil {
				t.Fatal(err)
			}
			defer live.Close()
			p.Sides[i] = sweep.Defaults()
			p.Sides[i].Doer, p.Sides[i].Log = simtest.VirtualDoer{Live: live}, &store.Memory{}
		}
		p.Sides[0].StageTime, p.Sides[0].Seed = c.stage, c.seed
		p.Sides[0].Sources = func(stage string) load.Source {
			return simtest.Varied{Fixed: c.work, Spread: c.spread, Rng: stats.Rand(c.seed, "lengths", stage)}
		}
		if c.tune != nil {
			c.tune(&p)
		}
		o.logs = [2]experiment.Log{p.Sides[0].Log, p.Sides[1].Log}
		began := time.Now()
		if err := Run(t.Context(), p, o.runs, o.record); err != nil {
			t.Fatal(err)
		}
		o.took = time.Since(began)
	})
	return o
}

// anyPair is a random server, which is to be compared with itself, in stages so short that chance shows.
func anyPair(seed int) twoServers {
	k := simtest.Random(uint64(seed))
	k.Server.Jitter = 0.05 + 0.15*rand.New(rand.NewPCG(uint64(seed), 23)).Float64()
	stage := max(time.Second, 2*k.Work.Capacity(k.Server).Latency)
	c := twoServers{a: k.Server, b: k.Server, work: k.Work, spread: k.Spread, stage: stage, budget: 300 * stage,
		seed: uint64(seed)}
	if !simtest.Full() { // one load that need not be found takes a tenth of the time
		c.budget, c.tune = 50*stage, func(p *Config) { p.Widths = []int{8} }
	}
	return c
}

// Two equal servers whose steps are noisy do not differ, in 19 of 20 comparisons, and a server that is 15 % slower in
// every step is found in as many.
func TestADifferenceIsFound(t *testing.T) {
	for _, c := range []struct {
		by                     float64
		few                    int
		claim, wanted, between string
	}{
		{0, 3, "equal servers are called different", "at most 5 % of comparisons", "%d of %d"},
		{0.15, 2, "a server 15 % slower in every step is found", "in 19 of 20 comparisons", "in %d of %d"},
	} {
		shown, n := 0, simtest.SampleSize(c.few, 1000)
		for seed := range n {
			pair := anyPair(seed)
			pair.b = slower(pair.a, c.by)
			o := pair.run(t)
			if slices.ContainsFunc(o.rows(), func(r Row) bool {
				if !r.Low.Known() {
					t.Fatalf("seed %d: %s has no interval in %d blocks: %v", seed, r.Key, o.record.Blocks(), o.record.Failure)
				}
				return r.Shown && (c.by == 0 || (r.Metric == MetricOutput) == (r.Ratio.Value() < 0))
			}) {
				shown++
			}
		}
		wrong := shown
		if c.by > 0 {
			wrong = n - shown
		}
		simtest.Claim(t, c.claim, c.wanted, c.between, shown, n)
		if float64(wrong) > max(1, simtest.MayFail(n, level)) {
			t.Errorf("%s: %d of %d", c.claim, shown, n)
		}
	}
}

// quick is a comparison of a demo server with itself.
func quick(t *testing.T) twoServers {
	demo := simtest.Preset(t, "demo")
	demo.Jitter = 0.1
	return twoServers{a: demo, b: demo, stage: time.Second, budget: 3 * time.Minute, seed: 7,
		work: simtest.SameInAll(64, 16)}
}

// A budget is kept, and one that is too short for two blocks ends the comparison with what it needs.
func TestBudget(t *testing.T) {
	c := quick(t)
	if o := c.run(t); o.took > c.budget*105/100 || o.took < c.budget*8/10 || o.record.Blocks() < 3 ||
		o.record.State != rundir.Complete {
		t.Errorf("it took %v of %v for %d blocks: %s, %v", o.took, c.budget, o.record.Blocks(), o.record.State,
			o.record.Failure)
	} else if order := strings.Join(o.record.Orders[:3], " "); order != "ABBA BAAB ABBA" {
		t.Errorf("blocks %s", order)
	}
	c.budget = 30 * time.Second
	if o := c.run(t); o.record.Failure.Code != noteNoBlocks.Code || o.took > c.budget {
		t.Errorf("after %v: %v", o.took, o.record.Failure)
	}
}

// uniquePrompts is a source whose prompts, and their lengths, are never the same again.
type uniquePrompts struct{ n *atomic.Int64 }

func (u uniquePrompts) Next() (load.Session, bool) {
	k := int(u.n.Add(1))
	return load.Session{Turns: []load.Turn{{User: fmt.Sprint(k), PromptTokens: 1000 + k, OutputTokens: 8 + k%5}}}, true
}

// In a round both servers get the same arrivals and the same prompts, and their metrics at a rate are of the same
// requests.
func TestBothServersGetTheSame(t *testing.T) {
	c := quick(t)
	c.b = slower(c.b, 0.1)
	c.tune = func(p *Config) {
		n := new(atomic.Int64)
		p.Sides[0].Sources = func(string) load.Source { return uniquePrompts{n} }
	}
	o := c.run(t)
	a, b, seen := byName(o.runs[0]), byName(o.runs[1]), map[string]bool{}
	sent := func(side int, stage string) (all []string) { // prompts, by their lengths, and arrivals
		for r := range o.logs[side].Records(stage) {
			all = append(all, fmt.Sprintf("%05d: %v, %d tokens", r.Seq, r.PromptTokens, r.AskedTokens))
			if a[stage].Kind == "poisson" {
				all[len(all)-1] += fmt.Sprint(", due ", r.Due)
			}
		}
		slices.Sort(all)
		return all
	}
	for i := range o.record.Loads {
		for round := 1; round <= 2*o.record.Blocks(); round++ {
			name := o.record.Loads[i].StageName(round)
			first, second := sent(0, name), sent(1, name)
			n := min(len(first), len(second))
			if n == 0 || !slices.Equal(first[:n], second[:n]) {
				t.Errorf("%s: %d and %d requests, not the same", name, len(first), len(second))
			}
			x, y := a[name], b[name]
			if x.Kind != "poisson" {
				continue
			}
			_, due, _ := strings.Cut(first[0], "due ")
			if n < 10 || seen[due] {
				t.Errorf("%s: %d arrivals, or as in another round", name, n)
			}
			if seen[due] = true; x.Requests.Due != y.Requests.Due || x.WindowFrom != y.WindowFrom || x.Window != y.Window ||
				x.WindowFrom <= 0 {
				t.Errorf("%s: %+v and %+v in %v+%v and %v+%v", name, x.Requests, y.Requests, x.WindowFrom, x.Window, y.WindowFrom,
					y.Window)
			}
		}
	}
}

// A server that dies is named, and whole blocks are compared.
func TestAServerThatDiesIsNamed(t *testing.T) {
	c := quick(t)
	c.tune = func(p *Config) { p.Sides[1].Doer = simtest.NewFailing(p.Sides[1].Doer, 5000, client.ClassConnect) }
	o := c.run(t)
	if f := o.record.Failure; o.record.State != rundir.Failed || f.Code != noteSideFailed.Code ||
		fmt.Sprint(f.Args["side"]) != "B" {
		t.Errorf("%s, %v", o.record.State, f)
	}
	if o.runs[0].Failure.Code != noteOtherFailed.Code || o.runs[1].State != rundir.Failed {
		t.Errorf("A: %v, B: %s", o.runs[0].Failure, o.runs[1].State)
	}
}

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

func TestMain(m *testing.M) { simtest.StatisticsMain(m) }
