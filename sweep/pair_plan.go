package sweep

import (
	"math"
	"time"

	"llmsweep/sweep/rundir"
)

// preparePilot says how many blocks the pilot has, and about how long it takes.
func (p *pair) preparePilot() error {
	plan := &p.record.Plan
	p.block = p.guessBlock()
	plan.Pilot = pilotMost
	if p.Budget > 0 {
		plan.Pilot = min(pilotMost, max(pilotLeast, p.fitting()))
	}
	plan.Spent = time.Since(p.started).Seconds()
	p.told(plan.Pilot)
	return p.Save(p.record)
}

// guessBlock is about how long a block takes, before one was measured.
func (p *pair) guessBlock() time.Duration {
	sum := time.Duration(0)
	for i := range p.record.Loads {
		l := &p.record.Loads[i]
		switch {
		case l.Rate.Known():
			sum += duration(l.Opening+l.Window) + p.service
		case l.Requests > 0:
			sum += p.time()
		default:
			sum += max(p.time(), 4*p.service) + p.service
		}
	}
	return perBlock * sum
}

// fitting is how many more blocks the budget holds.
func (p *pair) fitting() int { return int((p.Budget - time.Since(p.started)) / p.block) }

// spent reports whether the budget holds no more blocks: they may have become longer than when it was planned.
func (p *pair) spent() bool { return p.Budget > 0 && p.fitting() < 1 }

// left is the time that everything still takes, as far as planned.
func (p *pair) left() time.Duration {
	plan := &p.record.Plan
	blocks := float64(max(plan.Pilot, plan.Blocks) - p.record.Blocks())
	blocks -= float64(p.stages) / float64(perBlock*len(p.record.Loads))
	return time.Duration(max(0, blocks) * float64(p.block))
}

// plan fixes the number of blocks from the spread that the pilot saw.
func (p *pair) plan() error {
	plan := &p.record.Plan
	plan.Block, plan.Spent = p.block.Seconds(), time.Since(p.started).Seconds()
	plan.Blocks = plan.Pilot
	rows := p.rows()
	worst, level := 0.0, rowLevels(rows)
	for i, r := range rows {
		if !r.Primary || !r.known {
			continue
		}
		if n := r.spread.Needed(math.Log1p(p.Difference), level[i], pairPower); n >= worst {
			worst, plan.LimitingMetric = n, r.Key
		}
	}
	if plan.LimitingMetric != "" {
		const absurd = 1e6
		plan.Needed = max(plan.Pilot, int(math.Ceil(min(worst, absurd)/2))) // two rounds a block
		plan.Blocks = plan.Needed
		if p.Budget > 0 {
			plan.Blocks = min(plan.Needed, plan.Pilot+max(0, p.fitting()))
		}
	}
	for i, r := range rows {
		if r.Primary && r.known {
			sees := math.Expm1(r.spread.Detectable(2*plan.Blocks, level[i], pairPower))
			plan.Sees = larger(plan.Sees, rundir.Exactly(sees))
		}
	}
	p.told(plan.Blocks - plan.Pilot)
	return p.Save(p.record)
}

// told tells of the plan, and of so many blocks to come.
func (p *pair) told(blocks int) {
	p.record.Plan.Block = p.block.Seconds()
	if p.Planned != nil {
		p.Planned(p.record, blocks*perBlock*len(p.record.Loads))
	}
}

func (p *pair) rows() []PairRow { return PairRows(p.record, p.sides[0].run, p.sides[1].run) }
