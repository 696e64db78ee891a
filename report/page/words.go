package page

import (
	"llmsweep/report/lang"
)

// Headings.
var (
	titleSoFar       = lang.Say("The answer so far", "目前的结论")
	liveState        = lang.Say("In progress.", "进行中。")
	titleAnswer      = lang.Say("The answer", "结论")
	titleCareful     = lang.Say("Be careful about", "需要注意")
	titleRates       = lang.Say("Behaviour under load", "负载下的表现")
	titleRows        = lang.Say("All stages", "全部阶段")
	titleReplicas    = lang.Say("Replicas", "各副本")
	titleRemarks     = lang.Say("Notes", "备注")
	titleErrors      = lang.Say("Errors", "错误")
	titleEnvironment = lang.Say("Environment", "环境")
	titleTerms       = lang.Say("Terms", "术语")
	titleCommand     = lang.Say("The command that repeats this run", "重复本次运行的命令")
	titleDamaged     = lang.Say("Damaged records", "记录损坏")
)

// Texts of the answer.
var (
	unitOutput      = lang.Say("output tok/s at %s", "输出 tok/s（%s）")
	unitNothing     = lang.Say("nothing was completed", "没有完成任何请求")
	nothingMeasured = lang.Say("Nothing was measured.", "没有测得任何数据。")
)

// Headings of columns.
var (
	headOutput = lang.Say("output tok/s", "输出 tok/s")
	headWhat   = lang.Say("what", "项目")
	headMeans  = lang.Say("meaning", "含义")
	headValue  = lang.Say("value", "内容")
)

// Notes beneath drawings and tables.
var (
	recordsDamaged = lang.Say("The records could be read only up to this line: %s. Drawings over time show what came before it.", "记录只能读到这一行：%s。随时间变化的图只显示此前的内容。")
)

// Words of pages of several runs.
var (
	titleComparison   = lang.Say("Comparison of %d results", "%d 个结果的比较")
	titleForest       = lang.Say("%s compared with %s", "%s 与 %s 相比")
	titleTogether     = lang.Say("Curves of all results", "各结果的曲线")
	titleTogetherOf   = lang.Say("%s: curves of all results", "%s：各结果的曲线")
	titleIndex        = lang.Say("%d runs", "%d 次运行")
	titleIndexTable   = lang.Say("Runs", "运行列表")
	titleChoice       = lang.Say("Which configuration serves %s", "%s 的选型")
	titleChosen       = lang.Say("%s: the choice", "%s：选择")
	titleCost         = lang.Say("Cost against demand", "费用随需求的变化")
	comparedWith      = lang.Say("All are held against %s.", "均与 %s 比较。")
	axisDifference    = lang.Say("difference", "差异")
	axisGPUs          = lang.Say("GPUs", "GPU 数")
	axisHour          = lang.Say("cost per hour", "每小时费用")
	axisDemand        = lang.Say("demand (%s)", "需求（%s）")
	tagDemand         = lang.Say("demand %s", "需求 %s")
	tagEven           = lang.Say("break-even %s", "费用持平点 %s")
	sayOffered        = lang.Say("With drawings, as a page: add --html FILE", "带图的网页：加上 --html FILE")
	sayWritten        = lang.Say("Page with drawings: %s", "含图网页：%s")
	headMetric        = lang.Say("metric", "指标")
	headModel         = lang.Say("model", "模型")
	headEngine        = lang.Say("engine", "引擎")
	headQuant         = lang.Say("quantization", "量化")
	headSaturation    = lang.Say("saturates at req/s", "饱和 req/s")
	headIndexInterval = lang.Say("95 % interval", "95 % 区间")
	headAnswer        = lang.Say("answer", "结论")
	headUpTo          = lang.Say("up to, %s", "至多（%s）")
	meansNothing      = lang.Say("a difference is not proven", "未证实有差异")
	meansUnknown      = lang.Say("without an interval: may be chance", "无区间：可能出于偶然")
	meansBetter       = lang.Say("better", "更好")
	meansWorse        = lang.Say("worse", "更差")
	axisInterval      = lang.Say(", with its 95 % interval", "及其 95 % 区间")
	noteCost          = lang.Say("Replicas are whole, so costs are steps. The lowest line at a demand is the cheapest.", "副本为整数，因此费用呈阶梯状。某一需求处最低的线最便宜。")
	noteCostMissing   = lang.Say(" Not drawn: %s. They do not meet what is asked for, or come after the first %d.", "未画出：%s。它们不满足要求，或排在前 %d 名之后。")
	unitNoChoice      = lang.Say("no configuration meets the demand", "没有配置满足需求")
	unitHour          = lang.Say("%s per hour", "每小时 %s")
	titleCostSpeed    = lang.Say("Cost of a million output tokens, speed for a user", "每百万输出 token 的费用与用户的速度")
	noteCostSpeed     = lang.Say("Right: faster for a user. Down: cheaper. Each point is a row, at its price per GPU-hour.", "靠右：用户更快；靠下：更便宜。每个点为一行，按每 GPU 小时价格计算。")
	noteSmall         = lang.Say("The others are pale behind it; all axes are the same.", "其余以浅色衬底；各图坐标轴相同。")
	sentenceNoChoice  = lang.Say("No configuration serves %s within %s.", "没有配置能在 %[2]s 之内承载 %[1]s。")
	sentenceChoice    = lang.Say("%s, %s in all, serves %s within %s.", "%s，共 %s，可承载 %s，满足 %s。")
	tileMillion       = lang.Say("per million output tokens if each replica is loaded to the limit of the SLO", "每百万输出 token（各副本满载至 SLO 上限时）")
	tileMillionDemand = lang.Say("per million output tokens at %s", "每百万输出 token（需求 %s 时）")
	tileSecond        = lang.Say("per hour: %s, the next", "每小时：%s（次选）")
)

