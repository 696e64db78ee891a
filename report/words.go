package report

import "llmsweep/report/lang"

// What a self-test found.
var (
	titleSelftest = lang.Say("This client on this machine", "本机上的客户端能力")
	titleLevels   = lang.Say("Streams at once", "并发流")
	titleArrivals = lang.Say("Arrivals", "到达")
	headStreams   = lang.Say("streams", "流数")
	headPhase     = lang.Say("phases", "相位")
	headCores     = lang.Say("cores", "CPU")
	headAsked     = lang.Say("asked", "要求")
	headStamp     = lang.Say("stamp error", "时间戳误差")
	headMemory    = lang.Say("per stream", "每流内存")
	headTrust     = lang.Say("trust", "可信")
	headArrivals  = lang.Say("arrivals", "到达率")
	headRequests  = lang.Say("requests", "请求数")
	headWritten   = lang.Say("written after", "写出滞后")
	subUsed       = lang.Say("used", "占用核数")
	subMax        = lang.Say("max", "最大")
	phaseUniform  = lang.Say("uniform", "均匀")
	phaseInStep   = lang.Say("in step", "同步")
	trustYes      = lang.Say("yes", "是")

	sayNo = lang.Say("no: %s", "否：%s")

	sayDecode    = lang.Say("With a backlog, reading an event takes %s of CPU time.", "积压读取时每个事件耗用 CPU 时间 %s。")
	sayMachine   = lang.Say("%s cores; load average %s at the start; timestamps %s.", "%s 核；开始时系统平均负载 %s；时间戳%s。")
	sayLoaded    = lang.Say("Other processes use this machine: these results are for the capacity they leave.", "本机正被其他进程占用：以下数据只反映其剩余能力。")
	sayOpenFiles = lang.Say("%s streams need more files than the %s that this process may open (ulimit -n).", "%s 个流需要的文件数超过本进程上限 %s（ulimit -n）。")
	sayFailed    = lang.Say("%s streams: %s failed, for example: %s", "%s 个流：%s 个失败，例如：%s")

	legendStamp       = lang.Say("stamp error: the client's timestamp of a token minus the server's own, both from the monotonic clock", "时间戳误差：token 时刻与服务自身记录之差，均为单调时钟")
	legendLevels      = lang.Say("trusted: stamp error p99 within 1 ms, at most 1 % of tokens received together with the next one, no failures, and at least 90 % of the requested tokens sent (else the level is marked as not reached, and decides nothing); arrivals: written within 1 ms at p99", "可信：时间戳误差 p99 不超过 1 ms，与下一个 token 一起接收者不超过 1 %，无失败，且至少发出所要求 token 的 90 %（否则记为未达到，该档不说明任何问题）；到达：p99 在 1 ms 内写出")
	legendFewArrivals = lang.Say("? too few requests for this percentile: the median decides", "? 数量太少，不足以支持该百分位数：以中位数判定")
	legendMemory      = lang.Say("per stream: resident memory, the record of its request included", "每流内存：每个流占用的常驻内存，含其记录")
)

// Headings of documents.
var (
	wordRows        = lang.Say("All rows", "全部行")
	wordServer      = lang.Say("Server metrics", "服务指标")
	wordPercentiles = lang.Say("Percentiles", "百分位数")
	sayMoreNotes    = lang.Say("%s more notes: llmsweep report with --all shows them.", "另有 %s 条备注，用 llmsweep report 加 --all 显示。")
	sayAllRows      = lang.Say("all rows: llmsweep report %s --all", "全部行：llmsweep report %s --all")
	sayNextSLO      = lang.Say("Next: llmsweep choose %[1]s --demand 20req/s --slo 'ttft:p90<1s' counts the GPUs for a demand; sweep --slo finds the load that meets an objective.", "下一步：llmsweep choose %[1]s --demand 20req/s --slo 'ttft:p90<1s' 给出所需的 GPU 数；扫描时加 --slo 可找到满足目标的负载。")
	sayNextChoose   = lang.Say("Next: llmsweep choose %s --demand 20req/s counts the GPUs for a demand.", "下一步：llmsweep choose %s --demand 20req/s 给出所需的 GPU 数。")
	wordWarnings    = lang.Say("Warnings", "警告")
	wordNotes       = lang.Say("Notes", "备注")
	wordErrors      = lang.Say("Errors", "错误")
	wordState       = lang.Say("State of the run", "运行状态")
	wordEnvironment = lang.Say("Environment", "环境")
	wordTerms       = lang.Say("Terms", "术语")
	titleLoad       = lang.Say("%s under load", "%s 压力测试")
	titleSeveral    = lang.Say("%s runs under load", "%s 次压力测试")
)

// Drawings on a terminal, and the line on what is measured.
var (
	plotAgainst    = lang.Say("against req/s offered; %s marks saturation", "横轴为到达率 req/s；%s 为饱和点")
	plotUsers      = lang.Say("against the number of users", "横轴为用户数")
	plotCarried    = lang.Say("against the number of users; %s marks how many are carried", "横轴为用户数；%s 为可承载的用户数")
	plotBound      = lang.Say("; ^ at least", "；^ 不小于此值")
	targetOn       = lang.Say(" on %s", "（%s）")
	loadFixedBrief = lang.Say("a fixed prompt -> %s tokens", "固定提示词 -> %s token")
	plotAxis       = lang.Say("against req/s offered", "横轴为到达率 req/s")
)
