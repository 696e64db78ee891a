package report

import (
	"slices"
	"strconv"
	"strings"

	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// sloFields are the columns of what was promised; none where nothing was.
func sloFields(l Lang, runs []rundir.Run) []field {
	promised := func(run rundir.Run) bool {
		return slices.ContainsFunc(run.Stages, func(s rundir.Stage) bool { return s.Goodput != nil })
	}
	if !slices.ContainsFunc(runs, promised) {
		return nil
	}
	return []field{
		{Column{Head: headGoodput.in(l), Sub: "req/s", Drop: 2}, func(r row) Cell {
			if r.stage.Goodput == nil {
				return Cell{Text: absent, Tone: Faint}
			}
			return quantity(r.stage.Goodput.Rate, "", rate)
		}},
		{Column{Head: headSLO.in(l), Left: true}, func(r row) Cell { return sloCell(r.stage, l) }},
	}
}

// sloCell is the verdict of a stage, or what it takes to have one.
func sloCell(s *rundir.Stage, l Lang) Cell {
	switch g := s.Goodput; {
	case g == nil:
		return Cell{Text: absent, Tone: Faint}
	case g.Verdict == slo.Kept.String():
		return Cell{Text: sloKept.in(l), Tone: Good}
	case g.Verdict == slo.Broken.String():
		return Cell{Text: sloBroken.in(l), Tone: Bad}
	case needs(g) > 0:
		return Cell{Text: sloNeeds.in(l, strconv.Itoa(needs(g))), Tone: Caution}
	}
	return Cell{Text: sloUnknown.in(l), Tone: Caution}
}

// needs is how many more requests the terms take that could not be judged.
func needs(g *rundir.Goodput) int {
	n := 0
	for _, t := range g.Terms {
		n = max(n, t.Needs)
	}
	return n
}

// promises says what came of the SLO: of a sweep the highest rate that meets it, else of each stage whether it does.
func promises(run *rundir.Run, l Lang) []string {
	if run.SLO != nil {
		return []string{meets(run, l)}
	}
	var lines []string
	for _, r := range tableRows(run) {
		if r.stage.Goodput != nil {
			lines = append(lines, rowPromise(r.stage, l))
		}
	}
	return lines
}

// meets is the answer for a sweep.
func meets(run *rundir.Run, l Lang) string {
	s := run.SLO
	terms := strings.Join(s.Terms, listComma.in(l))
	switch {
	case s.Rate.IsZero():
		return sayMeetsNone.in(l, terms, whyNone(run, l))
	case s.Rate.Bound():
		return sayMeetsAll.in(l, terms, number(rundir.Exactly(s.Rate.Value()), rate)) + stop.in(l)
	}
	digits, interval := printer(short), ""
	if s.Low.Known() && s.High.Known() {
		digits = precision((s.High.Value() - s.Low.Value()) / 2)
		interval = sayInterval.in(l, number(s.Low, digits), number(s.High, digits))
	}
	text := sayMeets.in(l, terms, number(s.Rate, digits)) + interval
	if !s.Goodput.IsZero() {
		text += sayGoodput.in(l, number(s.Goodput, digits))
	}
	if s.Limiting == rundir.LimitSaturation {
		return text + sayEndsBacklog.in(l)
	}
	return text + sayFirstToBreak.in(l, s.Limiting)
}

// whyNone says why no rate was shown to meet the SLO, as far as that is known.
func whyNone(run *rundir.Run, l Lang) string {
	switch s := run.SLO; {
	case s.Needs > 0:
		longer := ""
		for i := range run.Stages {
			if st := &run.Stages[i]; st.Name == s.NeedsStage {
				longer = waiting(st, s.Needs, l)
			}
		}
		return sayNeedsMore.in(l, s.Limiting, s.NeedsStage, strconv.Itoa(s.Needs), longer)
	case s.BrokenStage != "" && s.Limiting != "":
		return sayBrokenAt.in(l, s.Limiting, s.BrokenStage)
	}
	return ""
}

// waiting is how long so many requests take at the rate of a stage.
func waiting(s *rundir.Stage, requests int, l Lang) string {
	per := s.Rates.Completed
	if s.Rate.Known() {
		per = s.Rate
	}
	if !per.Known() || per.Value() <= 0 {
		return ""
	}
	return sayNeedsTime.in(l, fixed(0)(float64(requests)/per.Value(), false))
}

// rowPromise says whether a stage meets the SLO, and why it does not.
func rowPromise(s *rundir.Stage, l Lang) string {
	g := s.Goodput
	var terms, why []string
	for _, p := range g.Terms {
		terms = append(terms, p.Term)
		t, err := slo.Parse(p.Term)
		switch {
		case err != nil || p.Verdict != g.Verdict || p.Verdict == slo.Kept.String():
		case p.Needs > 0:
			why = append(why, sayTermNeeds.in(l, p.Term, strconv.Itoa(p.Needs), waiting(s, p.Needs, l)))
		case p.Verdict == slo.Broken.String():
			why = append(why, sayTermBroken.in(l, t.Name(), bound(p.Value)+t.Amount(p.Value.Value())))
		}
	}
	say := sayRowUnknown
	switch g.Verdict {
	case slo.Kept.String():
		say = sayRowKeeps
	case slo.Broken.String():
		say = sayRowMisses
	}
	if g.Rate.Known() && !g.Share.IsZero() {
		why = append(why, sayGoodputShare.in(l, number(g.Rate, short), number(scaled(g.Share, 100), tenths)))
	}
	text := say.in(l, clean(s.Name), strings.Join(terms, listComma.in(l)))
	if len(why) > 0 {
		text += colon.in(l) + strings.Join(why, semicolon.in(l))
	}
	return text + stop.in(l)
}

func bound(f rundir.Number) string {
	if f.Bound() {
		return "> "
	}
	return ""
}

// goodputNote is what stands of it beneath a format that has no line for it.
func goodputNote(s *rundir.Stage, l Lang) string {
	g := s.Goodput
	if g == nil || g.Rate.IsZero() {
		return ""
	}
	var terms []string
	for _, p := range g.Terms {
		terms = append(terms, p.Term)
	}
	return noteGoodput.in(l, strings.Join(terms, listComma.in(l)), number(g.Rate, short), number(scaled(g.Share, 100), tenths))
}
