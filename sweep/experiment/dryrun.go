package experiment

import (
	"math"
	"slices"
	"time"

	"llmsweep/client"
	"llmsweep/sweep/load"
)

// SpendPlan is a plan whose spending is reckoned.
type SpendPlan struct {
	Stages  []Stage
	Warmup  Warmup
	Seed    uint64
	Sources func(stage string) load.Source
	Count   func(text string) int // the tokens of a text, at most; for turns whose workload does not set their length
	Caps    *load.Caps            // nil for none
	Limits  *client.SpendLimits   // of spending; nil for none
	Before  SpendTokens           // of the preflight
	// Longest is how long all stages together send at most, where their own loads do not bound them; 0 for not known.
	Longest time.Duration
}

// SpendTokens are those of prompts and of answers.
type SpendTokens struct{ Prompt, Output int64 }

// Add adds tokens.
func (t *SpendTokens) Add(more SpendTokens) {
	t.Prompt += more.Prompt
	t.Output += more.Output
}

// MostSpent is what a plan sends at most.
type MostSpent struct {
	Requests, Warmup int // Warmup: those before the first stage, not in Requests
	SpendTokens          // the preflight's included
	// Unbounded is the first stage whose number of requests follows from the server's speed alone; empty where none
	// does.
	Unbounded string
}

// spareName names the stage of a sweep's requests: its stages are not known yet.
const spareName = "sweep"

// Reckon returns what a plan sends at most. Lengths are those that the stages will draw.
func Reckon(p *SpendPlan) (m MostSpent) {
	m.SpendTokens = p.Before
	warm := unbounded()
	switch w := p.Warmup; {
	case w.Auto:
		warm.sessions = maxWarmups
	case w.Time > 0:
		warm.cap(p.Caps, w.Time)
	default:
		warm.sessions = float64(w.Requests)
	}
	p.add(&m, warmUpStage, warm)
	m.Requests, m.Warmup = 0, m.Requests
	for i := range p.Stages {
		s := &p.Stages[i]
		p.add(&m, s.Name, p.stage(s))
	}
	if len(p.Stages) == 0 {
		b := unbounded()
		b.cap(p.Caps, p.Longest)
		p.add(&m, spareName, b)
	}
	return m
}

// bounds are the most that a stage sends; infinite where something is not bounded.
type bounds struct {
	sessions, requests float64
	tokens             float64 // as [load.Caps] counts them: those of the last message and of the answer
}

func unbounded() bounds { return bounds{math.Inf(1), math.Inf(1), math.Inf(1)} }

// cap bounds what is sent in a time; 0 is a time that is not known.
func (b *bounds) cap(c *load.Caps, in time.Duration) {
	if in > 0 {
		b.requests, b.tokens = c.Most(in)
	}
}

// stage returns the bounds of a stage. Without any, its requests follow from the server's speed.
func (p *SpendPlan) stage(s *Stage) bounds {
	b, long := unbounded(), s.MaxTime+s.Tail
	b.cap(p.Caps, long)
	schedule := s.countedLoad(1).Schedule(p.Seed, s.Name)
	if s.Sessions > 0 {
		b.sessions = float64(s.Sessions)
	}
	if schedule == nil {
		return b
	}
	n := 0
	for s.Sessions == 0 || n < s.Sessions {
		due, ok := schedule.Next()
		if !ok || !s.Load.Ends() && s.Sessions == 0 && due > long {
			break
		}
		n++
	}
	b.sessions = float64(n)
	return b
}

// mostDrawn is how many requests of a stage without a number of sessions are drawn. What follows them is reckoned to be
// alike.
const mostDrawn = 10_000

func (p *SpendPlan) add(m *MostSpent, stage string, b bounds) {
	if b == unbounded() && (p.Limits == nil || p.Limits.Cost == 0) {
		if m.Unbounded == "" {
			m.Unbounded = stage
		}
		return
	}
	source, sent, before := p.Sources(stage), bounds{}, *m
	for sent.sessions < b.sessions {
		s, ok := source.Next()
		if !ok || !p.session(m, &s, &sent, b) {
			return
		}
		sent.sessions++
		if sent.requests >= mostDrawn && math.IsInf(b.sessions, 1) {
			p.extrapolate(m, &before, b.requests/sent.requests, b.tokens/sent.tokens)
			return
		}
	}
}

// session adds a session, and reports whether all of it was within the bounds. A turn carries its conversation: all
// before it is in its prompt again.
func (p *SpendPlan) session(m *MostSpent, s *load.Session, sent *bounds, b bounds) bool {
	history := int64(0)
	if s.System != "" {
		history = int64(p.Count(s.System))
	}
	for _, t := range s.Turns {
		user := int64(t.PromptTokens)
		if user == 0 {
			user = int64(p.Count(t.User))
		}
		history += user
		more := SpendTokens{m.Prompt + history, m.Output + int64(t.OutputTokens)}
		if sent.requests >= b.requests || sent.tokens >= b.tokens || p.used(more) > 1 {
			return false
		}
		m.Requests++
		m.SpendTokens = more
		sent.requests++
		sent.tokens += float64(max(1, t.PromptTokens+t.OutputTokens))
		history += int64(t.OutputTokens)
	}
	return true
}

// used returns a share of the limits on spending.
func (p *SpendPlan) used(t SpendTokens) float64 {
	if p.Limits == nil {
		return 0
	}
	return p.Limits.Share(t.Prompt, t.Output)
}

// extrapolate multiplies what was added since before, up to the nearest bound.
func (p *SpendPlan) extrapolate(m, before *MostSpent, factors ...float64) {
	factor := slices.Min(factors)
	if started, drawn := p.used(before.SpendTokens), p.used(m.SpendTokens); drawn > started {
		factor = min(factor, (1-started)/(drawn-started))
	}
	grow := func(from, to int64) int64 { return from + int64(math.Ceil(float64(to-from)*factor)) }
	m.Requests = int(grow(int64(before.Requests), int64(m.Requests)))
	m.Prompt, m.Output = grow(before.Prompt, m.Prompt), grow(before.Output, m.Output)
}
