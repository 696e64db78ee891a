// Package capacity plans how many replicas of a server a demand needs, with twins of the servers: for each the smallest fleet that keeps the
// objectives, what it costs, what breaks first, and how far all this may be off by what the fit does not know.
package capacity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"llmsweep/client/sim"
	"llmsweep/sweep/demand"
	"llmsweep/sweep/fleet"
	"llmsweep/sweep/seed"
	"llmsweep/sweep/slo"
	"llmsweep/sweep/twin"
)

// Candidate is a kind of replica.
type Candidate struct {
	Name  string
	Twin  *twin.Twin
	GPUs  int     // of a replica
	Price float64 // of a replica for an hour; 0 where it is not known
}

// Wish is what the fleet is to do.
type Wish struct {
	Day      *demand.Day
	Terms    []slo.Term
	Router   fleet.Router
	Headroom float64 // share of what the fleet can take that is kept free
	Lost     int     // replicas without which the objectives still hold
	Minutes  float64 // share of the minutes in which they hold
	Most     int     // replicas
	Hits     float64 // share of each prompt that is found in the prefix cache
	Scaling  *Scaling
	WhatIfs  []Change
	Draws    int    // of servers that the measurements do not exclude
	Seed     uint64 // of the draws
	// Unchecked plans also with twins that failed their held-out check.
	Unchecked bool
}

// Scaling starts and stops replicas with the load. What is 0 is chosen.
type Scaling struct {
	Least     int
	InFlight  float64
	ColdStart time.Duration
	Calm      time.Duration
}

// Schema names the JSON form of a Result.
const Schema = "llmsweep.plan/v1"

// Result is the plans of all candidates, the cheapest first.
type Result struct {
	Schema   string        `json:"schema"`
	Demand   Demand        `json:"demand"`
	SLO      []string      `json:"slo"`
	Router   fleet.Router  `json:"router"`
	Headroom float64       `json:"headroom"`
	Lost     int           `json:"lost_replicas"`
	Minutes  float64       `json:"minutes_wanted"`
	Ranked   []Plan        `json:"ranked"`
	Refused  []RefusedTwin `json:"refused,omitempty"`
}

// Demand is what the requests come to.
type Demand struct {
	Requests int            `json:"requests"`
	Seconds  float64        `json:"seconds"`
	Rate     float64        `json:"rate"`
	Peak     float64        `json:"peak_rate"` // of the busiest minute
	Prompt   demand.Lengths `json:"prompt_tokens"`
	Output   demand.Lengths `json:"output_tokens"`
}

// Range is a number with the lowest and the highest that the draws give.
type Range struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

func (r *Range) include(v float64) { r.Low, r.High = min(r.Low, v), max(r.High, v) }

func exactly(v float64) Range { return Range{v, v, v} }

// Plan is the smallest fleet of a candidate that keeps the objectives. All of it is predicted.
type Plan struct {
	Name         string   `json:"name"`
	Check        *float64 `json:"check_error,omitempty"` // of output rates and mean gaps of held-out stages; absent where there was no check
	Failed       bool     `json:"check_failed,omitempty"`
	Extrapolated bool     `json:"extrapolated,omitempty"` // lengths beyond those that were measured
	Replicas     Range    `json:"replicas"`               // at the most
	Mean         float64  `json:"replicas_mean"`          // paid
	GPUs         int      `json:"gpus"`                   // at the most
	Hour         *Range   `json:"cost_per_hour,omitempty"`
	Month        *Range   `json:"cost_per_month,omitempty"`
	Held         Range    `json:"minutes_held"` // share
	HeldLost     *Range   `json:"minutes_held_without_lost,omitempty"`
	LostAnswers  int      `json:"answers_cut_off,omitempty"`
	RefusedShare float64  `json:"refused_share,omitempty"`
	First        Break    `json:"breaks_first"`
	Sizes        []Size   `json:"sizes"`
	Over         []Span   `json:"over_time"`
	ScaleAt      float64  `json:"scale_at_in_flight,omitempty"`
	WhatIfs      []WhatIf `json:"what_ifs,omitempty"`

	perHour float64 // of a replica
}

// Break is what happens first when more requests come.
type Break struct {
	Times float64 `json:"times"` // as many requests; 0 where nothing breaks at as many as were tried
	Term  string  `json:"term,omitempty"`
	Cause string  `json:"cause,omitempty"`
}

// Why an objective breaks.
const (
	CauseSlots = "slots" // requests wait because all slots are taken
	CauseCache = "cache" // requests wait, or are computed again, because the KV cache is full
	CauseSteps = "steps" // prompts wait because the token budget of a step is used up
	CauseSpeed = "speed" // none of these: steps take too long
)

