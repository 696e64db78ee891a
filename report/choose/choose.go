// Package choose ranks configurations for a demand. For each it finds the load up to which it meets the SLO, the number
// of replicas that the demand takes, and their cost. It finds the cheapest, those that no other dominates, and where
// the first two cost the same. It interpolates between measured rows and never extrapolates, uses no row that the audit
// calls impossible and no price that it was not given, and does not judge the quality of answers. Begin with [Of].
package choose

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strings"

	"llmsweep/report/compare"
	"llmsweep/report/lang"
	"llmsweep/report/setup"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// Options are the demand and its conditions.
type Options struct {
	Terms    []slo.Term
	Demand   Demand
	Prices   Prices
	Currency string  // of the prices; empty where it is unknown
	MaxGPUs  int     // 0: any number
	Headroom float64 // share of what a replica can take that is kept free

	AnyWorkload bool
}

const hoursPerMonth = 365 * 24 / 12

// schema names the version of a Choice's JSON.
const schema = "llmsweep.choose/v1"

// Choice is the result: the configurations that meet the demand, ranked, and the others with reasons.
type Choice struct {
	Schema    string          `json:"schema"`
	Model     string          `json:"model"` // the rankings of different models stand apart: their answers are not equal
	Workload  string          `json:"workload,omitempty"`
	SLO       []string        `json:"slo"`
	Demand    string          `json:"demand"`
	Headroom  float64         `json:"headroom"`
	MaxGPUs   int             `json:"max_gpus,omitempty"`
	Priced    bool            `json:"priced"`  // else the order is by the number of GPUs
	Counted   bool            `json:"counted"` // GPUs are known; else the order is by the number of replicas
	Currency  string          `json:"currency,omitempty"`
	Ranked    []Candidate     `json:"ranked"`  // those that meet the demand, the best first
	Refused   []Refusal       `json:"refused"` // those that do not, with why
	BreakEven *BreakEven      `json:"break_even,omitempty"`
	FrontCost []string        `json:"pareto_cost"` // names; cost of a million tokens against TTFT
	LeftOut   []setup.RowMark `json:"left_out,omitempty"`
	Marked    []setup.RowMark `json:"marked,omitempty"` // rows that were used, and that the audit doubts or remarks on
	run       *rundir.Run
	demand    Demand
}

// Candidate is a configuration that meets the demand.
type Candidate struct {
	Name   string        `json:"name"`
	Labels rundir.Labels `json:"labels"`
	// Rate is requests per second of one replica at the SLO. Where a demand in requests finds answers that are shorter
	// than was asked for, it is converted by tokens to requests of the length Asked.
	Rate     float64       `json:"rate"`
	Answer   rundir.Number `json:"answer_tokens,omitzero"` // mean length as measured
	Asked    rundir.Number `json:"asked_tokens,omitzero"`  // absent where Rate is as measured
	Measured rundir.Number `json:"measured_rate,omitzero"` // before it was converted; absent where it was not
	// Users are those that one replica carries within the SLO; absent unless the demand is in users.
	Users  rundir.Number `json:"users,omitzero"`
	Output rundir.Number `json:"output_tokens_per_s"` // there
	TTFT   rundir.Number `json:"ttft_s,omitzero"`     // mean, there
	ITL    rundir.Number `json:"itl_s,omitzero"`
	Where  string        `json:"where"` // the rows that it rests on, or the sweeps where they are several
	// Runs is the number of sweeps where they are several: Rate is their geometric mean.
	Runs      int           `json:"runs,omitempty"`
	LimitedBy string        `json:"limited_by"` // the term that ends it, or that the rows end
	Replicas  int           `json:"replicas"`
	GPUs      int           `json:"gpus"`
	Carries   float64       `json:"carries"` // of what is demanded, all replicas at the SLO's limit
	Price     float64       `json:"gpu_hour,omitempty"`
	Hour      rundir.Number `json:"cost_per_hour,omitzero"`
	Month     rundir.Number `json:"cost_per_month,omitzero"`
	// Cost of a million output tokens at the demand, with the room that whole replicas and headroom leave, where
	// answers are as long as measured.
	MillionDemand rundir.Number `json:"cost_per_million_at_demand,omitzero"`
	// Cost of a million output tokens with every replica loaded to the SLO's limit.
	MillionSLO rundir.Number `json:"cost_per_million_at_slo,omitzero"`

	// RateLow and RateHigh are the 95 % interval of Rate, or of Users, where it has one; where rows between them were
	// left out as doubtful, what those leave open.
	RateLow  rundir.Number `json:"rate_low,omitzero"`
	RateHigh rundir.Number `json:"rate_high,omitzero"`
	// ReplicaRange is how many replicas the interval of the rate allows.
	ReplicaRange [2]int `json:"replicas_interval,omitzero"`

	setup *setup.Setup
	limit setup.Limit
}

// Refusal is a configuration that does not meet the demand.
type Refusal struct {
	Name  string `json:"name"`
	Where string `json:"where"`
	Why   string `json:"why"`
	why   reason
}

