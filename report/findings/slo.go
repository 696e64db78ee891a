package findings

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

// sloLines tells of a sweep the highest rate that meets the SLO, else of each stage whether it does, the worst first.
func sloLines(run *rundir.Run, l lang.Lang) (lines []string) {
	if run.SLO != nil {
		lines = append(lines, sloSentence(run, l))
		if run.SLO.Rate.IsZero() && run.SLO.Verdict == rundir.Unsure {
			lines = append(lines, advice(run, l)...)
		}
		return lines
	}
	rows := slices.DeleteFunc(AllStages(run), func(r StageRow) bool { return r.Stage.Goodput == nil })
	slices.SortStableFunc(rows, func(a, b StageRow) int { return severity(b.Stage) - severity(a.Stage) })
	for _, r := range rows {
		lines = append(lines, rowSLO(r.Stage, l))
	}
	advised := advice(run, l)
	return append(lines[:min(len(lines), maxLines-len(advised))], advised...)
}

// severity is as in the exit code: the worst stage decides, and an invalid one decides nothing in its favour.
func severity(s *rundir.Stage) int {
	switch {
	case s.Goodput.Verdict == rundir.Missed:
		return 2
	case s.Goodput.Verdict != rundir.Met || !s.Invalid.IsZero():
		return 1
	}
	return 0
}

// sloSentence needs a run with an SLO.
func sloSentence(run *rundir.Run, l lang.Lang) string {
	s := run.SLO
	terms := strings.Join(s.Terms, lang.ListComma.In(l))
	switch {
	case s.Rate.IsZero() && s.Low.Known() && s.High.Known():
		return sayMeetsBetween.In(l, terms, lang.Number(s.Low, lang.Rate), lang.Number(s.High, lang.Rate))
	case s.Rate.IsZero():
		return sayMeetsNone.In(l, terms, noRateReason(run, l))
	case s.Rate.Bound():
		return sayMeetsAll.In(l, terms, lang.Number(rundir.Exactly(s.Rate.Value()), lang.Rate)) + lang.Stop.In(l)
	}
	digits, interval := lang.Printer(lang.Short), ""
	if s.Low.Known() && s.High.Known() {
		digits = lang.Precision((s.High.Value() - s.Low.Value()) / 2)
		interval = sayInterval.In(l, lang.Number(s.Low, digits), lang.Number(s.High, digits))
	}
	text := sayMeets.In(l, terms, lang.Number(s.Rate, digits)) + interval
	switch {
	case s.Limiting == rundir.LimitSaturation:
		text += sayEndsBacklog.In(l)
	case len(s.Terms) == 1:
		text += lang.Stop.In(l)
	default:
		text += sayFirstToBreak.In(l, s.Limiting)
	}
	if st := stageNamed(run, s.ProofStage); st != nil {
		text += sayProof.In(l, offeredText(st), holdTime(st).In(l))
	}
	return text
}

func noRateReason(run *rundir.Run, l lang.Lang) string {
	s := run.SLO
	switch {
	case s.NeedsStage != "":
		return sayUndecided.In(l, table.Clean(lang.StageName(s.NeedsStage)), s.Limiting)
	case s.BrokenStage != "" && s.Limiting != "":
		return sayMissedAt.In(l, s.Limiting, table.Clean(lang.StageName(s.BrokenStage)))
	case s.Verdict == rundir.Unsure:
		return sayNoneDecides.In(l)
	}
	return ""
}