// Size is a number of replicas that was tried.
type Size struct {
	Replicas int     `json:"replicas"`
	Held     float64 `json:"minutes_held"` // with the headroom, and without the lost replicas
	Enough   bool    `json:"enough"`
	Hour     float64 `json:"cost_per_hour,omitempty"`
}

// Span is a part of the time.
type Span struct {
	From     float64 `json:"from_s"`
	Rate     float64 `json:"rate"`
	Mean     float64 `json:"replicas_mean"`
	Least    int     `json:"replicas_min"`
	Most     int     `json:"replicas_max"`
	InFlight float64 `json:"in_flight_mean"`
	Held     float64 `json:"minutes_held"`
}

// WhatIf is a plan under a change.
type WhatIf struct {
	Change       string  `json:"change"`
	Extrapolated bool    `json:"extrapolated,omitempty"`
	Replicas     int     `json:"replicas,omitempty"` // 0: not even as many as were tried
	Hour         float64 `json:"cost_per_hour,omitempty"`
	Refused      string  `json:"refused,omitempty"`
}

// RefusedTwin is a candidate without a plan.
type RefusedTwin struct {
	Name string `json:"name"`
	Why  string `json:"why"` // a code: those of package twin, or the following
}

// Why there is no plan.
const (
	RefusedCheck = "failed-check" // the twin failed its held-out check
	RefusedMost  = "too-many"     // not even the most replicas are enough
	RefusedPrice = "no-price"     // others have a price
)

// Progress is told what is done.
type Progress func(name, what string, done, total int)

var (
	errNoTerms    = errors.New("plan needs at least one --slo, such as --slo 'ttft:p99<1s'")
	errNoTwins    = errors.New("plan needs twins: files that llmsweep fit writes")
	errHeadroom   = errors.New("--headroom is the share kept free, from 0 to below 1")
	errMinutes    = errors.New("--minutes is a share of the minutes, above 0 and at most 1, such as 0.99")
	errHits       = errors.New("--prefix-hits is the share of each prompt that is cached, from 0 to below 1")
	errDraws      = errors.New("--draws must be from 0 to 1000")
	errLost       = errors.New("--lost must not be negative, and below --max-replicas")
	errScaleLeast = errors.New("--min-replicas must be at least 1, and at most --max-replicas")
)

func (w *Wish) check(all []Candidate) error {
	switch {
	case len(all) == 0:
		return errNoTwins
	case len(w.Terms) == 0:
		return errNoTerms
	case !(w.Headroom >= 0 && w.Headroom < 1):
		return errHeadroom
	case !(w.Minutes > 0 && w.Minutes <= 1):
		return errMinutes
	case !(w.Hits >= 0 && w.Hits < 1):
		return errHits
	case w.Draws < 0 || w.Draws > 1000:
		return errDraws
	case w.Lost < 0 || w.Lost >= w.Most:
		return errLost
	case w.Scaling != nil && (w.Scaling.Least < 1 || w.Scaling.Least > w.Most):
		return errScaleLeast
	}
	return nil
}

// Of plans with each candidate, and ranks the plans by cost, or by GPUs where no price is known.
func Of(ctx context.Context, all []Candidate, w Wish, progress Progress) (*Result, error) {
	if err := w.check(all); err != nil {
		return nil, err
	}
	d := w.Day
	r := &Result{Schema: Schema, SLO: slo.Strings(w.Terms), Router: w.Router, Headroom: w.Headroom, Lost: w.Lost, Minutes: w.Minutes,
		Demand: Demand{len(d.Requests), d.Length.Seconds(), d.Rate, d.Peak, d.Prompt, d.Output}}
	priced := slices.ContainsFunc(all, func(c Candidate) bool { return c.Price > 0 })
	for _, c := range all {
		why := w.refuses(&c)
		if why == "" && priced && c.Price == 0 {
			why = RefusedPrice
		}
		if why == "" {
			p := planner{Wish: w, candidate: c, progress: progress}
			plan, refused, err := p.plan(ctx)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.Name, err)
			}
			if why = refused; why == "" {
				r.Ranked = append(r.Ranked, *plan)
			}
		}
		if why != "" {
			r.Refused = append(r.Refused, RefusedTwin{c.Name, why})
		}
	}
	slices.SortStableFunc(r.Ranked, func(a, b Plan) int {
		return cmp.Or(cmp.Compare(a.cost(), b.cost()), cmp.Compare(a.Mean*float64(a.GPUs), b.Mean*float64(b.GPUs)))
	})
	return r, nil
}

