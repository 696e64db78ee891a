package client

import "math"

// PurseShare is a part of what is left of the limit, for one of several processes. 0 is no limit.
type PurseShare struct{ Cost float64 }

// Left returns what is left of the limits. Requests in flight are not reckoned with.
func (p *Purse) Left() PurseShare {
	s := p.Spent()
	var left PurseShare
	if p.limits.Cost > 0 {
		left.Cost = max(math.SmallestNonzeroFloat64, p.limits.Cost-s.Cost)
	}
	return left
}

// Share returns a share of a part, from 0 to 1. The shares of one part never exceed it.
func (a PurseShare) Share(share float64) PurseShare {
	if a.Cost > 0 {
		a.Cost = max(math.SmallestNonzeroFloat64, a.Cost*share)
	}
	return a
}

// Grant lets requests spend no more than a part from now on, until [Purse.Release].
func (p *Purse) Grant(a PurseShare) {
	s := p.Spent()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bounds = p.limits
	if a.Cost > 0 {
		p.bounds.Cost = s.Cost + a.Cost
	}
}

// Release lets requests spend what is left of the limits again.
func (p *Purse) Release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bounds = p.limits
}

// Book takes in what another process has spent. It does not count towards a part that was granted to this one.
func (p *Purse) Book(s Spent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.earlier = p.earlier.Plus(s)
	p.spent.Refused = p.spent.Refused || s.Refused
	if p.bounds.Cost != p.limits.Cost {
		p.bounds.Cost += s.Cost
	}
}

// Plus returns the sum of s and o. Refused stays that of s.
func (s Spent) Plus(o Spent) Spent {
	s.Requests += o.Requests
	s.Prompt, s.Output = s.Prompt+o.Prompt, s.Output+o.Output
	s.UnsurePrompt, s.UnsureOutput = s.UnsurePrompt+o.UnsurePrompt, s.UnsureOutput+o.UnsureOutput
	s.Cost += o.Cost
	return s
}

// Since returns what was spent since an earlier time.
func (s Spent) Since(before Spent) Spent {
	refused := s.Refused && !before.Refused
	s.Requests -= before.Requests
	s.Prompt, s.Output = s.Prompt-before.Prompt, s.Output-before.Output
	s.UnsurePrompt, s.UnsureOutput = s.UnsurePrompt-before.UnsurePrompt, s.UnsureOutput-before.UnsureOutput
	s.Cost, s.Refused = s.Cost-before.Cost, refused
	return s
}
