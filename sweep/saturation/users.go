// How many users a server carries, and what runs out beyond that.

package saturation

import (
	"cmp"
	"math"
	"slices"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

func carriedAnswer(run *rundir.Run, terms []slo.Term) *rundir.Answer {
	c := UserCapacity(run.Stages, terms)
	a := &rundir.Answer{Kind: rundir.Carries, Carried: c, Cautions: topCautions(run), Limit: c.Cause}
	switch {
	case c.Users.Bound():
		a.Kind = rundir.AtLeast
	case c.Users.IsZero() && c.Verdict != rundir.Missed:
		a.Kind = rundir.Unanswerable
	}
	return a
}

// UserRows returns the rows of numbers of users that tell something, by number.
func UserRows(stages []rundir.Stage) (rows []*rundir.Stage) {
	for i := range stages {
		if st := &stages[i]; st.Kind == rundir.KindOfUsers && Usable(st) {
			rows = append(rows, st)
		}
	}
	slices.SortStableFunc(rows, func(a, b *rundir.Stage) int { return cmp.Compare(a.MaxConcurrency, b.MaxConcurrency) })
	return rows
}

// UserCapacity returns how many users a server carries, by the rows of a run.
func UserCapacity(stages []rundir.Stage, terms []slo.Term) *rundir.UserCapacity {
	rows := UserRows(stages)
	c := &rundir.UserCapacity{Terms: slo.Strings(terms), Verdict: rundir.Unsure}
	if len(rows) == 0 {
		return c
	}
	if len(terms) > 0 {
		found := slo.Highest(rows, nil, terms)
		c.Verdict, c.Term, c.Users, c.Low, c.High = found.Verdict, found.Limiting, found.Rate, found.Low, found.High
	} else {
		fillByOutput(c, rows)
	}
	describeLimit(c, rows, terms)
	return c
}

// fillByOutput fills in up to which number more users bring more tokens, and hits do not fall: between the rows on
// either side of that.
func fillByOutput(c *rundir.UserCapacity, rows []*rundir.Stage) {
	most, hits := 0.0, rundir.Number{}
	for _, r := range rows {
		most = max(most, r.TokensPerS.Output.Or(0))
		if r.MaxConcurrency > 1 && r.Sessions != nil {
			hits = rundir.Max(hits, r.Sessions.Hits)
		}
	}
	last := rows[len(rows)-1].MaxConcurrency
	for _, r := range rows {
		n := float64(r.MaxConcurrency)
		fell := r.MaxConcurrency > 1 && r.Sessions != nil && r.Sessions.Hits.Known() &&
			r.Sessions.Hits.Value() < hits.Value()-hitsFall
		full := r.TokensPerS.Output.Or(0) >= fullOutput*most
		if !full && !fell {
			c.Low = rundir.Exactly(n)
			continue
		}
		c.Verdict = rundir.Met
		switch {
		case fell: // it carries fewer
			c.Cause, c.Low = rundir.LimitKV, rundir.Exactly(c.Low.Or(1))
			c.High, c.Users = rundir.Exactly(n), c.Low
		case r.MaxConcurrency == last:
			c.Users, c.Low = rundir.Over(n), rundir.Number{}
		default:
			c.High, c.Users = rundir.Exactly(n), rundir.Exactly(n)
		}
		return
	}
}

// describeLimit fills in the rows beside the number of users, and why there are no more.
func describeLimit(c *rundir.UserCapacity, rows []*rundir.Stage, terms []slo.Term) {
	term := limitingTerm(c, terms)
	users := int(c.Users.Or(c.Low.Or(0)))
	misses := func(r *rundir.Stage) bool {
		v, _ := term.Of(r)
		return len(terms) > 0 && v.Known() && v.Value() > term.Limit
	}
	var carried, firstMiss, most *rundir.Stage
	for _, r := range rows {
		switch {
		case r.MaxConcurrency <= users && misses(r):
			c.Scattered = true
		case r.MaxConcurrency <= users:
			carried = r
		default:
			if v, _ := slo.Judge(r, terms); firstMiss == nil && v == rundir.Missed {
				firstMiss = r
			}
			most = r
		}
	}
	c.Within, c.Beyond = carriedRow(carried, term), carriedRow(most, term)
	if last := rows[len(rows)-1].Server; last != nil && last.KVTokens.Known() {
		c.Cache = last.KVTokens
		if carried != nil && carried.Sessions != nil && carried.Sessions.Context.Known() {
			c.Context = carried.Sessions.Context
			c.Fits = rundir.Exactly(math.Floor(c.Cache.Value() / c.Context.Value()))
		}
	}
	if c.Cause != "" || most == nil || c.Users.IsZero() && c.Verdict != rundir.Missed {
		return
	}
	if firstMiss == nil {
		firstMiss = most
	}
	c.Cause = usersLimit(rows, carried, firstMiss)
}

// limitingTerm returns the term whose values are shown: that which limits the users, else the first.
func limitingTerm(c *rundir.UserCapacity, terms []slo.Term) slo.Term {
	for _, t := range terms {
		if t.String() == c.Term {
			return t
		}
	}
	if c.Term == "" && len(terms) > 0 {
		return terms[0]
	}
	return slo.Term{Metric: slo.TTFT, Stat: "p95"}
}

func carriedRow(r *rundir.Stage, term slo.Term) *rundir.CarriedRow {
	if r == nil {
		return nil
	}
	value, _ := term.Of(r)
	row := &rundir.CarriedRow{Stage: r.Name, Users: r.MaxConcurrency, Value: value, Output: r.TokensPerS.Output}
	if r.Sessions != nil {
		row.Hits = r.Sessions.Hits
	}
	return row
}

// usersLimit returns what runs out: the KV cache, where the turns that miss the SLO are those whose session's context
// was evicted, or what sessions lose grows with the users; else what the server ran out of by its own gauges.
func usersLimit(rows []*rundir.Stage, carried, firstMiss *rundir.Stage) string {
	before, most := 0.0, rows[len(rows)-1]
	if carried != nil && carried.Sessions != nil {
		before = carried.Sessions.Lost.Or(0)
	}
	if s, more := firstMiss.Sessions, most.Sessions; s != nil && more != nil {
		missed, grows := s.LostMissed.Or(0)-before, more.Lost.Or(0)-before
		if missed > 3*lostShare || s.Lost.Or(0) > before+lostShare || missed > lostShare && grows > 2*lostShare {
			return rundir.LimitKV
		}
	}
	s, far := firstMiss.Server, most.Server
	switch {
	case s == nil || far == nil || s.RunningMax.Or(0) < 1 || !s.WaitingMax.Known():
		return ""
	case s.Preemptions.Value() > 0, far.KVUsageMax.Value() >= fullCache && far.Waiting.Value() >= minWaiting:
		return rundir.LimitKV
	}
	slots := 0.0
	for _, r := range rows {
		if r.Server != nil {
			slots = max(slots, r.Server.RunningMax.Or(0))
		}
	}
	full := func(s *rundir.Server, least float64) bool {
		return s.RunningMax.Value() == slots && s.RunningBehind.Value() >= least
	}
	if full(s, fullAtMiss*slots) && full(far, min(fullSlots*slots, slots-slotMargin)) {
		return rundir.LimitSlots // as many run as ever do, with more users and with fewer
	}
	return rundir.LimitCompute // with slots and memory left, requests wait for tokens of a step, or share the processors
}
