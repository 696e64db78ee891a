package published

import (
	"llmsweep/client/note"
	"llmsweep/report/lang"
)

// noteReadFrom is of a result that another tool printed: no records are behind its numbers.
var noteReadFrom = note.Kind{Code: "published.read-from", Args: []string{"file", "line"}}

// Remarks on lines of a document.
var (
	noteNoHeading     = note.Kind{Code: "published.no-heading"}
	noteOtherColumn   = note.Kind{Code: "published.other-column", Args: []string{"column"}}
	noteReadAs        = note.Kind{Code: "published.read-as", Args: []string{"text", "as"}}
	noteTooManyRows   = note.Kind{Code: "published.too-many-rows", Args: []string{"rows"}}
	noteCells         = note.Kind{Code: "published.cells", Args: []string{"cells", "wanted"}}
	noteBad           = note.Kind{Code: "published.bad", Args: []string{"error"}}
	noteBadValue      = note.Kind{Code: "published.bad-value", Args: []string{"name", "value", "error"}}
	noteNoUnit        = note.Kind{Code: "published.no-unit", Args: []string{"name", "value", "unit"}}
	noteNoRow         = note.Kind{Code: "published.no-row"}
	noteNoLength      = note.Kind{Code: "published.no-length", Args: []string{"text"}}
	noteUnclear       = note.Kind{Code: "published.unclear", Args: []string{"text"}}
	noteLongLine      = note.Kind{Code: "published.long-line", Args: []string{"kib"}}
	noteNoTable       = note.Kind{Code: "published.no-table"}
	noteNoEnd         = note.Kind{Code: "published.no-end"}
	noteNotServing    = note.Kind{Code: "published.not-serving", Args: []string{"text"}}
	noteNothingRead   = note.Kind{Code: "published.nothing-read"}
	noteNoDate        = note.Kind{Code: "published.no-date", Args: []string{"text"}}
	noteNotStress     = note.Kind{Code: "published.not-stress", Args: []string{"text"}}
	noteRepeated      = note.Kind{Code: "published.repeated", Args: []string{"text"}}
	noteNoCell        = note.Kind{Code: "published.no-cell"}
	noteContradiction = note.Kind{Code: "published.contradiction", Args: []string{"label", "taken", "line", "other", "other_line"}}
	noteFlagWins      = note.Kind{Code: "published.flag-wins", Args: []string{"label", "given", "found", "line"}}
	noteWarmUp        = note.Kind{Code: "published.warm-up", Args: []string{"line", "text"}}
	noteJoined        = note.Kind{Code: "published.joined", Args: []string{"tables", "lines"}}
	noteOutOfOrder    = note.Kind{Code: "published.out-of-order", Args: []string{"lines", "launch", "other"}}
	noteOtherTable    = note.Kind{Code: "published.other-table", Args: []string{"columns"}}
)

// Notes returns the kinds of notes that this package writes.
func Notes() []note.Kind {
	return []note.Kind{
		noteReadFrom, noteNoHeading, noteOtherColumn, noteReadAs, noteTooManyRows, noteCells, noteBad, noteBadValue,
		noteNoUnit, noteNoRow, noteNoLength, noteUnclear, noteLongLine, noteNoTable, noteNoEnd, noteNotServing,
		noteNothingRead, noteNoDate, noteNotStress, noteRepeated, noteNoCell, noteOtherTable, noteITLPerRequest,
		noteITLWeighted, noteITLPerChunk, noteTTFTEmptyChunk, noteTTFTZero, noteLatencyToEnd, noteRatesWhole, noteCancelled,
		noteTokensAsked, noteContradiction, noteFlagWins, noteWarmUp, noteJoined, noteOutOfOrder, noteTokensCounted, notePerGPU, noteNoWarmup,
	}
}

// Words returns the words of remarks.
func Words() lang.Words {
	return lang.Join(definitionWords(), lang.Words{
		"published.no-heading":    lang.Say("no line above the table names model, GPU and engine", "表格上方没有注明模型、显卡和引擎"),
		"published.other-column":  lang.Say("column \"{column}\" is none of the six: not read", "列“{column}”不属于六列格式：未读取"),
		"published.read-as":       lang.Say("\"{text}\" is read as \"{as}\"", "“{text}”读作“{as}”"),
		"published.too-many-rows": lang.Say("the table has more than {rows} rows", "表格超过 {rows} 行"),
		"published.cells":         lang.Say("the row has {cells:count cell cells}, the heading {wanted}", "该行有 {cells} 格，而表头有 {wanted} 格"),
		"published.bad":           lang.Say("{error}", "{error}"),
		"published.bad-value":     lang.Say("{name}: \"{value}\" {error}", "{name}：“{value}” {error}"),
		"published.no-unit":       lang.Say("{name} {value} has no unit: read as {unit}", "{name} {value} 没有单位：按 {unit} 读取"),
		"published.no-row":        lang.Say("the table has no row", "表格没有数据行"),
		"published.no-length":     lang.Say("\"{text}\" is not a length", "“{text}”不是长度"),
		"published.unclear":       lang.Say("it is unclear what \"{text}\" means", "“{text}”含义不明"),
		"published.long-line":     lang.Say("the line is longer than {kib} KiB and was not read", "该行超过 {kib} KiB，未读取"),
		"published.no-table":      lang.Say("the line names a configuration, but no six-column table follows it", "该行注明了配置，但其后没有六列表格"),
		"published.no-end":        lang.Say("the serving block has no line of = at its end: read to where it stops", "该段末尾没有 = 线：读到中断处"),
		"published.not-serving":   lang.Say("\"{text}\" is not a line of a serving block", "“{text}”不是该格式的行"),
		"published.nothing-read":  lang.Say("no line of it could be read", "没有一行能读取"),
		"published.no-date":       lang.Say("\"{text}\" is not a date and is left out", "“{text}”不是日期，已略去"),
		"published.not-stress":    lang.Say("\"{text}\" is not a line of this format", "“{text}”不是该格式的行"),
		"published.repeated":      lang.Say("{text} is repeated here", "{text} 重复出现"),
		"published.no-cell":       lang.Say("the line is drawn like a table, but has no cell", "该行画成表格，但没有单元格"),
		"published.contradiction": lang.Say("{label} is {taken} by line {line}, but line {other_line} has {other}", "{label}：第 {line} 行为 {taken}，而第 {other_line} 行为 {other}"),
		"published.flag-wins":     lang.Say("{label} is {given}, as --label says; line {line} has {found}", "{label} 按 --label 取 {given}；第 {line} 行为 {found}"),
		"published.warm-up":       lang.Say("line {line} calls it a warm-up ({text}): nothing is concluded from it", "第 {line} 行注明为预热（{text}）：不据此作任何结论"),
		"published.joined":        lang.Say("made of {tables:count table tables}, in lines {lines}", "由 {tables} 个表格组成（第 {lines} 行）"),
		"published.out-of-order":  lang.Say("the results in lines {lines} are dated after those of the later command in line {other}: only their place says that the command in line {launch} was running", "第 {lines} 行的结果日期晚于第 {other} 行后一条命令的结果：仅凭位置才归于第 {launch} 行的命令"),
		"published.other-table":   lang.Say("a table with other columns ({columns}) is not read", "其他列的表格（{columns}）未读取"),
	})
}

// In returns what a remark says.
func (r *Remark) In(l lang.Lang) string { return Words().Say(r.Note, l) }
