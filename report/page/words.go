package page

import (
	"llmsweep/report/lang"
	"llmsweep/report/page/draw"
	"llmsweep/sweep/rundir"
)

// say is a phrase in both languages.
func say(p lang.Phrase, args ...any) draw.Text { return draw.Say(p, args...) }

// Headings.
var (
	titleAnswer      = lang.Say("The answer", "结论")
	titleCareful     = lang.Say("Be careful about", "需要注意")
	titleRates       = lang.Say("How the server behaves as load grows", "负载增加时服务的表现")
	titleSpeed       = lang.Say("Speed for a user, output of the hardware", "用户的速度与硬件的产出")
	titleStages      = lang.Say("Each stage over time", "各阶段随时间的变化")
	titleRows        = lang.Say("All stages", "全部阶段")
	titleRepeats     = lang.Say("Between repetitions", "重复测量之间")
	titleReplicas    = lang.Say("Replicas", "各副本")
	titleNotes       = lang.Say("Notes", "说明")
	titleErrors      = lang.Say("Errors", "错误")
	titleWarnings    = lang.Say("What to know before using the numbers", "使用数据前须知")
	titleState       = lang.Say("How far the run got", "运行进度")
	titleClient      = lang.Say("Was the client fast enough to measure?", "客户端是否成为瓶颈？")
	titleEnvironment = lang.Say("Environment", "环境")
	titleCommand     = lang.Say("The command that repeats this run", "重复本次运行的命令")
	titleDamaged     = lang.Say("Damaged records", "记录损坏")
	titleOutput      = lang.Say("Output of the server", "服务的输出")
	titleTTFT        = lang.Say("Time to first token (TTFT)", "首 token 时延（TTFT）")
	titleITL         = lang.Say("Time between tokens (ITL)", "token 间延迟（ITL）")
	titleLatency     = lang.Say("Latency of whole answers", "完整回答的总时延")
	titleTime        = lang.Say("%s over time", "%s 随时间的变化")
	titleSlowest     = lang.Say("The slowest requests behind a percentile", "百分位之后最慢的请求")
)

// Texts of the answer.
var (
	unitSaturation      = lang.Say("req/s: the highest rate that the server sustains", "req/s：服务可持续承受的最高到达率")
	unitAtLeast         = lang.Say("req/s: the server sustains at least this rate", "req/s：服务至少可承受的到达率")
	unitOutput          = lang.Say("output tok/s at %s", "输出 tok/s（%s）")
	unitNothing         = lang.Say("nothing was completed", "没有完成任何请求")
	interval            = lang.Say("95 %% interval: %s to %s", "95 %% 区间：%s 至 %s")
	noInterval          = lang.Say("without an interval: too little was measured", "无区间：测量不足")
	noLimit             = lang.Say("the limit was not found", "未找到极限")
	tileOutput          = lang.Say("output tok/s at saturation", "饱和时输出 tok/s")
	tileComfortable     = lang.Say("req/s is a comfortable load (80 %)", "req/s 为舒适负载（80 %）")
	tileSLO             = lang.Say("req/s meets the objectives (SLO)", "req/s 以内满足目标（SLO）")
	tileDone            = lang.Say("req/s completed", "req/s 完成")
	tileTTFT            = lang.Say("TTFT p50", "TTFT p50")
	tileTTFT99          = lang.Say("TTFT p99", "TTFT p99")
	nothingCareful      = lang.Say("Nothing was noticed that would make these numbers doubtful.", "未发现会使这些数据存疑的情况。")
	nothingMeasured     = lang.Say("Nothing was measured.", "没有测量任何内容。")
	nothingMeasuredText = nothingMeasured
)

