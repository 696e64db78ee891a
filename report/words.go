package report

import (
	"fmt"

	"llmsweep/sweep/rundir"
)

// phrase is one thing we say, in every language there is: a literal without one of them does not compile. With
// arguments it is a format, and both languages use the same arguments, in an order of their own.
type phrase struct{ en, zh string }

// in is the phrase in that language.
func (p phrase) in(l Lang, args ...any) string {
	s := p.en
	if l == Chinese {
		s = p.zh
	}
	if len(args) == 0 {
		return s
	}
	return fmt.Sprintf(s, args...)
}

// Headings of documents.
var (
	wordSummary     = phrase{"Summary", "提要"}
	wordDetails     = phrase{"Details", "细节"}
	wordProbes      = phrase{"Probes", "探测"}
	wordRepeats     = phrase{"Repeats", "重复测量"}
	wordRows        = phrase{"Percentiles and verdicts", "分位数与判定"}
	wordWarnings    = phrase{"Warnings", "警告"}
	wordErrors      = phrase{"Errors", "错误"}
	wordState       = phrase{"State of the run", "运行状态"}
	wordEnvironment = phrase{"Environment", "环境"}
	titleLoad       = phrase{"%s under load", "%s 压力测试"}
	titleSeveral    = phrase{"%s runs under load", "%s 次压力测试"}
	nounServer      = phrase{"A server", "服务"}
)

// Column headings.
var (
	headBenchmark = phrase{"Benchmark", "阶段"}
	headOffered   = phrase{"offered", "到达"}
	headDone      = phrase{"done", "完成"}
	headFailed    = phrase{"failed", "失败"}
	headLength    = phrase{"length", "输出长度"}
	sayOfAsked    = phrase{"%s of %s", "%s（要求 %s）"}
	headLatency   = phrase{"latency", "总时延"}
	headOutput    = phrase{"output", "输出"}
	headInFlight  = phrase{"in flight", "并发"}
	headVerdict   = phrase{"verdict", "判定"}
	headAnswered  = phrase{"answered", "成功"}
	headRuns      = phrase{"runs", "次数"}
	headFigure    = phrase{"figure", "指标"}
	headBetween   = phrase{"between runs", "各次之间"}
	headWithin    = phrase{"within a run", "单次之内"}
	figureTTFT    = phrase{"TTFT mean", "TTFT 均值"}
	figureITL     = phrase{"ITL mean", "ITL 均值"}
	figureLatency = phrase{"latency mean", "总时延均值"}
	subMean       = phrase{"mean", "均值"}
)

// Verdicts.
var (
	verdictStable    = phrase{"stable", "稳定"}
	verdictSaturated = phrase{"saturated", "饱和"}
	verdictUndecided = phrase{"undecided", "未定"}
	verdictClosed    = phrase{"closed", "闭环"}
)

// The answer.
var (
	saySaturates     = phrase{"Saturates at %s req/s", "饱和点为 %s req/s"}
	sayInterval      = phrase{" (95 %%: %s-%s)", "（95 %% 区间：%s-%s）"}
	sayOutput        = phrase{", %s output tok/s", "，输出 %s tok/s"}
	stop             = phrase{".", "。"}
	sayNotSaturated  = phrase{"Takes more than was asked of it: not saturated at %s req/s.", "承受能力高于所测：%s req/s 时仍未饱和。"}
	sayNoSaturation  = phrase{"No saturation point was found.", "没有找到饱和点。"}
	sayNothing       = phrase{"Nothing was completed: %s of %s requests failed.", "没有任何请求完成：%[2]s 个请求中有 %[1]s 个失败。"}
	sayBracket       = phrase{"Stable up to %s req/s offered, saturated from %s.", "到达率不超过 %s req/s 时稳定，从 %s req/s 起饱和。"}
	sayStable        = phrase{"Stable up to %s req/s offered; no rate was shown to be saturated.", "到达率不超过 %s req/s 时稳定；没有任何到达率被证明为饱和。"}
	saySaturated     = phrase{"Saturated from %s req/s offered; no rate was shown to be stable.", "到达率从 %s req/s 起饱和；没有任何到达率被证明为稳定。"}
	sayLimitKV       = phrase{"It ran out of KV cache: %s %% of it was in use, and %s requests were thrown out of it.", "瓶颈是 KV 缓存：占用达 %s %%，期间有 %s 个请求被抢占。"}
	sayLimitSlots    = phrase{"It ran out of room in its batch: %s requests ran at once and no more, %s waited, and the KV cache had room.", "瓶颈是批处理容量：最多同时运行 %s 个请求，另有 %s 个排队，KV 缓存尚有余量。"}
	sayLimitCompute  = phrase{"It ran out of computing: all %s requests in it ran at once, and shared what it can compute.", "瓶颈是算力：全部 %s 个请求同时运行，共享其计算能力。"}
	sayBacklog       = phrase{"At %s req/s offered the backlog grew by %s requests a second.", "到达率为 %s req/s 时，积压每秒增加 %s 个请求。"}
	sayComfortable   = phrase{"Comfortable (80 %%): %s req/s", "舒适负载（80 %%）：%s req/s"}
	sayFeels         = phrase{" At %s req/s, the nearest rate measured below it: %s", "其下最近的实测到达率 %s req/s：%s"}
	sayCapacity      = phrase{"The simulator's computed capacity is %s req/s: found %s, %s %% off.", "模拟器的理论容量为 %s req/s：测得 %s，相差 %s %%。"}
	sayCapacityAlone = phrase{"The simulator's computed capacity is %s req/s.", "模拟器的理论容量为 %s req/s。"}
	sayEvidence      = phrase{"Evidence: %s", "依据：%s"}
	comma            = phrase{", ", "，"}
	semicolon        = phrase{"; ", "；"}
	listComma        = phrase{", ", "、"}
	colon            = phrase{": ", "："}
	inParens         = phrase{" (%s)", "（%s）"}
)

