package findings

import (
	"strings"

	"llmsweep/report/lang"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

func usersText(n float64, l lang.Lang) string {
	if n == 1 {
		return sayUser.In(l, "1")
	}
	return sayUsers.In(l, lang.Shortest(n))
}

func capacitySentences(run *rundir.Run, c *rundir.UserCapacity, l lang.Lang) []string {
	terms := strings.Join(c.Terms, lang.ListComma.In(l))
	switch {
	case c.Users.IsZero() && c.Verdict == rundir.Missed:
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

func overloadSentences(c *rundir.UserCapacity, l lang.Lang) (lines []string) {
	if changes := overloadChanges(c, l); len(changes) > 0 {
		say := map[string]lang.Phrase{"": sayBeyondUnknown, rundir.LimitKV: sayBeyondKV,
			rundir.LimitSlots: sayBeyondSlots, rundir.LimitCompute: sayBeyondCompute}[c.Cause]
		from, to := usersText(float64(c.Within.Users), l), usersText(float64(c.Beyond.Users), l)
		lines = append(lines, say.In(l, usersText(c.Users.Value(), l))+sayWithUsers.In(l, from, to)+
			strings.Join(changes, lang.Comma.In(l))+lang.Stop.In(l))
	}
	if c.Fits.Known() && c.Cause == rundir.LimitKV {
		lines = append(lines, sayCacheFits.In(l, lang.Grouped(lang.Shortest(c.Cache.Value())), usersText(c.Fits.Value(), l),
			Whole(c.Context)))
	}
	return lines
}

func overloadChanges(c *rundir.UserCapacity, l lang.Lang) (changes []string) {
	from, to := c.Within, c.Beyond
	if from == nil || to == nil || c.Users.IsZero() {
		return nil
	}
	if from.Hits.Known() && to.Hits.Known() && to.Hits.Value() < from.Hits.Value() {
		changes = append(changes, sayHitsFall.In(l, lang.Percent(from.Hits.Value()), lang.Percent(to.Hits.Value())))
	}
	name, amount := slo.Term{Metric: slo.TTFT, Stat: "p95"}.Heading(), lang.Time
	if t, err := slo.Parse(c.Term); err == nil {
		name = t.Heading()
		if !t.Timed() {
			amount = func(n rundir.Number) string { return t.Amount(n.Value()) }
		}
	}
	if !from.Value.IsZero() && !to.Value.IsZero() {
		changes = append(changes, sayValueGrows.In(l, name, amount(from.Value), amount(to.Value)))
	}
	return changes
}
