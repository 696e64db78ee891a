package published

import (
	"sync"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
)

// Words returns the words of the notes of this package and of those beneath it.
var Words = sync.OnceValue(func() lang.Words {
	return lang.Join(findings.Words(), faultWords(), lang.Words{
		"published.no-heading":        lang.Say("no line above the table names: {labels}", "表格上方没有注明：{labels}"),
		"published.other-column":      lang.Say("column \"{column}\" is not known: not read", "列“{column}”未知：未读取"),
		"published.odd-head":          lang.Say("{column}: the column is not read, since \"{text}\" in its heading is not understood", "{column}：表头中的“{text}”无法理解，该列未读取"),
		"published.twice":             lang.Say("two columns are called \"{column}\": neither is read", "有两列都叫“{column}”：均未读取"),
		"published.no-units":          lang.Say("{column}: neither the heading nor a cell has a unit: the column is not read", "{column}：表头和单元格都没有单位，该列未读取"),
		"published.html":              lang.Say("a table of HTML is not read: make it one of Markdown", "HTML 表格未读取：请改为 Markdown 表格"),
		"published.two-blocks":        lang.Say("two blocks side by side are not read: put one beneath the other", "并排的两段未读取：请上下排列"),
		"published.read-as":           lang.Say("\"{text}\" is read as \"{as}\"", "“{text}”读作“{as}”"),
		"published.too-many-rows":     lang.Say("the table has more than {rows} rows", "表格超过 {rows} 行"),
		"published.cells":             lang.Say("the row has {cells:count cell cells}, the heading {wanted}", "该行有 {cells} 格，而表头有 {wanted} 格"),
		"published.bad":               lang.Say("{error:note}", "{error:note}"),
		"published.bad-value":         lang.Say("{name}: \"{value}\" {error:note}", "{name}：“{value}”{error:note}"),
		"published.no-unit":           lang.Say("{name} {value} has no unit: read as {unit}", "{name} {value} 没有单位：按 {unit} 读取"),
		"published.no-row":            lang.Say("the table has no row", "表格没有数据行"),
		"published.no-length":         lang.Say("\"{text}\" is not a length", "“{text}”不是长度"),
		"published.unclear":           lang.Say("it is unclear what \"{text}\" means", "“{text}”含义不明"),
		"published.long-line":         lang.Say("the line is longer than {kib} KiB and was not read", "该行超过 {kib} KiB，未读取"),
		"published.no-table":          lang.Say("the line names a configuration, but no six-column table follows it", "该行注明了配置，但其后没有六列表格"),
		"published.no-end":            lang.Say("the serving block has no line of = at its end: read to where it stops", "该段末尾没有 = 线：读到中断处"),
		"published.not-serving":       lang.Say("\"{text}\" is not a line of a serving block", "“{text}”不是该格式的行"),
		"published.nothing-read":      lang.Say("no line of it could be read", "没有一行能读取"),
		"published.no-date":           lang.Say("\"{text}\" is not a date and is left out", "“{text}”不是日期，已略去"),
		"published.not-stress":        lang.Say("\"{text}\" is not a line of this format", "“{text}”不是该格式的行"),
		"published.repeated":          lang.Say("{text} is repeated here", "{text} 重复出现"),
		"published.no-cell":           lang.Say("the line is drawn like a table, but has no cell", "该行画成表格，但没有单元格"),
		"published.json-no-object":    lang.Say("is a JSON value that is no object", "是 JSON 值，但不是对象"),
		"published.json-unknown":      lang.Say("is a JSON object of no known tool (its keys: {keys}); known are {known}", "不是已知工具的 JSON 对象（其键为：{keys}）；可识别的工具有 {known}"),
		"published.json-no-number":    lang.Say("{path}: {text} is no number that a benchmark prints", "{path}：{text} 不是压测工具会输出的数"),
		"published.json-no-count":     lang.Say("{path}: {text} is no count", "{path}：{text} 不是计数"),
		"published.json-no-metric":    lang.Say("holds no metric that could be read", "没有可读取的指标"),
		"published.json-no-benchmark": lang.Say("holds no benchmark", "不包含任何测试"),
		"published.label-no-count":    lang.Say("label {label}={text} is no count", "标签 {label}={text} 不是计数"),
		"published.label-no-price":    lang.Say("label {label}={text} is no price", "标签 {label}={text} 不是价格"),
		"published.other-table":       lang.Say("a table with other columns ({columns}) is not read", "其他列的表格（{columns}）未读取"),
	})
})

