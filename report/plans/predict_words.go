package plans

import "llmsweep/report/lang"

// Headings and columns.
var (
	titlePrediction = lang.Say("PREDICTION, not measured: %d/%d tokens", "预测值（非实测）：%d/%d token")
	headModel       = lang.Say("Model", "模型")
	headGPU         = lang.Say("GPU", "GPU")
	headCount       = lang.Say("GPUs", "GPU 数")
	headQuant       = lang.Say("Quant", "量化")
	headLatency     = lang.Say("latency", "总时延")
	headCapacity    = lang.Say("capacity", "容量")
	headOutput      = lang.Say("output", "输出")
	headPerGPU      = lang.Say("per GPU", "每 GPU")
	subAlone        = lang.Say("alone", "单请求")
)

// What is said.
var (
	sayPrediction  = lang.Say("Predictions come from a roofline model of data-sheet values. Nothing was run; do not publish them as results, and measure before you buy.", "预测值由数据手册参数的屋顶线模型算出，未经任何实测；请勿作为结果发表，购买前务必实测。")
	sayHow         = lang.Say("A step takes the longer of two times, plus 1.5 ms: reading weights and cache at 80 % of the memory bandwidth, and computing at 60 % of the peak. At most 256 sequences run. Configurations that do not fit in 90 % of the memory are left out.", "每步耗时取（按 80 % 显存带宽读取权重与缓存）与（按 60 % 峰值算力计算）中的较大者，另加 1.5 ms；最多 256 个并发序列。90 % 显存放不下的组合不列出。")
	sayNothingFits = lang.Say("Nothing fits.", "没有放得下的组合。")
)
