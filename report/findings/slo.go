package findings

import (
	"strconv"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/stages"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// Needs returns how many more requests are needed to judge all terms.
func Needs(g *rundir.Goodput) int {
	n := 0
	for _, t := range g.Terms {
		n = max(n, t.Needs)
	}
	return n
}

// Promises returns the result of the SLO: for a sweep the highest rate that meets it, else for each stage whether it does.
func Promises(run *rundir.Run, l lang.Lang) []string {
	if run.SLO != nil {
		return []string{meets(run, l)}
	}
	var lines []string
	for _, r := range stages.InTable(run) {
		if r.Stage.Goodput != nil {
			lines = append(lines, rowPromise(r.Stage, l))
		}
	}
	return lines
}

// meets is the answer for a sweep.
func meets(run *rundir.Run, l lang.Lang) string {
	s := run.SLO
	terms := strings.Join(s.Terms, lang.ListComma.In(l))
	switch {
	case s.Rate.IsZero():
		return sayMeetsNone.In(l, terms, whyNone(run, l))
	case s.Rate.Bound():
		return sayMeetsAll.In(l, terms, lang.Number(rundir.Exactly(s.Rate.Value()), lang.Rate)) + lang.Stop.In(l)
	}
	digits, interval := lang.Printer(lang.Short), ""
	if s.Low.Known() && s.High.Known() {
		digits = lang.Precision((s.High.Value() - s.Low.Value()) / 2)
		interval = sayInterval.In(l, lang.Number(s.Low, digits), lang.Number(s.High, digits))
	}
	text := sayMeets.In(l, terms, lang.Number(s.Rate, digits)) + interval
	if !s.Goodput.IsZero() {
		text += sayGoodput.In(l, lang.Number(s.Goodput, digits))
	}
	if s.Limiting == rundir.LimitSaturation {
		return text + sayEndsBacklog.In(l)
	}
	return text + sayFirstToBreak.In(l, s.Limiting)
}

// whyNone returns why no rate was shown to meet the SLO, as far as that is known.
func whyNone(run *rundir.Run, l lang.Lang) string {
	switch s := run.SLO; {
	case s.Needs > 0:
		longer := ""
		for i := range run.Stages {
			if st := &run.Stages[i]; st.Name == s.NeedsStage {
				longer = waiting(st, s.Needs, l)
			}
		}
		return sayNeedsMore.In(l, s.Limiting, s.NeedsStage, strconv.Itoa(s.Needs), longer)
	case s.BrokenStage != "" && s.Limiting != "":
		return sayBrokenAt.In(l, s.Limiting, s.BrokenStage)
	}
	return ""
}

// waiting returns how long a number of requests takes at the rate of a stage.
func waiting(s *rundir.Stage, requests int, l lang.Lang) string {
	per := s.Rates.Completed
	if s.Rate.Known() {
		per = s.Rate
	}
	if !per.Known() || per.Value() <= 0 {
		return ""
	}
	return sayNeedsTime.In(l, lang.Fixed(0)(float64(requests)/per.Value(), false))
}

// rowPromise returns whether a stage meets the SLO, and why it does not.
func rowPromise(s *rundir.Stage, l lang.Lang) string {
	g := s.Goodput
	var terms, why []string
	for _, p := range g.Terms {
		terms = append(terms, p.Term)
		t, err := slo.Parse(p.Term)
		switch {
		case err != nil || p.Verdict != g.Verdict || p.Verdict == slo.Kept.String():
		case p.Needs > 0:
			why = append(why, sayTermNeeds.In(l, p.Term, strconv.Itoa(p.Needs), waiting(s, p.Needs, l)))
		case p.Verdict == slo.Broken.String():
			why = append(why, sayTermBroken.In(l, t.Name(), bound(p.Value)+t.Amount(p.Value.Value())))
		}
	}
	say := sayRowUnknown
	switch g.Verdict {
	case slo.Kept.String():
		say = sayRowKeeps
	case slo.Broken.String():
		say = sayRowMisses
	}
	if s.FrozenSince.Known() {
		why = []string{sayFroze.In(l, lang.Time(s.FrozenSince))}
	}
	if g.Rate.Known() && !g.Share.IsZero() {
		why = append(why, sayGoodputShare.In(l, lang.Number(g.Rate, lang.Short), lang.Number(lang.Scale(g.Share, 100), lang.Tenths)))
	}
	text := say.In(l, table.Clean(s.Name), strings.Join(terms, lang.ListComma.In(l)))
	if len(why) > 0 {
		text += lang.Colon.In(l) + strings.Join(why, lang.Semicolon.In(l))
	}
	return text + lang.Stop.In(l)
}

func bound(f rundir.Number) string {
	if f.Bound() {
		return "> "
	}
	return ""
}
