package plan

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"llmsweep/client/sim"
	"llmsweep/sweep/stats"
)

// planner plans with one candidate.
type planner struct {
	CapacityWish
	candidate Candidate
	progress  Progress
	server    sim.MachineConfig
	day       *Day // of what is simulated
	big       *Day // the busiest hour, with the headroom
	from      time.Duration
	done      int
}

// busiest is the part of a day that decides its size.
const busiest = time.Hour

// plan finds the smallest fleet and what belongs to it.
func (p *planner) plan(ctx context.Context) (*CapacityPlan, string, error) {
	p.server, p.day = p.candidate.Twin.Config(), p.Day
	p.from = p.day.Busiest(busiest)
	p.big = p.day.Part(p.from, busiest).Times(1 / (1 - p.Headroom))
	t := p.candidate.Twin
	out := &CapacityPlan{Name: p.candidate.Name, perHour: p.candidate.Price, Failed: !t.Passed(),
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

// uncertain repeats the plan with servers that the measurement does not exclude.
func (p *planner) uncertain(ctx context.Context, out *CapacityPlan, n int) error {
	needs, helds, open := make([]int, p.Draws), make([]float64, p.Draws), make([]bool, p.Draws)
	err := p.parallel(p.Draws, "uncertainty of the fit", func(i int) error {
		server := p.candidate.Twin.Sample(stats.Rand(p.Seed, "plan", fmt.Sprint(i)))
		need, err := p.smallest(ctx, server, p.big, n-p.Lost)
		if err != nil {
			return err
		}
		c := p.config(server, p.day, n, -1)
		if p.Scaling != nil {
			c = p.withScaling(c, out.ScaleAt, n)
		}
		o, err := runFleet(c, p.day.Requests, p.day.Length)
		if err != nil {
			return err
		}
		if need == 0 {
			need, open[i] = p.Most-p.Lost, true
		}
		needs[i], helds[i] = need+p.Lost, o.Held
		return nil
	})
	for i := range needs {
		if err == nil {
			out.Replicas.include(float64(needs[i]))
			out.Held.include(helds[i])
			out.Unbounded = out.Unbounded || open[i]
		}
	}
	return err
}