// What was promised.
var (
	headGoodput     = phrase{"goodput", "有效吞吐"}
	headSLO         = phrase{"SLO", "SLO"}
	sloKept         = phrase{"kept", "满足"}
	sloBroken       = phrase{"broken", "不满足"}
	sloUnknown      = phrase{"unknown", "未知"}
	sloNeeds        = phrase{"needs %s more", "还需 %s 个"}
	sayMeets        = phrase{"Meets %s up to %s req/s", "到达率不超过 %[2]s req/s 时满足 %[1]s"}
	sayMeetsAll     = phrase{"Meets %s at all rates measured, the highest %s req/s", "在所有实测到达率下均满足 %s，最高为 %s req/s"}
	sayGoodput      = phrase{", goodput %s req/s", "，有效吞吐 %s req/s"}
	sayFirstToBreak = phrase{"; %s is the first to break.", "；最先不满足的是 %s。"}
	sayEndsBacklog  = phrase{"; there the server saturates.", "；此时服务已饱和。"}
	sayMeetsNone    = phrase{"No rate was shown to meet %s%s.", "没有任何到达率被证明满足 %s%s。"}
	sayBrokenAt     = phrase{": %s is broken as early as %s", "：%[2]s 时已不满足 %[1]s"}
	sayNeedsMore    = phrase{": too few requests for %s; %s needs %s more%s", "：请求太少，不足以判定 %s；%s 还需 %s 个%s"}
	sayNeedsTime    = phrase{" (%s s at that rate)", "（按该到达率为 %s 秒）"}
	sayRowKeeps     = phrase{"%s meets %s", "%s 满足 %s"}
	sayRowMisses    = phrase{"%s misses %s", "%s 不满足 %s"}
	sayRowUnknown   = phrase{"Whether %s meets %s is not known", "%s 是否满足 %s 未知"}
	sayTermBroken   = phrase{"%s is %s", "%s 为 %s"}
	sayTermNeeds    = phrase{"%s needs %s more requests%s", "%s 还需 %s 个请求%s"}
	sayGoodputShare = phrase{"goodput %s req/s, %s %% of those due", "有效吞吐 %s req/s，占应发出请求的 %s %%"}
	noteGoodput     = phrase{"Requests that met %s: %s a second, %s %% of those due.", "满足 %s 的请求：每秒 %s 个，占应发出请求的 %s %%。"}
)

// What is beneath the table.
var (
	legendUnsupported = phrase{"? too few requests to support this percentile", "? 请求太少，不足以支持该分位数"}
	legendCut         = phrase{"* cut short before it had what it needed", "* 该阶段提前结束，数据不足"}
	legendInvalid     = phrase{"! the client was the limit here, so the row says little of the server", "! 此处瓶颈在客户端，该行不能说明服务端的性能"}
	legendBound       = phrase{"> some requests had not ended, so the figure is at least this", "> 有请求尚未结束，实际值不小于此值"}
	noteSpread        = phrase{"between runs: the standard deviation of the runs' figures; within a run: its own standard error; both in % of the mean", "各次之间：各次结果的标准差；单次之内：单次结果自身的标准误差；均为占均值的百分比"}
	noteDoubtful      = phrase{"Marked +: runs differ by more than twice their own error, so a single run is less certain than its interval says.", "带 + 者：各次之间的差异超过单次误差的两倍，单次结果不如其区间所示那样可靠。"}
	legendAbsent      = phrase{"n/a nothing completed, or nothing to measure", "n/a 没有请求完成，或没有可测之数"}
	warnInvalid       = phrase{"The client was the limit; left out of the saturation point", "瓶颈在客户端；不计入饱和点"}
	warnClient        = phrase{"This client was not fit to measure this server", "本机客户端的能力不足以测量该服务"}
	warnLength        = phrase{"Output tokens received are not those asked for", "收到的输出 token 数与要求的不同"}
	detailLength      = phrase{"asked %s, got %s", "要求 %s，收到 %s"}
	warnChunk         = phrase{"Chunks held several tokens, so a chunk's gap is shared among them and stalls are smoothed", "一个数据块含多个 token，块间隔由它们均分，停顿会被抹平"}
	detailChunk       = phrase{"%s tokens a chunk", "每块 %s 个 token"}
	warnSource        = phrase{"Output tokens were not counted by the server itself", "输出 token 数不是服务端自己统计的"}
	sourceIDs         = phrase{"token ids it returned", "按返回的 token id 计"}
	sourceTokenizer   = phrase{"a tokenizer named by the user", "按用户指定的分词器计"}
	sourceChunks      = phrase{"one a chunk, which is a guess", "按一块一个估计"}
	warnDue           = phrase{"Requests left later than they were due, so users waited longer than TTFT says", "请求发出晚于计划时刻，用户的实际等待比 TTFT 更长"}
	detailDue         = phrase{"TTFT p99 %s from due, %s from sent", "TTFT p99 自计划时刻 %s，自发送时刻 %s"}
	warnCached        = phrase{"Prompts were partly in the server's cache, so first tokens came sooner than for new ones", "部分提示词命中服务端缓存，首 token 比全新提示词更快"}
	detailCached      = phrase{"%s of %s tokens", "%[2]s 个 token 中的 %[1]s 个"}
	everyRow          = phrase{"every row", "所有行"}
	fromRun           = phrase{"%s", "工具记录（英文原文）：%s"}
	sayExample        = phrase{", for example: %s", "，例如：%s"}
	sayFailures       = phrase{"%s failed", "%s 个失败"}
)

