package pair

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"llmsweep/client"
	"llmsweep/client/api"
	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/simtest"
)

// unlikeAny is a source whose prompts are never the same again. They begin with the stage that they were made for.
type unlikeAny struct {
	stage string
	n     *atomic.Int64
}

func (u unlikeAny) Next() (load.Session, bool) {
	k := int(u.n.Add(1))
	return load.Session{Turns: []load.Turn{{User: fmt.Sprintf("%s: %d", u.stage, k), PromptTokens: 40 + k%30, OutputTokens: 8 + k%5}}}, true
}

// of are the prompts that were made for a stage.
func of(asked []string, stage string) (some []string) {
	for _, text := range asked {
		if strings.HasPrefix(text, stage+":") {
			some = append(some, text)
		}
	}
	return some
}

// listening notes what it is asked, in order.
type listening struct {
	load.Doer
	mu    *sync.Mutex
	asked *[]string
}

func (l listening) Prepare(r *api.Request) (*client.Prepared, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	*l.asked = append(*l.asked, fmt.Sprintf("%s/%d/%d", r.Messages[0].Content, r.PromptTokens, r.OutputTokens))
	return l.Doer.Prepare(r)
}

// quick is a comparison of a demo server with itself that takes two blocks.
func quick(t *testing.T) compared {
	demo := simtest.Preset(t, "demo")
	demo.Jitter = 0.1
	return compared{a: demo, b: demo, stage: time.Second, seed: 7, work: simtest.SameInAll(64, 16)}
}

// pairedStages are the stages of whole blocks by name, of both runs.
func pairedStages(o *outcome) (names []string) {
	for i := range o.record.Loads {
		for round := 1; round <= 2*o.record.Blocks(); round++ {
			names = append(names, o.record.Loads[i].StageName(round))
		}
	}
	return names
}

func TestBothServersGetTheSame(t *testing.T) {
	var asked [2][]string
	c := quick(t)
	c.tune = func(p *Config) {
		p.Budget = time.Second
		n := new(atomic.Int64)
		p.Sides[0].Sources = func(stage string) load.Source { return unlikeAny{stage, n} }
		for i := range p.Sides {
			p.Sides[i].Doer = listening{p.Sides[i].Doer, new(sync.Mutex), &asked[i]}
		}
	}
	o := c.run(t)
	due := map[string]bool{}
	for _, name := range pairedStages(o) {
		a, b := bySeq(t, o.logs[0], name), bySeq(t, o.logs[1], name)
		if strings.HasPrefix(name, "poisson") {
			common := min(len(a), len(b))
			if common < 20 || math.Abs(float64(len(a)-len(b))) > 0.1*float64(common) {
				t.Errorf("%s: %d and %d arrivals", name, len(a), len(b))
			}
		}
		prompts := [2][]string{of(asked[0], name), of(asked[1], name)}
		if same := min(len(prompts[0]), len(prompts[1])); same < max(len(a), len(b)) || !slices.Equal(prompts[0][:same], prompts[1][:same]) {
			t.Errorf("%s: %d and %d requests, not of the same prompts", name, len(a), len(b))
		}
		for i := range min(len(a), len(b)) {
			if strings.HasPrefix(name, "poisson") && a[i].Due != b[i].Due {
				t.Fatalf("%s: request %d is due at %v and %v", name, i, a[i].Due.Value(), b[i].Due.Value())
			}
			if a[i].PromptTokens != b[i].PromptTokens || a[i].AskedTokens != b[i].AskedTokens {
				t.Fatalf("%s: request %d asks for other things", name, i)
			}
		}
		if first := fmt.Sprint(a[0].Due.Value(), a[1].Due.Value()); strings.HasPrefix(name, "poisson") {
			if due[first] {
				t.Errorf("%s: arrivals as in another round", name)
			}
			due[first] = true
		}
	}
	if n := len(slices.Compact(slices.Sorted(slices.Values(asked[0])))); n != len(asked[0]) {
		t.Errorf("A was asked %d things, %d of them other ones: a cache could answer", len(asked[0]), n)
	}
}

