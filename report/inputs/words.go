package inputs

import "llmsweep/report/lang"

// The list of what was imported.
var (
	sayHead      = lang.Say("  line\tformat\trows\tnumbers\trun directory", "  行号\t格式\t行数\t数值数\t运行目录")
	sayLabels    = lang.Say("  labels of line %d:", "  第 %d 行结果的标签：")
	sayLine      = lang.Say("line %d", "第 %d 行")
	sayLeft      = lang.Say("With --all: the labels, with the lines that they were read from.", "加上 --all 还显示：标签及其所在的行。")
	sayResult    = lang.Say("%d result in %s", "共 %d 个结果，写入 %s")
	sayResults   = lang.Say("%d results in %s", "共 %d 个结果，写入 %s")
	sayRemark    = lang.Say("line %d: %s", "第 %d 行：%s")
	titleUnread  = lang.Say("Not read:", "未能读取：")
	titleAssumed = lang.Say("Read with an assumption, or skipped:", "按假设读取，或已跳过：")
	wordRead     = lang.Say("read", "读取")
	wordGiven    = lang.Say("given", "指定")
	wordInferred = lang.Say("inferred", "推断")
)
