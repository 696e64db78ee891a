// Shows how far the answers of configurations are from those of a baseline.

package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/fidelity"
	"llmsweep/sweep/rundir"
)

// checkedSide is a run whose answers may have been checked, in one way or several.
type checkedSide struct {
	Name string // of its configuration
	Path string // its directory
	Run  *rundir.Run
}

// AnswerCandidate is a configuration, and how far its answers are from those of the baseline.
type AnswerCandidate struct {
	Setup    string `json:"setup"`
	Baseline string `json:"baseline"`
	*fidelity.Drift
}

// answersOf compares the answers of all others with those of the first.
func answersOf(sides []checkedSide) ([]AnswerCandidate, error) {
	var baseline *fidelity.DriftRun
	var all []AnswerCandidate
	for i, s := range sides {
		if s.Run.Source != nil {
			return nil, fmt.Errorf("%s holds published results, which have no answers to compare: leave it out, or leave out --fidelity", s.Path)
		}
		r, err := fidelity.ReadDrift(s.Path, s.Run)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			baseline = r
			continue
		}
		d, err := fidelity.CompareDrift(baseline, r)
		if err != nil {
			return nil, err
		}
		all = append(all, AnswerCandidate{s.Name, sides[0].Name, d})
	}
	return all, nil
}

// answerSpeed is how much faster or slower a configuration is: the names of metrics, and a difference in each. The zero Speed has none.
type answerSpeed struct {
	Heads []lang.Text
	Cells func(setup string) []string
}

// answerSection shows candidates, with their speed beside; level is that of its heading in Markdown.
func answerSection(all []AnswerCandidate, speed answerSpeed, level int) table.Section {
	s := table.Section{Title: answersTitle.Text(table.Clean(all[0].Baseline)), Level: level, Table: answerTable(all, speed)}
	for i := range all {
		s.Lines = append(s.Lines, lang.Both(all[i].Says))
	}
	s.Notes = answersLegend(all)
	return s
}

// answerTable has a row for the baseline, and one for each candidate.
func answerTable(all []AnswerCandidate, speed answerSpeed) table.Table {
	columns := []table.Column{
		{Head: headEqual.Text(), Sub: lang.Same("%")}, {Head: headTies.Text()}, {Head: headChanged.Text()},
		{Head: headFirst.Text(), Sub: lang.Both(func(l lang.Lang) string { return unit(all, l) })}, {Head: headShift.Text(), Sub: lang.Same("nat")}, {Head: headKL.Text(), Sub: lang.Same("nat")}, {Head: headLength.Text(), Sub: lang.Same("tok")},
		{Head: headMalformed.Text(), Sub: lang.Same("%")}, {Head: answersHeadLoad.Text(), Sub: lang.Same("%")}, {Head: headItself.Text(), Sub: lang.Same("%")},
	}
	var faster []table.Column
	for _, h := range speed.Heads {
		faster = append(faster, table.Column{Head: h})
	}
	first := &all[0]
	baseline := checkedRow{name: first.Baseline, cells: append(filled(nil, len(columns)-2), answersShare(first.NullLoad.Same), answersShare(first.Null[0].Same))}
	return checkedTable(columns, faster, baseline, len(all), func(i int) checkedRow {
		c := &all[i]
		a := &c.Alone
		ties := table.Literal(strconv.Itoa(a.Ties))
		if !c.LogProbs {
			ties = table.Absent()
		}
		row := checkedRow{name: c.Setup, verdict: findings.AgreedOutcome(c.Verdict).Verdict(), cells: []table.Cell{
			answersShare(a.Same), ties, table.Literal(strconv.Itoa(a.Changes + a.Unknown)), number(a.First, 1), number(a.Shift, 4), number(a.KL, 4), number(a.Length, 1),
			answersShare(a.Malformed), answersShare(c.Load.Same), answersShare(c.Null[1].Same),
		}}
		if speed.Cells != nil {
			for _, text := range speed.Cells(c.Setup) {
				row.speed = append(row.speed, table.Literal(text))
			}
		}
		return row
	})
}

