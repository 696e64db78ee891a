package pair

import "llmsweep/sweep/load"

// tape gives several stages the same sessions. A source of prompts that no server has seen before would give others the second
// time.
type tape struct {
	from     load.Source
	sessions []load.Session
}

// play returns a source that begins at the tape's beginning, and goes on where the others ended.
func (t *tape) play() load.Source { return &player{tape: t} }

type player struct {
	*tape
	at int
}

func (p *player) Next() (load.Session, bool) {
	if p.at == len(p.sessions) {
		next, ok := p.from.Next()
		if !ok {
			return next, false
		}
		p.sessions = append(p.sessions, next)
	}
	p.at++
	return p.sessions[p.at-1], true
}
