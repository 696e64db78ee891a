package findings

import (
	"strconv"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/measure"
	"llmsweep/sweep/rundir"
	"llmsweep/sweep/slo"
)

type remark struct {
	texts []lang.Text
	tone  table.Tone
}

func (m *remark) add(t table.Tone, say lang.Phrase, args ...any) {
	m.texts, m.tone = append(m.texts, say.Text(args...)), max(m.tone, t)
}

func remarkCell(r StageRow) table.Cell {
	m := &remark{tone: table.Faint}
	m.addVerdict(r)
	if s := r.Stage; s.Whole && s.Source == nil && !s.Rate.Known() && s.MaxConcurrency > 1 {
		m.add(table.Caution, remarkWhole)
	}
	if r.Stage.Goodput != nil {
		c := SLOCell(rowVerdict(r))
		m.add(c.Tone, remarkSLO, c.Text)
	}
	if n := FailedRequests(r.Stage); n > 0 {
		m.add(table.Bad, sayFailures, strconv.Itoa(n))
	}
	return table.Cell{Text: lang.Joined(m.texts, lang.Comma), Tone: m.tone}
}

// addVerdict adds nothing where a higher rate was held.
func (m *remark) addVerdict(r StageRow) {
	s := r.Stage
	switch {
	case measure.WasStopped(s.Invalid):
		m.add(table.Caution, remarkStopped)
	case measure.WasAway(s.Invalid):
		m.add(table.Caution, remarkAway)
	case !s.Invalid.IsZero():
		m.add(table.Caution, remarkClient)
	case !isComplete(s):
		m.add(table.Caution, remarkCut)
	case atOrBelowHeldRate(r) && s.Verdict == rundir.Saturated: // a longer row at a higher rate contradicts it
		m.add(table.Caution, remarkShort)
	case atOrBelowHeldRate(r):
	case s.Verdict == rundir.Saturated:
		m.add(table.Bad, remarkPiled)
	case s.Verdict == rundir.Shedding && s.Refused.Known():
		m.add(table.Bad, remarkRefused, lang.Percent(s.Refused.Value()))
	case s.Verdict == rundir.Shedding && s.Shortened.Known():
		m.add(table.Bad, remarkShortened, lang.Percent(s.Shortened.Value()))
	case s.Verdict == rundir.Shedding:
		m.add(table.Bad, remarkShed)
	case s.Verdict == rundir.Undecided && s.Rate.Known() && (!likeGrid(s) || hasHeldRate(r.Run)):
		m.add(table.Caution, remarkUndecided)
	case likeGrid(s) || !s.Rate.Known() || s.Verdict == "":
	case aboveAnswer(r): // a later hold contradicts it
		m.add(table.Caution, remarkHeldOnce)
	default:
		m.add(table.Good, remarkHeld, holdTime(s))
	}
}

// rowVerdict is unsure within the interval of a sweep's answer, which rests on all rows: a single one decides nothing
// there.
func rowVerdict(r StageRow) rundir.SLOVerdict {
	v, rate := r.Stage.Goodput.Verdict, slo.Offered(r.Stage)
	if s := r.Run.SLO; s != nil && s.Low.Known() && s.High.Known() && r.Stage.Rate.Known() {
		if v == rundir.Met && rate > s.Low.Value() || v == rundir.Missed && rate < s.High.Value() {
			return rundir.Unsure
		}
	}
	return v
}

func holdTime(s *rundir.Stage) lang.Text {
	return lang.Both(func(l lang.Lang) string { return lang.Span(s.WindowFrom+s.Window, l) })
}

func atOrBelowHeldRate(r StageRow) bool {
	return likeGrid(r.Stage) && hasHeldRate(r.Run) &&
		r.Stage.Rate.Or(0) <= r.Run.Saturation.HighestStable.Value()
}

func hasHeldRate(run *rundir.Run) bool {
	return run.Saturation != nil && run.Saturation.HighestStable.Known()
}

func aboveAnswer(r StageRow) bool {
	sat := r.Run.Saturation
	return sat != nil && sat.High.Known() && slo.Offered(r.Stage) > sat.High.Value()
}