func (p *Plan) cost() float64 {
	if p.Hour == nil {
		return 0
	}
	return p.Hour.Value
}

// refuses returns why a candidate has no plan before anything is simulated.
func (w *Wish) refuses(c *Candidate) string {
	if !c.Twin.Passed() && !w.Unchecked {
		return RefusedCheck
	}
	for _, p := range []int{int(w.Day.Prompt.Mean), w.Day.Prompt.P99} {
		if why := c.Twin.Refuses(p, w.Day.Output.P99); why != "" {
			return why
		}
	}
	return ""
}

// planner plans with one candidate.
type planner struct {
	Wish
	candidate Candidate
	progress  Progress
	server    sim.Config
	day       *demand.Day // of what is simulated
	big       *demand.Day // the busiest hour, with the headroom
	from      time.Duration
	done      int
}

// busiest is the part of a day that decides its size.
const busiest = time.Hour

// plan finds the smallest fleet and what belongs to it.
func (p *planner) plan(ctx context.Context) (*Plan, string, error) {
	p.server, p.day = p.candidate.Twin.Config(), p.Day
	p.from = p.day.Busiest(busiest)
	p.big = p.day.Part(p.from, busiest).Times(1 / (1 - p.Headroom))
	t := p.candidate.Twin
	out := &Plan{Name: p.candidate.Name, perHour: p.candidate.Price, Failed: !t.Passed(),
		Extrapolated: t.Beyond(p.day.Prompt.Min, p.day.Output.Min) || t.Beyond(p.day.Prompt.P99, p.day.Output.P99)}
	if t.Check != nil {
		out.Check = &t.Check.Error
	}
	p.say("busiest hour") // it alone decides on the size in most cases
	need, err := p.smallest(ctx, p.server, p.big, 1)
	if err != nil || need == 0 {
		return nil, RefusedMost, err
	}
	whole := p.day.Times(1 / (1 - p.Headroom))
	for ; ; need++ { // the busiest hour may not be the only one that breaks
		if need+p.Lost > p.Most {
			return nil, RefusedMost, nil
		}
		p.say("whole time")
		o, err := p.run(ctx, p.server, whole, need, p.allowed(whole))
		if err != nil {
			return nil, "", err
		}
		if p.keeps(o, whole) {
			break
		}
	}
	if err := p.sizes(ctx, out, whole, need); err != nil {
		return nil, "", err
	}
	n := need + p.Lost
	if err := p.settle(ctx, out, n); err != nil {
		return nil, "", err
	}
	if err := p.uncertain(ctx, out, n); err != nil {
		return nil, "", err
	}
	p.say("what breaks first")
	if out.First, err = p.first(ctx, n); err != nil {
		return nil, "", err
	}
	if err := p.whatIfs(ctx, out); err != nil {
		return nil, "", err
	}
	out.pay()
	return out, "", nil
}

// How many sizes are shown: some that are too small, and some that are larger than needed.
const smaller, larger = 5, 4

// sizes simulates the whole time with each of some numbers of replicas.
func (p *planner) sizes(ctx context.Context, out *Plan, whole *demand.Day, need int) error {
	from := max(1, need-smaller)
	out.Sizes = make([]Size, min(need+larger, p.Most-p.Lost)-from+1)
	return p.parallel(len(out.Sizes), "sizes", func(i int) error {
		o, err := p.run(ctx, p.server, whole, from+i, -1)
		if err == nil {
			out.Sizes[i] = Size{Replicas: from + i + p.Lost, Held: o.Held, Enough: o.Held >= p.Minutes-1e-9, Hour: float64(from+i+p.Lost) * p.candidate.Price}
		}
		return err
	})
}

// parallel does something n times, as many at once as there are processors. what is told to the progress.
func (p *planner) parallel(n int, what string, do func(i int) error) error {
	var mu sync.Mutex
	var failed error
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	var wait sync.WaitGroup
	for i := range n {
		slots <- struct{}{}
		p.say(what)
		wait.Go(func() {
			defer func() { <-slots }()
			if err := do(i); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = err
			}
		})
	}
	wait.Wait()
	return failed
}

// say tells the progress.
func (p *planner) say(what string) {
	if p.done++; p.progress != nil {
		p.progress(p.candidate.Name, what, p.done, p.total())
	}
}

// total is about how many simulations a plan takes.
func (p *planner) total() int { return max(p.done, 6+smaller+larger+p.Draws+len(p.WhatIfs)) }

// allowed is the share of the minutes of a part that may break, if the whole time's all lie in it.
func (p *planner) allowed(part *demand.Day) float64 {
	return (1 - p.Minutes) * float64(p.day.Length) / float64(part.Length)
}

