package findings

import (
	"strconv"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/saturation"
	"llmsweep/sweep/slo"
)

// usersText returns a number of users in words.
func usersText(n float64, l lang.Lang) string {
	if n == 1 {
		return sayUser.In(l, "1")
	}
	return sayUsers.In(l, lang.Shortest(n))
}

// capacitySentences returns how many users a server carries, and why not more.
func capacitySentences(run *rundir.Run, c *rundir.Carried, l lang.Lang) []string {
	terms := strings.Join(c.Terms, lang.ListComma.In(l))
	switch {
	case c.Users.IsZero() && c.Verdict == rundir.Broken:
		return append([]string{sayCarriesNone.In(l, terms)}, overloadSentences(c, l)...)
	case c.Users.IsZero() && c.Low.Known() && c.High.Known() && terms != "":
		return []string{sayCarriesFew.In(l, terms, lang.Shortest(c.Low.Value()), lang.Shortest(c.High.Value()))}
	case c.Users.IsZero():
		return []string{sayCarriesUnsure.In(l)}
	}
	say := sayCarries
	if c.Users.Bound() {
		say = sayCarriesMost
	}
	s := say.In(l, usersText(c.Users.Value(), l))
	if c.Low.Known() && c.High.Known() {
		s += sayInterval.In(l, lang.Shortest(c.Low.Value()), lang.Shortest(c.High.Value()))
	}
	if n := run.Labels.GPUs; n > 1 {
		s += sayPerGPU.In(l, lang.Short(c.Users.Value()/float64(n), false))
	}
	if terms != "" {
		s += sayWithin.In(l, terms)
	}
	lines := append([]string{s + lang.Stop.In(l)}, overloadSentences(c, l)...)
	if c.Scattered {
		lines = append(lines, sayScattered.In(l))
	}
	return lines
}

// overloadSentences returns what happens with more users, and what the server states of its cache.
func overloadSentences(c *rundir.Carried, l lang.Lang) (lines []string) {
	say := map[string]lang.Phrase{rundir.LimitKV: sayBeyondKV, rundir.LimitSlots: sayBeyondSlots,
		rundir.LimitCompute: sayBeyondCompute}[c.Cause]
	if c.Cause == "" {
		say = sayBeyondUnknown
	}
	if from, to := c.Within, c.Beyond; to != nil && from != nil && !c.Users.IsZero() {
		var falls []string
		if from.Hits.Known() && to.Hits.Known() && to.Hits.Value() < from.Hits.Value() {
			falls = append(falls, sayHitsFall.In(l, lang.Percent(from.Hits.Value()), lang.Percent(to.Hits.Value())))
		}
		name, amount := slo.Term{Metric: slo.TTFT, Stat: "p95"}.Heading(),
			func(n rundir.Number) string { return lang.Time(n) }
		if t, err := slo.Parse(c.Term); err == nil {
			name = t.Heading()
			if !t.Timed() {
				amount = func(n rundir.Number) string { return t.Amount(n.Value()) }
			}
		}
		if !from.Value.IsZero() && !to.Value.IsZero() {
			falls = append(falls, sayValueGrows.In(l, name, amount(from.Value), amount(to.Value)))
		}
		if len(falls) > 0 {
			lines = append(lines, say.In(l, usersText(c.Users.Value(), l))+sayWithUsers.In(l, usersText(float64(from.Users), l),
				usersText(float64(to.Users), l))+strings.Join(falls, lang.Comma.In(l))+lang.Stop.In(l))
		}
	}
	if c.Fits.Known() && c.Cause == rundir.LimitKV {
		lines = append(lines, sayCacheFits.In(l, lang.Grouped(lang.Shortest(c.Cache.Value())), usersText(c.Fits.Value(), l),
			lang.Number(c.Context, lang.Fixed(0))))
	}
	return lines
}

