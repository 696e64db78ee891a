package sim

import (
	"slices"
	"time"
)

// Simulation runs a server through time of its own, as fast as the machine can: no clock, no goroutine, no HTTP. What it does with
// requests is what [Engine] does with them.
type Simulation struct {
	config    MachineConfig
	scheduler *Scheduler
	habits    *behaviour
	now       time.Duration
	coming    []*Job // by Arrived, from next on
	next      int
}

// Job is a request of a simulation and what became of it.
type Job struct {
	Arrived     time.Duration
	First, Last time.Duration // instants of the first and of the last token
	Ended       bool          // all its tokens have come
	Refused     bool          // by the server: too long, or too many

	sequence Sequence
	server   *Simulation
	// seen is told each token, and its instant; nil for none.
	seen func(j *Job, n int, at time.Duration)
}

// token notes a token.
func (j *Job) token(n int, last bool) {
	if n == 1 {
		j.First = j.server.now
	}
	j.Last, j.Ended = j.server.now, last
	if j.seen != nil {
		j.seen(j, n, j.server.now)
	}
}

// NewSimulation returns a server at rest.
func NewSimulation(c MachineConfig) (*Simulation, error) {
	c = c.WithDefaults()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Simulation{config: c, scheduler: newScheduler(c), habits: newState(c)}, nil
}

// Add lets a request arrive at an instant that is not before the end of the last step. seen is told each token; it may add requests, and may be nil.
func (s *Simulation) Add(at time.Duration, r Request, seen func(j *Job, n int, at time.Duration)) *Job {
	j := &Job{Arrived: at, server: s, seen: seen}
	j.sequence = Sequence{Token: j.token, Prompt: r.PromptTokens, Output: r.OutputTokens, Prefix: r.Prefix}
	if s.config.Fits(r.PromptTokens, r.OutputTokens) != nil {
		j.Refused = true
		return j
	}
	if s.next > 1024 && s.next > len(s.coming)/2 {
		s.coming = slices.Delete(s.coming, 0, s.next)
		s.next = 0
	}
	i := len(s.coming)
	for i > s.next && s.coming[i-1].Arrived > at {
		i--
	}
	s.coming = slices.Insert(s.coming, i, j)
	return j
}

// Step does one step of the server, after a rest until the next arrival if there is nothing to do. It reports false where
// nothing is left to do, or the server has frozen.
func (s *Simulation) Step() bool {
	rested := s.scheduler.Idle()
	if rested {
		if s.next == len(s.coming) {
			return false
		}
		s.now = max(s.now, s.coming[s.next].Arrived+s.config.Latency)
	}
	s.admit(rested)
	d, ok := s.habits.Plan(s.scheduler, s.now)
	if !ok {
		return s.next < len(s.coming)
	}
	if d == endless {
		return false
	}
	s.now += d
	s.scheduler.Complete()
	return true
}

// admit shows the scheduler what has arrived. As in [Engine], what arrives at the exact end of a step waits for the next.
func (s *Simulation) admit(rested bool) {
	for s.next < len(s.coming) {
		j := s.coming[s.next]
		known := j.Arrived + s.config.Latency
		if known > s.now || known == s.now && !rested {
			return
		}
		s.coming[s.next] = nil
		s.next++
		if s.habits.Limit(j.sequence.Prompt, j.sequence.Output, known) != nil || s.habits.Shed(s.waitingWith(1)) != nil {
			j.Refused = true
			continue
		}
		s.scheduler.Add(&j.sequence)
	}
}

// waitingWith counts the requests that would wait for a slot with more of them.
func (s *Simulation) waitingWith(more int) int {
	sc := s.scheduler
	return max(0, sc.Waiting()+more-max(0, sc.Slots()-sc.Running()))
}

// Until runs the server until an instant, or to its end.
func (s *Simulation) Until(at time.Duration) {
	for s.now < at && (!s.scheduler.Idle() || s.next < len(s.coming) && s.coming[s.next].Arrived+s.config.Latency < at) {
		if !s.Step() {
			return
		}
	}
}
