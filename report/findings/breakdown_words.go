package findings

import "llmsweep/report/lang"

var (
	headRuns      = lang.Say("runs", "次数")
	headMetric    = lang.Say("metric", "指标")
	headBetween   = lang.Say("between runs", "各次之间")
	headWithin    = lang.Say("within a run", "单次之内")
	metricTTFT    = lang.Say("TTFT mean", "TTFT 均值")
	metricITL     = lang.Say("ITL mean", "ITL 均值")
	metricLatency = lang.Say("latency mean", "总时延均值")
	noteSpread    = lang.Say("between runs: standard deviation of the repetitions; within a run: standard error of one repetition; both in % of the mean", "各次之间：各次结果的标准差；单次之内：单次结果自身的标准误差；均为占均值的百分比")
	noteDoubtful  = lang.Say("+ repetitions differ by more than twice their own error: the interval of a single run is too narrow", "+ 各次之间的差异超过单次误差的两倍：单次结果的区间过窄")
)