func bySeq(t *testing.T, l experiment.Log, stage string) []*rundir.Record {
	t.Helper()
	var records []*rundir.Record
	for r, err := range l.Records(stage) {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	if len(records) < 2 {
		t.Fatalf("%s: %d records", stage, len(records))
	}
	slices.SortFunc(records, func(a, b *rundir.Record) int { return a.Seq - b.Seq })
	return records
}

// The metrics of both servers at an arrival rate are of the same requests.
func TestWindowsAreTheSame(t *testing.T) {
	c := quick(t)
	c.b = slower(c.b, 0.1)
	c.tune = func(p *Config) { p.Budget = time.Second }
	o := c.run(t)
	a, b := byName(o.runs[0]), byName(o.runs[1])
	for _, name := range pairedStages(o) {
		x, y := a[name], b[name]
		if x == nil || y == nil {
			t.Fatalf("%s is missing", name)
		}
		if x.Kind == "throughput" {
			continue
		}
		if x.Requests.Due != y.Requests.Due || x.Requests.OK != x.Requests.Due || x.Requests.OK == 0 {
			t.Errorf("%s: %+v and %+v", name, x.Requests, y.Requests)
		}
		if x.Kind == "poisson" && (x.WindowFrom != y.WindowFrom || x.Window != y.Window || x.WindowFrom <= 0) {
			t.Errorf("%s: windows %v+%v and %v+%v", name, x.WindowFrom, x.Window, y.WindowFrom, y.Window)
		}
	}
}

// One server must not always come first.
func TestOrderIsBalanced(t *testing.T) {
	c := quick(t)
	c.tune = func(p *Config) { p.Budget = 200 * time.Second }
	o := c.run(t)
	if got := strings.Join(o.record.Orders[:4], " "); got != "ABBA BAAB ABBA BAAB" {
		t.Errorf("blocks %s", got)
	}
	a, b := byName(o.runs[0]), byName(o.runs[1])
	for _, name := range pairedStages(o) {
		var round int
		fmt.Sscanf(name[strings.Index(name, "#"):], "#%d", &round)
		first := o.record.Orders[(round-1)/2][2*((round-1)%2)]
		if got := a[name].Started < b[name].Started; got != (first == 'A') {
			t.Errorf("%s: A before B: %v, and %c comes first", name, got, first)
		}
	}
}

// A budget is kept where two blocks fit in it, and the difference that fits is said.
func TestBudget(t *testing.T) {
	c := quick(t)
	var told []rundir.PairPlan
	c.tune = func(p *Config) {
		p.Difference, p.Budget = 0.001, 5*time.Minute
		p.Planned = func(r *rundir.Pair, _ int) { told = append(told, r.Plan) }
	}
	o := c.run(t)
	plan := o.record.Plan
	if o.took > 5*time.Minute+time.Duration(plan.Block*1e9) {
		t.Errorf("5 minutes became %v", o.took)
	}
	if plan.Blocks >= plan.Needed || plan.Blocks != o.record.Blocks() || plan.Blocks <= plan.Pilot {
		t.Errorf("%d blocks of %d, a pilot of %d; %d were measured", plan.Blocks, plan.Needed, plan.Pilot, o.record.Blocks())
	}
	if s := plan.Sees.Value(); !(s > 0.001 && s < 0.05) {
		t.Errorf("it shows %v", s)
	}
	if len(told) != 2 || told[0].Blocks != 0 || told[0].Pilot != maxPilot || told[1].Needed != plan.Needed {
		t.Errorf("told %+v", told)
	}
}

// dying refuses every connection after a number of requests.
type dying struct {
	load.Doer
	after int64
	n     *atomic.Int64
}

func (d dying) Do(ctx context.Context, call *client.Prepared, res *client.Result) {
	if d.n.Add(1) <= d.after {
		d.Doer.Do(ctx, call, res)
		return
	}
	res.Sent = time.Since(res.Epoch)
	time.Sleep(time.Millisecond)
	res.Fail(time.Since(res.Epoch), client.ClassConnect, "connection refused")
}

// slowing takes longer for each request after a number of them.
type slowing struct {
	load.Doer
	after int64
	n     *atomic.Int64
}

func (s slowing) Do(ctx context.Context, call *client.Prepared, res *client.Result) {
	if s.n.Add(1) > s.after {
		time.Sleep(2 * time.Second)
	}
	s.Doer.Do(ctx, call, res)
}

// A server that becomes slow does not make it go on beyond the budget, by more than the block in which it did.
func TestBudgetHoldsWhereBlocksBecomeLonger(t *testing.T) {
	for _, after := range []int64{3_000, 12_000} { // in the pilot, and after it
		c := quick(t)
		c.tune = func(p *Config) {
			p.Difference, p.Budget = 0.0001, 5*time.Minute
			p.Sides[0].Doer = slowing{p.Sides[0].Doer, after, new(atomic.Int64)}
		}
		o := c.run(t)
		if o.took > 6*time.Minute || o.took < 3*time.Minute || o.record.Blocks() < 2 {
			t.Errorf("slow after %d: %v, %d blocks", after, o.took, o.record.Blocks())
		}
		if o.record.State != rundir.Complete || !o.rows()[0].Low.Known() {
			t.Errorf("slow after %d: %s, %+v", after, o.record.State, o.rows()[0])
		}
	}
}

// Where no time is set the plan takes as many blocks as it said, and the difference that was asked for can be seen.
func TestPlanIsKept(t *testing.T) {
	c := quick(t)
	c.widths = []int{6}
	c.a.Jitter, c.b.Jitter = 0.6, 0.6
	c.tune = func(p *Config) { p.Difference = 0.02 }
	o := c.run(t)
	plan := o.record.Plan
	if plan.Needed <= plan.Pilot || o.record.Blocks() != plan.Needed || plan.Sees.Value() > 0.02 || plan.Sees.Value() < 0.01 {
		t.Errorf("%+v, %d blocks", plan, o.record.Blocks())
	}
}

func TestAPairThatIsInterrupted(t *testing.T) {
	c := quick(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	c.ctx = ctx
	c.tune = func(p *Config) {
		p.Save = func(r *rundir.Pair) error {
			if r.Blocks() == 2 {
				time.AfterFunc(10*time.Second, func() { cancel(experiment.ErrInterrupted) })
			}
			return nil
		}
	}
	o := c.run(t)
	if o.record.State != rundir.Interrupted || o.runs[0].State != rundir.Interrupted || o.runs[1].State != rundir.Interrupted {
		t.Errorf("states %s, %s, %s", o.record.State, o.runs[0].State, o.runs[1].State)
	}
	if o.record.Blocks() != 2 {
		t.Fatalf("%d blocks", o.record.Blocks())
	}
	for _, r := range o.rows() {
		if !r.Low.Known() || r.spread.DF != 2 {
			t.Errorf("%s: the two whole blocks are lost, or more is made of them: %+v", r.Key, r.spread)
		}
	}
}

func TestADeadSideEndsThePair(t *testing.T) {
	c := quick(t)
	c.tune = func(p *Config) {
		p.Sides[1].Doer = dying{p.Sides[1].Doer, 7000, new(atomic.Int64)}
	}
	o := c.run(t)
	if o.record.State != rundir.Failed || o.record.Failure.String("side") != "B" {
		t.Errorf("state %s: %v", o.record.State, o.record.Failure)
	}
	if o.runs[0].State != rundir.Failed || !o.runs[0].Failure.Is(noteOtherFailed) || o.runs[1].State != rundir.Failed {
		t.Errorf("A is %s (%s), B %s (%s)", o.runs[0].State, o.runs[0].Failure, o.runs[1].State, o.runs[1].Failure)
	}
	if o.record.Blocks() < 1 || !o.rows()[0].Ratio.Known() {
		t.Errorf("what was measured before is lost: %d blocks", o.record.Blocks())
	}
}

// One server under two names gets no prompt twice.
func TestTheSameServerTwice(t *testing.T) {
	var asked [2][]string
	c := quick(t)
	c.tune = func(p *Config) {
		n := new(atomic.Int64)
		p.Same, p.Budget = true, 2*time.Minute
		p.Sides[0].Sources = func(stage string) load.Source { return unlikeAny{stage, n} }
		one := p.Sides[0].Doer
		for i := range p.Sides {
			p.Sides[i].Doer = listening{one, new(sync.Mutex), &asked[i]}
		}
	}
	o := c.run(t)
	if o.record.State != rundir.Complete {
		t.Fatalf("state %s", o.record.State)
	}
	all := slices.Concat(asked[0], asked[1])
	if n := len(slices.Compact(slices.Sorted(slices.Values(all)))); n != len(all) {
		t.Errorf("%d requests, %d prompts", len(all), n)
	}
}

// rounds are a comparison and its runs with one metric in each round.
func rounds(pilot int, logs ...float64) (*rundir.Pair, *rundir.Run, *rundir.Run) {
	p := &rundir.Pair{Plan: rundir.PairPlan{Pilot: pilot}, Loads: []rundir.PairLoad{{Key: "c4", Name: "concurrent@4", Primary: MetricOutput}}}
	a, b := &rundir.Run{}, &rundir.Run{}
	for i, d := range logs {
		name := p.Loads[0].StageName(i + 1)
		for run, v := range map[*rundir.Run]float64{a: 100, b: 100 * math.Exp(d)} {
			run.Stages = append(run.Stages, rundir.Stage{Name: name, TokensPerS: rundir.TokenRates{Output: rundir.Exactly(v)}})
		}
		if i%2 == 1 {
			p.Orders = append(p.Orders, order(i/2))
		}
	}
	return p, a, b
}

// The interval rests on the pilot's spread, unless all rounds tell of a wider one.
func TestIntervalsRestOnThePilot(t *testing.T) {
	steady := []float64{.00, .02, .02, .00, .00, .02, .02, .00}
	p, a, b := rounds(2, append([]float64{.00, .00, .08, .08}, steady...)...)
	if r := Rows(p, a, b)[0]; r.spread.DF != 2 || !r.Low.Known() || r.Shown {
		t.Errorf("a pilot that varied is forgotten: %+v", r)
	}
	p, a, b = rounds(2, append([]float64{.010, .011, .011, .010}, .05, .05, -.03, -.03, .05, .05, -.03, -.03)...)
	if r := Rows(p, a, b)[0]; r.spread.DF != 10 || r.Shown {
		t.Errorf("a pilot that was too quiet is believed: %+v", r)
	}
	p, a, b = rounds(2, .010, .012, .011, .010)
	r := Rows(p, a, b)[0]
	if !r.Shown || !r.ShownHolm || math.Abs(math.Log1p(r.Ratio.Value())-0.01075) > 1e-9 || math.Abs(r.B.Value()/r.A.Value()-1-r.Ratio.Value()) > 1e-12 {
		t.Errorf("%+v", r)
	}
	p, a, b = rounds(2, .010, .012)
	if r := Rows(p, a, b)[0]; r.Low.Known() || r.ShownHolm || !r.Ratio.Known() {
		t.Errorf("one block has an interval: %+v", r)
	}
}

// A metric that one round lacks is not known: in that round the server may not have answered in time.
func TestAMissingRoundIsNotLeftOut(t *testing.T) {
	p, a, b := rounds(2, .010, .012, .011, .010)
	b.Stages[2].TokensPerS.Output = rundir.Over(90)
	if r := Rows(p, a, b)[0]; r.Ratio.Known() || r.A.Known() || r.Shown || r.ShownHolm {
		t.Errorf("%+v", r)
	}
}
