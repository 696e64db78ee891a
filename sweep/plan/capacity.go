// Plans how many replicas of a server a demand needs, with twins of the servers: for each the smallest fleet that keeps the
// objectives, what it costs, what breaks first, and how far all this may be off by what the fit does not know.

package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

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

// CapacityWish is what the fleet is to do.
type CapacityWish struct {
	Day      *Day
	Terms    []slo.Term
	Router   Router
	Headroom float64 // share of what the fleet can take that is kept free
	Lost     int     // replicas without which the objectives still hold
	Minutes  float64 // share of the minutes in which they hold
	Most     int     // replicas
	Hits     float64 // share of each prompt that is found in the prefix cache
	Scaling  *CapacityScaling
	WhatIfs  []Change
	Draws    int    // of servers that the measurements do not exclude
	Seed     uint64 // of the draws
	// Unchecked plans also with twins that failed their held-out check.
	Unchecked bool
}

// CapacityScaling starts and stops replicas with the load. What is 0 is chosen.
type CapacityScaling struct {
	Least     int
	InFlight  float64
	ColdStart time.Duration
	Calm      time.Duration
}

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

func (w *CapacityWish) check(all []Candidate) error {
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

// Plan plans with each candidate, and ranks the plans by cost, or by GPUs where no price is known.
func Plan(ctx context.Context, all []Candidate, w CapacityWish, progress Progress) (*CapacityResult, error) {
	if err := w.check(all); err != nil {
		return nil, err
	}
	d := w.Day
	r := &CapacityResult{Schema: Schema, SLO: slo.Strings(w.Terms), Router: w.Router, Headroom: w.Headroom, Lost: w.Lost, Minutes: w.Minutes, Draws: w.Draws,
		Demand: Demand{len(d.Requests), d.Length.Seconds(), d.Rate, d.Peak, d.Prompt, d.Output}}
	priced := slices.ContainsFunc(all, func(c Candidate) bool { return c.Price > 0 })
	for _, c := range all {
		why := w.refuses(&c)
		if why == "" && priced && c.Price == 0 {
			why = RefusedPrice
		}
		if why == "" {
			p := planner{CapacityWish: w, candidate: c, progress: progress}
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
	slices.SortStableFunc(r.Ranked, func(a, b CapacityPlan) int {
		return cmp.Or(cmp.Compare(a.cost(), b.cost()), cmp.Compare(a.Mean*float64(a.GPUs), b.Mean*float64(b.GPUs)))
	})
	return r, nil
}

func (p *CapacityPlan) cost() float64 {
	if p.Hour == nil {
		return 0
	}
	return p.Hour.Value
}

// refuses returns why a candidate has no plan before anything is simulated.
func (w *CapacityWish) refuses(c *Candidate) string {
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
