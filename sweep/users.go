package sweep

import (
	"math"
	"strconv"
	"sync"
	"time"

	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/slo"
)

// A sweep by users measures one user, then twice as many each time until that is too many, and then numbers in the
// middle of the bracket of those that are carried and those that are too many.

const (
	mostProbes = 10   // numbers of users in the bracket
	quickShare = 0.4  // of a stage, while the number is doubled: far from the answer it is soon clear
	nearUsers  = 0.05 // of the number: a bracket that narrow is the answer
)

func (p *plan) users() (s experiment.Stage, ok bool) {
	floor := p.run.First(rundir.Synchronous)
	if floor == nil {
		return p.userStage(1, rundir.Synchronous), true
	}
	if floor.Requests.OK == 0 || p.Budget > 0 && p.left < leastHold {
		return s, false
	}
	rows := saturation.UserRows(p.run.Stages)
	if len(rows) == 0 {
		return s, false
	}
	last := rows[len(rows)-1]
	if !p.tooMany(last) {
		if last.MaxConcurrency >= p.MaxConcurrency {
			// The number that the answer names is measured for a whole stage.
			ok = len(p.SLO) > 0 && p.countUsers(last.MaxConcurrency, rundir.Probe) == 0
			return p.userStage(last.MaxConcurrency, rundir.Probe), ok
		}
		return p.userStage(min(2*last.MaxConcurrency, p.MaxConcurrency), rundir.Grid), true
	}
	if users := p.bisectUsers(rows); users > 0 && p.count(rundir.Probe) < mostProbes {
		return p.userStage(users, rundir.Probe), true
	}
	return s, false
}

// tooMany reports whether a stage has more users than the server carries, beyond doubt.
func (p *plan) tooMany(st *rundir.Stage) bool {
	if len(p.SLO) > 0 {
		v, _ := slo.Judge(st, p.SLO)
		return v == rundir.Missed
	}
	c := saturation.UserCapacity(p.run.Stages, nil)
	return c.Users.Known() && c.Users.Value()*leastGain < float64(st.MaxConcurrency)
}

// bisectUsers returns the middle of the bracket; 0 where it is narrow. With an SLO, the number that the answer names is
// measured for a whole stage too.
func (p *plan) bisectUsers(rows []*rundir.Stage) int {
	c := saturation.UserCapacity(p.run.Stages, p.SLO)
	low, high := c.Low.Or(1), c.High.Or(float64(rows[len(rows)-1].MaxConcurrency))
	middle := int(math.Round((low + high) / 2))
	if high-low > max(1, 2*nearUsers*high) && p.countUsers(middle, rundir.Probe) < 2 {
		return middle
	}
	if len(p.SLO) > 0 && c.Low.Known() && p.countUsers(int(low), rundir.Probe) == 0 {
		return int(low)
	}
	return 0
}

// countUsers returns how often a number of users was measured in a role; in any where role is empty.
func (p *plan) countUsers(users int, role rundir.Role) (n int) {
	for i := range p.run.Stages {
		if st := &p.run.Stages[i]; st.MaxConcurrency == users && (st.Role == role || role == "") {
			n++
		}
	}
	return n
}

// userStage keeps the users of the stage before where they were; others join in the middle of their sessions, or leave.
func (p *plan) userStage(users int, role rundir.Role) experiment.Stage {
	cycle := p.run.Workload.Pause()
	if n := len(p.run.Stages); n > 0 {
		cycle += rundir.Duration(p.run.Stages[n-1].Latency.Mean.Or(0))
	}
	s := p.UsersAtOnce(users, role, cycle)
	if n := p.countUsers(users, ""); n > 0 {
		s.Name += "#" + strconv.Itoa(n+1)
	}
	s.MinTime, s.MaxTime = p.limitTime(s.MinTime, usersShare), p.limitTime(s.MaxTime, 2*usersShare)
	if role != rundir.Probe {
		s.MinTime = time.Duration(quickShare * float64(s.MinTime))
	}
	return s
}

type openSessions struct {
	mu       sync.Mutex
	sessions []load.Session
}

func (s *openSessions) add(session load.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions = append(s.sessions, session)
}

// source returns a source of the open sessions, one for each user at most, and then of others. The rest have left.
func (s *openSessions) source(others load.Source, users int) load.Source {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.sessions[:min(users, len(s.sessions))]
	s.sessions = nil
	return &resumedSource{first, others}
}

type resumedSource struct {
	first []load.Session
	load.Source
}

func (s *resumedSource) Next() (load.Session, bool) {
	if len(s.first) == 0 {
		return s.Source.Next()
	}
	next := s.first[0]
	s.first = s.first[1:]
	return next, true
}
