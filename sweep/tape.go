package sweep

// tape lets several stages have the very same tasks, whatever the source would give the second time: a source of prompts
// that no server has seen before gives others.
type tape struct {
	from  Source
	tasks []Task
}

// play is a source that begins at the tape's beginning, and goes on where the others ended.
func (t *tape) play() Source { return &player{tape: t} }

type player struct {
	*tape
	at int
}

func (p *player) Next() (Task, bool) {
	if p.at == len(p.tasks) {
		next, ok := p.from.Next()
		if !ok {
			return next, false
		}
		p.tasks = append(p.tasks, next)
	}
	p.at++
	return p.tasks[p.at-1], true
}