// unit is the unit of positions.
func unit(all []AnswerCandidate, l lang.Lang) string {
	switch {
	case !slices.ContainsFunc(all, func(c AnswerCandidate) bool { return !c.LogProbs }):
		return "tok"
	case !slices.ContainsFunc(all, func(c AnswerCandidate) bool { return c.LogProbs }):
		return wordCharacters.In(l)
	}
	return wordBoth.In(l)
}

// answersShare is a share in per cent, with its interval.
func answersShare(e rundir.Estimate) table.Cell {
	return estimated(e, table.Literal(answersInterval(e, 100, 0)))
}

// number is a mean with its interval.
func number(e rundir.Estimate, decimals int) table.Cell {
	return estimated(e, table.Literal(answersInterval(e, 1, decimals)))
}

// fine is the number of decimals from which on a 0 is told as a bound.
const fine = 4

// answersInterval is "93 (86..97)".
func answersInterval(e rundir.Estimate, scale float64, decimals int) string {
	print := func(n rundir.Number) string {
		v := n.Value() * scale
		digits := decimals
		if scale > 1 && (math.Abs(v) > 0 && math.Abs(v) < 10 || v > 90 && v < 100) {
			digits = 1
		}
		text := strconv.FormatFloat(v, 'f', digits, 64)
		if strings.Trim(text, "-0.") == "" {
			return "0"
		}
		return text
	}
	if e.Low.Known() && decimals >= fine && print(e.Mean) == "0" && print(e.Low) == "0" && print(e.High) == "0" {
		return "<" + strconv.FormatFloat(math.Pow10(-decimals), 'f', decimals, 64) // it is not known to be 0
	}
	return findings.SpreadOf(e, "", print)
}

// Text is a metric of a candidate with its interval, by its key.
func (c *AnswerCandidate) Text(key string) string {
	e := c.Metric(key)
	switch {
	case !e.Mean.Known():
		return lang.Absent
	case key == fidelity.KeyKL || key == fidelity.KeyShift:
		return answersInterval(e, 1, 4) + " nat"
	case key == fidelity.KeyLength:
		return answersInterval(e, 1, 1) + " tok"
	}
	return answersInterval(e, 100, 0) + " %"
}

// Says returns what the comparison shows, in a sentence.
func (c *AnswerCandidate) Says(l lang.Lang) string {
	a := &c.Alone
	n, same := strconv.Itoa(a.Answers), strconv.Itoa(a.Answers-a.Differing())
	setup, base := table.Clean(c.Setup), table.Clean(c.Baseline)
	changed := a.Changes + a.Unknown
	where := ""
	if a.First.Mean.Known() && c.LogProbs {
		where = sayFirst.In(l, strconv.FormatFloat(a.First.Mean.Value(), 'f', 0, 64))
	}
	switch {
	case c.Verdict == fidelity.DriftSame:
		return answersSaySame.In(l, setup, base, same, n, lang.Percent(a.More.Value()))
	case c.Verdict == fidelity.DriftTies:
		return sayTies.In(l, setup, base, same, n, a.Ties, changed)
	case c.Verdict == fidelity.DriftDiffers && !c.LogProbs:
		return sayTexts.In(l, setup, base, same, n)
	case c.Verdict == fidelity.DriftDiffers:
		return sayDiffers.In(l, setup, base, same, n, a.Ties, changed, where)
	}
	return sayUndecided.In(l, setup, base, same, n, lang.Percent(a.More.Value()))
}

// answersLegend explains the columns, and what limits the comparison.
func answersLegend(all []AnswerCandidate) []lang.Text {
	notes := []lang.Text{legendColumns.Text(), legendLoad.Text()}
	if slices.ContainsFunc(all, func(c AnswerCandidate) bool { return c.Alone.KL.Mean.Known() }) {
		notes = append(notes, legendKL.Text())
	}
	for i := range all {
		for _, n := range all[i].Notes {
			text := lang.Both(func(l lang.Lang) string { return findings.Phrase(n, l) })
			if len(all) > 1 {
				text = lang.Same(table.Clean(all[i].Setup)).Plus(lang.Colon.Text()).Plus(text)
			}
			notes = append(notes, text.Plus(lang.Stop.Text()))
		}
	}
	return notes
}