// How far the run got.
var (
	stateComplete    = phrase{"Complete: %[1]s of %[1]s stages are whole.", "已完成：%[1]s 个阶段中 %[1]s 个完整。"}
	stateInterrupted = phrase{"Interrupted", "被中断"}
	stateFailed      = phrase{"Failed", "失败"}
	stateRunning     = phrase{"Killed, or still running: the run never said that it ended", "被强制终止或仍在运行：没有结束记录"}
	stateEnded       = phrase{"Ended, with stages cut short", "已结束，但有阶段提前结束"}
	stateAfter       = phrase{" after %s", "，已运行 %s"}
	stateWhole       = phrase{"Whole: %s.", "完整：%s。"}
	stateCut         = phrase{"Cut short: %s.", "提前结束：%s。"}
	stateMissing     = phrase{"Never begun: %s of %s planned stages.", "未开始：计划 %[2]s 个阶段中的 %[1]s 个。"}
	stateNone        = phrase{"No stage was finished.", "没有任何阶段完成。"}
	stateBecause     = phrase{"Reason: %s", "原因：%s"}
)

// The environment.
var (
	envTarget    = phrase{"Server", "服务"}
	envLabels    = phrase{"Labels", "标签"}
	envWorkload  = phrase{"Workload", "负载"}
	envTool      = phrase{"Tool", "工具"}
	envDate      = phrase{"Started", "开始时间"}
	envClock     = phrase{"Timestamps", "时间戳"}
	envClient    = phrase{"Client", "客户端"}
	envSelftest  = phrase{"Self-test", "客户端自检"}
	clockKernel  = phrase{"by the kernel, as the bytes arrived", "由内核在字节到达时记录"}
	clockUser    = phrase{"by the program, as it read the bytes", "由程序在读取时记录"}
	clientFit    = phrase{"lag p99 %s, %s %% of this machine's processors", "发送延迟 p99 %s，占用本机处理器 %s %%"}
	lastedFor    = phrase{"%s, lasted %s", "%s，历时 %s"}
	loadPrompt   = phrase{"%s prompt tokens", "输入 %s token"}
	loadCounted  = phrase{"%s prompt tokens (the server counted %s)", "输入 %s token（服务端计为 %s）"}
	loadOutput   = phrase{"%s output tokens", "输出 %s token"}
	loadForced   = phrase{"%s output tokens, forced", "输出 %s token（强制）"}
	loadDataset  = phrase{"data set %s", "数据集 %s"}
	loadFixed    = phrase{"one fixed prompt", "固定提示词"}
	loadSeed     = phrase{"seed %s", "随机种子 %s"}
	filesWritten = phrase{"Files: %s", "文件：%s"}
	plotOutput   = phrase{"output tok/s", "输出 tok/s"}
	plotTTFT     = phrase{"TTFT mean", "TTFT 均值"}
	plotAgainst  = phrase{"against req/s offered; %s marks saturation", "横轴为到达率 req/s；%s 为饱和点"}
	plotBound    = phrase{"; ^ at least", "；^ 不小于此值"}
	loadBrief    = phrase{"%s -> %s tokens", "%s -> %s token"}
	plotAxis     = phrase{"against req/s offered", "横轴为到达率 req/s"}
)

// verdict is a verdict in words.
func verdict(v string, l Lang) string {
	switch v {
	case rundir.Stable:
		return verdictStable.in(l)
	case rundir.Saturated:
		return verdictSaturated.in(l)
	case rundir.Undecided:
		return verdictUndecided.in(l)
	case rundir.Closed:
		return verdictClosed.in(l)
	}
	return "-"
}
