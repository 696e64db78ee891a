package inputs

import "llmsweep/report/lang"

var (
	sayResults   = lang.Say("%s: results %d, in %s", "%s：结果 %d 个，写入 %s")
	sayHead      = lang.Say("  line\tformat\trows\tnumbers\trun directory", "  行号\t格式\t行数\t数值数\t运行目录")
	sayLabels    = lang.Say("  labels of line %d:", "  第 %d 行结果的标签：")
	sayLine      = lang.Say("line %d", "第 %d 行")
	sayLeft      = lang.Say("With --all: the labels, with the lines that they were read from.", "加上 --all 还显示：标签及其所在的行。")
	titleUnread  = lang.Say("Not read:", "未能读取：")
	titleAssumed = lang.Say("Assumed or skipped:", "按假设读取或已跳过：")
	wordRead     = lang.Say("read", "读取")
	wordGiven    = lang.Say("given", "指定")
	wordInferred = lang.Say("inferred", "推断")
)