// Of ranks setups, separately for each model and, unless any may be compared, for each workload: a demand is not the
// same load for two.
func Of(setups []setup.Setup, o Options) ([]Choice, error) {
	if err := o.check(setups); err != nil {
		return nil, err
	}
	type kind struct{ model, workload string }
	var kinds []kind
	groups := map[kind][]*setup.Setup{}
	for i := range setups {
		k := kind{model: setup.Model(setups[i].Run)}
		if !o.AnyWorkload {
			k.workload = compare.Workload(setups[i].Run, lang.English)
		}
		if groups[k] == nil {
			kinds = append(kinds, k)
		}
		groups[k] = append(groups[k], &setups[i])
	}
	var all []Choice
	for _, k := range kinds {
		all = append(all, choose(k.model, groups[k], o))
	}
	return all, nil
}

func (o Options) check(setups []setup.Setup) error {
	switch {
	case len(setups) == 0:
		return errors.New("choose needs results: run directories, or documents with published tables")
	case len(o.Terms) == 0:
		return errors.New("choose needs at least one --slo, such as --slo ttft:mean<200ms")
	case o.Demand.Amount <= 0:
		return errors.New("choose needs a --demand, such as 20req/s, 5000tok/s or 500users")
	case !(o.Headroom >= 0 && o.Headroom < 1):
		return errors.New("--headroom is the share kept free, from 0 to below 1")
	case o.MaxGPUs < 0:
		return errors.New("--max-gpus must not be negative")
	}
	return nil
}

func choose(model string, setups []*setup.Setup, o Options) Choice {
	c := rank(setups, o)
	c.Model, c.Demand, c.demand, c.Headroom, c.MaxGPUs = model, o.Demand.String(), o.Demand, o.Headroom, o.MaxGPUs
	c.Workload, c.run = compare.Workload(setups[0].Run, lang.English), setups[0].Run
	for _, t := range o.Terms {
		c.SLO = append(c.SLO, t.String())
	}
	for _, s := range setups {
		c.LeftOut = append(c.LeftOut, s.LeftOut...)
		c.Marked = append(c.Marked, s.Marked...)
	}
	c.BreakEven = breakEven(&c, o)
	c.FrontCost = frontCost(c.Ranked)
	return c
}

// rank sorts the setups into those that meet the demand, in order, and those that don't.
func rank(setups []*setup.Setup, o Options) Choice {
	c := Choice{Schema: schema, Currency: o.Currency}
	for _, s := range setups {
		k, r := evaluate(s, o)
		if r != nil {
			c.Refused = append(c.Refused, *r)
			continue
		}
		c.Ranked = append(c.Ranked, *k)
	}
	c.Counted = slices.ContainsFunc(c.Ranked, func(k Candidate) bool { return k.GPUs > 0 })
	if c.Counted { // what has no count cannot stand in an order of GPUs
		c.refuseIf(func(k Candidate) bool { return k.GPUs == 0 }, reason{kind: noCount})
	}
	c.Priced = slices.ContainsFunc(c.Ranked, func(k Candidate) bool { return k.Hour.Known() })
	if c.Priced { // what has no price cannot stand in an order of costs
		c.refuseIf(func(k Candidate) bool { return !k.Hour.Known() }, reason{kind: noPrice})
	}
	slices.SortStableFunc(c.Ranked, compareRank)
	return c
}

func (c *Choice) refuseIf(lacks func(Candidate) bool, why reason) {
	c.Ranked = slices.DeleteFunc(c.Ranked, func(k Candidate) bool {
		if !lacks(k) {
			return false
		}
		why.gpu = k.Labels.GPU
		c.Refused = append(c.Refused, refuse(k.setup, why))
		return true
	})
}

// size is the number of GPUs of a candidate; of replicas where a replica's GPUs were not counted.
func (k *Candidate) size() int { return cmp.Or(k.GPUs, k.Replicas) }

// SizeText returns the number of GPUs in words; of replicas where a replica's GPUs were not counted.
func (k *Candidate) SizeText() lang.Text {
	if k.GPUs == 0 {
		return Replicas(k.Replicas)
	}
	return GPUs(k.GPUs)
}

func compareRank(a, b Candidate) int {
	if a.Hour.Known() && b.Hour.Known() && !sameCost(a, b) {
		return cmp.Compare(a.Hour.Value(), b.Hour.Value())
	}
	last := math.Inf(1)
	return cmp.Or(cmp.Compare(a.size(), b.size()), cmp.Compare(b.Carries, a.Carries),
		cmp.Compare(a.TTFT.Or(last), b.TTFT.Or(last)))
}

// sameCost reports whether two costs differ by rounding alone.
func sameCost(a, b Candidate) bool { return math.Abs(a.Hour.Value()-b.Hour.Value()) < 1e-9 }

