package published

import (
	"bufio"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// percentileName is a percentile of a distribution, and its line in a format.
type percentileName struct {
	dist        *rundir.Dist
	name, label string
}

func unsupportedNote(l lang.Lang, all []percentileName) string {
	var labels []string
	for _, p := range all {
		if !p.dist.Get(p.name).IsZero() && !p.dist.Supported(p.name) {
			labels = append(labels, p.label)
		}
	}
	if len(labels) == 0 {
		return ""
	}
	return noteUnsupported.In(l, strings.Join(labels, lang.ListComma.In(l)))
}

// windowNote says that the duration, by its name in the format, is not that of the whole stage.
func windowNote(s *rundir.Stage, l lang.Lang, duration string) string {
	if s.Whole || s.Window == 0 {
		return ""
	}
	return noteWindow.In(l, duration)
}

// openNote says at what rate requests arrived, which a stress table has no line for.
func openNote(s *rundir.Stage, l lang.Lang) string {
	if !s.Rate.Known() {
		return ""
	}
	bound := ""
	if s.MaxConcurrency > 0 {
		bound = noteCap.In(l, strconv.Itoa(s.MaxConcurrency))
	}
	return noteOpen.In(l, lang.Number(s.Rate, lang.Rate), bound)
}

func lengthWarning(r findings.StageRow, l lang.Lang) string {
	if wrong := findings.WrongLength(r.Run, r.Stage, l); wrong != "" {
		return findings.WarnLength.In(l) + lang.InParens.In(l, wrong) + lang.Stop.In(l)
	}
	return ""
}

// lengthNote is on answers that end by themselves.
func lengthNote(r findings.StageRow, l lang.Lang) string {
	t := r.Stage.OutputTokens
	if !r.Run.Workload.Capped || t.N == 0 || r.Stage.Source != nil {
		return ""
	}
	return noteLengths.In(l, findings.AnswerText(&r.Run.Workload, l), lang.Number(t.Mean, lang.Short),
		lang.Number(t.P50, lang.Short), lang.Number(t.P90, lang.Short), lang.Number(t.Max, lang.Short),
		lang.Percent(t.AtLimit.Value()))
}

func firstAnswerNote(s *rundir.Stage, l lang.Lang) string {
	if s.FirstAnswer.N == 0 {
		return ""
	}
	return noteFirstAnswer.In(l, lang.Time(s.FirstAnswer.Mean), lang.Time(s.TTFT.Mean))
}

func boundNote(l lang.Lang, dists ...*rundir.Dist) string {
	for _, d := range dists {
		if slices.ContainsFunc(d.Numbers(), func(f rundir.Named) bool { return f.Number.Bound() }) {
			return noteBound.In(l)
		}
	}
	return ""
}

// writeNotes writes the notes beneath a table. No note begins like a line of the format.
func writeNotes(w *bufio.Writer, notes []string) {
	for _, n := range notes {
		if n != "" {
			w.WriteString(strings.Repeat(" ", table.Indent) + table.Clean(n) + "\n")
		}
	}
}

func goodputNote(s *rundir.Stage, l lang.Lang) string {
	g := s.Goodput
	if g == nil || g.Rate.IsZero() {
		return ""
	}
	var terms []string
	for _, p := range g.Terms {
		terms = append(terms, p.Term)
	}
	return noteGoodput.In(l, strings.Join(terms, lang.ListComma.In(l)), lang.Number(g.Rate, lang.Short),
		lang.Number(lang.Scale(g.Share, 100), lang.Tenths))
}
