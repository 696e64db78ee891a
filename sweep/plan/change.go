package plan

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"llmsweep/client/sim"
)

// What can be changed.
const (
	changePrompts   = "prompts"      // times as long
	changeAnswers   = "answers"      // times as long
	changeRequests  = "requests"     // times as many
	changeBandwidth = "bandwidth"    // times as fast; an extrapolation
	changeCompute   = "compute"      // times as fast; an extrapolation
	changeSlots     = "max-num-seqs" // requests that run at once
	changeStep      = "step-tokens"  // token budget of a step: chunk size
	changeHits      = "prefix-hits"  // share of each prompt found in the prefix cache
)

// Change is a what-if.
type Change struct {
	What  string
	Value float64
}

// ParseChange reads prompts=2x, max-num-seqs=128 or prefix-hits=0.5.
func ParseChange(text string) (Change, error) {
	name, value, ok := strings.Cut(text, "=")
	c := Change{What: strings.TrimSpace(name)}
	digits, times := strings.CutSuffix(strings.TrimSpace(value), "x")
	v, err := strconv.ParseFloat(digits, 64)
	c.Value = v
	good := ok && err == nil && v > 0
	switch c.What {
	case changePrompts, changeAnswers, changeRequests, changeBandwidth, changeCompute:
		good = good && times && v <= 1000
	case changeSlots, changeStep:
		good = good && !times && v == float64(int(v)) && v <= 1e7
	case changeHits:
		good = good && !times && v < 1
	default:
		good = false
	}
	if !good {
		return c, fmt.Errorf("--what-if %s: write prompts=2x, answers=2x, requests=2x, bandwidth=2x, compute=2x, max-num-seqs=128, step-tokens=4096 or prefix-hits=0.5", text)
	}
	return c, nil
}

// String returns the change as ParseChange reads it.
func (c Change) String() string {
	v := strconv.FormatFloat(c.Value, 'f', -1, 64)
	switch c.What {
	case changeSlots, changeStep, changeHits:
		return c.What + "=" + v
	}
	return c.What + "=" + v + "x"
}

// extrapolates reports whether no measurement of the twin's server tells what a change does.
func (c Change) extrapolates() bool { return c.What == changeBandwidth || c.What == changeCompute }

// server changes a server.
func (c Change) server(s sim.MachineConfig) sim.MachineConfig {
	costs := *s.Costs
	switch c.What {
	case changeBandwidth:
		r := &costs.Read
		r.Fixed, r.Context, r.Token, r.Experts = r.Fixed/c.Value, r.Context/c.Value, r.Token/c.Value, r.Experts/c.Value
	case changeCompute:
		k := &costs.Compute
		k.Fixed, k.Token, k.Sample, k.Pair = k.Fixed/c.Value, k.Token/c.Value, k.Sample/c.Value, k.Pair/c.Value
	case changeSlots:
		s.MaxNumSeqs = int(c.Value)
		s.MaxBatchedTokens = max(s.MaxBatchedTokens, s.MaxNumSeqs)
	case changeStep:
		s.MaxBatchedTokens = max(int(c.Value), s.MaxNumSeqs)
	}
	s.Costs = &costs
	return s
}

// demand changes requests.
func (c Change) demand(d *Day) *Day {
	switch c.What {
	case changePrompts:
		return d.Stretched(c.Value, 1)
	case changeAnswers:
		return d.Stretched(1, c.Value)
	case changeRequests:
		return d.Times(c.Value)
	}
	return d
}

// whatIfs finds the sizes under changes, from the busiest hour.
func (p *planner) whatIfs(ctx context.Context, out *CapacityPlan) error {
	for _, c := range p.WhatIfs {
		p.say(c.String())
		w := WhatIf{Change: c.String(), Extrapolated: c.extrapolates()}
		other := *p
		if c.What == changeHits {
			other.Hits = c.Value
		}
		d := c.demand(p.big)
		w.Refused = p.candidate.Twin.Refuses(d.Prompt.P99, d.Output.P99)
		w.Extrapolated = w.Extrapolated || p.candidate.Twin.Beyond(d.Prompt.P99, d.Output.P99)
		if w.Refused == "" {
			need, err := other.smallest(ctx, c.server(p.server), d, max(1, int(out.Replicas.Value)-p.Lost))
			if err != nil {
				return err
			}
			if w.Replicas = need + p.Lost; need == 0 || w.Replicas > p.Most {
				w.Replicas, w.Refused = 0, RefusedMost
			}
		}
		out.WhatIfs = append(out.WhatIfs, w)
	}
	return nil
}
