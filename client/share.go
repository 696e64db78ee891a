package client

// leastLeft stands for nothing that is left, since 0 is no limit. A share of it is above 0, too.
const leastLeft = 1e-200

// Left returns what is left of the limit; 0 for no limit. Requests in flight are not reckoned with.
func (p *Purse) Left() float64 {
	if p.limits.Cost == 0 {
		return 0
	}
	return max(leastLeft, p.limits.Cost-p.Spent().Cost)
}

// Grant lets requests spend no more than a part of what is left from now on, until [Purse.Release]; 0 is no limit.
func (p *Purse) Grant(cost float64) {
	s := p.Spent()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.most = p.limits.Cost
	if cost > 0 {
		p.most = s.Cost + cost
	}
}

// Release lets requests spend what is left of the limit again.
func (p *Purse) Release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.most = p.limits.Cost
}

// Book takes in what another process has spent. It does not count towards a part that was granted to this one.
func (p *Purse) Book(s Spent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.earlier = p.earlier.Plus(s)
	p.spent.Refused = p.spent.Refused || s.Refused
	if p.most != p.limits.Cost {
		p.most += s.Cost
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