// keeps reports whether a part of the time breaks the objectives in no more minutes than the whole time may.
func (p *planner) keeps(o *fleet.Outcome, part *demand.Day) bool {
	const roundOff = 1e-9
	return !o.Ended && o.Held >= 1-p.allowed(part)-roundOff
}

// run simulates a fleet of a fixed size.
func (p *planner) run(ctx context.Context, server sim.Config, d *demand.Day, n int, allowed float64) (*fleet.Outcome, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return fleet.Run(p.config(server, d, n, allowed), d.Requests, d.Length)
}

func (p *planner) config(server sim.Config, d *demand.Day, n int, allowed float64) fleet.Config {
	return fleet.Config{Server: server, Replicas: n, Router: p.Router, Hits: p.Hits, Block: d.Block, Terms: p.Terms, Allowed: allowed}
}

// smallest returns the smallest number of replicas that keeps the objectives through a part of the time; 0 where the most do not.
func (p *planner) smallest(ctx context.Context, server sim.Config, d *demand.Day, guess int) (int, error) {
	enough := func(n int) (bool, error) {
		o, err := p.run(ctx, server, d, n, p.allowed(d))
		return err == nil && p.keeps(o, d), err
	}
	low, high := 0, 0 // not enough, enough
	for n := max(1, guess); high == 0; n = min(2*n, p.Most) {
		ok, err := enough(n)
		switch {
		case err != nil:
			return 0, err
		case ok:
			high = n
		case n >= p.Most:
			return 0, nil
		default:
			low = n
		}
	}
	for high-low > 1 {
		middle := (low + high) / 2
		ok, err := enough(middle)
		if err != nil {
			return 0, err
		}
		if ok {
			high = middle
		} else {
			low = middle
		}
	}
	return high, nil
}

// settle simulates the whole time with the fleet, as it is meant to be.
func (p *planner) settle(ctx context.Context, out *Plan, n int) error {
	p.say("whole time")
	o, err := p.run(ctx, p.server, p.day, n, -1)
	if err != nil {
		return err
	}
	out.Replicas, out.GPUs = exactly(float64(n)), n*p.candidate.GPUs
	if p.Scaling != nil {
		if o, err = p.scaled(ctx, out, o, n); err != nil {
			return err
		}
	}
	out.Held = exactly(o.Held)
	out.RefusedShare = float64(o.Refused) / float64(o.Requests)
	const exact = 1e6 // sums of quarter minutes are not exact
	out.Mean = math.Round(exact*o.PaidHours*60/float64(len(o.Minutes))) / exact
	out.Over = spans(o, p.day.Length)
	if p.Lost > 0 {
		p.say("with lost replicas")
		c := p.config(p.server, p.day, n, -1)
		c.Lost, c.LostAt = p.Lost, p.day.Busiest(max(time.Minute, p.day.Length/24))
		if p.Scaling != nil {
			c = p.withScaling(c, out.ScaleAt, n)
		}
		l, err := fleet.Run(c, p.day.Requests, p.day.Length)
		if err != nil {
			return err
		}
		held := exactly(l.Held)
		out.HeldLost, out.LostAnswers = &held, l.LostAnswers
	}
	return nil
}

// scaled finds the load at which replicas are started: that of the busiest minute, or less where a cold start is too slow for it.
func (p *planner) scaled(ctx context.Context, out *Plan, fixed *fleet.Outcome, n int) (*fleet.Outcome, error) {
	at := p.Scaling.InFlight
	tries := []float64{1}
	if at == 0 {
		busy := 0
		for _, m := range fixed.Minutes {
			busy = max(busy, m.InFlight)
		}
		at = max(1, float64(busy)/float64(n))
		tries = []float64{1, 0.7, 0.5, 0.35, 0.25}
	}
	var o *fleet.Outcome
	for _, f := range tries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p.say("scaling")
		out.ScaleAt = max(0.5, f*at)
		c := p.withScaling(p.config(p.server, p.day, p.Scaling.Least, -1), out.ScaleAt, n)
		var err error
		if o, err = fleet.Run(c, p.day.Requests, p.day.Length); err != nil {
			return nil, err
		}
		if o.Held >= p.Minutes {
			break
		}
	}
	return o, nil
}

func (p *planner) withScaling(c fleet.Config, at float64, n int) fleet.Config {
	c.Replicas = p.Scaling.Least
	c.Scaling = &fleet.Scaling{Least: p.Scaling.Least, Most: n, InFlight: at, ColdStart: p.Scaling.ColdStart, Calm: p.Scaling.Calm}
	return c
}

