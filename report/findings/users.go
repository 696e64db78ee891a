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

// How many users a server carries.
var (
	sayCarries       = lang.Say("Carries %s", "可承载 %s")
	sayCarriesMost   = lang.Say("Carries at least %s, the most that were tried", "至少可承载 %s（测试的最大用户数）")
	sayCarriesNone   = lang.Say("Does not carry one user within %s.", "无法在 %s 内承载一个用户。")
	sayCarriesFew    = lang.Say("It was not decided how many users are carried within %s: between %s and %s (95 %%).", "未能确定在 %s 内可承载的用户数：在 %s 与 %s 之间（95 %% 区间）。")
	sayCarriesUnsure = lang.Say("The run does not show how many users the server carries.", "本次运行未能得出可承载的用户数。")
	sayUsers         = lang.Say("%s users", "%s 个用户")
	sayUser          = lang.Say("%s user", "%s 个用户")
	sayPerGPU        = lang.Say(", %s a GPU", "，每张 GPU %s 个")
	sayWithin        = lang.Say(" within %s", "，满足 %s")
	sayBeyondKV      = lang.Say("Beyond %s the KV cache no longer holds their contexts: ", "超过 %s 后 KV 缓存容不下各会话的上下文：")
	sayBeyondSlots   = lang.Say("Beyond %s requests wait for a place in the batch: ", "超过 %s 后请求须等待批处理空位：")
	sayBeyondCompute = lang.Say("Beyond %s computing is the limit: ", "超过 %s 后瓶颈是算力：")
	sayBeyondUnknown = lang.Say("Beyond %s, for a reason that the server does not tell: ", "超过 %s 后（服务未说明原因）：")
	sayHitsFall      = lang.Say("hits fall from %s to %s", "命中率从 %s 降至 %s")
	sayValueGrows    = lang.Say("%s goes from %s to %s", "%s 从 %s 变为 %s")
	sayWithUsers     = lang.Say("from %s to %s, ", "从 %s增至 %s，")
	sayScattered     = lang.Say("Single rows up to that number miss the limit by chance; the number is that of the curve through all rows.", "不超过该数的个别行因偶然超过限值；该数取自穿过所有行的曲线。")
	sayCacheFits     = lang.Say("The server states a KV cache of %s tokens: as much as the contexts of %s, at a mean of %s tokens.", "服务自报 KV 缓存为 %s 个 token，相当于 %s的上下文（平均 %s 个 token）。")

	headIdeal     = lang.Say("hits allowed", "可命中")
	headHits      = lang.Say("hits", "命中率")
	headAgain     = lang.Say("computed again", "重新计算")
	headGood      = lang.Say("sessions good", "达标会话")
	headTurnsGood = lang.Say("turns good", "达标轮次")
	headTurn      = lang.Say("turn", "轮次")
	headTurnCount = lang.Say("turns", "数量")
	headPrompt    = lang.Say("prompt", "提示")
	headCached    = lang.Say("cached", "已缓存")
	titleTurns    = lang.Say("Turns of %s", "%s 的各轮")
	turnFirst     = lang.Say("first", "首轮")
	turnWarm      = lang.Say("warm", "命中")
	turnAgain     = lang.Say("computed again", "重新计算")
)

// users returns a number of users in words.
func users(n float64, l lang.Lang) string {
	if n == 1 {
		return sayUser.In(l, "1")
	}
	return sayUsers.In(l, lang.Shortest(n))
}

// carried returns how many users a server carries, and why not more.
func carried(run *rundir.Run, c *rundir.Carried, l lang.Lang) []string {
	terms := strings.Join(c.Terms, lang.ListComma.In(l))
	switch {
	case c.Users.IsZero() && c.Verdict == rundir.Broken:
		return append([]string{sayCarriesNone.In(l, terms)}, beyond(c, l)...)
	case c.Users.IsZero() && c.Low.Known() && c.High.Known() && terms != "":
		return []string{sayCarriesFew.In(l, terms, lang.Shortest(c.Low.Value()), lang.Shortest(c.High.Value()))}
	case c.Users.IsZero():
		return []string{sayCarriesUnsure.In(l)}
	}
	say := sayCarries
	if c.Users.Bound() {
		say = sayCarriesMost
	}
	s := say.In(l, users(c.Users.Value(), l))
	if c.Low.Known() && c.High.Known() {
		s += sayInterval.In(l, lang.Shortest(c.Low.Value()), lang.Shortest(c.High.Value()))
	}
	if n := run.Labels.GPUs; n > 1 {
		s += sayPerGPU.In(l, lang.Short(c.Users.Value()/float64(n), false))
	}
	if terms != "" {
		s += sayWithin.In(l, terms)
	}
	lines := append([]string{s + lang.Stop.In(l)}, beyond(c, l)...)
	if c.Scattered {
		lines = append(lines, sayScattered.In(l))
	}
	return lines
}

// beyond returns what happens with more users, and what the server states of its cache.
func beyond(c *rundir.Carried, l lang.Lang) (lines []string) {
	say := map[string]lang.Phrase{rundir.LimitKV: sayBeyondKV, rundir.LimitSlots: sayBeyondSlots, rundir.LimitCompute: sayBeyondCompute}[c.Cause]
	if c.Cause == "" {
		say = sayBeyondUnknown
	}
	if from, to := c.Within, c.Beyond; to != nil && from != nil && !c.Users.IsZero() {
		var falls []string
		if from.Hits.Known() && to.Hits.Known() && to.Hits.Value() < from.Hits.Value() {
			falls = append(falls, sayHitsFall.In(l, lang.Percent(from.Hits.Value()), lang.Percent(to.Hits.Value())))
		}
		name, amount := slo.Term{Metric: slo.TTFT, Stat: "p95"}.Heading(), func(n rundir.Number) string { return lang.Time(n) }
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
			lines = append(lines, say.In(l, users(c.Users.Value(), l))+sayWithUsers.In(l, users(float64(from.Users), l), users(float64(to.Users), l))+strings.Join(falls, lang.Comma.In(l))+lang.Stop.In(l))
		}
	}
	if c.Fits.Known() && c.Cause == rundir.LimitKV {
		lines = append(lines, sayCacheFits.In(l, lang.Grouped(lang.Shortest(c.Cache.Value())), users(c.Fits.Value(), l), lang.Number(c.Context, lang.Fixed(0))))
	}
	return lines
}

// sessionColumns are what a stage shows of conversations.
func sessionColumns() []Column {
	share := func(id string, head lang.Phrase, of TakeStages) Column {
		return Column{ID: id, Head: head.Text(), Sub: lang.Same("%"), Number: of, When: anyStage(func(s *rundir.Stage) bool { return !of(s).IsZero() }),
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
		shown(share("turns_good", headTurnsGood, turnsGood)),
	}
}

// turnsGood returns the share of the turns of a stage that kept the SLO.
func turnsGood(s *rundir.Stage) rundir.Number {
	if s.Sessions == nil || s.Goodput == nil {
		return rundir.Number{}
	}
	return s.Goodput.Share
}

// TurnTables returns the tables of turns: of the rows beside the number of users that a server carries, or of the last row of another run of
// conversations.
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
			{Text: name, Tone: table.Strong}, table.Count(g.N), whole(g.Prompt), whole(g.Cached), table.Seconds(g.P50), table.Seconds(g.P95),
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