// Headings.
var (
	titleTTFT    = lang.Say("Time to first token (TTFT)", "首 token 时延（TTFT）")
	titleITL     = lang.Say("Time between tokens (ITL)", "token 间时延（ITL）")
	titleLatency = lang.Say("Latency of whole answers", "完整回答的总时延")
)

// Words in drawings.
var ()

// Headings of columns.
var (
	HeadVerdict  = lang.Say("verdict", "判定")
	headInterval = lang.Say(" (95 %)", "（95 %）")
)

// Words of the page around its contents, by key; the template asks for them.
var (
	pageSkip       = lang.Say("Skip to the answer", "跳到结论")
	pageNumbers    = lang.Say("Numbers as a table", "数据表")
	pageMarkdown   = lang.Say("Copy as Markdown", "复制为 Markdown")
	pageCSV        = lang.Say("Copy as CSV", "复制为 CSV")
	pageCopy       = lang.Say("Copy", "复制")
	pageMore       = lang.Say("Show all", "显示全部")
	pageShown      = lang.Say("Show:", "显示：")
	pageAxis       = lang.Say("Axis:", "坐标轴：")
	pageStage      = lang.Say("Stage", "阶段")
	pageAllStages  = lang.Say("all", "全部")
	pageBehind     = lang.Say("Requests at or beyond:", "达到或超过：")
	pageUse        = lang.Say("Point at a drawing, or use the arrow keys in it, to read its numbers. A click or Enter keeps them, Escape lets go.", "将指针移到图上，或在图中使用方向键，即可读数。单击或按回车键固定，按 Esc 取消固定。")
	pageContents   = lang.Say("Contents", "目录")
	pageMade       = lang.Say("Made by llmsweep. The page loads nothing from anywhere.", "由 llmsweep 生成。本页不从任何地方加载内容。")
	pageUncertain  = lang.Say("Bars are 95 % intervals. Arrow up: at least this. Pale: too few independent requests.", "误差线为 95 % 区间。向上箭头：不小于此值。浅色：独立样本不足。")
	pageNoMatch    = lang.Say("No kept request is that slow.", "没有保留的请求达到此值。")
	pageLanguage   = lang.Say("中文", "English")
	pageUnfiltered = lang.Say("all kept requests", "全部保留的请求")
)

// Words of pages of several runs.
var (
	headRun      = lang.Say("run", "运行")
	headReplicas = lang.Say("replicas", "副本数")
)

// Headings.
var (
	titleOverTime = lang.Say("Each stage over time", "各阶段随时间的变化")
	titleTime     = lang.Say("Over time", "随时间的变化")
	titleSlowest  = lang.Say("The slowest requests behind a percentile", "百分位数以上最慢的请求")
)

// Words in drawings.
var (
	axisTime     = lang.Say("time since the stage began", "阶段开始后的时间")
	axisArrivals = lang.Say("requests per second", "每秒请求数")
	axisFlight   = lang.Say("requests in flight", "并发请求数")
	axisTokens   = lang.Say("output tok/s", "输出 tok/s")
	axisPoints   = lang.Say("TTFT of each request", "每个请求的 TTFT")
	axisKV       = lang.Say("KV cache in use", "KV 缓存占用")
	axisRequests = lang.Say("requests", "请求数")
	axisGaps     = lang.Say("gaps between tokens", "token 间隔数")
	wordDue      = lang.Say("arrived", "到达")
	wordDone     = lang.Say("completed", "完成")
	wordFlight   = lang.Say("in flight", "并发")
	wordRunning  = lang.Say("running", "运行中")
	wordWaiting  = lang.Say("waiting", "排队")
	tagWindow    = lang.Say("measured window", "测量窗口")
)

// Headings of columns.
var (
	headRequest  = lang.Say("request", "请求")
	headDueS     = lang.Say("due at (s)", "应发时刻（秒）")
	headTTFTS    = lang.Say("TTFT (s)", "TTFT（秒）")
	headLatencyS = lang.Say("latency (s)", "总时延（秒）")
	headTokens   = lang.Say("tokens", "token 数")
	headStatus   = lang.Say("status", "状态")
	headQueued   = lang.Say("held by the client", "客户端等待")
	headLongest  = lang.Say("longest gap", "最长间隔")
	headStrip    = lang.Say("gaps between tokens, in order", "各 token 间隔（按先后）")
	headFrom     = lang.Say("from", "从")
	headTo       = lang.Say("to", "到")
	headCount    = lang.Say("count", "数量")
)