// meanAtLimit returns the mean of a metric at the limit of the load. Where a term on that mean ends it between two
// rows, that is the limit of the term; else it is at most that, since a sweep finds the load by all rows.
func (o *Options) meanAtLimit(metric string, mean rundir.Number, l *setup.Limit) rundir.Number {
	for _, t := range o.Terms {
		ends := l.Interpolated() && l.LimitingTerm.String() == t.String()
		if t.Metric == metric && t.Stat == slo.Mean && mean.Known() && (ends || mean.Value() > t.Limit) {
			mean = rundir.Exactly(t.Limit)
		}
	}
	return mean
}

func evaluate(s *setup.Setup, o Options) (*Candidate, *Refusal) {
	no := func(r reason) (*Candidate, *Refusal) {
		out := refuse(s, r)
		return nil, &out
	}
	limit, refusal := o.limit(s)
	if refusal != nil {
		if refusal.NoUsers {
			return no(reason{kind: noUsers})
		}
		return no(reason{kind: missesSLO, refusal: refusal})
	}
	k := &Candidate{
		Name: s.Name, Labels: setup.Labels(s.Run), setup: s,
		Users: limit.Users, Output: limit.Output, Where: limit.Point.Where(),
		TTFT: o.meanAtLimit(slo.TTFT, limit.Point.MaxLatency(setup.TTFT), &limit),
		ITL:  o.meanAtLimit(slo.ITL, limit.Point.MaxLatency(setup.ITL), &limit),
		Runs: len(s.Runs),
	}
	if k.Runs > 0 {
		k.Where = s.Origins()
	}
	if limit.Output.Known() && limit.Rate > 0 {
		k.Answer = rundir.Exactly(limit.Output.Value() / limit.Rate)
	}
	if o.Demand.Unit == Requests {
		k.convertRate(&limit, setup.AskedTokens(s.Run))
	}
	k.Rate, k.limit, k.LimitedBy = limit.Rate, limit, limitText(&limit, lang.English)
	if k.Labels.GPUs == 0 && o.MaxGPUs > 0 {
		return no(reason{kind: noCount})
	}
	supply, ok := o.Demand.capacity(&limit)
	if !ok {
		return no(reason{kind: noOutput})
	}
	replicas := o.Demand.Amount / (supply * (1 - o.Headroom))
	k.Replicas = int(math.Ceil(replicas - 1e-9))
	if low, high := limit.Low, limit.High; low.Known() && high.Known() && low.Value() > 0 {
		need := replicas * limit.Users.Or(k.Rate)
		k.RateLow, k.RateHigh = low, high
		k.ReplicaRange = [2]int{int(math.Ceil(need/high.Value() - 1e-9)), int(math.Ceil(need/low.Value() - 1e-9))}
	}
	k.GPUs, k.Carries = k.Replicas*k.Labels.GPUs, float64(k.Replicas)*supply
	if o.MaxGPUs > 0 && k.GPUs > o.MaxGPUs {
		return no(reason{kind: tooMany, gpus: k.GPUs, most: o.MaxGPUs})
	}
	if price, ok := o.Prices.GPUHour(k.Labels); ok && k.GPUs > 0 {
		k.setCosts(price, o.Demand)
	}
	return k, nil
}

// fullAnswerShare is the share of the length asked for that counts as all of it: an end token falls short.
const fullAnswerShare = 0.98

// convertRate converts the rate of answers that are shorter than asked for to one of requests of that length, which
// have the same output.
func (k *Candidate) convertRate(limit *setup.Limit, asked rundir.Number) {
	if k.Answer.Or(math.Inf(1)) >= fullAnswerShare*asked.Or(0) {
		return
	}
	k.Asked, k.Measured = asked, rundir.Exactly(limit.Rate)
	factor := k.Answer.Value() / asked.Value()
	limit.Rate *= factor
	limit.Low, limit.High = lang.Scale(limit.Low, factor), lang.Scale(limit.High, factor)
}

// limit returns up to which load a setup meets the terms: a number of users where the demand is one, else a rate.
func (o Options) limit(s *setup.Setup) (setup.Limit, *setup.Refusal) {
	if o.Demand.Unit == Users {
		return s.UserLimit(o.Terms)
	}
	return s.RateLimit(o.Terms)
}

func (k *Candidate) setCosts(price float64, demand Demand) {
	k.Price = price
	k.Hour = rundir.Exactly(float64(k.GPUs) * price)
	k.Month = rundir.Exactly(k.Hour.Value() * hoursPerMonth)
	if k.Output.Known() && k.Output.Value() > 0 {
		k.MillionSLO = rundir.Exactly(rundir.CostOfMillion(float64(k.Labels.GPUs)*price, k.Output.Value()))
	}
	tokens := demand.Amount // per second
	if demand.Unit != Tokens {
		supply, _ := demand.capacity(&k.limit)
		if !k.Output.Known() || supply <= 0 {
			return
		}
		tokens *= k.Output.Value() / supply
	}
	k.MillionDemand = rundir.Exactly(rundir.CostOfMillion(k.Hour.Value(), tokens))
}

// Quantized reports whether the candidate's weights are quantized.
func (k *Candidate) Quantized() bool {
	q := strings.ToLower(k.Labels.Quant)
	return q != "" && !slices.Contains([]string{"fp16", "bf16", "f16", "none"}, q)
}
