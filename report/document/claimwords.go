package document

import (
	"slices"
	"strconv"

	"llmsweep/report/lang"
	"llmsweep/report/table"
)

var (
	claimTitle   = lang.Say("What %s says, and what its tables show", "核对 %s 的文字与表格")
	headLine     = lang.Say("Line", "行")
	headAbout    = lang.Say("About", "对象")
	headSays     = lang.Say("The text says", "文字所述")
	headShows    = lang.Say("The tables show", "表格所示")
	headVerdict  = lang.Say("Verdict", "结论")
	sayInFlight  = lang.Say("%d in flight", "并发 %d")
	sayGPUs      = lang.Say("%d GPUs", "%d 张 GPU")
	sayFromTo    = lang.Say("%d to %d GPUs", "%d 到 %d 张 GPU")
	sayNoRows    = lang.Say("nothing: no row has this load", "没有此负载的行")
	sayFewCounts = lang.Say("only %s GPUs: a trend over GPU counts needs three or more", "只有 %s 张 GPU：判断 GPU 数的趋势至少需要三种数量")
	sayNoCause   = lang.Say("no cause: they measure rates and times alone", "表格只有速率和时延，无法说明原因")
	sayAgainst   = lang.Say("%[2]s against %[3]s at %[1]d in flight", "并发 %[1]d 时 %[2]s 对 %[3]s")
	saySemicolon = lang.Say("; ", "；")
	sayPointed   = lang.Say("Line %d: \"%s\" (%s): %s. The tables show: %s.", "第 %d 行：“%s”（%s）：%s。表格所示：%s。")
	verdictHolds = lang.Say("holds", "成立")
	verdictPart  = lang.Say("only in part: another range", "部分成立：范围不同")
	verdictNot   = lang.Say("not shown by the tables", "表格未显示")
	verdictFalse = lang.Say("contradicted by the tables", "与表格矛盾")
)

// In returns the verdict in words.
func (v Verdict) In(l lang.Lang) string {
	switch v {
	case Holds:
		return verdictHolds.In(l)
	case Partly:
		return verdictPart.In(l)
	case Contradicted:
		return verdictFalse.In(l)
	}
	return verdictNot.In(l)
}

// ClaimSection is the claims of a document beside what its tables show. Name is what the document is called.
func ClaimSection(name string, all []Claim, level int) table.Section {
	t := table.Table{Columns: []table.Column{
		{Head: headLine.Text()}, {Head: headAbout.Text(), Left: true}, {Head: headSays.Text(), Left: true}, {Head: headShows.Text(), Left: true},
		{Head: headVerdict.Text(), Left: true},
	}}
	var lines []lang.Text
	for i := range all {
		c := &all[i]
		t.Rows = append(t.Rows, []table.Cell{
			table.Literal(strconv.Itoa(c.Line)), {Text: lang.Both(c.about.in)}, table.Literal(c.Says), {Text: lang.Both(c.Shows)}, {Text: lang.Both(c.Verdict.In)},
		})
		if c.Verdict != Holds {
			lines = append(lines, lang.Both(c.Sentence))
		}
	}
	return table.Section{Title: claimTitle.Text(name), Level: level, Lines: lines, Table: t}
}

// Sentence says what the claim is and what the tables show, with the line that it quotes.
func (c *Claim) Sentence(l lang.Lang) string {
	return sayPointed.In(l, c.Line, c.Text, c.about.in(l), c.Verdict.In(l), c.Shows(l))
}

// failing is the claims that the tables do not show.
func failing(all []Claim) []Claim {
	return slices.DeleteFunc(slices.Clone(all), func(c Claim) bool { return c.Verdict == Holds })
}