// Notes beneath drawings and tables.
var (
	noteSomeDrawn = lang.Say("%d of %d requests are drawn, the slowest among them.", "画出 %d 个请求（共 %d 个），包括最慢的请求。")
	noteBounded   = lang.Say("At least what is drawn, since they were cut off: %s of %s values.", "因请求被中断而至少为所画数值：%s 个（共 %s 个）。")
	noteBelow     = lang.Say("Values below %[2]s, in the first bar: %[1]s.", "低于 %[2]s、计入第一个柱的值：%[1]s 个。")
	noteSlowest   = lang.Say("The slowest few by each metric: %d of the %d requests in the window. records.jsonl has all.", "按各指标最慢的少数请求：窗口内 %[2]d 个请求中的 %[1]d 个。全部记录见 records.jsonl。")
)

var (
	titleReplicaDone = lang.Say("Completed by each server", "各服务完成的请求")
	titleReplicaTTFT = lang.Say("Time to first token (TTFT) of each server, mean", "各服务的首 token 时延（TTFT）均值")
	axisReplicaDone  = lang.Say("completed (req/s)", "完成（req/s）")
)

// Headings.
var (
	titleSpeed  = lang.Say("Speed for a user, output of the hardware", "用户的速度与硬件的产出")
	titleHits   = lang.Say("Prefix cache hits", "前缀缓存命中率")
	titleOutput = lang.Say("Output of the server", "服务的输出")
)

// Words in drawings.
var (
	axisRate         = lang.Say("arrival rate (req/s)", "到达率（req/s）")
	axisUsers        = lang.Say("users", "用户数")
	axisHits         = lang.Say("share of prompts found in the cache (%)", "提示命中缓存的比例（%）")
	axisInFlight     = lang.Say("requests kept in flight", "保持的并发请求数")
	axisOutput       = lang.Say("output (tok/s)", "输出（tok/s）")
	axisLatency      = lang.Say("latency", "总时延")
	plotsAxisPerUser = lang.Say("speed of one answer (tok/s)", "单个回答的速度（tok/s）")
	plotsAxisPerGPU  = lang.Say("output of a GPU (tok/s)", "单张 GPU 的输出（tok/s）")
	axisPerServer    = lang.Say("output of the server (tok/s)", "服务的输出（tok/s）")
	keyFront         = lang.Say("Pareto front", "帕累托前沿")
	keyFaint         = lang.Say("too few independent requests", "独立样本不足")
	keyClosed        = lang.Say("fixed number in flight", "固定并发数")
	axisSaturation   = lang.Say("saturation; bar: highest stable to lowest saturated; arrow: at least", "饱和；横线：最高稳定至最低饱和；箭头：不小于此值")
	axisMillion      = lang.Say("cost of a million output tokens", "每百万输出 token 费用")
	axisTTFTMean     = lang.Say("TTFT mean", "TTFT 均值")
	titleCostTTFT    = lang.Say("Cost and TTFT at the SLO", "费用与 TTFT（SLO 限值处）")
	wordLinear       = lang.Say("linear", "线性")
	wordLog          = lang.Say("logarithmic", "对数")
	wordOnFront      = lang.Say("yes", "是")
	tagCarries       = lang.Say("carries %s", "可承载 %s")
)

// Headings of columns.
var (
	plotsHeadFront = lang.Say("on the front", "在前沿上")
)

// Notes beneath drawings and tables.
var (
	noteNames      = lang.Say("The name of a stage has the rate asked for. Arrivals are random: offered is what came.", "阶段名称中为设定的到达率。到达是随机的，“到达”一列为实际值。")
	plotsNoteFront = lang.Say("Right: faster for a user. Up: more from the hardware. Grey line: no stage is better in both.", "靠右：用户更快；靠上：硬件产出更多。灰线：没有阶段在两方面都更好。")
	noteFrontApart = lang.Say(" Squares beside it (a fixed number in flight) take no part.", "线外的方块（固定并发数）不参与比较。")
	noteImpossible = lang.Say(" Rows left out as impossible: %d.", "因不可能而未画出的行：%d。")
)

var (
	titleTimeline = lang.Say("The whole run", "整个运行过程")
	noteTimeline  = lang.Say("Each shaded range is a stage. TTFT is the p50 and p90 of the stage.", "每个阴影区间为一个阶段。TTFT 为该阶段的 p50 与 p90。")
	axisRunTime   = lang.Say("time since the run began", "自运行开始的时间")
	axisRates     = lang.Say("requests (req/s)", "请求（req/s）")
)

// Captions of drawings.
var (
	sayAgainst  = lang.Say("%s against %s", "%s随%s的变化")
	unitSeconds = lang.Say(" (s)", "（s）")
	readLevels  = lang.Say("; levels off at %s", "；在 %s 处趋平")
	readFalls   = lang.Say("; falls beyond %s", "；超过 %s 后下降")
	readGrows   = lang.Say("; grows beyond %s", "；超过 %s 后上升")
	readLimit   = lang.Say("; limit: %s", "；极限：%s")
)
