package sweep

import (
	"context"
	"math"
	"strconv"
	"sync"

	"llmsweep/sweep/experiment"
	"llmsweep/sweep/load"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/slo"
)

// The search about the number of users that a server carries adds at most maxUserStages, and at least minUserStages near the answer. Both were chosen with
// TestUsersAgreeWithExhaustiveSearch.
const (
	maxUserStages = 14
	minUserStages = 4
)

// quickShare is how long a stage is at least while the number of users is doubled, as a share of the others: far from the answer it is soon clear.
const quickShare = 0.4

// userSearch is the search for the number of users that a server carries.
type userSearch struct {
	*sweeper
	staying stayingUsers
}

// users measures one user, then twice as many each time until that is too many, and then about the most that the server carries.
func (x *sweeper) users(ctx context.Context) error {
	u := &userSearch{sweeper: x}
	x.Allot(maxUserStages)
	if err := x.WarmUp(ctx); err != nil {
		return err
	}
	floor, err := u.measure(ctx, 1, rundir.Floor)
	if err != nil {
		return err
	}
	if floor.Requests.OK == 0 {
		return experiment.NothingDone()
	}
	if err := u.double(ctx); err != nil {
		return err
	}
	return u.narrow(ctx)
}

// double adds users until the SLO is missed, or without one until more bring nothing.
func (u *userSearch) double(ctx context.Context) error {
	for users := 1; users < u.config.MaxConcurrency && !u.Short(); {
		users = min(2*users, u.config.MaxConcurrency)
		st, err := u.measure(ctx, users, rundir.Grid)
		if err != nil {
			return err
		}
		if u.tooMany(&st) {
			return nil
		}
	}
	return nil
}

// tooMany reports whether a row has more users than the server carries, by far enough that the number lies below it.
func (u *userSearch) tooMany(st *rundir.Stage) bool {
	if len(u.config.SLO) > 0 {
		v, _ := slo.Judge(st, u.config.SLO)
		return v == rundir.Broken
	}
	c := u.carried()
	return c.Users.Known() && c.Users.Value()*worthDoubling < float64(st.MaxConcurrency)
}

// carried returns how many users the server carries, as far as the rows show it.
func (u *userSearch) carried() *rundir.Carried {
	return saturation.Carried(u.Run().Stages, u.config.SLO)
}

// narrow adds rows about the answer, until it is known to the precision asked for.
func (u *userSearch) narrow(ctx context.Context) error {
	for n := range maxUserStages {
		u.Allot(max(2, maxUserStages-2*n))
		u.Ahead.SLO = experiment.ForecastCounts{Low: float64(max(1, minUserStages-n)), High: float64(maxUserStages - n)}
		users := u.next()
		if users == 0 || u.Short() {
			break
		}
		if _, err := u.measure(ctx, users, rundir.Probe); err != nil {
			return err
		}
	}
	u.Ahead.SLO = experiment.ForecastCounts{}
	return nil
}

// next returns the number of users that tells most about the answer; 0 where enough is known. First the rows on either side are brought near by halves.
// Then numbers above it, at it and below it are measured in turn: the edge is so approached from both sides, since a cache that was thrashed recovers slowly.
func (u *userSearch) next() int {
	c := u.carried()
	low, high := c.Low, c.High
	at := c.Users
	switch {
	case at.Bound() || u.config.Precision <= 0:
		return 0
	case at.Known():
	case low.Known() && high.Known():
		at = rundir.Exactly(math.Sqrt(max(1, low.Value()) * max(1, high.Value())))
	default: // no row decides: the one with the most users is held for longer
		if most, _ := u.beside(math.MaxInt); c.Verdict == rundir.Unsure && u.near(most, 0) == 0 {
			return most
		}
		return 0
	}
	users := int(at.Value())
	near := max(1, int(math.Round(u.config.Precision*at.Value())))
	below, above := u.beside(users)
	switch {
	case above == 0: // more were not allowed
		return 0
	case above-below > 2*near && above-users > near && users-below > near: // the middle is the surest
		return (above + below + 1) / 2
	case above-users > near:
		return users + near
	case users-below > near:
		return users - near
	case len(u.config.SLO) == 0:
		return 0
	}
	measured := u.near(users, near)
	if measured >= minUserStages && high.Value()-low.Value() <= max(1, 2*u.config.Precision*at.Value()) {
		return 0
	}
	inTurn := [...]int{0, near, 0, -near}
	return max(1, users+inTurn[measured%len(inTurn)])
}

// beside returns the numbers of users measured next to one: the highest at or below it, and the lowest above it; 0 for none.
func (u *userSearch) beside(users int) (below, above int) {
	for _, r := range saturation.UserRows(u.Run().Stages) {
		n := r.MaxConcurrency
		if n <= users {
			below = n
		} else if above == 0 {
			above = n
		}
	}
	return below, above
}

// near returns how many probes were within a distance of a number of users.
func (u *userSearch) near(users, within int) (n int) {
	for _, r := range saturation.UserRows(u.Run().Stages) {
		if d := r.MaxConcurrency - users; r.Role == rundir.Probe && -within <= d && d <= within {
			n++
		}
	}
	return n
}

// measure holds a number of users. Those of the row before go on where they were; others join in the middle of their sessions, or leave.
func (u *userSearch) measure(ctx context.Context, users int, role rundir.Role) (rundir.Stage, error) {
	s := u.Users(users, role)
	if n := u.times(users); n > 0 {
		s.Name += "#" + strconv.Itoa(n+1)
	}
	if role != rundir.Probe {
		s.MinTime = rundir.Duration(quickShare * s.MinTime.Seconds())
	}
	s.Source, s.Left = u.staying.source(u.config.Sources(s.Name), users), u.staying.add
	return u.Measure(ctx, s)
}

// times returns how often a number of users was measured.
func (u *userSearch) times(users int) (n int) {
	for i := range u.Run().Stages {
		if u.Run().Stages[i].MaxConcurrency == users {
			n++
		}
	}
	return n
}

// stayingUsers are the sessions that go on after a stage.
type stayingUsers struct {
	mu       sync.Mutex
	sessions []load.Session
}

// add takes a session in.
func (s *stayingUsers) add(one load.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions = append(s.sessions, one)
}

// source returns a source of the sessions that go on, at most one for each user, and then of others. The rest of them has left.
func (s *stayingUsers) source(others load.Source, users int) load.Source {
	s.mu.Lock()
	defer s.mu.Unlock()
	first := s.sessions[:min(users, len(s.sessions))]
	s.sessions = nil
	return &staySource{first, others}
}

// staySource yields sessions before those of another source.
type staySource struct {
	first []load.Session
	load.Source
}

// Next returns the next session.
func (s *staySource) Next() (load.Session, bool) {
	if len(s.first) == 0 {
		return s.Source.Next()
	}
	one := s.first[0]
	s.first = s.first[1:]
	return one, true
}