// advice tells what would decide the terms that the run does not decide: once for all stages, by the one that would
// take the most requests, or by the one that the answer of a sweep names.
func advice(run *rundir.Run, l lang.Lang) []string {
	var stage *rundir.Stage
	needs, unsure := 0, false
	for i := range run.Stages {
		st := &run.Stages[i]
		if st.Goodput == nil || !st.Invalid.IsZero() || run.SLO != nil && st.Name != run.SLO.NeedsStage {
			continue
		}
		for _, p := range st.Goodput.Terms {
			decided := p.Verdict == rundir.Met || p.Verdict == rundir.Missed
			unsure = unsure || !decided && p.Beyond != nil && p.Unknown.IsZero()
			if p.Needs > needs {
				stage, needs = st, p.Needs
			}
		}
	}
	switch {
	case stage == nil && unsure:
		return []string{sayTooNear.In(l)}
	case stage == nil:
		return nil
	}
	n := ceilTwoDigits(float64(stage.Requests.OK + stage.Requests.Error + needs))
	per := stage.Rates.Completed
	if stage.Rate.Known() {
		per = stage.Rate
	}
	if !per.Known() || per.Value() <= 0 {
		return []string{sayDecideCount.In(l, table.Clean(StageName(stage)), whole(n))}
	}
	if turns := run.Workload.Turns(); turns > 1 && run.SLO == nil {
		return []string{sayDecideTalks.In(l, table.Clean(StageName(stage)), whole(n), whole(ceilTwoDigits(n/turns)),
			whole(ceilTwoDigits(n/per.Value())))}
	}
	say := sayDecideRun
	if run.SLO != nil {
		say = sayDecideSweep
	}
	return []string{say.In(l, table.Clean(StageName(stage)), whole(n), whole(ceilTwoDigits(n/per.Value())))}
}

func ceilTwoDigits(v float64) float64 {
	if v < 10 {
		return math.Ceil(v)
	}
	digit := math.Pow10(int(math.Floor(math.Log10(v))) - 1)
	return math.Ceil(v/digit) * digit
}

func whole(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }

func rowSLO(s *rundir.Stage, l lang.Lang) string {
	g := s.Goodput
	var terms, why []string
	for _, p := range g.Terms {
		if p.Verdict != g.Verdict { // a row that misses one term may be unsure of another
			continue
		}
		terms = append(terms, p.Term)
		if text := termReason(&p, l); text != "" {
			why = append(why, text)
		}
	}
	if len(terms) == 1 && len(why) == 1 { // the sentence has just named it
		why[0] = strings.TrimPrefix(why[0], terms[0]+lang.Colon.In(l))
	}
	say := sayRowUnknown
	switch g.Verdict {
	case rundir.Met:
		say = sayRowMeets
	case rundir.Missed:
		say = sayRowMisses
	}
	if s.FrozenSince.Known() {
		why = []string{sayFroze.In(l, lang.Time(s.FrozenSince))}
	}
	if g.Rate.Known() && !g.Share.IsZero() {
		why = append(why, sayGoodputShare.In(l, lang.Number(g.Rate, lang.Short), lang.Number(lang.Scale(g.Share, 100),
			lang.Tenths)))
	}
	text := say.In(l, table.Clean(StageName(s)), strings.Join(terms, lang.ListComma.In(l)))
	if len(why) > 0 {
		text += lang.Colon.In(l) + strings.Join(why, lang.Semicolon.In(l))
	}
	return text + lang.Stop.In(l)
}

// termReason tells why a term is not met, or not decided; empty where it is met, or nothing is known of it.
func termReason(p *rundir.TermResult, l lang.Lang) string {
	t, err := slo.Parse(p.Term)
	switch {
	case err != nil || p.Verdict == rundir.Met:
	case p.Verdict == rundir.Missed && p.Value.IsZero(): // every request that could show it failed
		return p.Term
	case p.Verdict == rundir.Missed:
		return sayTermMissed.In(l, t.Name(), t.Least(p.Value))
	case !p.Unknown.IsZero():
		return sayTermUnknown.In(l, p.Term, Words().Say(p.Unknown, l))
	case p.Beyond != nil && p.Beyond.Low.Known() && p.Beyond.High.Known():
		b := p.Beyond
		share, of := percent(float64(b.Count)/float64(b.Of)), strconv.Itoa(b.Of)
		low, high := percent(b.Low.Value()), percent(b.High.Value())
		switch t.Metric {
		case slo.Accuracy:
			return sayGradedUnsure.In(l, p.Term, share, of, whole(b.Neff.Value()), low, high)
		case slo.Sessions:
			return sayTalksUnsure.In(l, p.Term, share, of, low, high)
		}
		return sayTermUnsure.In(l, p.Term, share, of, low, high)
	}
	return ""
}

func percent(share float64) string {
	const least, whole = 0.01, 10
	v := share * 100
	switch {
	case v < least:
		return "0"
	case v >= whole:
		return strconv.FormatFloat(v, 'f', 0, 64)
	default:
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
}