// spansShown is how many rows the time is cut into.
const spansShown = 24

// spans sums up the minutes.
func spans(o *fleet.Outcome, length time.Duration) []Span {
	minutes := len(o.Minutes)
	width := (minutes + spansShown - 1) / spansShown
	var all []Span
	for from := 0; from < minutes; from += width {
		part := o.Minutes[from:min(minutes, from+width)]
		s := Span{From: float64(from) * 60, Least: math.MaxInt}
		with, held := 0, 0
		for _, m := range part {
			s.Rate += float64(m.Arrived)
			s.Mean += float64(m.Replicas) / float64(len(part))
			s.InFlight += float64(m.InFlight) / float64(len(part))
			s.Least, s.Most = min(s.Least, m.Replicas), max(s.Most, m.Replicas)
			if m.Arrived > 0 {
				with++
				if !slices.Contains(m.Broken, true) {
					held++
				}
			}
		}
		s.Rate /= 60 * float64(len(part))
		s.Held = 1
		if with > 0 {
			s.Held = float64(held) / float64(with)
		}
		all = append(all, s)
	}
	return all
}

// uncertain repeats the plan with servers that the measurement does not exclude.
func (p *planner) uncertain(ctx context.Context, out *Plan, n int) error {
	needs, helds := make([]int, p.Draws), make([]float64, p.Draws)
	err := p.parallel(p.Draws, "uncertainty of the fit", func(i int) error {
		server := p.candidate.Twin.Sample(seed.Rand(p.Seed, "plan", fmt.Sprint(i)))
		need, err := p.smallest(ctx, server, p.big, n-p.Lost)
		if err != nil {
			return err
		}
		c := p.config(server, p.day, n, -1)
		if p.Scaling != nil {
			c = p.withScaling(c, out.ScaleAt, n)
		}
		o, err := fleet.Run(c, p.day.Requests, p.day.Length)
		if err != nil {
			return err
		}
		if need == 0 {
			need = p.Most - p.Lost
		}
		needs[i], helds[i] = need+p.Lost, o.Held
		return nil
	})
	for i := range needs {
		if err == nil {
			out.Replicas.include(float64(needs[i]))
			out.Held.include(helds[i])
		}
	}
	return err
}

// pay fills in the cost: replicas on the mean, and in proportion for the other sizes that the draws need.
func (p *Plan) pay() {
	if p.perHour == 0 {
		return
	}
	hour := p.Mean * p.perHour
	per := hour / p.Replicas.Value
	p.Hour = &Range{hour, per * p.Replicas.Low, per * p.Replicas.High}
	const hours = 365 * 24 / 12 // of a month
	p.Month = &Range{hours * p.Hour.Value, hours * p.Hour.Low, hours * p.Hour.High}
	for i := range p.WhatIfs {
		p.WhatIfs[i].Hour = float64(p.WhatIfs[i].Replicas) * p.perHour
	}
}

// first finds by how much the busiest hour may grow until an objective breaks.
func (p *planner) first(ctx context.Context, n int) (Break, error) {
	const most, steps = 4.0, 6
	hour := p.day.Part(p.from, busiest)
	at := func(times float64) (*fleet.Outcome, bool, error) {
		d := hour.Times(times)
		o, err := p.run(ctx, p.server, d, n, p.allowed(d))
		return o, err == nil && p.keeps(o, d), err
	}
	low, high := 1.0, most
	worst, ok, err := at(high)
	if err != nil || ok {
		return Break{}, err
	}
	for range steps {
		middle := math.Sqrt(low * high)
		o, ok, err := at(middle)
		if err != nil {
			return Break{}, err
		}
		if ok {
			low = middle
		} else {
			high, worst = middle, o
		}
	}
	b := Break{Times: math.Round(100*high) / 100, Cause: cause(worst.Usage)}
	if i := slices.Index(worst.Breaks, slices.Max(worst.Breaks)); i >= 0 {
		b.Term = p.Terms[i].String()
	}
	return b, nil
}

// cause finds what kept requests waiting.
func cause(u sim.ReplicaUsage) string {
	const much = 0.02 // of the steps
	steps := much * float64(u.Steps)
	switch {
	case u.Preemptions > 0 && float64(u.CacheFull+u.Preemptions) > steps:
		return CauseCache
	case float64(u.CacheFull) > steps && u.CacheFull > u.SlotsFull:
		return CauseCache
	case float64(u.SlotsFull) > steps && u.SlotsFull > u.StepFull:
		return CauseSlots
	case float64(u.StepFull) > steps:
		return CauseSteps
	}
	return CauseSpeed
}
