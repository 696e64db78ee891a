package pair

import (
	"math"
	"slices"
	"time"

	"llmsweep/sweep/experiment"
	"llmsweep/sweep/rundir"
)

// preparePilot decides how many blocks the pilot has.
func (p *comparison) preparePilot() error {
	plan := &p.record.Plan
	if err := p.fit(); err != nil {
		return err
	}
	p.block = p.guessBlock()
	plan.Pilot = maxPilot
	if p.Budget > 0 {
		plan.Pilot = min(maxPilot, max(minPilot, p.fitting()))
	}
	plan.Spent = time.Since(p.started).Seconds()
	p.told(plan.Pilot)
	return p.Save(p.record)
}

// shorten cuts the stages at arrival rates so that the shortest comparison fits into what the budget has left. Where that would leave less
// than shortest of them it does nothing: such stages would show nothing.
func (p *comparison) shorten() {
	const shortest, slack = 1.0 / 3, 0.9
	var stages time.Duration
	for i := range p.record.Loads {
		if l := &p.record.Loads[i]; l.Rate.Known() {
			stages += minPilot * perBlock * rundir.Duration(l.Opening+l.Window)
		}
	}
	over := p.pilotTakes() - (p.Budget - time.Since(p.started))
	if p.Budget <= 0 || over <= 0 || stages == 0 {
		return
	}
	share := slack * (1 - over.Seconds()/stages.Seconds())
	if share < shortest {
		return
	}
	for i := range p.record.Loads {
		if l := &p.record.Loads[i]; l.Rate.Known() {
			l.Opening, l.Window = share*l.Opening, share*l.Window
		}
	}
}

// fit makes the shortest comparison fit into what the budget has left: by shorter stages, and where the loads are its own, by fewer of them. Where
// nothing fits it ends the comparison.
func (p *comparison) fit() error {
	if p.Budget <= 0 {
		return nil
	}
	all := p.record.Loads
	choices := [][]string{nil}
	if len(p.Rates)+len(p.Widths) == 0 {
		choices = [][]string{nil, {LoadHigh}, {LoadHigh, LoadSync}, {LoadHigh, LoadSync, LoadHalf}, {LoadHigh, LoadSync, LoadCeiling}}
	}
	for _, without := range choices {
		p.record.Loads = slices.DeleteFunc(slices.Clone(all), func(l rundir.PairLoad) bool { return slices.Contains(without, l.Key) })
		p.shorten()
		if p.pilotTakes() > p.Budget-time.Since(p.started) {
			continue
		}
		for _, l := range all {
			if slices.Contains(without, l.Key) {
				p.sides[0].Warn(noteLoadLeftOut.New(l.Name))
			}
		}
		return nil
	}
	p.record.Loads = all
	needed := rundir.RoundUp((time.Since(p.started) + p.pilotTakes()).Seconds())
	return experiment.NewEndError(noteNoBlocks.New(p.Budget, needed), "the budget has no time for two blocks")
}

// pilotTakes returns about how long the shortest comparison takes from now on.
func (p *comparison) pilotTakes() time.Duration {
	const slack = 1.3 // stages of a few waves vary
	return time.Duration(slack * minPilot * float64(p.guessBlock()))
}

// guessBlock returns about how long a block takes, before one was measured.
func (p *comparison) guessBlock() time.Duration {
	sum := time.Duration(0)
	for i := range p.record.Loads {
		sum += p.cost(&p.record.Loads[i])
	}
	return perBlock * sum
}

// cost returns about how long a stage at a load takes, with what it waits for before.
func (p *comparison) cost(l *rundir.PairLoad) time.Duration {
	const waves = 4 // of a closed loop: the first, and three that are measured
	switch {
	case l.Rate.Known():
		return rundir.Duration(l.Opening+l.Window) + p.service
	case l.Requests > 0:
		return max(p.time(), time.Duration(l.Requests)*p.alone)
	}
	const after = 2     // latencies: what was sent in the window ends, and then what kept the load up meanwhile
	asks := 2 * p.alone // whether it has recovered
	return rundir.Duration(l.Opening) + max(p.time(), waves*p.service) + after*p.service + asks
}

// fitting returns how many more blocks the budget holds.
func (p *comparison) fitting() int { return int((p.Budget - time.Since(p.started)) / p.block) }

// spent reports whether the budget holds no more blocks: they may have become longer than when it was planned.
func (p *comparison) spent() bool { return p.Budget > 0 && p.fitting() < 1 }

// leftBounds returns the bounds of the time that everything still takes; negative before the loads are known. The pilot may show that more
// blocks are needed than it has, up to what the budget holds.
func (p *comparison) leftBounds() (low, high time.Duration) {
	const unsure = 0.1 // of a block's time
	budget := max(0, p.Budget-time.Since(p.started))
	if p.block == 0 {
		if p.Budget == 0 {
			return -1, -1
		}
		return min(budget, minPilot*p.guessBlock()), budget
	}
	step := p.block / time.Duration(max(1, perBlock*len(p.record.Loads)))
	left := max(0, float64(p.left()-min(step, time.Since(p.stageBegan))))
	low, high = time.Duration((1-unsure)*left), time.Duration((1+unsure)*left)
	if p.record.Plan.Blocks == 0 && p.Budget > 0 { // before the plan
		high = max(high, budget)
	}
	return low, high
}

// left returns the time that everything still takes, as far as planned.
func (p *comparison) left() time.Duration {
	plan := &p.record.Plan
	blocks := float64(max(plan.Pilot, plan.Blocks) - p.record.Blocks())
	blocks -= float64(p.stages) / float64(perBlock*len(p.record.Loads))
	return time.Duration(max(0, blocks) * float64(p.block))
}

// plan fixes the number of blocks from the spread that the pilot saw.
func (p *comparison) plan() error {
	plan := &p.record.Plan
	plan.Block, plan.Spent = p.block.Seconds(), time.Since(p.started).Seconds()
	plan.Blocks = plan.Pilot
	rows := p.rows()
	worst, each := 0.0, levels(rows)
	for i, r := range rows {
		if !r.Primary || !r.known {
			continue
		}
		if n := r.spread.Needed(math.Log1p(p.Difference), each[i], power); n >= worst {
			worst, plan.LimitingMetric = n, r.Key
		}
	}
	if plan.LimitingMetric != "" {
		const absurd = 1e6                                                  // more blocks than anyone measures: beyond, a float64 may not fit an int
		plan.Needed = max(plan.Pilot, int(math.Ceil(min(worst, absurd)/2))) // two rounds a block
		plan.Blocks = plan.Needed
		if p.Budget > 0 {
			plan.Blocks = min(plan.Needed, plan.Pilot+max(0, p.fitting()))
		}
	}
	for i, r := range rows {
		if r.Primary && r.known {
			sees := math.Expm1(r.spread.Detectable(2*plan.Blocks, each[i], power))
			if plan.Sees.IsZero() || sees > plan.Sees.Value() {
				plan.Sees = rundir.Exactly(sees)
			}
		}
	}
	p.told(plan.Blocks - plan.Pilot)
	return p.Save(p.record)
}

// told reports the plan, and the number of blocks to come.
func (p *comparison) told(blocks int) {
	p.record.Plan.Block = p.block.Seconds()
	if p.Planned != nil {
		p.Planned(p.record, blocks*perBlock*len(p.record.Loads))
	}
}

func (p *comparison) rows() []Row { return Rows(p.record, p.sides[0].Run(), p.sides[1].Run()) }
