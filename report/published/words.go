package published

import (
	"sync"

	"llmsweep/report/findings"
	"llmsweep/report/lang"
)

// Words returns the words of the notes of this package and of those beneath it.
var Words = sync.OnceValue(func() lang.Words {
	return lang.Join(findings.Words(), faultWords(), lang.Words{
		"published.no-heading":        lang.Say("no line above the table names model, GPU and engine", "表格上方没有注明模型、GPU 和引擎"),
		"published.other-column":      lang.Say("column \"{column}\" is none of the six: not read", "列“{column}”不属于六列格式：未读取"),
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
