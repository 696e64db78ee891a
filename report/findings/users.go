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
	say := map[string]lang.Phrase{rundir.LimitKV: sayBeyondKV, rundir.LimitSlots: sayBeyondSlots,
		rundir.LimitCompute: sayBeyondCompute}[c.Cause]
	if c.Cause == "" {
		say = sayBeyondUnknown
	}
	if from, to := c.Within, c.Beyond; to != nil && from != nil && !c.Users.IsZero() {
		var changes []string
		if from.Hits.Known() && to.Hits.Known() && to.Hits.Value() < from.Hits.Value() {
			changes = append(changes, sayHitsFall.In(l, lang.Percent(from.Hits.Value()), lang.Percent(to.Hits.Value())))
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
			changes = append(changes, sayValueGrows.In(l, name, amount(from.Value), amount(to.Value)))
		}
		if len(changes) > 0 {
			lines = append(lines, say.In(l, usersText(c.Users.Value(), l))+sayWithUsers.In(l, usersText(float64(from.Users), l),
				usersText(float64(to.Users), l))+strings.Join(changes, lang.Comma.In(l))+lang.Stop.In(l))
		}
	}
	if c.Fits.Known() && c.Cause == rundir.LimitKV {
		lines = append(lines, sayCacheFits.In(l, lang.Grouped(lang.Shortest(c.Cache.Value())), usersText(c.Fits.Value(), l),
			lang.Number(c.Context, lang.Fixed(0))))
	}
	return lines
}
