package plan

import (
	"context"

	"math"
	"slices"
	"time"
)

// settle simulates the whole time with the fleet, as it is meant to be.
func (p *planner) settle(ctx context.Context, out *CapacityPlan, n int) error {
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
		l, err := runFleet(c, p.day.Requests, p.day.Length)
		if err != nil {
			return err
		}
		held := exactly(l.Held)
		out.HeldLost, out.LostAnswers = &held, l.LostAnswers
		out.OverLost, out.LostAt = spans(l, p.day.Length), c.LostAt.Seconds()
	}
	return nil
}

// scaled finds the load at which replicas are started: that of the busiest minute, or less where a cold start is too slow for it.
func (p *planner) scaled(ctx context.Context, out *CapacityPlan, fixed *fleetOutcome, n int) (*fleetOutcome, error) {
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
	var o *fleetOutcome
	for _, f := range tries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p.say("scaling")
		out.ScaleAt = max(0.5, f*at)
		c := p.withScaling(p.config(p.server, p.day, p.Scaling.Least, -1), out.ScaleAt, n)
		var err error
		if o, err = runFleet(c, p.day.Requests, p.day.Length); err != nil {
			return nil, err
		}
		if o.Held >= p.Minutes {
			break
		}
	}
	return o, nil
}

func (p *planner) withScaling(c FleetConfig, at float64, n int) FleetConfig {
	c.Replicas = p.Scaling.Least
	c.Scaling = &fleetScaling{Least: p.Scaling.Least, Most: n, InFlight: at, ColdStart: p.Scaling.ColdStart, Calm: p.Scaling.Calm}
	return c
}

// spansShown is how many rows the time is cut into.
const spansShown = 24

// spans sums up the minutes.
func spans(o *fleetOutcome, length time.Duration) []CapacitySpan {
	minutes := len(o.Minutes)
	width := (minutes + spansShown - 1) / spansShown
	var all []CapacitySpan
	for from := 0; from < minutes; from += width {
		part := o.Minutes[from:min(minutes, from+width)]
		s := CapacitySpan{From: float64(from) * 60, Least: math.MaxInt}
		with, held := 0, 0
		var worst []float64
		for _, m := range part {
			s.Rate += float64(m.Arrived)
			s.Mean += float64(m.Replicas) / float64(len(part))
			s.InFlight += m.MeanInFlight / float64(len(part))
			s.Least, s.Most = min(s.Least, m.Replicas), max(s.Most, m.Replicas)
			if m.Arrived > 0 {
				worst = maxima(worst, m.Values)
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
		for _, v := range worst {
			if math.IsInf(v, 1) {
				s.Worst = append(s.Worst, nil)
				continue
			}
			s.Worst = append(s.Worst, &v)
		}
		all = append(all, s)
	}
	return all
}

// maxima returns the larger of each pair of values; the second where there is no first.
func maxima(a, b []float64) []float64 {
	if a == nil {
		return slices.Clone(b)
	}
	for i, v := range b {
		a[i] = max(a[i], v)
	}
	return a
}
