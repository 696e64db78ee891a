package cluster

import (
	"time"

	"llmsweep/client/note"
	"llmsweep/sweep/load"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/sample"
)

// observed puts together what the ranks saw.
func (g *coordinatorStage) observed() *load.Observed {
	o := &load.Observed{ClosedAt: g.closedAt, Elapsed: g.elapsed(), CPU: -1, Interrupted: g.interrupted, Spent: g.spent, Readings: g.readings}
	o.Ranks = &rundir.StageRanks{N: len(g.parts)}
	var levels []sample.Bins
	var first, last time.Duration
	worst, align := g.parts[0], 0.0
	began := false
	for _, p := range g.parts {
		d := p.done
		if g.Numbers != nil {
			if nonce, places := g.Numbers.Numbers(); d.Places > places {
				g.Numbers.Continue(nonce, d.Places)
			}
		}
		if d.InFlight.Width > 0 {
			levels = append(levels, d.InFlight)
			if !began {
				first, last, began = d.Began, d.Began, true
			} else {
				first, last = min(first, d.Began), max(last, d.Began)
			}
		}
		o.CPU, o.GC = max(o.CPU, d.CPU), max(o.GC, d.GC)
		if d.Align.Seconds() > align {
			worst, align = p, d.Align.Seconds()
		}
		g.assess(p, o)
	}
	o.InFlight = sample.Sum(levels)
	o.Ranks.Alignment, o.Ranks.Skew = rundir.Exactly(align), rundir.Exactly((last - first).Seconds())
	if rate := g.what.MeanRate(); misaligned(rate, align) {
		o.Warnings = append(o.Warnings, alignment(&g.record.Ranks[worst.rank], rate, align))
	}
	if g.Limit > 0 && g.Schedule != nil && len(g.parts) > 1 {
		o.Warnings = append(o.Warnings, noteShared.New(g.Limit, len(g.parts)))
	}
	return o
}

// assess notes whether a rank was fit to measure.
func (g *coordinatorStage) assess(p *share, o *load.Observed) {
	d := p.done
	known := func(v float64) rundir.Number {
		if v < 0 || d.Requests == 0 {
			return rundir.Number{}
		}
		return rundir.Exactly(v)
	}
	s := rundir.StageRank{
		Rank: p.rank, Requests: d.Requests, LagP99: known(d.LagP99), CPU: known(d.CPU), Late: rundir.Exactly(d.Began.Seconds()),
	}
	if s.CPU.Known() {
		s.GC = rundir.Exactly(d.GC)
	}
	o.Ranks.Each = append(o.Ranks.Each, s)
	r := &g.record.Ranks[p.rank]
	r.LagP99, r.CPU = rundir.Max(r.LagP99, s.LagP99), rundir.Max(r.CPU, s.CPU)
	alone := rundir.Stage{
		Lag: rundir.Dist{P99: s.LagP99}, ReadDelay: rundir.Dist{P99: known(d.ReadP99)}, SharedChunks: known(d.Shared),
		ClientCPU: s.CPU, ClientGC: s.GC,
	}
	why := measure.Unfit(&alone)
	if why.IsZero() {
		return
	}
	r.Valid = false
	r.Unfit = append(r.Unfit, noteOnStage.New(g.Name, []note.Note{why}))
	if o.Invalid.IsZero() {
		o.Invalid = noteUnfit.New(p.rank, p.host(), []note.Note{why})
	}
}