func faultWords() lang.Words {
	return lang.Words{
		"fault.empty":        lang.Say("is empty", "为空"),
		"fault.no-number":    lang.Say("is no number", "不是数"),
		"fault.odd-number":   lang.Say("is no number that a benchmark prints", "不是压测工具会输出的数"),
		"fault.unknown-unit": lang.Say("has the unknown unit \"{unit}\"", "的单位“{unit}”未知"),
		"fault.other-unit":   lang.Say("is in \"{unit}\", which measures something else", "的单位“{unit}”属于另一种量"),
		"fault.odd":          lang.Say("has \"{text}\", which is not understood", "中的“{text}”无法理解"),
		"fault.no-unit":      lang.Say("has no unit", "没有单位"),
		"fault.comma":        lang.Say("may have a decimal comma or thousands: no other cell tells", "中的逗号可能是小数点，也可能是千位分隔符：其他单元格无从判断"),
		"fault.no-count":     lang.Say("is no count", "不是计数"),
		"fault.no-name":      lang.Say("the row has no name", "该行没有名称"),
		"fault.no-load":      lang.Say("\"{row}\" is no load: synchronous, asynchronous@RATE, concurrent@N or throughput", "“{row}”不是负载：应为 synchronous、asynchronous@速率、concurrent@并发或 throughput"),
		"fault.no-rate":      lang.Say("\"{row}\": no rate behind the @", "“{row}”：@ 之后没有到达率"),
		"fault.bad-rate":     lang.Say("\"{row}\": the rate {why:note}", "“{row}”：到达率{why:note}"),
		"fault.unclear":      lang.Say("is not understood", "无法理解"),
	}
}

// What stands beneath the formats that have no room for it.
var (
	saySummary       = lang.Say("Summary of %s stages", "%s 个阶段汇总")
	noteMaximum      = lang.Say("P99 Response Time is the largest response time here, in spite of its name: this is how it was printed.", "P99 Response Time 取的是最大响应时间，与其名称不符：原文如此。")
	noteInterpolated = lang.Say("P99 Response Time is interpolated between samples; other tools print a measured one (--percentile nearest).", "P99 Response Time 由样本插值得出；其他工具给出的是某个实测值（--percentile nearest）。")
	noteTheoretical  = lang.Say("Theoretical Max Throughput is total requests / max response time. It is not a limit.", "Theoretical Max Throughput 等于总请求数除以最大响应时间，并不代表任何上限。")
	noteWindow       = lang.Say("%s is the window in which rates were measured, without start and drain; requests are those due in it.", "%s 为统计速率的时间窗，不含启动与收尾；请求数为窗内应发出的请求。") // the reader of such blocks knows them by their first words
	noteOpen         = lang.Say("Requests arrived at %s per second (open loop)%s.", "请求按每秒 %s 个到达（开环）%s。")
	noteCap          = lang.Say(", with at most %s in flight", "，并发上限 %s")
	noteUnsupported  = lang.Say("Too few requests to support: %s.", "请求太少，不足以支持：%s。")
	noteBound        = lang.Say("> some requests had not ended: the value is at least this.", "带 > 的数值：有请求尚未结束，实际值不小于此值。")
	noteLengths      = lang.Say("Answers end by themselves, after %s tokens: mean %s, p50 %s, p90 %s, max %s; %s were cut at the limit.", "回答自行结束，长度%s token：均值 %s，p50 %s，p90 %s，最大 %s；%s 达到上限。")
	noteFirstAnswer  = lang.Say("Answers begin with reasoning: the first token of the answer itself came after %s on average, the first token of all after %s.", "回答以思考开头：正式回答的首个 token 平均在 %s 后到达，首个 token（含思考）在 %s 后到达。")
	noteIncomplete   = lang.Say("%s requests had neither ended nor failed.", "%s 个请求既未完成也未失败。")
	noteRetokenized  = lang.Say("The text of all answers has %s tokens, but %s were reported: the stream repeats or loses text, or the text does not tokenize back to the same tokens.", "全部回答文本重新分词得到 %s 个 token，而报告为 %s 个：流式输出有重复或丢失，或文本重新分词后与原 token 不同。")
	noteGoodput      = lang.Say("Requests that met %s: %s per second, %s %% of those due.", "满足 %s 的请求：每秒 %s 个，占应发出请求的 %s %%。")
)
