package plans

import "llmsweep/report/lang"

// Headings and columns.
var (
	titlePrediction = lang.Say("PREDICTION, not measured: %d/%d tokens", "预测值（非实测）：%d/%d token")
	titleBeside     = lang.Say("Predictions beside published rows", "预测值与公开数据对照")
	headModel       = lang.Say("Model", "模型")
	headGPU         = lang.Say("GPU", "GPU")
	headCount       = lang.Say("GPUs", "GPU 数")
	headQuant       = lang.Say("Quant", "量化")
	headLatency     = lang.Say("latency", "总时延")
	headCapacity    = lang.Say("capacity", "容量")
	headOutput      = lang.Say("output", "输出")
	headPerGPU      = lang.Say("per GPU", "每 GPU")
	headSetup       = lang.Say("Configuration", "配置")
	headPreset      = lang.Say("Simulated as", "模拟配置")
	headITL         = lang.Say("ITL alone", "单请求 ITL")
	headPeak        = lang.Say("peak tok/s", "峰值 tok/s")
	headError       = lang.Say("off by", "误差")
	headRows        = lang.Say("Rows", "行")
	subAlone        = lang.Say("alone", "单请求")
	subPredicted    = lang.Say("predicted", "预测")
	subPublished    = lang.Say("published", "公开")
)

// What is said.
var (
	sayPrediction  = lang.Say("Predictions come from a roofline model of data-sheet values. Nothing was run; do not publish them as results, and measure before you buy.", "预测值由数据手册参数的屋顶线模型算出，未经任何实测；请勿作为结果发表，购买前务必实测。")
	sayHow         = lang.Say("A step takes the longer of two times, plus 1.5 ms: reading weights and cache at 80 % of the memory bandwidth, and computing at 60 % of the peak. At most 256 sequences run. Configurations that do not fit in 90 % of the memory are left out.", "每步耗时取（按 80 % 显存带宽读取权重与缓存）与（按 60 % 峰值算力计算）中的较大者，另加 1.5 ms；最多 256 个并发序列。90 % 显存放不下的组合不列出。")
	sayNothingFits = lang.Say("Nothing fits.", "没有放得下的组合。")
	sayITLOff      = lang.Say("Inter-token latency alone on the server, %d configurations: half of the predictions are within %s %%; the worst is off by %s %% (%s).", "单请求 token 间时延，共 %d 个配置：一半预测误差在 %s %% 以内；最差为 %s %%（%s）。")
	sayPeakOff     = lang.Say("Peak output, %d configurations: half of the predictions are within %s %%; the worst is off by %s %% (%s).", "峰值输出，共 %d 个配置：一半预测误差在 %s %% 以内；最差为 %s %%（%s）。")
	sayRising      = lang.Say("+ the output still rises at the last published row, so the true peak is higher by an unknown amount.", "+ 公开数据到最后一行仍在上升，真实峰值更高，高多少未知。")
	sayFitted      = lang.Say("The simulator's fixed step time was fitted to rows of vLLM with one request at a time, and its shares of bandwidth and peak to Qwen2-7B on one L20: for vLLM, the latencies here are not an independent test. No row under load was used.", "模拟器的固定步时参照了 vLLM 单请求数据，带宽与算力利用率参照了单个 L20 上 Qwen2-7B 的单请求数据：因此对 vLLM 而言，此处的时延不构成独立检验。有负载的各行均未使用。")
	sayWhyOff      = lang.Say("The model has one scheduler and does not distinguish engines: on the same cards, engines differ by a factor of three here, and so does the error. Peaks are predicted for 256 sequences at once and answers of exactly the requested length; many published answers are shorter, and the number of sequences that their servers ran is unknown.", "模型只含一种调度器，不区分引擎：同样的 GPU 上各引擎相差可达三倍，误差也是如此。峰值按 256 个并发序列、回答长度与要求完全一致计算；公开数据中许多回答更短，其服务的并发上限也未知。")
)
