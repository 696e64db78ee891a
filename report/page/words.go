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
	titleRates       = lang.Say("How the server behaves as load grows", "负载增加时服务的表现")
	titleStages      = lang.Say("Each stage over time", "各阶段随时间的变化")
	titleRows        = lang.Say("All stages", "全部阶段")
	titleReplicas    = lang.Say("Replicas", "各副本")
	titleNotes       = lang.Say("Errors, progress and notes", "错误、进度与备注")
	titleRemarks     = lang.Say("Notes", "备注")
	titleErrors      = lang.Say("Errors", "错误")
	titleState       = lang.Say("How far the run got", "运行进度")
	titleEnvironment = lang.Say("Environment", "环境")
	titleTerms       = lang.Say("Terms", "术语")
	titleCommand     = lang.Say("The command that repeats this run", "重复本次运行的命令")
	titleDamaged     = lang.Say("Damaged records", "记录损坏")
)

// Texts of the answer.
var (
	unitSaturation    = lang.Say("req/s: the saturation rate, which the server completes when more arrives", "req/s（饱和点：过载时每秒完成的请求数）")
	unitSustained     = lang.Say("req/s: the highest rate that the server sustains", "req/s：服务可持续承受的最高到达率")
	unitAccepted      = lang.Say("req/s: the rate that the server accepts", "req/s：服务接受的速率")
	unitAtLeast       = lang.Say("req/s: the server sustains at least this rate", "req/s：服务至少可承受的到达率")
	tileLatencyAt     = lang.Say("latency mean at %s req/s", "%s req/s 的时延均值")
	unitOutput        = lang.Say("output tok/s at %s", "输出 tok/s（%s）")
	unitBetween       = lang.Say("req/s: the saturation rate was not located", "req/s：未能确定饱和点")
	unitNothing       = lang.Say("nothing was completed", "没有完成任何请求")
	interval          = lang.Say("95 %% interval: %s to %s", "95 %% 区间：%s 至 %s")
	noInterval        = lang.Say("without an interval: too little was measured", "无区间：测量不足")
	unitUsers         = lang.Say("users are carried", "个用户可承载")
	tileUsersOutput   = lang.Say("output tok/s of %s", "%s 的输出 tok/s")
	tileHits          = lang.Say("prefix cache hits of %s", "%s 的前缀缓存命中率")
	noLimit           = lang.Say("the limit was not found", "未找到极限")
	tileOutput        = lang.Say("output tok/s when saturated", "饱和时输出 tok/s")
	tileComfortable   = lang.Say("TTFT mean at %s req/s", "%s req/s 时 TTFT 均值")
	tileComfortable90 = lang.Say("TTFT p90 at %s req/s", "%s req/s 时 TTFT p90")
	tileSLO           = lang.Say("req/s meets the objectives (SLO)", "req/s 以内满足目标（SLO）")
	tileDone          = lang.Say("req/s completed", "req/s 完成")
	tileTTFT          = lang.Say("TTFT p50", "TTFT p50")
	tileTTFT99        = lang.Say("TTFT p99", "TTFT p99")
	nothingMeasured   = lang.Say("Nothing was measured.", "没有测得任何数据。")
)

// Headings of columns.
var (
	headOutput = lang.Say("output tok/s", "输出 tok/s")
	headWhat   = lang.Say("what", "项目")
	headTerm   = lang.Say("term", "术语")
	headMeans  = lang.Say("meaning", "含义")
	headValue  = lang.Say("value", "内容")
)

// Notes beneath drawings and tables.
var (
	introStages    = lang.Say("Shaded is the window that was measured; what lies before it is the start, and after it the drain.", "阴影为测量窗口；之前为启动阶段，之后为排空阶段。")
	noRecords      = lang.Say("Without the records of the requests (records.jsonl) there are no drawings over time.", "没有请求记录（records.jsonl），因此没有随时间变化的图。")
	recordsDamaged = lang.Say("The records could be read only up to this line: %s. Drawings over time show what came before it.", "记录只能读到这一行：%s。随时间变化的图只显示此前的内容。")
)

