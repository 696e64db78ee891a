// Package dryrun reckons what a plan would send, without sending it.
package dryrun

import (
	"math"
	"time"

	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
)

// Plan is what is reckoned.
type Plan struct {
	Stages  []experiment.Stage
	Warmup  experiment.Warmup
	Seed    uint64
	Sources func(stage string) load.Source
	Count   func(text string) int // the tokens of a text, at most; for turns whose workload does not set their length
	Caps    *load.Caps            // nil for none
	// Longest is how long all stages together send at most, where their own loads do not bound them; 0 for not known.
	Longest time.Duration
}

// Most is what a plan sends at most.
type Most struct {
	Requests, Warmup int // Warmup: those before the first stage, not in Requests
	Prompt, Output   int64
	// Unbounded is the first stage whose number of requests follows from the server's speed alone; empty where none does.
	Unbounded string
}

// warmupMost is how many requests an automatic warm-up sends at most, as package experiment has it.
const warmupMost = 30

// warmupName names the stage of the warm-up's requests, and spareName that of the requests of a sweep, whose stages are not known yet.
const warmupName, spareName = "warm-up", "sweep"

// Reckon returns what a plan sends at most. Lengths are those that the stages will draw.
func Reckon(p *Plan) (m Most) {
	switch w := p.Warmup; {
	case w.Auto:
		m.Warmup = warmupMost
	case w.Time > 0:
		m.Unbounded = warmupName
	default:
		m.Warmup = w.Requests
	}
	p.add(&m, warmupName, m.Warmup)
	m.Requests = 0
	for i := range p.Stages {
		s := &p.Stages[i]
		n, known := p.sessions(s)
		if !known && m.Unbounded == "" {
			m.Unbounded = s.Name
		}
		p.add(&m, s.Name, n)
	}
	if n, capped := p.capped(p.Longest); len(p.Stages) == 0 && capped {
		p.add(&m, spareName, n)
	} else if len(p.Stages) == 0 && m.Unbounded == "" {
		m.Unbounded = spareName
	}
	return m
}

// sessions returns how many sessions a stage begins at most. known is false where that follows from the server's speed.
func (p *Plan) sessions(s *experiment.Stage) (n int, known bool) {
	long := s.MaxTime + s.Tail
	schedule := s.Load.Schedule(p.Seed, s.Name)
	if schedule == nil {
		if s.Sessions > 0 {
			return s.Sessions, true
		}
		return p.capped(long)
	}
	for s.Sessions == 0 || n < s.Sessions {
		due, ok := schedule.Next()
		if !ok || !s.Load.Ends() && s.Sessions == 0 && due > long {
			break
		}
		n++
	}
	return n, true
}

// capped returns how many requests the cap on their rate allows in a time; false where there is no cap, or the time is not known.
func (p *Plan) capped(long time.Duration) (int, bool) {
	rate := p.Caps.PerSecond()
	if rate == 0 || long == 0 {
		return 0, false
	}
	return int(math.Ceil(rate*long.Seconds())) + 1, true
}

// add adds the first sessions of a stage. A turn carries its conversation: all before it is in its prompt again.
func (p *Plan) add(m *Most, stage string, sessions int) {
	source := p.Sources(stage)
	for range sessions {
		s, ok := source.Next()
		if !ok {
			return
		}
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
			m.Requests++
			m.Prompt += history
			m.Output += int64(t.OutputTokens)
			history += int64(t.OutputTokens)
		}
	}
}