// Words in drawings.
var (
	axisRate          = lang.Say("arrival rate, req/s", "到达率（req/s）")
	axisInFlight      = lang.Say("requests kept in flight", "保持的并发请求数")
	axisOutput        = lang.Say("output, tok/s", "输出（tok/s）")
	axisTTFT          = lang.Say("TTFT", "TTFT")
	axisITL           = lang.Say("ITL", "ITL")
	axisLatency       = lang.Say("latency", "总时延")
	axisPerUser       = lang.Say("speed of one answer, tok/s", "单个回答的速度（tok/s）")
	axisPerGPU        = lang.Say("output of a GPU, tok/s", "单个 GPU 的输出（tok/s）")
	axisPerServer     = lang.Say("output of the server, tok/s", "服务的输出（tok/s）")
	axisTime          = lang.Say("time since the stage began", "阶段开始后的时间")
	axisArrivals      = lang.Say("requests per second", "每秒请求数")
	axisFlight        = lang.Say("requests in flight", "并发请求数")
	axisTokens        = lang.Say("output tok/s", "输出 tok/s")
	axisPoints        = lang.Say("TTFT of each request", "每个请求的 TTFT")
	axisKV            = lang.Say("KV cache in use", "KV 缓存占用")
	axisRequests      = lang.Say("requests", "请求数")
	axisGaps          = lang.Say("gaps between tokens", "token 间隔数")
	wordDue           = lang.Say("arrived", "到达")
	wordDone          = lang.Say("completed", "完成")
	wordFlight        = lang.Say("in flight", "在途")
	wordRunning       = lang.Say("running", "运行中")
	wordWaiting       = lang.Say("waiting", "排队")
	wordKV            = lang.Say("KV cache", "KV 缓存")
	wordLinear        = lang.Say("linear", "线性")
	wordLog           = lang.Say("logarithmic", "对数")
	wordOnFront       = lang.Say("yes", "是")
	meansStable       = lang.Say(": the server kept up", "：服务跟得上")
	meansSaturated    = lang.Say(": it fell behind, requests pile up", "：服务跟不上，请求堆积")
	meansShedding     = lang.Say(": it refused requests to keep up", "：服务拒绝部分请求")
	meansUndecided    = lang.Say(": too little was measured to tell", "：测量不足，无法判定")
	meansClosed       = lang.Say(": a fixed number in flight, so there is no rate to keep up with", "：固定并发数，没有需要跟上的到达率")
	shapeInvalid      = lang.Say("the client was the limit", "客户端成为瓶颈")
	tagSaturation     = lang.Say("saturation %s (95 %%: %s to %s)", "饱和 %s（95 %%：%s 至 %s）")
	tagSaturationOnly = lang.Say("saturation %s", "饱和 %s")
	tagAtLeast        = lang.Say("sustains at least %s", "至少可承受 %s")
	tagWindow         = lang.Say("measured window", "测量窗口")
)

// Headings of columns.
var (
	headRole        = lang.Say("role", "作用")
	headOffered     = lang.Say("offered req/s", "到达 req/s")
	headDone        = lang.Say("done req/s", "完成 req/s")
	headOutput      = lang.Say("output tok/s", "输出 tok/s")
	headFlight      = lang.Say("in flight", "并发")
	headPercentile  = lang.Say("%s %s", "%s %s")
	headLatency     = lang.Say("latency %s", "总时延 %s")
	headRequests    = lang.Say("requests", "请求")
	headFailed      = lang.Say("failed", "失败")
	headVerdict     = lang.Say("verdict", "判定")
	headInterval    = lang.Say(" (95 %)", "（95 %）")
	headLag         = lang.Say("sent late by, p99", "发送滞后 p99")
	headCPU         = lang.Say("CPU %", "CPU %")
	headGC          = lang.Say("garbage collection %", "垃圾回收 %")
	headRead        = lang.Say("read late by, p99", "读取滞后 p99")
	headFit         = lang.Say("fit", "胜任")
	headWhat        = lang.Say("what", "项目")
	headValue       = lang.Say("value", "内容")
	headFront       = lang.Say("on the front", "在前沿上")
	headRequest     = lang.Say("request", "请求")
	headDueS        = lang.Say("due at (s)", "应发时刻（秒）")
	headQueuedS     = lang.Say("queued (s)", "排队（秒）")
	headTTFTS       = lang.Say("TTFT (s)", "TTFT（秒）")
	headLatencyS    = lang.Say("latency (s)", "总时延（秒）")
	headFromS       = lang.Say("from (s)", "起始（秒）")
	headAtS         = lang.Say("at (s)", "时刻（秒）")
	headPreemptions = lang.Say("preemptions", "抢占次数")
	headTokens      = lang.Say("tokens", "token 数")
	headStatus      = lang.Say("status", "状态")
	headQueued      = lang.Say("queued", "排队")
	headLongest     = lang.Say("longest gap", "最长间隔")
	headStrip       = lang.Say("gaps between tokens, first to last; height: beside its longest", "token 间隔（从前到后；高度为与其最长间隔之比）")
	headFrom        = lang.Say("from", "从")
	headTo          = lang.Say("to", "到")
	headCount       = lang.Say("count", "数量")
)

