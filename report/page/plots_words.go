package page

import "llmsweep/report/lang"

// Headings.
var (
	titleSpeed  = lang.Say("Speed for a user, output of the hardware", "用户的速度与硬件的产出")
	titleHits   = lang.Say("Prefix cache hits", "前缀缓存命中率")
	titleOutput = lang.Say("Output of the server", "服务的输出")
)

// Words in drawings.
var (
	axisRate          = lang.Say("arrival rate, req/s", "到达率（req/s）")
	axisUsers         = lang.Say("users", "用户数")
	axisHits          = lang.Say("share of prompts found in the cache, %", "提示命中缓存的比例（%）")
	axisInFlight      = lang.Say("requests kept in flight", "保持的并发请求数")
	axisOutput        = lang.Say("output, tok/s", "输出（tok/s）")
	axisTTFT          = lang.Say("TTFT", "TTFT")
	axisITL           = lang.Say("ITL", "ITL")
	axisLatency       = lang.Say("latency", "总时延")
	plotsAxisPerUser  = lang.Say("speed of one answer, tok/s", "单个回答的速度（tok/s）")
	plotsAxisPerGPU   = lang.Say("output of a GPU, tok/s", "单张 GPU 的输出（tok/s）")
	axisPerServer     = lang.Say("output of the server, tok/s", "服务的输出（tok/s）")
	keyFront          = lang.Say("Pareto front", "帕累托前沿")
	keyClosed         = lang.Say("fixed number in flight", "固定并发数")
	axisSaturation    = lang.Say("saturation; bar: highest stable to lowest saturated; arrow: at least", "饱和；横线：最高稳定至最低饱和；箭头：不小于此值")
	axisMillion       = lang.Say("cost of a million output tokens", "每百万输出 token 费用")
	axisTTFTMean      = lang.Say("TTFT mean", "TTFT 均值")
	titleCostTTFT     = lang.Say("Cost and TTFT at the SLO", "费用与 TTFT（SLO 限值处）")
	wordLinear        = lang.Say("linear", "线性")
	wordLog           = lang.Say("logarithmic", "对数")
	wordOnFront       = lang.Say("yes", "是")
	tagSaturation     = lang.Say("saturates at %s (%s–%s)", "饱和 %s（%s–%s）")
	tagSaturationOnly = lang.Say("saturates at %s", "饱和 %s")
	tagCarries        = lang.Say("carries %s", "可承载 %s")
	tagAtLeast        = lang.Say("sustains at least %s", "至少可承受 %s")
)

// Headings of columns.
var (
	plotsHeadFront = lang.Say("on the front", "在前沿上")
)

// Notes beneath drawings and tables.
var (
	noteTable       = lang.Say("Intervals hold with a probability of 95 %. n/a: not measured.", "区间的置信度为 95 %。n/a：未测量。")
	noteUnsupported = lang.Say("? not enough requests for this percentile (requests that wait in one queue count as fewer). Its marker is pale.", "? 请求太少，不足以支持该百分位数（在同一队列中等待的请求只相当于较少的请求）。其标记颜色较浅。")
	noteNames       = lang.Say("The rate in the name of a stage is the one asked for. Arrivals are random, so the rate offered differs from it.", "阶段名称中的到达率为设定值。到达是随机的，实际到达率与之略有不同。")
	plotsNoteFront  = lang.Say("Further right is faster for a user, further up is more from the hardware. No stage beats those on the broad grey line in both.", "越靠右用户越快，越靠上硬件产出越多。灰色粗线上的阶段在两方面都不被其他阶段超过。")
	noteFrontApart  = lang.Say(" Squares beside the line were measured with a fixed number in flight; comparing and choosing do not rest on them.", "线外的方块以固定并发数测量，比较和选型不以其为依据。")
	noteImpossible  = lang.Say(" Not drawn: %d rows that the audit calls impossible (llmsweep audit lists them).", "未画出：%d 行，llmsweep audit 判定为不可能。")
)
