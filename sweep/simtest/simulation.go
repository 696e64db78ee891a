package simtest

import (
	"slices"
	"time"

	"llmsweep/client/sim"
)

// simulation runs a server through time of its own, as fast as the machine can: no clock, no goroutine, no HTTP. It
// treats requests as [sim.Engine] does. Habits are left out.
type simulation struct {
	config    sim.MachineConfig
	scheduler *sim.Scheduler
	now       time.Duration
	coming    []*job // by Arrived
}

type job struct {
	Arrived     time.Duration
	First, Last time.Duration // instants of the first and of the last token
	Ended       bool          // all its tokens have come

	sequence sim.Sequence
	server   *simulation
	seen     func(j *job, n int, at time.Duration) // told each token and its instant; nil for none
}

func (j *job) token(n int, last bool) {
	if n == 1 {
		j.First = j.server.now
	}
	j.Last, j.Ended = j.server.now, last
	if j.seen != nil {
		j.seen(j, n, j.server.now)
	}
}

func newSimulation(c sim.MachineConfig) (*simulation, error) {
	c = c.WithDefaults()
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &simulation{config: c, scheduler: sim.NewScheduler(c)}, nil
}

// Add lets a request arrive at an instant that is not before the end of the last step. One that the server cannot hold
// never ends. seen is told each token; it may add requests, and may be nil.
func (s *simulation) Add(at time.Duration, r sim.Request, seen func(j *job, n int, at time.Duration)) *job {
	j := &job{Arrived: at, server: s, seen: seen}
	j.sequence = sim.Sequence{Token: j.token, Prompt: r.PromptTokens, Output: r.OutputTokens, Prefix: r.Prefix}
	if s.config.Fits(r.PromptTokens, r.OutputTokens) != nil {
		return j
	}
	i := len(s.coming)
	for i > 0 && s.coming[i-1].Arrived > at {
		i--
	}
	s.coming = slices.Insert(s.coming, i, j)
	return j
}

// Step does one step of the server, after a rest until the next arrival if there is nothing to do. It reports false
// where nothing is left to do.
func (s *simulation) Step() bool {
	rested := s.scheduler.Idle()
	if rested {
		if len(s.coming) == 0 {
			return false
		}
		s.now = max(s.now, s.coming[0].Arrived)
	}
	// As in sim.Engine, what arrives at the exact end of a step waits for the next.
	n := 0
	for ; n < len(s.coming) && (s.coming[n].Arrived < s.now || rested && s.coming[n].Arrived == s.now); n++ {
		s.scheduler.Add(&s.coming[n].sequence)
	}
	s.coming = slices.Delete(s.coming, 0, n)
	d, ok := s.scheduler.Plan()
	if !ok {
		return len(s.coming) > 0
	}
	s.now += d
	s.scheduler.Complete()
	return true
}