// Notes beneath drawings and tables.
var (
	introStages     = lang.Say("Shaded is the window that was measured; what lies before it is the start, and after it the drain.", "阴影为测量窗口；之前为启动阶段，之后为排空阶段。")
	noRecords       = lang.Say("Without the records of the requests (records.jsonl) there are no drawings over time.", "没有请求记录（records.jsonl），因此没有随时间变化的图。")
	recordsDamaged  = lang.Say("The records could be read only up to this line: %s. Drawings over time show what came before it.", "记录只能读到这一行：%s。随时间变化的图只显示此前的内容。")
	noteTable       = lang.Say("Intervals hold with a probability of 95 %. n/a: not measured.", "区间的置信度为 95 %。n/a：未测量。")
	noteUnsupported = lang.Say("? too few requests to support this percentile; its marker is pale.", "? 请求太少，不足以支持该百分位；其标记颜色较浅。")
	noteFront       = lang.Say("Further right is faster for a user, further up is more from the hardware. No stage beats those on the broad grey line in both.", "越靠右用户越快，越靠上硬件产出越多。灰色粗线上的阶段在两方面都不被其他阶段超过。")
	noteFrontApart  = lang.Say(" Squares beside the line were measured with a fixed number in flight; comparing and choosing do not rest on them.", "线外的方块以固定并发数测量，比较和选型不以其为依据。")
	noteImpossible  = lang.Say(" Not drawn: %d rows that the audit calls impossible (llmsweep audit lists them).", "未画出：%d 行，llmsweep audit 判定为不可能。")
	noteAllDrawn    = lang.Say("All %d requests are drawn.", "共 %d 个请求，全部画出。")
	noteSomeDrawn   = lang.Say("%d of %d requests are drawn; the slowest and the fastest in each of %d equal parts of the time always are.", "画出 %d 个请求，共 %d 个；将时间等分为 %d 段，每段内最慢与最快的请求都画出。")
	noteNoReadings  = lang.Say(" The server reported nothing about its own load.", "服务未提供自身负载信息。")
	noteBounded     = lang.Say("%s of %s values are at least what is drawn: those requests were cut off.", "%s 个值（共 %s 个）至少为所画数值：这些请求被中断。")
	noteBelow       = lang.Say("%s values below %s are in the first bar.", "%s 个低于 %s 的值计入第一个柱。")
	noteSlowest     = lang.Say("Of the requests due in the window, the slowest few by each metric are kept here: %d of %d. records.jsonl has all.", "此处保留窗口内按各指标最慢的少数请求：%d 个，共 %d 个。全部记录见 records.jsonl。")
	tableSlices     = lang.Say("Numbers over time", "随时间变化的数值")
	tablePoints     = lang.Say("The requests that are drawn", "画出的请求")
	tableServer     = lang.Say("What the server said of its load", "服务报告的负载")
	clientFit       = lang.Say("Yes. In none of the %d stages was this program the limit: it sent on time, read on time, and had CPU to spare.", "否。在全部 %d 个阶段中，本程序都不是瓶颈：发送及时，读取及时，CPU 有余量。")
	clientUnfit     = lang.Say("Not in %d of %d stages: there this program was the limit. Those rows say nothing of the server, and nothing is concluded from them.", "在 %d 个阶段中成为瓶颈（共 %d 个）。这些行不反映服务的能力，不据此作任何结论。")
	clientUnknown   = lang.Say("Not known: another tool made this result, and it does not tell.", "未知：该结果由其他工具生成，未作说明。")
	clientLate      = lang.Say("In none of the %d stages was this program the limit. In %d of them it sent requests or read tokens late at times; the notes tell by how much.", "在全部 %d 个阶段中，本程序都不是瓶颈。其中 %d 个阶段有时发送或读取滞后，程度见说明。")
	timesTaken      = lang.Say("Times are taken %s.", "时间戳：%s。")
	fitYes          = lang.Say("yes", "是")
)

