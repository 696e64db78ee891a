// Shows how likely configurations find a text that a baseline has scored too.

package compare

import (
	"math"
	"strconv"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/fidelity"
	"llmsweep/sweep/perplexity"
	"llmsweep/sweep/rundir"
)

// TextCandidate is a configuration, and how likely it finds the text beside the baseline.
type TextCandidate struct {
	Setup      string             `json:"setup"`
	Baseline   string             `json:"baseline"`
	Score      *rundir.Perplexity `json:"-"`
	First      *rundir.Perplexity `json:"-"` // the baseline's
	Difference *perplexity.Pair   `json:"difference"`
}

// textsOf compares all others with the first, where both were given a text.
func textsOf(sides []checkedSide) (all []TextCandidate) {
	if len(sides) == 0 || sides[0].Run.Perplexity == nil {
		return nil
	}
	first := sides[0].Run.Perplexity
	for _, s := range sides[1:] {
		if own := s.Run.Perplexity; own != nil {
			all = append(all, TextCandidate{s.Name, sides[0].Name, own, first, perplexity.Compare(first, own)})
		}
	}
	return all
}

var (
	textsTitle     = lang.Say("Perplexity of %s, beside %s", "%s 的困惑度：与 %s 相比")
	headPerplexity = lang.Say("perplexity", "困惑度")
	headBits       = lang.Say("bits per byte", "每字节比特数")
	headWindows    = lang.Say("windows", "窗口")

	textsSayWorse  = lang.Say("%s predicts the text worse than %s: %s bits per byte more%s.", "%s 对文本的预测不如 %s：每字节多 %s 比特%s。")
	textsSayBetter = lang.Say("%s predicts the text better than %s: %s bits per byte%s.", "%s 对文本的预测优于 %s：每字节 %s 比特%s。")
	textsSayOpen   = lang.Say("No difference between %s and %s is shown on the text: %s bits per byte%s.", "在该文本上 %s 与 %s 之间未显示差异：每字节 %s 比特%s。")
	sayTokens      = lang.Say("; perplexity changes by %s", "；困惑度变化 %s")

	textsLegend = lang.Say("The same windows of the text, scored alone, before the load. Differences are paired by window, with 95 % intervals; windows, not tokens, are the values.",
		"文本的相同窗口，在加负载之前单独计分。差异按窗口配对，附 95 % 区间；以窗口而非 token 为单位。")
)

// textSection shows candidates; level is that of its heading in Markdown.
func textSection(all []TextCandidate, level int) table.Section {
	first := all[0].First
	s := table.Section{Title: textsTitle.Text(table.Clean(first.File), table.Clean(all[0].Baseline)), Level: level, Notes: []lang.Text{textsLegend.Text()}}
	columns := []table.Column{{Head: headPerplexity.Text()}, {Head: headChange.Text()}, {Head: headBits.Text()}, {Head: headChange.Text()}, {Head: headWindows.Text()}}
	na := table.Absent()
	baseline := checkedRow{name: all[0].Baseline, cells: []table.Cell{checkedShare(findings.CheckedText(first, nil)), na, bits(first.BitsPerByte, findings.BitsDigits), na, table.Count(first.Windows)}}
	s.Table = checkedTable(columns, nil, baseline, len(all), func(i int) checkedRow {
		c := &all[i]
		checked, d := findings.CheckedText(c.Score, c.Difference), c.Difference
		row := checkedRow{name: c.Setup, verdict: na, cells: []table.Cell{
			checkedShare(checked), table.Literal(textsShare(checked.Change)), bits(c.Score.BitsPerByte, findings.BitsDigits), bits(d.BitsPerByte, differenceDigits), table.Count(d.Windows),
		}}
		if d.Verdict != "" { // else nothing can be compared
			row.verdict = checked.Outcome.Verdict()
		}
		return row
	})
	for i := range all {
		s.Lines = append(s.Lines, lang.Sentences(all[i].Says)...)
	}
	return s
}

// differenceDigits are the decimals of a difference in bits per byte.
const differenceDigits = 5

func bits(e rundir.Estimate, decimals int) table.Cell {
	return estimated(e, table.Literal(findings.Spread(e, decimals)))
}

// textsShare is a change in per cent with its interval: "+0.25 % (+0.21..+0.29)".
func textsShare(e rundir.Estimate) string {
	return findings.SpreadOf(e, " %", func(n rundir.Number) string {
		v := 100 * n.Value()
		text := strconv.FormatFloat(math.Abs(v), 'f', 2, 64)
		switch {
		case text == "0.00":
			return text
		case v < 0:
			return "−" + text
		}
		return "+" + text
	})
}

// Says returns what the comparison shows, and what limits it.
func (c *TextCandidate) Says(l lang.Lang) (lines []string) {
	setup, base, p := table.Clean(c.Setup), table.Clean(c.Baseline), c.Difference
	tokens := ""
	if p.Perplexity.Mean.Known() {
		tokens = sayTokens.In(l, textsShare(p.Perplexity))
	}
	more := findings.Spread(p.BitsPerByte, differenceDigits)
	switch p.Verdict {
	case perplexity.Worse:
		lines = append(lines, textsSayWorse.In(l, setup, base, more, tokens))
	case perplexity.Better:
		lines = append(lines, textsSayBetter.In(l, setup, base, more, tokens))
	case perplexity.Undecided:
		lines = append(lines, textsSayOpen.In(l, setup, base, more, tokens))
	}
	for _, n := range p.Notes {
		lines = append(lines, setup+lang.Colon.In(l)+findings.Phrase(n, l)+lang.Stop.In(l))
	}
	return lines
}

// Metric returns a metric with its interval, and as text, by its key.
func (c *TextCandidate) Metric(key string) (rundir.Estimate, string) {
	if key == fidelity.KeyPerplexity {
		return c.Difference.Perplexity, textsShare(c.Difference.Perplexity)
	}
	return c.Difference.BitsPerByte, findings.Spread(c.Difference.BitsPerByte, differenceDigits)
}