// sessionColumns are what a stage shows of conversations.
func sessionColumns() []Column {
	share := func(id string, head lang.Phrase, of TakeStages) Column {
		return Column{ID: id, Head: head.Text(), Sub: lang.Same("%"), Number: of,
			When: anyStage(func(s *rundir.Stage) bool { return !of(s).IsZero() }),
			Cell: func(r StageRow) table.Cell {
				return table.Number(lang.Scale(of(r.Stage), 100), "", lang.Tenths)
			}}
	}
	told := func(of func(*rundir.Sessions) rundir.Number) TakeStages {
		return func(s *rundir.Stage) rundir.Number {
			if s.Sessions == nil {
				return rundir.Number{}
			}
			return of(s.Sessions)
		}
	}
	shown := func(c Column) Column { // CSV has what they are made of
		c.Number = nil
		return c
	}
	cache := func(of func(*rundir.Hits) rundir.Number, beside bool) TakeStages {
		return func(s *rundir.Stage) rundir.Number {
			if h := s.Hits; h != nil && (h.Ideal.Value() > 0 || h.Contaminated.Known()) && (!beside || s.Sessions == nil) {
				return of(h)
			}
			return rundir.Number{}
		}
	}
	return []Column{
		shown(share("cache_ideal", headIdeal, cache(func(h *rundir.Hits) rundir.Number { return h.Ideal }, false))),
		shown(share("cache_hits", headHits, cache(func(h *rundir.Hits) rundir.Number { return h.Reported }, true))),
		share("sessions_hits", headHits, told(func(s *rundir.Sessions) rundir.Number { return s.Hits })),
		shown(share("sessions_again", headAgain, told((*rundir.Sessions).Again))),
		share("sessions_good", headGood, told(func(s *rundir.Sessions) rundir.Number { return s.Good })),
		shown(share("turns_good", headTurnsGood, goodTurns)),
	}
}

// goodTurns returns the share of the turns of a stage that kept the SLO.
func goodTurns(s *rundir.Stage) rundir.Number {
	if s.Sessions == nil || s.Goodput == nil {
		return rundir.Number{}
	}
	return s.Goodput.Share
}

// TurnTables returns the tables of turns: of the rows beside the number of users that a server carries, or of the last
// row of another run of conversations.
func TurnTables(run *rundir.Run) (all []table.Table) {
	var names []string
	if a := saturation.AnswerOf(run); a != nil && a.Carried != nil {
		for _, r := range []*rundir.CarriedRow{a.Carried.Within, a.Carried.Beyond} {
			if r != nil {
				names = append(names, r.Stage)
			}
		}
	}
	for i := range run.Stages {
		st := &run.Stages[i]
		last := len(names) == 0 && i == len(run.Stages)-1
		for _, name := range names {
			last = last || name == st.Name
		}
		if last && st.Sessions != nil && len(st.Sessions.Turns) > 0 {
			all = append(all, turnTable(st))
		}
	}
	return all
}

// turnTable returns the table of the turns of a stage: by class, and by their place in the session.
func turnTable(st *rundir.Stage) table.Table {
	t := table.Table{Title: titleTurns.Text(StageName(st)), Columns: []table.Column{
		{Head: headTurn.Text(), Left: true}, {Head: headTurnCount.Text()}, {Head: headPrompt.Text(), Sub: lang.Same("token")},
		{Head: headCached.Text(), Sub: lang.Same("token")}, {Head: lang.Same("TTFT p50")}, {Head: lang.Same("TTFT p95")},
	}}
	classes := map[string]lang.Phrase{rundir.FirstTurn: turnFirst, rundir.WarmTurn: turnWarm, rundir.AgainTurn: turnAgain}
	add := func(name lang.Text, g rundir.TurnGroup) {
		whole := func(n rundir.Number) table.Cell { return table.Number(n, "", lang.Fixed(0)) }
		t.Rows = append(t.Rows, []table.Cell{
			{Text: name, Tone: table.Strong}, table.Count(g.N), whole(g.Prompt), whole(g.Cached), table.Seconds(g.P50),
			table.Seconds(g.P95),
		})
	}
	if len(st.Sessions.Classes) > 1 { // else it is the first turn, which has a row of its own
		for _, g := range st.Sessions.Classes {
			add(classes[g.Class].Text(), g)
		}
	}
	for _, g := range st.Sessions.Turns {
		add(lang.Same(strconv.Itoa(g.Turn+1)), g)
	}
	return t
}
