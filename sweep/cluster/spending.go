package cluster

import (
	"llmsweep/client"
)

// Limits on spending hold for all ranks together: before each stage rank 0 shares out what is left, and afterwards it books what each rank
// has spent.

// allot shares out what is left to spend, by how many requests in flight each rank may have where that is limited.
func (g *coordinatorStage) allot() {
	if g.Purse == nil {
		return
	}
	weights, sum := make([]float64, len(g.parts)), 0.0
	for i := range g.parts {
		weights[i] = 1
		if g.Limit > 0 {
			weights[i] = float64(newShare(i, len(g.parts), g.Limit, g.Schedule == nil, g.Seed, g.Name).Slots())
		}
		sum += weights[i]
	}
	left := g.Purse.Left()
	for i, p := range g.parts {
		p.part = left.Share(weights[i] / sum)
		if p.rank == 0 {
			g.Purse.Grant(p.part)
		}
	}
}

// book takes in what a rank has spent in the stage. Rank 0's purse knows of its own.
func (g *coordinatorStage) book(p *share, s client.Spent) {
	if g.Purse != nil && p.rank > 0 && !p.booked {
		p.booked = true
		g.Purse.Book(s)
	}
}

// bookLost takes in what a rank that was lost can have spent: all of its part, or without a limit what it last told.
func (g *coordinatorStage) bookLost(p *share) {
	if g.Purse == nil || g.phase == preparing {
		return
	}
	if g.Purse.Limits().Cost > 0 {
		g.book(p, client.Spent{Cost: p.part.Cost})
		return
	}
	g.book(p, p.spending)
}
