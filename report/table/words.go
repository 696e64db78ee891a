package table

import "llmsweep/report/lang"

var (
	sayRest     = lang.Say("With --all: %s.", "加上 --all 还显示：%s。")
	wordDetails = lang.Say("how the numbers are meant", "数字的含义")
	wordRows    = lang.Say("all rows", "所有行")
	wordColumns = lang.Say("all columns", "所有列")
)
