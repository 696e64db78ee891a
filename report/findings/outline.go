package findings

import (
	"slices"
	"strconv"

	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep"
	"llmsweep/sweep/rundir"
)

var outlineParts = map[string]lang.Phrase{
	sweep.OutlineAlone:      lang.Say("one request at a time", "逐个请求"),
	sweep.OutlineSearch:     lang.Say("doubling the number in flight", "并发数逐次加倍"),
	sweep.OutlineThroughput: lang.Say("maximum throughput", "最大吞吐"),
	sweep.OutlineBeyond:     lang.Say("rates beyond saturation", "超过饱和点的到达率"),
	sweep.OutlineHold:       lang.Say("a rate near saturation, held", "饱和点附近的长测"),
	sweep.OutlineRates:      lang.Say("rates below it", "饱和点以下的到达率"),
	sweep.OutlineSLO:        lang.Say("search for the rate within the SLO", "查找满足 SLO 的到达率"),
	sweep.OutlineAgain:      lang.Say("some of it once more", "部分负载重测"),
}

var (
	headPart      = lang.Say("part", "部分")
	headStages    = lang.Say("stages", "阶段")
	headRates     = lang.Say("req/s", "req/s")
	headTakes     = lang.Say("time", "用时")
	sayOutline    = lang.Say("Plan for a server of %s req/s whose requests take %s alone", "假定服务为 %s req/s、单个请求用时 %s 时的计划")
	wordInAll     = lang.Say("in all", "合计")
	sayStageRange = lang.Say("%s to %s", "%s 至 %s")
)

// OutlineSection returns the plan of a sweep on a server of an assumed speed.
func OutlineSection(o *sweep.Outline) table.Section {
	s := table.Section{Title: lang.Both(func(l lang.Lang) string {
		return sayOutline.In(l, lang.Number(rundir.Exactly(o.Throughput), lang.Rate), lang.Time(rundir.Exactly(o.Latency)))
	})}
	s.Table.Columns = []table.Column{{Head: headPart.Text(), Left: true}, {Head: headStages.Text()}, {Head: headRates.Text()}, {Head: headTakes.Text()}}
	most := [2]int{}
	for _, p := range o.Parts {
		most[0], most[1] = most[0]+p.Stages[0], most[1]+p.Stages[1]
		s.Table.Rows = append(s.Table.Rows, []table.Cell{{Text: outlineParts[p.Part].Text()}, stageRange(p.Stages), rateRange(p.Rates), timeRange(p.Time)})
	}
	s.Table.Rows = append(s.Table.Rows, []table.Cell{{Text: wordInAll.Text(), Tone: table.Strong}, stageRange(most), table.None(), timeRange(o.Time)})
	return s
}

func stageRange(n [2]int) table.Cell {
	switch {
	case n[1] == 0:
		return table.None()
	case n[0] == n[1]:
		return table.Count(n[0])
	}
	return between(strconv.Itoa(n[0]), strconv.Itoa(n[1]))
}

func rateRange(rates []float64) table.Cell {
	if len(rates) == 0 {
		return table.None()
	}
	low, high := lang.Number(rundir.Exactly(slices.Min(rates)), lang.Rate), lang.Number(rundir.Exactly(slices.Max(rates)), lang.Rate)
	if low == high {
		return table.Literal(low)
	}
	return between(low, high)
}

func between(low, high string) table.Cell {
	return table.Cell{Text: sayStageRange.Text(low, high)}
}

func timeRange(t [2]float64) table.Cell {
	return table.Cell{Text: lang.Both(func(l lang.Lang) string {
		low, high := lang.Span(t[0], l), lang.Span(t[1], l)
		if low == high {
			return low
		}
		return sayStageRange.In(l, low, high)
	})}
}