// Words of the page around its contents, by key; the template asks for them.
var (
	pageSkip       = lang.Say("Skip to the answer", "跳到结论")
	pageTheme      = lang.Say("Light or dark", "浅色或深色")
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
	pageUncertain  = lang.Say("Shaded bands and bars are 95 % intervals. An arrow up: the value is at least this. A pale marker: too few requests support it.", "阴影带与误差线为 95 % 区间。向上箭头：数值至少为此。浅色标记：请求太少，不足以支持。")
	pageNoMatch    = lang.Say("No kept request is that slow.", "没有保留的请求达到此值。")
	pageLanguage   = lang.Say("中文", "English")
	pageNoScript   = lang.Say("Without JavaScript all is shown at once.", "未启用 JavaScript，内容全部展开。")
	pageLight      = lang.Say("light", "浅色")
	pageDark       = lang.Say("dark", "深色")
	pageSystem     = lang.Say("as the system", "跟随系统")
	pageUnfiltered = lang.Say("all kept requests", "全部保留的请求")
)

// word returns a word of the page.
func word(key string) draw.Text {
	p, ok := map[string]lang.Phrase{
		"skip": pageSkip, "theme": pageTheme, "print": pagePrint, "numbers": pageNumbers, "markdown": pageMarkdown, "csv": pageCSV, "copy": pageCopy,
		"copied": pageCopied, "more": pageMore, "shown": pageShown, "axis": pageAxis, "stage": pageStage, "all": pageAllStages, "markers": pageMarkers,
		"behind": pageBehind, "use": pageUse, "contents": pageContents, "made": pageMade, "uncertain": pageUncertain, "nomatch": pageNoMatch,
		"language": pageLanguage, "noscript": pageNoScript, "light": pageLight, "dark": pageDark, "system": pageSystem, "again": titleAgain, "run": headRun, "replicas": headReplicas, "gpus": headGPUs, "hour": headHour, "unfiltered": pageUnfiltered,
	}[key]
	if !ok {
		return draw.Same("?" + key)
	}
	return say(p)
}

// Roles of stages.
var (
	roleFloor   = lang.Say("one at a time", "逐个请求")
	roleGrid    = lang.Say("rate", "到达率")
	roleCeiling = lang.Say("maximum", "最大吞吐")
	roleProbe   = lang.Say("probe", "探测")
	roleControl = lang.Say("measured again", "复测")
	roleSingle  = lang.Say("asked for", "指定")
	roleWarmUp  = lang.Say("warm-up", "预热")
)

// roleName is a role in words.
func roleName(role string) draw.Text {
	p, ok := map[string]lang.Phrase{
		rundir.Floor: roleFloor, rundir.Grid: roleGrid, rundir.Ceiling: roleCeiling, rundir.Probe: roleProbe, rundir.Control: roleControl,
		rundir.Single: roleSingle, rundir.WarmUp: roleWarmUp,
	}[role]
	if !ok {
		return draw.Same(role)
	}
	return say(p)
}
