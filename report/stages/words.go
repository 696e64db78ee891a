package stages

import "llmsweep/report/lang"

// Headings of documents.
var (
	nounServer = lang.Say("A server", "服务")
)

// Verdicts.
var (
	verdictStable    = lang.Say("stable", "稳定")
	verdictSaturated = lang.Say("saturated", "饱和")
	verdictUndecided = lang.Say("undecided", "未定")
	verdictClosed    = lang.Say("closed", "闭环")
)
