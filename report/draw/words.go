package draw

import "llmsweep/report/lang"

var (
	plotOutput = lang.Say("output tok/s", "输出 tok/s")
	plotTTFT   = lang.Say("TTFT mean", "TTFT 均值")
)