// Words of pages of several runs.
var (
	titleComparison   = lang.Say("Comparison of %d results", "%d 个结果的比较")
	titleForest       = lang.Say("%s compared with %s", "%s 与 %s 相比")
	titleTogether     = lang.Say("All results in the same drawings", "各结果同图比较")
	titleTogetherOf   = lang.Say("%s: all results in the same drawings", "%s：各结果同图比较")
	titleIndex        = lang.Say("%d runs", "%d 次运行")
	titleIndexTable   = lang.Say("Runs", "运行列表")
	titleChoice       = lang.Say("Which configuration serves %s", "%s 的选型")
	titleChosen       = lang.Say("%s: the choice", "%s：选择")
	titleCost         = lang.Say("Cost against demand", "费用随需求的变化")
	comparedWith      = lang.Say("All are held against %s.", "均与 %s 比较。")
	axisDifference    = lang.Say("difference", "差异")
	axisGPUs          = lang.Say("GPUs", "GPU 数")
	axisHour          = lang.Say("cost per hour", "每小时费用")
	axisDemand        = lang.Say("demand, %s", "需求（%s）")
	tagDemand         = lang.Say("demand %s", "需求 %s")
	tagEven           = lang.Say("break-even %s", "费用持平点 %s")
	sayOffered        = lang.Say("With drawings, as a page: add --html FILE", "带图的网页：加上 --html FILE")
	sayWritten        = lang.Say("Page with drawings: %s", "含图网页：%s")
	headMetric        = lang.Say("metric", "指标")
	headDifference    = lang.Say("difference", "差异")
	headMeaning       = lang.Say("meaning", "含义")
	headModel         = lang.Say("model", "模型")
	headEngine        = lang.Say("engine", "引擎")
	headQuant         = lang.Say("quantization", "量化")
	headSaturation    = lang.Say("saturates at req/s", "饱和 req/s")
	headIndexInterval = lang.Say("95 % interval", "95 % 区间")
	headAnswer        = lang.Say("answer", "结论")
	headUpTo          = lang.Say("up to, %s", "至多（%s）")
	meansNothing      = lang.Say("a difference is not proven", "未证实有差异")
	meansUnknown      = lang.Say("without an interval: cannot be judged", "无区间：无法判断")
	meansBetter       = lang.Say("better", "更好")
	meansWorse        = lang.Say("worse", "更差")
	legendBetter      = lang.Say("A filled circle: better.", "实心圆：更好。")
	legendWorse       = lang.Say("A triangle: worse.", "三角：更差。")
	legendNothing     = lang.Say("An empty circle: a difference is not proven (~: the 95 % interval includes 0).", "空心圆：未证实有差异（~：95 % 区间包含 0）。")
	legendUnknown     = lang.Say("An empty square: there is no interval, so nothing tells whether it is chance.", "空心方块：没有区间，无法判断是否出于偶然。")
	legendBar         = lang.Say("The bar is the 95 % interval.", "横线为 95 % 区间。")
	axisInterval      = lang.Say(", with its 95 % interval", "及其 95 % 区间")
	noteCost          = lang.Say("Replicas are whole, so costs are steps. The lowest line at a demand is the cheapest there.", "副本为整数，因此费用呈阶梯状。某一需求处最低的线最便宜。")
	noteCostMissing   = lang.Say(" Not drawn: %s. They do not meet what is asked for, or come after the first %d; the tables of the choice say which.", "未画出：%s。它们不满足要求，或排在前 %d 名之后，详见选型的表格。")
	unitNoChoice      = lang.Say("no configuration meets the demand", "没有配置满足需求")
	unitHour          = lang.Say("%s per hour", "每小时 %s")
	titleCostSpeed    = lang.Say("Cost of a million output tokens, speed for a user", "每百万输出 token 的费用与用户的速度")
	noteCostSpeed     = lang.Say("Right: faster for each user. Down: cheaper. A colour is a kind of GPU. Each point is a row, at its price per GPU-hour.", "靠右：用户更快；靠下：更便宜。颜色代表 GPU 型号。每个点为一行，按每 GPU 小时价格计算。")
	noteSmall         = lang.Say("One drawing for each; the others are pale behind it, and all have the same axes.", "每项一图；其余以浅色衬底，各图坐标轴相同。")
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
var (
	meansStable    = lang.Say(": the server kept up", "：服务跟得上")
	meansSaturated = lang.Say(": it fell behind, requests pile up", "：服务跟不上，请求堆积")
	meansShedding  = lang.Say(": it refused requests to keep up", "：服务拒绝部分请求")
	meansUndecided = lang.Say(": too little was measured to tell", "：测量不足，无法判定")
	meansClosed    = lang.Say(": a fixed number in flight, so there is no rate to keep up with", "：固定并发数，没有需要跟上的到达率")
	meansUncounted = lang.Say(": the client was the limit", "：客户端成为瓶颈")
)

// Headings of columns.
var (
	HeadFailed   = lang.Say("failed", "失败")
	HeadVerdict  = lang.Say("verdict", "判定")
	headInterval = lang.Say(" (95 %)", "（95 %）")
)

// Words of the page around its contents, by key; the template asks for them.
var (
	pageSkip       = lang.Say("Skip to the answer", "跳到结论")
	pageTheme      = lang.Say("Theme", "主题")
	pagePrint      = lang.Say("Print", "打印")
	pageNumbers    = lang.Say("Numbers as a table", "数据表")
	pageMarkdown   = lang.Say("Copy as Markdown", "复制为 Markdown")
	pageCSV        = lang.Say("Copy as CSV", "复制为 CSV")
	pageCopy       = lang.Say("Copy", "复制")
	pageCopied     = lang.Say("Copied", "已复制")
	pageMore       = lang.Say("Show all", "显示全部")
	pageShown      = lang.Say("Show:", "显示：")
	pageAxis       = lang.Say("Axis:", "坐标轴：")
	pageStage      = lang.Say("Stage", "阶段")
	pageAllStages  = lang.Say("all", "全部")
	pageMarkers    = lang.Say("Markers", "标记")
	pageBehind     = lang.Say("Requests at or beyond:", "达到或超过：")
	pageUse        = lang.Say("Point at a drawing, or use the arrow keys in it, to read its numbers. A click or Enter keeps them; press Escape to unpin.", "将指针移到图上，或在图中使用方向键，即可读数。单击或按回车键固定，按 Esc 取消固定。")
	pageContents   = lang.Say("Contents", "目录")
	pageMade       = lang.Say("Made by llmsweep. This file needs no network: nothing is loaded from anywhere.", "由 llmsweep 生成。本文件无需网络，不从任何地方加载内容。")
	pageUncertain  = lang.Say("Shaded bands and bars are 95 % intervals. An arrow up: the value is at least this. A pale marker: too few independent requests support it.", "阴影带与误差线为 95 % 区间。向上箭头：数值至少为此。浅色标记：独立的请求太少，不足以支持。")
	pageNoMatch    = lang.Say("No kept request is that slow.", "没有保留的请求达到此值。")
	pageLanguage   = lang.Say("中文", "English")
	pageNoScript   = lang.Say("Without JavaScript all is shown at once.", "未启用 JavaScript，内容全部展开。")
	pageLight      = lang.Say("light", "浅色")
	pageDark       = lang.Say("dark", "深色")
	pageSystem     = lang.Say("as the system", "跟随系统")
	pageUnfiltered = lang.Say("all kept requests", "全部保留的请求")
)

// Words of pages of several runs.
var (
	headRun      = lang.Say("run", "运行")
	headReplicas = lang.Say("replicas", "副本数")
)

// Headings.
var (
	titleTime    = lang.Say("%s over time", "%s 随时间的变化")
	titleSlowest = lang.Say("The slowest requests behind a percentile", "百分位数以上最慢的请求")
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
	wordKV       = lang.Say("KV cache", "KV 缓存")
	tagWindow    = lang.Say("measured window", "测量窗口")
)

// Headings of columns.
var (
	headRequest     = lang.Say("request", "请求")
	headDueS        = lang.Say("due at (s)", "应发时刻（秒）")
	headQueuedS     = lang.Say("held by the client (s)", "客户端等待（秒）")
	headTTFTS       = lang.Say("TTFT (s)", "TTFT（秒）")
	headLatencyS    = lang.Say("latency (s)", "总时延（秒）")
	headFromS       = lang.Say("from (s)", "起始（秒）")
	headAtS         = lang.Say("at (s)", "时刻（秒）")
	headPreemptions = lang.Say("preemptions", "抢占次数")
	headTokens      = lang.Say("tokens", "token 数")
	headStatus      = lang.Say("status", "状态")
	headQueued      = lang.Say("held by the client", "客户端等待")
	headLongest     = lang.Say("longest gap", "最长间隔")
	headStrip       = lang.Say("gaps between tokens, in order", "各 token 间隔（按先后）")
	headFrom        = lang.Say("from", "从")
	headTo          = lang.Say("to", "到")
	headCount       = lang.Say("count", "数量")
)

// Notes beneath drawings and tables.
var (
	noteAllDrawn   = lang.Say("All %d requests are drawn.", "共 %d 个请求，全部画出。")
	noteSomeDrawn  = lang.Say("%d of %d requests are drawn; the slowest and the fastest in each of %d equal parts of the time always are.", "画出 %d 个请求，共 %d 个；将时间等分为 %d 段，每段内最慢与最快的请求都画出。")
	noteNoReadings = lang.Say(" The server reported nothing about its own load.", "服务未提供自身负载信息。")
	noteBounded    = lang.Say("%s of %s values are at least what is drawn: those requests were cut off.", "%s 个值（共 %s 个）至少为所画数值：这些请求被中断。")
	noteBelow      = lang.Say("%s values below %s are in the first bar.", "%s 个低于 %s 的值计入第一个柱。")
	noteSlowest    = lang.Say("Of the requests due in the window, the slowest few by each metric are kept here: %d of %d. records.jsonl has all. Held by the client: from due to sent, before the server saw the request.", "此处保留窗口内按各指标最慢的少数请求：%d 个，共 %d 个。全部记录见 records.jsonl。客户端等待：从应发到实际发出，此时服务尚未收到请求。")
	tableSlices    = lang.Say("Numbers over time", "随时间变化的数值")
	tablePoints    = lang.Say("The requests that are drawn", "画出的请求")
	tableServer    = lang.Say("What the server said of its load", "服务报告的负载")
)

var (
	titleReplicaDone = lang.Say("Completed by each server", "各服务完成的请求")
	titleReplicaTTFT = lang.Say("Time to first token (TTFT) of each server, mean", "各服务的首 token 时延（TTFT）均值")
	axisReplicaDone  = lang.Say("completed, req/s", "完成（req/s）")
)

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

var (
	titleTimeline = lang.Say("The whole run over time", "整个运行过程")
	noteTimeline  = lang.Say("Each shaded range is a stage, in the order of the run. TTFT is p50 and p90 of the stage.", "每个阴影区间为一个阶段，按运行顺序排列。TTFT 为该阶段的 p50 与 p90。")
	axisRunTime   = lang.Say("time since the run began", "自运行开始的时间")
	axisRates     = lang.Say("requests, req/s", "请求（req/s）")
	headToS       = lang.Say("to (s)", "止（秒）")
	wordOffered   = lang.Say("offered", "到达")
)
