package check

import (
	"llmsweep/report/lang"
	"llmsweep/report/table"
	"llmsweep/sweep/rundir"
)

// Definitions of figures.
var (
	sayToText        = lang.Say("the time to the first chunk with text", "到第一个含文本的数据块的时间")
	sayToHeaders     = lang.Say("the time to the first bytes of the answer, which may hold no text", "到回答首批字节的时间，其中可能没有文本")
	sayGaps          = lang.Say("the time between two chunks, all chunks alike", "相邻数据块的间隔，各数据块权重相同")
	sayMeanGaps      = lang.Say("the mean time between the chunks of a request, all requests alike", "每个请求数据块间隔的均值，各请求权重相同")
	sayPerTokenAfter = lang.Say("the time from first to last token, divided by the tokens after the first", "首 token 到末 token 的时间除以首 token 之后的 token 数")
	sayPerTokenToEnd = lang.Say("the time from the first token to the end of the stream, divided by the tokens after the first", "首 token 到流结束的时间除以首 token 之后的 token 数")
	sayPerTokenFrom  = lang.Say("the time from the first bytes of the answer to its end, divided by the tokens after the first", "回答首批字节到流结束的时间除以首 token 之后的 token 数")
	sayGapsFrom      = lang.Say("the time between two chunks, with that from the first bytes of the answer to its first text", "相邻数据块的间隔，含回答首批字节到首个文本的时间")
	sayPerTokenAll   = lang.Say("the whole time divided by all tokens", "总时间除以全部 token 数")
	sayToLast        = lang.Say("the time to the last token", "到末 token 的时间")
	sayToEnd         = lang.Say("the time to the end of the stream", "到流结束的时间")
	saySending       = lang.Say("per second until the last request was sent", "以最后一个请求发出为止的时间计")
	sayWithPrompt    = lang.Say("tokens of prompts and answers together", "提示与回答的 token 合计")
	sayTotal         = lang.Say("the sum over all requests", "所有请求之和")
)

// Reasons.
var (
	sayMeans    = lang.Say("another definition: %s", "定义不同：%s")
	sayLate     = lang.Say("%s more than passed: the tool sends late or reads late", "比线路上的多 %s：工具发送或读取过晚")
	sayAdded    = lang.Say("%s more than passed, and the recorder may have added as much", "比线路上的多 %s，不超过记录器自身可能增加的时间")
	sayEarly    = lang.Say("%s less than passed: requests or parts of them are left out", "比线路上的少 %s：遗漏了请求或其一部分")
	sayNearest  = lang.Say("nearest to another definition (%s), %s", "最接近另一定义（%s），%s")
	sayRatio    = lang.Say("%.3f x what passed", "为线路上的 %.3f 倍")
	sayMore     = lang.Say("%d more passed than the file counts", "线路上比文件所计多 %d 个")
	sayFewer    = lang.Say("%d fewer passed than the file counts", "线路上比文件所计少 %d 个")
	sayTest     = lang.Say("Not counted here: %d requests that had ended before the load began (a test of the server, or a warm-up).", "此处不计：负载开始前已结束的 %d 个请求（对服务的试探或预热）。")
	sayRepeated = lang.Say("%d of %d prompts had passed before, to the last block: a prefix cache answers them sooner than new ones.", "%[2]d 个提示中有 %[1]d 个此前已完整出现过：前缀缓存会使其快于新的提示。")
	sayFailures = lang.Say("%d requests failed on the wire, and the file counts %d.", "线路上有 %d 个请求失败，文件所计为 %d 个。")
	sayArrivals = lang.Say("The times between requests vary by %.2f of their mean; Poisson arrivals vary by %.2f to %.2f.", "请求间隔的变异系数为 %.2f；泊松到达应为 %.2f 至 %.2f。")
)

var (
	sayOf      = map[Outcome]lang.Phrase{Agrees: lang.Say("agrees", "一致"), Definition: lang.Say("defined otherwise", "定义不同"), Differs: lang.Say("differs", "不一致"), Undecided: lang.Say("undecided", "无法判定")}
	headLoad   = lang.Say("Load", "负载")
	headFigure = lang.Say("Figure", "指标")
	headFile   = lang.Say("File", "文件")
	headWire   = lang.Say("Wire", "线路")
	headSays   = lang.Say("Outcome", "结果")
	headWhy    = lang.Say("Why", "原因")
	sayNone    = lang.Say("All %d figures agree with what passed.", "全部 %d 项指标与线路上的一致。")
	saySome    = lang.Say("Of %d figures %d agree with what passed, %d are defined otherwise, %d differ.", "%d 项指标中，%d 项与线路上的一致，%d 项定义不同，%d 项不一致。")
	sayDelayed = lang.Say("%d are undecided: the recorder itself delayed requests. Give it cores of its own.", "%d 项无法判定：请求在记录器中等待过。请为其分配单独的核。")
)

// Sections returns the result as a page.
func Sections(result *Result) []table.Section {
	rows := result.Rows
	counts := map[Outcome]int{}
	t := table.Table{Columns: []table.Column{
		{Head: headLoad.Text(), Left: true}, {Head: headFigure.Text(), Left: true}, {Head: headFile.Text()}, {Head: headWire.Text()}, {Head: headSays.Text(), Left: true},
		{Head: headWhy.Text(), Left: true},
	}}
	for i := range rows {
		r := &rows[i]
		counts[r.Outcome]++
		tone := table.Plain
		if r.Outcome == Differs {
			tone = table.Strong
		}
		t.Rows = append(t.Rows, []table.Cell{
			table.Literal(r.Load), table.Literal(r.Figure), r.cell(r.Claimed), r.cell(r.Wire), {Text: sayOf[r.Outcome].Text(), Tone: tone}, {Text: r.Why, Long: true},
		})
	}
	says := saySome.Text(len(rows), counts[Agrees], counts[Definition], counts[Differs])
	if counts[Agrees] == len(rows) {
		says = sayNone.Text(len(rows))
	}
	lines := []lang.Text{says}
	if n := counts[Undecided]; n > 0 {
		lines = append(lines, sayDelayed.Text(n))
	}
	return []table.Section{{Lines: lines, Table: t, Notes: result.Remarks}}
}

// cell returns a number in the row's unit.
func (r *Row) cell(v rundir.Number) table.Cell {
	switch r.unit {
	case "s":
		return table.Seconds(v)
	case "requests":
		return table.Count(int(v.Value()))
	}
	return table.Number(v, r.unit, lang.Rate)
}
