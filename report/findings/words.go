package findings

import "llmsweep/report/lang"

// What a self-test found.
var (
	limitDescriptors = lang.Say("too many open files", "可打开文件数不足")
	limitFailed      = lang.Say("failures", "有失败")
	limitBehind      = lang.Say("client fell behind", "跟不上")
	limitUnreached   = lang.Say("not reached", "未达到")
	limitError       = lang.Say("inexact", "误差过大")
	limitLag         = lang.Say("sent late", "发送过晚")
	limitUnknown     = lang.Say("nothing to compare", "无可比较数据")
	sayTrust         = lang.Say("On this machine, trust rows of up to %s streams and %s tokens/s", "在本机上，结果在以下范围内可信：并发流不超过 %s、输出不超过每秒 %s 个 token")
	sayTrustRates    = lang.Say(", and up to %s arrivals/s", "、到达率不超过每秒 %s 个请求")
	sayTrustAll      = lang.Say("; more streams were not tested.", "；更多的流未测。")
	sayTrustNext     = lang.Say("; %s streams were too many (%s), and levels in between were not tested.", "；%s 个流时本机未达标（%s），两者之间未测。")
	sayTrustNone     = lang.Say("On this machine, the self-test vouches for no row: %s streams were too many (%s), and fewer were not tested. Rows in which the client was late are marked !.", "自检不能为本机上的任何一行担保：%s 个流时本机未达标（%s），更少的未测。客户端落后的行标有 !。")
	sayNoRates       = lang.Say("; requests were sent late at each tested rate", "；所有已测到达率下请求都发送过晚")
)

// ClientRemedy says what helps where the client was too slow, once in an output that names such rows and has not the
// warnings of a report.
var ClientRemedy = lang.Say("Give llmsweep cores of its own (taskset), or run it on another machine than the server.", "请让 llmsweep 独占若干核（taskset），或在另一台机器上运行。")

// The answer.
var (
	saySaturates       = lang.Say("Saturates at %s req/s", "饱和点为 %s req/s")
	sayInterval        = lang.Say(" (95 %%: %s-%s)", "（95 %% 区间：%s-%s）")
	sayOutput          = lang.Say(", %s output tok/s", "，输出 %s tok/s")
	saySustains        = lang.Say("Sustains %s req/s", "可承受 %s req/s")
	sayCollapses       = lang.Say("; with more, it completes only %s", "；到达更多时只完成 %s")
	sayAccepts         = lang.Say("Accepts %s req/s", "可接受 %s req/s")
	sayRefusesRest     = lang.Say("; it refuses the rest", "；其余被拒绝")
	sayAtLeast         = lang.Say("Sustains at least %s req/s; the limit was not found.", "至少可承受 %s req/s；未找到极限。")
	sayRowsDisagree    = lang.Say("Saturation: the rows disagree on it. One fell behind its arrivals above %s req/s, and a later one completed %s req/s.", "饱和点：各行不一致。一行在高于 %s req/s 时已跟不上到达，而另一行完成了 %s req/s。")
	sayRowsRise        = lang.Say("Saturation: not reached. The rows show at least %s.", "饱和点：未达到。各行表明至少为 %s。")
	sayRowsLevel       = lang.Say("Saturation: %s, the most that a row completed; rows with more arrivals fell behind.", "饱和点：%s，为各行完成的最高速率；到达更多的行跟不上到达。")
	sayAtMost          = lang.Say("Sustains at most %s req/s; no rate was held.", "至多可承受 %s req/s；没有保持任何到达率。")
	sayBetween         = lang.Say("Saturates between %s and %s req/s (95 %%); the time was too short for a narrower answer.", "饱和点在 %s 与 %s req/s 之间（95 %% 区间）；时间太短，未能缩小范围。")
	sayNoSaturation    = lang.Say("No saturation point was found.", "没有找到饱和点。")
	sayNothing         = lang.Say("Nothing was completed: %s of %s requests failed.", "没有任何请求完成：%[2]s 个请求中有 %[1]s 个失败。")
	sayRateLimit       = lang.Say(" Limited by a rate limit of %s req/s; keep below it with --max-rps %s.", "瓶颈是速率限制，约 %s req/s；可用 --max-rps %s 保持在其下。")
	sayQuota           = lang.Say(" Limited by a rate limit: %s (%s req/s); keep below it with --max-rps %s.", "瓶颈是速率限制：%s（%s req/s）；可用 --max-rps %s 保持在其下。")
	sayRequests        = lang.Say("%s requests %s", "%[2]s %[1]s 个请求")
	sayOutputTokens    = lang.Say("%s output tokens %s", "%[2]s %[1]s 个输出 token")
	wordASecond        = lang.Say("a second", "每秒")
	wordAMinute        = lang.Say("a minute", "每分钟")
	wordAnHour         = lang.Say("an hour", "每小时")
	sayInSeconds       = lang.Say("in %s s", "每 %s 秒")
	sayLimitKV         = lang.Say(" Limited by KV cache (%s %% used, %s preemptions).", "瓶颈是 KV 缓存（占用 %s %%，抢占 %s 次）。")
	sayLimitSlots      = lang.Say(" Limited by batch size (%s running, %s waiting).", "瓶颈是批大小上限（运行 %s 个，排队 %s 个）。")
	sayLimitCompute    = lang.Say(" Limited by compute (%s running, none waiting).", "瓶颈是算力（运行 %s 个，无排队）。")
	sayLimitFlat       = lang.Say(" Limited by compute (%s in flight bring no more than %s).", "瓶颈是算力（并发 %s 与并发 %s 的输出相同）。")
	sayRunAt           = lang.Say("Run it at %s req/s (80 %%): %s.", "建议负载 %s req/s（饱和点的 80 %%）：%s。")
	sayRunAtSLO        = lang.Say("Run it at %s req/s, which meets the SLO: %s.", "建议负载 %s req/s（满足 SLO）：%s。")
	sayCosts           = lang.Say("Costs %s per million output tokens at %s req/s, %s at saturation (%s).", "每百万输出 token 的费用：%[2]s req/s 时为 %[1]s，饱和时为 %[3]s（%[4]s）。")
	sayCostsSaturated  = lang.Say("Costs %s per million output tokens at saturation (%s).", "每百万输出 token 的费用：饱和时为 %s（%s）。")
	sayGPUHour         = lang.Say("1 GPU at %s an hour", "1 张 GPU，每小时 %s")
	sayGPUHours        = lang.Say("%d GPUs at %s an hour each", "%d 张 GPU，每张每小时 %s")
	sayBetweenRows     = lang.Say(" (read between rows)", "（由相邻两行插值）")
	sayTTFT            = lang.Say("TTFT %s", "TTFT %s")
	sayP90             = lang.Say(" (p90 %s)", "（p90 %s）")
	sayITL             = lang.Say("ITL %s", "ITL %s")
	sayLatency         = lang.Say("answers in %s", "总时延 %s")
	sayWhy             = lang.Say("Why: %s req/s was held for %s; at %s req/s %s.", "依据：%s req/s 保持了 %s；%s req/s 时%s。")
	sayWhyHeld         = lang.Say("Why: %s req/s was held for %s; no higher rate was shown to fail.", "依据：%s req/s 保持了 %s；没有更高的到达率被证明不可持续。")
	sayWhyFailed       = lang.Say("Why: at %s req/s %s; no rate was held.", "依据：%s req/s 时%s；没有保持任何到达率。")
	sayClientKept      = lang.Say(" The client was fast enough.", "客户端足够快。")
	sayNeeded          = lang.Say("Run it again with --budget %s to find the limit.", "请用 --budget %s 重新运行以找到极限。")
	sayDone            = lang.Say("%s req/s done", "完成 %s req/s")
	sayMoreDone        = lang.Say("More was completed than the saturation rate and its interval, which ends at %s req/s: %s. It is the rate that is completed when more arrives, and not the most that this server can do.", "完成的速率高于饱和点区间的上端 %s req/s：%s。饱和点是到达过多时完成的速率，并非该服务的最大能力。")
	sayMoreLooped      = lang.Say("%[2]s completed more than the %[1]s req/s of random arrivals: a queue slows this server, and a closed loop builds none.", "%[2]s 的完成速率高于随机到达时的 %[1]s req/s：排队会使该服务变慢，而闭环不会形成队列。")
	saySpeculatesWords = lang.Say("The server decodes speculatively, and these prompts are random words: it accepts another share of drafted tokens than in answers to real texts, so output and ITL are not those of real texts. Measure with --dataset FILE --max-tokens N.",
		"服务使用推测解码，而本次的提示词是随机词：草稿 token 的接受率与真实文本的回答不同，因此输出与 ITL 不代表真实文本。请用 --dataset FILE --max-tokens N 测量。")
	saySpeculatesForced = lang.Say("The server decodes speculatively, and answers were forced to a length: beyond their natural end it accepts another share of drafted tokens, so output and ITL are not those of real answers. Measure with --max-tokens N.",
		"服务使用推测解码，而回答被强制为指定长度：超过自然结尾之后，草稿 token 的接受率不同，因此输出与 ITL 不代表真实回答。请用 --max-tokens N 测量。")
	sayCapacity      = lang.Say("The simulator's computed capacity is %s req/s; measured: %s, %s %% off.", "模拟器的理论容量为 %s req/s；实测 %s，相差 %s %%。")
	sayCapacityAlone = lang.Say("The simulator's computed capacity is %s req/s.", "模拟器的理论容量为 %s req/s。")
)

// What was promised.
var (
	sayMeets        = lang.Say("Meets %s up to %s req/s", "到达率不超过 %[2]s req/s 时满足 %[1]s")
	sayMeetsBetween = lang.Say("Meets %s up to a rate between %s and %s req/s (95 %%).", "满足 %[1]s 的最高到达率在 %[2]s 与 %[3]s req/s 之间（95 %% 区间）。")
	sayMeetsAll     = lang.Say("Meets %s at all rates measured, the highest %s req/s", "在所有实测到达率下均满足 %s，最高为 %s req/s")
	sayFirstToBreak = lang.Say("; above it, %s is missed.", "；更高则不满足 %s。")
	sayProof        = lang.Say(" It was met at %s req/s for %s.", "在 %s req/s 下保持 %s，均满足。")
	sayEndsBacklog  = lang.Say("; above it, the server saturates.", "；更高则服务饱和。")
	sayMeetsNone    = lang.Say("No rate was shown to meet %s%s.", "没有任何到达率被证明满足 %s%s。")
	sayBrokenAt     = lang.Say(": %s is already missed at %s", "：%[2]s 时已不满足 %[1]s")
	sayUndecided    = lang.Say(": the requests of %s do not decide %s", "：%s 的请求不足以判定 %s")
	sayNoneDecides  = lang.Say(": no row decides it", "：没有任何一行能判定")
	sayDecideSweep  = lang.Say("At the share measured in %s, about %s requests a stage would decide it: --stage-time %ss.", "按 %s 测得的比例，每个阶段约需 %s 个请求即可判定：--stage-time %ss。")
	sayDecideRun    = lang.Say("At the share measured in %s, about %s requests would decide it: --requests %[2]s, or --duration %[3]ss.", "按 %s 测得的比例，约 %s 个请求即可判定：--requests %[2]s 或 --duration %[3]ss。")
	sayDecideTalks  = lang.Say("At the share measured in %s, about %s requests would decide it, %s conversations: --requests %[3]s, or --duration %[4]ss.", "按 %s 测得的比例，约 %s 个请求（%s 个对话）即可判定：--requests %[3]s 或 --duration %[4]ss。")
	sayDecideCount  = lang.Say("At the share measured in %s, about %s requests would decide it.", "按 %s 测得的比例，约 %s 个请求即可判定。")
	sayTooNear      = lang.Say("What was measured is too near the limit for more requests to decide it.", "测得的结果离上限太近，增加请求也难以判定。")
	sayRowKeeps     = lang.Say("%s meets %s", "%s 满足 %s")
	sayRowMisses    = lang.Say("%s misses %s", "%s 不满足 %s")
	sayRowUnknown   = lang.Say("%s does not decide %s", "%s 不足以判定 %s")
	sayTalksUnsure  = lang.Say("%s: %s %% of %s sessions have a turn that misses another term (95 %%: %s-%s %%)", "%s：%[3]s 个会话中有 %[2]s %% 含不满足其他条件的轮次（95 %%：%[4]s-%[5]s %%）")
	sayTermUnsure   = lang.Say("%s: %s %% of %s values are beyond it (95 %%: %s-%s %%)", "%s：%[3]s 个值中有 %[2]s %% 超出（95 %%：%[4]s-%[5]s %%）")
	sayTermUnknown  = lang.Say("%s: n/a, because %s", "%s：n/a，因为%s")
	sayTermBroken   = lang.Say("%s is %s", "%s 为 %s")
	sayFroze        = lang.Say("the server stopped answering after %s", "服务在 %s 后停止响应")
	sayGoodputShare = lang.Say("goodput %s req/s, %s %% of those due", "有效吞吐 %s req/s，占应发出请求的 %s %%")
)

// What is beneath the table.
var (
	cellGrows         = lang.Say("grows", "持续上升")
	remarkHeld        = lang.Say("held %s", "保持 %s")
	remarkHeldOnce    = lang.Say("held at first", "起初保持")
	remarkPiled       = lang.Say("piled up", "积压")
	remarkRefused     = lang.Say("refused %s", "拒绝 %s")
	remarkShed        = lang.Say("failed in part", "部分失败")
	remarkShortened   = lang.Say("answers cut to %s", "回答缩短至 %s")
	remarkUndecided   = lang.Say("undecided", "未定")
	remarkShort       = lang.Say("too short", "过短")
	remarkAway        = lang.Say("server away", "服务离线")
	remarkStopped     = lang.Say("client stopped", "客户端暂停")
	remarkClient      = lang.Say("client too slow", "客户端过慢")
	remarkWhole       = lang.Say("start and end included", "含启动与收尾")
	remarkCut         = lang.Say("cut short", "提前结束")
	remarkSLO         = lang.Say("SLO %s", "SLO %s")
	legendUnsupported = lang.Say("? based on too few independent requests", "? 独立样本不足")
	legendBound       = lang.Say("> some requests had not ended, so the value is at least this", "> 有请求尚未结束，实际值不小于此值")
	warnInvalid       = lang.Say("The client was the limit in some rows, which are not counted in the answer. %s These rows", "部分行的瓶颈在客户端，这些行不计入结论。%s受影响的行")
	warnClientRows    = lang.Say("The client kept up in %d of %d rows; only those are used", "客户端在 %[2]d 行中的 %[1]d 行跟得上，只使用这些行")
	sayAlike          = lang.Say("%s (in %s; similar in the others)", "%s（%s；其余各行类似）")
	warnClient        = lang.Say("This client is too slow to measure this server", "本机客户端的能力不足以测量该服务")
	detailLength      = lang.Say("%[2]s of %[1]s tokens", "要求 %[1]s 个 token，收到 %[2]s 个")
	warnChunk         = lang.Say("Chunks hold several tokens: the gap before a chunk is divided among them, which hides stalls", "一个数据块含多个 token，块间隔由它们均分，停顿会被抹平")
	warnChunkWhole    = lang.Say("Chunks hold several tokens, and the server does not tell which: the gap before a chunk counts as one, so ITL is longer than that of tokens", "一个数据块含多个 token，而服务不说明各块的数目：块间隔按一个 token 计，故 ITL 偏长")
	detailChunk       = lang.Say("%s tokens per chunk", "每块 %s 个 token")
	warnSource        = lang.Say("Output tokens were not counted by the server itself", "输出 token 数不是服务自己统计的")
	sourceIDs         = lang.Say("by the token ids that it returned", "按返回的 token id 计")
	sourceTokenizer   = lang.Say("by the tokenizer given by the user", "按用户指定的分词器计")
	sourceChunks      = lang.Say("one per chunk, which is an estimate", "按一块一个估计")
	warnDue           = lang.Say("This client sent requests later than they were due, and latencies count from sending", "本机发出请求晚于应发时刻，而时延自发出时算起")
	detailDue         = lang.Say("TTFT p99 %s from due, %s from sent", "TTFT p99 自应发时刻 %s，自发送时刻 %s")
	warnCached        = lang.Say("Parts of the prompts were in the server's cache, so TTFT is shorter than for new prompts", "部分提示词命中服务的缓存，TTFT 比全新提示词更短")
	detailCached      = lang.Say("%s of %s tokens", "%[2]s 个 token 中的 %[1]s 个")
	everyRow          = lang.Say("every row", "所有行")
	otherRows         = lang.Say("%s and %d other rows", "%s 及另外 %d 行")
	sayExample        = lang.Say(", for example: %s", "，例如：%s")
	sayFailures       = lang.Say("%s failed", "%s 个失败")
)

// How far the run got.
var (
	stateCompleteOne = lang.Say("Complete: 1 stage.", "已完成：1 个阶段。")
	stateComplete    = lang.Say("Complete: all %s stages.", "已完成：全部 %s 个阶段。")
	stateInterrupted = lang.Say("Interrupted", "被中断")
	stateFailed      = lang.Say("Failed", "失败")
	stateRunning     = lang.Say("Killed, or still running: the end of the run is not recorded", "被强制终止或仍在运行：没有结束记录")
	stateInProgress  = lang.Say("In progress (another llmsweep measures it)", "进行中（另一个 llmsweep 正在测量）")
	stateEnded       = lang.Say("Ended with stages cut short", "已结束，有阶段提前结束")
	stateAfter       = lang.Say(" after %s", "，已运行 %s")
	stateMissing     = lang.Say("Not begun: %s of %s stages.", "未开始：%[2]s 个阶段中的 %[1]s 个。")
	stateNone        = lang.Say("No stage was finished.", "没有任何阶段完成。")
	stateKept        = lang.Say("interrupted; what was measured is in %[1]s (llmsweep resume %[1]s continues)", "已中断；已测结果保存在 %[1]s（可用 llmsweep resume %[1]s 继续）")
	statePairKept    = lang.Say("interrupted; what was measured is in %s", "已中断；已测结果保存在 %s")
	stateSweepFailed = lang.Say("the sweep failed: %s (what was measured is in %s)", "扫描失败：%s（已测结果保存在 %s）")
	stateRunFailed   = lang.Say("the run failed: %s (what was measured is in %s)", "测量失败：%s（已测结果保存在 %s）")
	statePairFailed  = lang.Say("the comparison failed: %s (what was measured is in %s)", "比较失败：%s（已测结果保存在 %s）")
)

// WarnLength is said of answers that are not as long as asked.
var WarnLength = lang.Say("Answers are not as long as was asked for", "回答长度与要求的不同")

var saySelftestFailed = lang.Say("The self-test failed, so the limits of this client on this machine are unknown: %s", "自检失败，本机客户端的能力未知：%s")

var (
	sayWaiting    = lang.Say("Still waiting for %s to join.", "仍在等待 %s 加入。")
	sayJoined     = lang.Say("%s ranks send the load together.", "%s 个进程共同发送负载。")
	sayDerived    = lang.Say("The ranks know each other by a token made from the job's number: other users of this cluster may be able to guess it. Set LLMSWEEP_CLUSTER_TOKEN to prevent that.", "各进程以由作业号生成的令牌相互识别：该集群的其他用户可能猜到它。设置 LLMSWEEP_CLUSTER_TOKEN 可避免。")
	sayConnecting = lang.Say("rank %s still tries to connect: %s", "进程 %s 仍在尝试连接：%s")
	sayRanks      = lang.Say("%s (%s)", "%s（%s）")
)

// Headings of columns.
var (
	headAccuracy = lang.Say("accuracy", "正确率")
	headAnswered = lang.Say("answered", "成功")
	headFailed   = lang.Say("failed", "失败")
	headGoodput  = lang.Say("goodput", "有效吞吐")
	headInFlight = lang.Say("in flight", "并发")
	headLength   = lang.Say("length", "输出长度")
	headAtLimit  = lang.Say("cut at the limit", "达到上限")
	headOffered  = lang.Say("offered", "到达")
	headInput    = lang.Say("input", "输入")
	headWholeRun = lang.Say("whole run", "整个运行")
	headRefused  = lang.Say("refused", "拒绝")
	headRequests = lang.Say("requests", "请求")
	headRole     = lang.Say("role", "作用")
	headSLO      = lang.Say("SLO", "SLO")
	headRemark   = lang.Say("remark", "备注")
	headVerdict  = lang.Say("verdict", "判定")

	headFirstAnswer = lang.Say("first answer", "首个回答 token")
	headRunning     = lang.Say("running", "运行中")
	headWaiting     = lang.Say("waiting", "排队")
	headKV          = lang.Say("KV cache", "KV 缓存")
	headPreemptions = lang.Say("preempted", "抢占")
	headSteps       = lang.Say("steps", "步数")
	headQueue       = lang.Say("queue", "排队时间")
	headAccepted    = lang.Say("accepted", "接受率")
	headPerStep     = lang.Say("per step", "每步")
	headPerChunk    = lang.Say("per chunk", "每块")
	headPrefix      = lang.Say("prefix hits", "前缀命中")
)

// Words in cells.
var (
	sayOfAsked = lang.Say("%s of %s", "%s（要求 %s）")
	sloKept    = lang.Say("met", "满足")
	sloBroken  = lang.Say("missed", "不满足")
	sloUnsure  = lang.Say("unsure", "未定")

	roleFloor   = lang.Say("one at a time", "逐个请求")
	roleGrid    = lang.Say("rate", "到达率")
	roleCeiling = lang.Say("maximum", "最大吞吐")
	roleProbe   = lang.Say("probe", "探测")
	roleHold    = lang.Say("held", "长测")
	roleSingle  = lang.Say("asked for", "指定")
	roleWarmUp  = lang.Say("warm-up", "预热")
)

var (
	sayDry     = lang.Say("Dry run: nothing is sent", "试算：不发送任何请求")
	sayOutlook = lang.Say("If a request takes %s s alone, a plain server is swept in about %s minutes with %s requests",
		"若单个请求耗时 %s 秒，测完一台普通服务约需 %s 分钟、%s 个请求")
	sayDryMost   = lang.Say("At most %s requests, besides up to %s of the warm-up and up to %s of the preflight", "至多 %s 个请求，另有预热至多 %s 个、预检至多 %s 个")
	sayDryTokens = lang.Say("At most %s prompt tokens and %s output tokens in all", "合计至多 %s 个提示词 token、%s 个输出 token")
	sayDryBytes  = lang.Say("Prompts are reckoned at one token a byte, about four times too many: give a --tokenizer for a closer number",
		"提示词按每字节一个 token 计算，约多算四倍；用 --tokenizer 可得到更接近的数字")
	sayDryOpen = lang.Say("The plan alone does not bound the requests (%s): their number follows from the server's speed. --max-rps, --max-tpm and --max-cost bound it, and so does --requests in a run; --budget and --max-concurrency do not, since a faster server is sent more in the same time",
		"计划本身不限制请求数（%s）：它取决于服务的速度。用 --max-rps、--max-tpm 或 --max-cost 限制，run 还可用 --requests；--budget 和 --max-concurrency 不能限制，因为服务越快，同样时间内发送的请求越多")
	sayDryCost    = lang.Say("At most %s at these prices", "按给定价格，费用至多 %s")
	sayDryNoPrice = lang.Say("Give --price-in and --price-out, per million tokens, for the cost", "给出 --price-in 和 --price-out（每百万 token）可得到费用")
	sayDryCostTo  = lang.Say("--max-cost ends it before a cost of %s", "--max-cost 使其在费用到达 %s 之前结束")
)

var (
	envTarget   = lang.Say("Server", "服务")
	envLabels   = lang.Say("Labels", "标签")
	envWorkload = lang.Say("Workload", "工作负载")
	envTool     = lang.Say("Tool", "工具")
	envDate     = lang.Say("Started", "开始时间")
	envCommand  = lang.Say("Command", "命令")
	envClock    = lang.Say("Timestamps", "时间戳")
	envClient   = lang.Say("Client", "客户端")
	envSelftest = lang.Say("Self-test", "客户端自检")
	clockKernel = lang.Say("by the kernel, when bytes arrive", "由内核在字节到达时记录")
	clockUser   = lang.Say("by the program, when it reads bytes", "由程序在读取时记录")
	clientFit   = lang.Say("lag p99 %s, %s %% of this machine's processors", "发送滞后 p99 %s，占用本机处理器 %s %%")
	lastedFor   = lang.Say("%s, lasted %s", "%s，历时 %s")
	loadPrompt  = lang.Say("%s prompt tokens", "输入 %s token")
	loadCounted = lang.Say("%s prompt tokens (the server counted %s)", "输入 %s token（服务统计为 %s）")
	loadOutput  = lang.Say("%s output tokens", "输出 %s token")
	loadForced  = lang.Say("%s output tokens, forced", "输出 %s token（强制）")
	loadUpTo    = lang.Say("up to %s", "最多 %s 个")
	loadCapped  = lang.Say("up to %s output tokens", "输出最多 %s 个 token")
	loadDataset = lang.Say("data set %s", "数据集 %s")
	loadFixed   = lang.Say("one fixed prompt", "固定提示词")
	loadSeed    = lang.Say("seed %s", "随机种子 %s")
	envRanks    = lang.Say("Ranks", "进程")
)

var (
	meansUsers        = lang.Say("N users, each with one conversation after the other, pauses included", "N 个用户，每个用户的会话逐个进行，含停顿")
	meansIdeal        = lang.Say("share of the prompt tokens that were sent before, so that a prefix cache can have them", "此前发送过、前缀缓存可命中的提示 token 所占比例")
	meansAgain        = lang.Say("share of the later turns of which less than half of what the session had sent before was cached", "后续各轮中，会话此前内容命中缓存不足一半的轮次所占比例")
	meansGood         = lang.Say("share of the sessions of which no turn missed the SLO", "没有任何一轮违反 SLO 的会话所占比例")
	meansSynchronous  = lang.Say("one request at a time, which gives the shortest latencies", "逐个请求，时延最短")
	meansAsynchronous = lang.Say("R requests arrive per second, at random times", "每秒随机到达 R 个请求")
	meansThroughput   = lang.Say("as many requests at once as the server takes, which gives the highest rate", "尽可能多的并发请求，速率最高")
	meansOffered      = lang.Say("requests that arrived per second", "每秒到达的请求数")
	meansWholeRun     = lang.Say("rates from the first request to the last answer, while the loop fills and runs empty too, as benchmarks of engines print them; the other columns are of the steady part, in which at least 95 % of its places are busy", "从首个请求到末个回答的速率，含启动与收尾，即各引擎压测工具所打印者；其余各列只取至少 95 % 的位置有请求的稳定时段")
	meansInFlight     = lang.Say("requests that were sent and not yet answered completely, mean", "已发出而尚未答完的请求数，取均值")
	meansTTFT         = lang.Say("time from sending the request to the first token", "从发出请求到首个 token 的时间")
	meansITL          = lang.Say("time from one token to the next", "相邻两个 token 的间隔")
	meansTPOT         = lang.Say("mean time between the tokens of one request; its mean weighs requests alike, that of ITL tokens", "一个请求内相邻 token 间隔的均值；其均值对各请求等权，ITL 的均值对各 token 等权")
	meansLatency      = lang.Say("time from sending the request to the last token", "从发出请求到末个 token 的时间")
	meansPercentile   = lang.Say("half of the values, and 99 % of them, lie below; other percentiles alike", "半数、99 % 的值低于此值；其他百分位数同理")
	meansStable       = lang.Say("the server kept up: requests in flight grew by less than 5 % of the rate", "服务跟得上：并发的增长低于到达率的 5 %")
	meansSaturated    = lang.Say("requests arrived faster than they were answered; latencies depend on how long the row lasted", "请求到达快于回答；时延取决于该行持续的时间")
	meansShedding     = lang.Say("the server refused or failed a part of the requests", "服务拒绝或未能完成部分请求")
	meansUndecided    = lang.Say("the row was too short, or too near the saturation rate, to tell", "该行过短或过于接近饱和点，无法判定")
	meansGoodput      = lang.Say("requests per second that kept every term of the SLO", "每秒满足全部 SLO 条款的请求数")
)

var (
	sayGrades     = lang.Say("%s of %s graded answers are right: %s (95 %%: %s)%s.", "%[2]s 个计分回答中有 %[1]s 个正确：%[3]s（95 %%：%[4]s）%[5]s。")
	sayUngraded   = lang.Say("No answer was graded%s.", "没有回答得到计分%s。")
	sayNotCounted = lang.Say("; not counted: %s", "；未计入：%s")
	sayCut        = lang.Say("%s cut by their limit", "%s 个被长度上限截断")
	sayFailed     = lang.Say("%s failed", "%s 个失败")

	sayGradedUnsure = lang.Say("%s: %s %% of %s answers to %s questions are not right (95 %%: %s-%s %%)", "%[1]s：%[4]s 个问题的 %[3]s 个回答中有 %[2]s %% 不正确（95 %%：%[5]s-%[6]s %%）")
)

// Words of workloads whose prompts share a beginning or grow.
var (
	loadBrief     = lang.Say("%s -> %s tokens", "%s -> %s token")
	loadTalkBrief = lang.Say("%s turns: %s, then +%s -> %s tokens, think time %s", "%s 轮：%s，之后每轮 +%s -> %s token，用户停顿 %s")
	loadTalk      = lang.Say("%s turns, +%s tokens in each after the first, think time %s", "%s 轮，首轮之后每轮 +%s token，用户停顿 %s")
	loadTurns     = lang.Say("%s turns", "%s 轮")
	loadShared    = lang.Say("the first %d tokens shared", "前 %d 个 token 相同")
	loadGroups    = lang.Say("the first %d tokens shared in %d groups", "前 %d 个 token 相同（共 %d 组）")
	sayTurns      = lang.Say("Rates count turns. A session has %s turns: %s turns/s are %s sessions/s.", "速率按轮计。每个会话 %s 轮：%s 轮/s 即 %s 会话/s。")
	loadZipf      = lang.Say("the first %d tokens shared in %d groups by Zipf's law", "前 %d 个 token 相同（共 %d 组，按 Zipf 定律分布）")
	loadRandom    = lang.Say("%s on average", "平均 %s")
)

// importedWords returns what the notes of imported results say: how other tools define their metrics, and what was
// taken from a document.
func importedWords() lang.Words {
	return lang.Words{
		"published.itl-weighted-by-tokens": lang.Say("the inter-token latency of {tool} is one mean per request, weighted by tokens, which hides stalls; it stands here as TPOT",
			"{tool} 的 token 间时延是每个请求一个均值，按 token 数加权，会掩盖停顿；这里记为 TPOT"),
		"published.itl-per-chunk": lang.Say("the ITL of {tool} is the gap between two chunks, however many tokens a chunk holds",
			"{tool} 的 ITL 是两个数据块之间的间隔，与块中的 token 数无关"),
		"published.ttft-empty-chunk": lang.Say("the TTFT of {tool} ends at the first chunk, even at one without text, so it may be too short",
			"{tool} 的 TTFT 算到第一个数据块，即使其中没有文本，因此可能偏短"),
		"published.ttft-missing-is-zero": lang.Say("{tool} counts a request without a first token as a TTFT of 0",
			"没有首 token 的请求，{tool} 按 TTFT 为 0 计"),
		"published.latency-to-end-of-stream": lang.Say("the latency of {tool} ends with the stream, not with the last token",
			"{tool} 的时延算到流结束，而不是最后一个 token"),
		"published.rates-include-ramp-and-drain": lang.Say("the rates of {tool} are over the whole test, ramp and drain included, so they are below what the server sustains",
			"{tool} 的速率按整个测试计算，包含起步和收尾，因此低于服务可承受的到达率"),
		"published.cancelled-at-end": lang.Say("{tool} cancels the requests that run at the end of a stage; long requests are missing from its latencies",
			"阶段结束时仍在运行的请求被 {tool} 取消，因此其时延中缺少较长的请求"),
		"published.opening-not-left-out": lang.Say("{tool} leaves nothing out at the beginning of a stage, so its rates include the ramp",
			"{tool} 不去掉阶段开头，因此其速率包含起步过程"),
		"published.contradiction": lang.Say("{label} is {taken} by line {line}, but line {other_line} has {other}",
			"{label}：第 {line} 行为 {taken}，而第 {other_line} 行为 {other}"),
		"published.flag-wins": lang.Say("{label} is {given}, as --label says; line {line} has {found}",
			"{label} 按 --label 取 {given}；第 {line} 行为 {found}"),
		"published.warm-up": lang.Say("line {line} calls it a warm-up ({text}): nothing is concluded from it",
			"第 {line} 行注明为预热（{text}）：不据此作任何结论"),
		"published.joined": lang.Say("made of {tables:count table tables}, in lines {lines}", "由 {tables} 个表格组成（第 {lines} 行）"),
		"published.out-of-order": lang.Say("the results in lines {lines} are dated after those of the later command in line {other}: only their place says that the command in line {launch} was running",
			"第 {lines} 行的结果日期晚于第 {other} 行后一条命令的结果：仅凭位置才归于第 {launch} 行的命令"),
		"published.hardware-later": lang.Say("the table of nvidia-smi in line {line} is of {at}, later than this result: that the GPUs were used in the same way before is taken from their place in the file",
			"第 {line} 行的 nvidia-smi 输出时间为 {at}，晚于该结果：此前 GPU 用法相同仅依其在文件中的位置推断"),
	}
}

// Answers that end by themselves.
var titleLengths = lang.Say("Lengths of answers (%s tokens)", "回答长度（%s token）")

// limitsWords are the words of the notes of package client/limits.
func limitsWords() lang.Words {
	return lang.Words{
		"limits.ports": lang.Say("the server closes the connection after each answer: at {rate:tenths} requests/s up to {held:whole} local ports are in use or not yet free again, and this machine has {ports:whole} for one server, so connections may fail. Make the server keep connections, lower the rate, or run: sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\" net.ipv4.tcp_tw_reuse=1",
			"服务在每次回答后关闭连接：每秒 {rate:tenths} 个请求时，最多有 {held:whole} 个本地端口在使用中或尚未释放，而本机对同一服务只有 {ports:whole} 个端口，因此可能无法建立连接。请让服务保持连接，或降低速率，或运行：sysctl -w net.ipv4.ip_local_port_range=\"1024 65535\" net.ipv4.tcp_tw_reuse=1"),
	}
}

var (
	titleMLPerf   = lang.Say("MLPerf's early stopping", "MLPerf 提前停止规则")
	headMLStage   = lang.Say("Stage", "阶段")
	headMLTerm    = lang.Say("Term", "条款")
	headMLBeyond  = lang.Say("beyond", "超限")
	headMLAllowed = lang.Say("allowed", "允许")
	headMLNeeds   = lang.Say("needed", "所需请求")
	headMLPasses  = lang.Say("MLPerf", "MLPerf")
	wordMLPasses  = lang.Say("passes", "通过")
	wordMLFails   = lang.Say("does not pass", "未通过")
	noteMLPerf    = lang.Say("MLPerf passes a percentile if so few requests are beyond the limit that chance shows it in less than 1 % of runs (confidence 99 %), and takes requests as independent. The SLO column asks for 95 %, also to call a term missed, and counts requests that wait in one queue as fewer. needed: requests with which as many beyond the limit pass.",
		"MLPerf 的判定：若超限请求之少仅由偶然出现的概率低于 1 %（置信度 99 %），则百分位数通过；各请求视为独立。SLO 列的置信度为 95 %，判为不满足时亦然，且在同一队列中等待的请求按更少的请求计。所需请求：超限数不变时可通过的请求数。")
)

// clusterWords are the words of the notes of package cluster.
func clusterWords() lang.Words {
	return lang.Words{
		"cluster.lost": lang.Say("rank {rank} ({host}) was lost in {stage}, and the run ended there: {error}",
			"进程 {rank}（{host}）在 {stage} 中丢失，运行到此结束：{error}"),
		"cluster.slow": lang.Say("rank {rank} ({host}) was slow: it began or sent up to {time:time} late",
			"进程 {rank}（{host}）过慢：开始或发送最多晚了 {time:time}"),
	}
}

// gradesWords are the words of the notes of package grade.
func gradesWords() lang.Words {
	return lang.Words{
		"grades.cut": lang.Say("{cut} of {answers:count answer answers} to graded questions were cut by their limit, and are neither right nor wrong: give the rows more output_tokens (or --output-tokens). The accuracy is that of the answers that ended",
			"{answers} 个计分回答中有 {cut} 个被长度上限截断，既不算对也不算错：请给各行更大的 output_tokens（或 --output-tokens）。正确率只针对已结束的回答"),
		"grades.none": lang.Say("no result was found in {none} of {answers:count answer answers} to graded questions, which count as wrong: have the prompt ask for its form (End with: The answer is ..)",
			"{answers} 个计分回答中有 {none} 个未找到结果，计为错误：请在提示词中要求答案的格式（如以“答案是……”结尾）"),
	}
}

// probeWords are the words of the notes of package client/probe.
func probeWords() lang.Words {
	return lang.Words{
		"probe.too-long": lang.Say("{prompt} prompt + {output} output tokens exceed the model's context of {context} tokens: the server will reject requests or cut answers short",
			"提示词 {prompt} 个 token + 输出 {output} 个 token，超过模型的上下文长度（{context} 个 token）：服务会拒绝请求，或提前截断回答"),
		"probe.ollama-cuts-prompts": lang.Say("{prompt} prompt + {output} output tokens exceed Ollama's context of {context} tokens: Ollama cuts such prompts without an error. Set num_ctx to {needed} in the Modelfile",
			"提示词 {prompt} 个 token + 输出 {output} 个 token，超过 Ollama 的上下文长度（{context} 个 token）：Ollama 会截断提示词而不报错。请把 num_ctx 设为 {needed}，写在 Modelfile 里"),
		"probe.first-model": lang.Say("the server has {models} models; the first was used: {model} (choose with --model)",
			"服务有 {models} 个模型；使用了第一个：{model}（可用 --model 选择）"),
		"probe.http2": lang.Say("requests go over HTTP/2: many of them share a connection, whose bytes do not tell to which answer they belong. Instants are llmsweep's own and not the kernel's, so they include the time that llmsweep took to read",
			"请求通过 HTTP/2 发送：多个请求共用一个连接，连接上的字节无法对应到具体回答。因此时刻取自 llmsweep 自己的时钟，而不是内核时间戳，并包含 llmsweep 读取所用的时间"),
		"probe.busy": lang.Say("the server answered the preflight with 429 (too many requests), or 503; llmsweep waited {seconds:tenths} s in all and tried again",
			"预检时服务返回 429（请求过多）或 503；llmsweep 共等待 {seconds:tenths} 秒后重试"),
		"probe.completions": lang.Say("chat completions do not work on this server ({error}); plain completions are measured",
			"该服务不能使用 chat completions 接口（{error}）；改为测量 completions 接口"),
		"probe.rejected-field": lang.Say("the server rejects the field {field}; it was left out ({error})",
			"服务不接受字段 {field}；已从请求中去掉（{error}）"),
		"probe.newer-api": lang.Say("neither chat nor plain completions work on this server ({error}); its API {api} is measured",
			"该服务既不支持 chat 也不支持普通 completions（{error}）；改测其 {api} 接口"),
		"probe.held-back": lang.Say("all {chunks} chunks arrived together: a proxy may be buffering the stream. Inter-token times mean nothing then",
			"全部 {chunks} 个数据块同时到达：可能有代理在缓冲数据流。此时 token 间隔没有意义"),
		"probe.chunks-counted": lang.Say("the server does not report token counts; chunks are counted instead, and a chunk may hold several tokens",
			"服务不报告 token 数；改为按数据块计数，而一个数据块可能含有多个 token"),
		"probe.packed-counts-each": lang.Say("chunks hold {tokens:tenths} tokens on average; the server reports the count of each chunk",
			"每个数据块平均含 {tokens:tenths} 个 token；服务报告每个数据块的 token 数"),
		"probe.packed-running-counts": lang.Say("chunks hold {tokens:tenths} tokens on average; running counts from the server give the count of each chunk",
			"每个数据块平均含 {tokens:tenths} 个 token；由服务的累计计数得出每个数据块的 token 数"),
		"probe.packed-no-counts": lang.Say("chunks hold {tokens:tenths} tokens on average, and the server does not report the count of each chunk",
			"每个数据块平均含 {tokens:tenths} 个 token，而服务不报告每个数据块的 token 数"),
		"probe.count-doubtful": lang.Say("warning: {asked} tokens were requested and {chunks} chunks came, but the server counts {counted} tokens: its counts, and all that is computed from them, are doubtful",
			"警告：请求 {asked} 个 token，收到 {chunks} 个数据块，而服务统计为 {counted} 个 token：它的计数及由此算出的结果存疑"),
		"probe.length-ignored": lang.Say("warning: {asked} tokens were requested, the server sent {sent}: it ignores the requested length",
			"警告：请求 {asked} 个 token，服务发送了 {sent} 个：它忽略了请求的长度"),
		"probe.length-not-forced": lang.Say("[{engine}|the server] cannot be told to continue after a natural end: answers may be shorter than requested",
			"[{engine}|该服务] 不能在回答自然结束后继续生成：回答可能比请求的短"),
		"probe.no-ignore-eos": lang.Say("the server does not accept ignore_eos: answers may be shorter than requested",
			"服务不接受 ignore_eos：回答可能比请求的短"),
		"probe.shorter-than-asked": lang.Say("exactly {asked} tokens were requested, the server sent {sent}: answers may be shorter than requested",
			"要求恰好 {asked} 个 token，服务发送了 {sent} 个：回答可能比请求的短"),
		"probe.cache-engine": lang.Say("llmsweep knows no request for it that {engine} takes",
			"llmsweep 不知道 {engine} 有何请求可清空缓存"),
		"probe.cache-dev-mode": lang.Say("{url} is not there: vLLM has it only where it was started with VLLM_SERVER_DEV_MODE=1",
			"{url} 不存在：vLLM 仅在以 VLLM_SERVER_DEV_MODE=1 启动时提供"),
		"probe.cache-neither": lang.Say("{url} has neither /reset_prefix_cache (vLLM) nor /flush_cache (SGLang)",
			"{url} 既没有 /reset_prefix_cache（vLLM），也没有 /flush_cache（SGLang）"),
		"probe.cache-busy": lang.Say("{url} refused it for {time:time}, as it does while requests run",
			"{url} 在 {time:time} 内一直拒绝，有请求在运行时如此"),
		"probe.cache-refused": lang.Say("{url}: {error}", "{url}：{error}"),
		"probe.think-not-in-api": lang.Say("--think and --no-think have no effect with this API ({api}): it has no chat template, or no field to control thinking",
			"--think 和 --no-think 对该 API（{api}）无效：它没有对话模板，或没有控制思考的字段"),
		"probe.think-refused": lang.Say("the server accepts no field that controls thinking: the model decides by itself",
			"服务不接受控制思考的字段：是否思考由模型自己决定"),
		"probe.think-no-reasoning": lang.Say("thinking was requested, but the server sent no reasoning: the model does not reason, or the server does not separate reasoning from the answer",
			"请求了思考，但服务没有发送思考内容：模型不会思考，或服务不区分思考内容和回答"),
		"probe.think-although-off": lang.Say("thinking was switched off, but the server sent reasoning",
			"关闭了思考，但服务仍发送了思考内容"),
	}
}

// replicaWords are the words of the notes on one of several servers.
func replicaWords() lang.Words {
	return lang.Words{
		"replica.slow": lang.Say("replica {replica:whole} is slower than the fastest one: TTFT {ttft:time} on average, against {fastest:time}",
			"副本 {replica:whole} 慢于最快的副本：TTFT 均值为 {ttft:time}，最快的为 {fastest:time}"),
		"replica.fails": lang.Say("replica {replica:whole} fails more often than the others: {failed:whole} of {due:whole} requests, against {others:percent} of theirs",
			"副本 {replica:whole} 的失败多于其他副本：{due:whole} 个请求中失败 {failed:whole} 个，其他副本的失败率为 {others:percent}"),
	}
}

// The words of tables of several servers.
var (
	replicaNumber   = lang.Say("replica %s", "副本 %s")
	replicaDone     = lang.Say("Requests completed per second, by replica", "各副本每秒完成的请求数")
	replicaTTFT     = lang.Say("TTFT mean, by replica", "各副本的 TTFT 均值")
	replicaTTFT99   = lang.Say("TTFT p99, by replica", "各副本的 TTFT p99")
	replicaITL      = lang.Say("ITL mean, by replica", "各副本的 ITL 均值")
	replicaFailures = lang.Say("Failed requests, by replica", "各副本失败的请求数")
	failedOf        = lang.Say("%s of %s", "%[2]s 中的 %[1]s")
)

var (
	saySpent = lang.Say("Spent: %s requests, %s prompt and %s output tokens", "已花费：%s 个请求，%s 个提示词 token，%s 个输出 token")
	sayCost  = lang.Say(", at a cost of %s", "，费用 %s")
	// sayUnsure follows the tokens that the server counted.
	sayUnsure = lang.Say(", and up to %s tokens of requests that were cancelled or failed in mid-stream",
		"，另有被取消或中途失败的请求，至多 %s 个 token")
)

// nounServer stands for the configuration of a run that has no labels.
var nounServer = lang.Say("A server", "服务")

// sweepWords are the words of the notes of package sweep and the packages beneath it.
func sweepWords() lang.Words {
	return lang.Words{
		// Of a stage.
		"stage.ended-early": lang.Say("ended early: {failed} of {ended} requests failed",
			"提前结束：{ended} 个请求中有 {failed} 个失败"),
		"stage.gave-up": lang.Say("given up: no token had come for {silent:time} although requests were in flight; the longest wait before was {longest:time}[; {unsent:count request requests} not sent]",
			"已放弃：有请求尚未完成，却已 {silent:time} 没有收到任何 token；此前最长的等待为 {longest:time}[；{unsent} 个请求未发送]"),
		"server.froze": lang.Say("the server stopped answering {since:time} after the stage began and did not answer again: {streams:count request requests} waited in vain. The rates include this time, and no SLO is met",
			"服务在阶段开始 {since:time} 后停止响应，此后再未恢复：{streams} 个请求空等。各速率均计入这段时间，任何 SLO 都不满足"),
		"stage.too-short": lang.Say("too short: no part of it was steady; a longer stage may have one (--stage-time, --duration)",
			"时间太短：没有稳定的时段；可延长阶段（--stage-time、--duration）"),
		"stage.few-waves": lang.Say("too few requests for {places} places: its figures include start and end (--requests 10x)",
			"对 {places} 个位置而言请求太少：各项数值含启动与收尾（--requests 10x）"),
		"stage.never-full": lang.Say("95 % of the {places} places were never busy at once: its figures include start and end",
			"{places} 个位置从未有 95 % 同时被占用：各项数值含启动与收尾"),
		"stage.bookkeeping": lang.Say("{counted:tenths} requests were in flight on average, but their latencies add up to {added_up:tenths}; the two should agree",
			"平均并发为 {counted:tenths}，但由总时延算得 {added_up:tenths}；两者应当一致"),
		"requests.resent": lang.Say("{count:count request requests} sent again on a new connection, since the server had closed the first one before anything was written on it",
			"{count} 个请求经新连接重发：服务在写入任何内容之前已关闭原连接"),
		"stage.shared-reads": lang.Say("{share:percent} of the tokens came in one packet with the next, so ITL is that of bursts",
			"{share:percent} 的 token 与下一个 token 在同一个数据包中到达，因此 ITL 是成批输出的间隔"),
		"stage.early-token": lang.Say("the first token came after {ttft:time} and the second {second:time} later, where tokens are {itl:time} apart: the first is sent before the prompt is computed, so TTFT does not show the wait",
			"首个 token 在 {ttft:time} 后到达，第二个又过了 {second:time}，而 token 间隔为 {itl:time}：首个 token 在计算提示之前就已发出，TTFT 不反映等待时间"),
		"cache.contaminated": lang.Say("contaminated by a prefix cache: {share:percent} of the prompts were not new to the server (hits {hits:percent}, this run allows {ideal:percent}), so the row is not compared; clear the cache or start the server again",
			"受前缀缓存污染：{share:percent} 的提示对服务并非首次出现（命中率 {hits:percent}，本次运行最多 {ideal:percent}），该行不参与比较；请清空缓存或重启服务"),
		"cache.contaminated-rows": lang.Say("prompts of {rows} of {of} rows were in the server's prefix cache before this run sent them: their latencies and rates are not those of new prompts",
			"{of} 行中有 {rows} 行的提示在本次运行发送之前已在服务的前缀缓存中：其时延和速率不代表新提示"),
		"stage.unsteady": lang.Say("hits in the prefix cache or tokens per second still changed when it ended; a longer stage may settle (--stage-time)",
			"结束时前缀缓存命中率或每秒 token 数仍在变化；可延长阶段（--stage-time）"),
		"stage.shortened": lang.Say("answers had {share:percent} of the length that answers to lone requests have, so requests per second are not comparable with rows of less load",
			"回答的长度只有单独请求时的 {share:percent}，因此每秒请求数不能与负载较低的各行相比"),
		"stage.few-sessions": lang.Say("each slot held {sessions:tenths} sessions: what is measured depends on which turns these were at; measure for longer",
			"每个并发位平均只完成 {sessions:tenths} 个会话，结果取决于这些会话所处的轮次；请延长测量"),
		"stage.killed": lang.Say("llmsweep was killed: the {records:count record records} of this stage do not include the requests in flight at that time",
			"llmsweep 被强制终止：本阶段的 {records} 条记录不含当时未完成的请求"),
		"stage.in-progress": lang.Say("this stage is still in progress: its {records:count record records} so far do not include the requests in flight",
			"本阶段仍在进行：目前的 {records} 条记录不含未完成的请求"),
		"stage.beyond-client": lang.Say("this stage asks for more than the self-test showed this client to measure well on this machine: {excess:note}",
			"本阶段的要求超出自检所示的本机客户端能力：{excess:note}"),

		// Why a stage is invalid.
		"server.away": lang.Say("nothing listened there for {seconds:time}: {requests} requests were not accepted, and the row is not counted",
			"该地址有 {seconds:time} 无监听：{requests} 个请求未被接受，该行不计入"),
		"client.stopped": lang.Say("llmsweep itself did not run for {seconds:time}: it was stopped, or the machine slept", "llmsweep 自身停顿了 {seconds:time}：进程被暂停，或机器休眠"),
		"client.sent-late": lang.Say("the client sent requests late (lag p99 {lag_p99:time})",
			"客户端发送请求过晚（滞后 p99 为 {lag_p99:time}）"),
		"client.read-late": lang.Say("the client read tokens late (p99 {delay_p99:time}, and {shared:percent} of them together with others)",
			"客户端读取 token 过晚（p99 为 {delay_p99:time}，{shared:percent} 与其他 token 一起读到）"),
		"page.not-drawn": lang.Say("the live page could not be drawn, and shows the run as it was before: {error}", "实时网页未能更新，仍显示之前的内容：{error}"),
		"client.no-cpu-left": lang.Say("the client used {cpu:percent} of this machine's cores, {gc_share:percent} of that to collect garbage",
			"客户端占用了本机 {cpu:percent} 的处理器核，其中 {gc_share:percent} 用于垃圾回收"),
		"client.stage": lang.Say("{stage}: {why:note}", "{stage}：{why:note}"),
		"client.limit": lang.Say("this machine is the limit, so the sweep ended: the last {rows} rows show llmsweep and not the server ({why:note}). Close other programs, lower --max-concurrency or --max-rps, or send from several machines (llmsweep help cluster)",
			"本机是瓶颈，扫描到此结束：最后 {rows} 行反映的是 llmsweep 而非服务（{why:note}）。请关闭其他程序，降低 --max-concurrency 或 --max-rps，或由多台机器发送（见 `cluster` 主题：`llmsweep help`）"),

		// Of what a plan asks of the client.
		"client.plan-beyond": lang.Say("the plan may ask for more than the self-test showed this client to measure well on this machine: {excess:note}",
			"计划的要求可能超出自检所示的本机客户端能力：{excess:note}"),
		"excess.streams": lang.Say("{asked} streams at once, where {shown} were shown",
			"同时 {asked} 个流，自检证明的为 {shown} 个"),
		"excess.tokens": lang.Say("{asked:whole} tokens/s, where {shown:whole} were shown",
			"每秒 {asked:whole} 个 token，自检证明的为 {shown:whole} 个"),
		"excess.arrivals": lang.Say("{asked:whole} arrivals/s, where {shown:whole} were shown",
			"每秒 {asked:whole} 个到达，自检证明的为 {shown:whole} 个"),

		// Of the sweep.
		"retokenize.failed": lang.Say("the answers of {stage} could not be tokenized again: {error}",
			"无法对 {stage} 的回答重新分词：{error}"),
		"server.not-idle": lang.Say("the server did not become idle after {stage}, so the next stage may include its load: {error}",
			"{stage} 之后服务未能空闲，下一阶段可能受其影响：{error}"),
		"server.cache-emptied": lang.Say("the server's prefix cache is emptied before each row (--reset-cache)",
			"每一行之前都清空服务的前缀缓存（--reset-cache）"),
		"server.cache-kept": lang.Say("the server's prefix cache was not emptied before {stage} ({why:note}): rows may be answered from what earlier rows left in it",
			"{stage} 之前未能清空服务的前缀缓存（{why:note}）：各行可能命中此前各行留下的缓存"),
		"saturation.none-invalid": lang.Say("no saturation point was found: {stages} are left out, because they show this machine and not the server. Run it again without that cause: {why:note}",
			"没有找到饱和点：{stages} 反映的是本机而非服务，不计入。请消除原因后重新运行：{why:note}"),

		// Of the saturation rate.
		"answer.guess": lang.Say("First guess: {rate:rate} req/s, what the throughput stage completed",
			"初步估计：{rate:rate} req/s，即 throughput 阶段完成的速率"),
		"grid.left-out": lang.Say("The budget of {budget:span} had no time for {count} of the {of} rates: {rates} req/s",
			"{budget:span}的预算来不及测量 {of} 个到达率中的 {count} 个：{rates} req/s"),
		"grid.last": lang.Say("The budget of {budget:span} may have no time for {rates} req/s: they come last",
			"{budget:span}的预算可能来不及测量 {rates} req/s：它们排在最后"),
		"answer.so-far":   lang.Say("So far: between {low:rate} and {high:rate} req/s", "目前：在 {low:rate} 与 {high:rate} req/s 之间"),
		"answer.at-least": lang.Say("So far: at least {low:rate} req/s", "目前：至少 {low:rate} req/s"),
		"answer.at-most":  lang.Say("So far: at most {high:rate} req/s", "目前：至多 {high:rate} req/s"),
		"saturation.changed": lang.Say("The server changed, or had saved something up: {rate:rate} req/s {at:span} into the run and {later:rate} req/s {later_at:span} into it contradict each other; the later counts",
			"服务发生了变化，或此前有积蓄：运行 {at:span}时的 {rate:rate} req/s 与 {later_at:span}时的 {later:rate} req/s 相互矛盾，以后者为准"),
		"saturation.none":         lang.Say("No rate was held[; the throughput stage completed {guess:rate} req/s, which is a guess and no answer]", "没有保持任何到达率[；throughput 阶段完成 {guess:rate} req/s，仅为估计]"),
		"saturation.shortened":    lang.Say("answers had {share:percent} of the length of lone ones", "回答长度为单独请求时的 {share:percent}"),
		"saturation.backlog-grew": lang.Say("requests piled up", "请求积压"),
		"saturation.waits-grew":   lang.Say("the longest waits grew by {growth:time} each second", "等待最久的请求每秒多等 {growth:time}"),

		"saturation.refused": lang.Say("{share:percent} of the requests were refused", "{share:percent} 的请求被拒绝"),

		"saturation.undone": lang.Say("{share:percent} of the requests failed", "{share:percent} 的请求失败"),

		// Of the server's habits.
		"habit.sheds": lang.Say("the server sheds load: in {stage}, with {offered:rate} req/s offered, it refused {share:percent} of the requests and completed {completed:rate} req/s",
			"服务会拒绝过多的请求：{stage} 的到达率为 {offered:rate} req/s，其中 {share:percent} 被拒绝，完成 {completed:rate} req/s"),
		"habit.pauses": lang.Say("the server pauses: all streams stood still together {count:count time times}, for {length:time} on average, in {time:span} of stages below saturation",
			"服务有停顿：在共 {time:span}的未饱和阶段中，所有流同时停止 {count} 次，平均 {length:time}"),
		"habit.pauses-here": lang.Say("the server or this machine, which both run on, pauses: all streams stood still together {count:count time times}, for {length:time} on average, in {time:span} of stages below saturation",
			"服务或两者共用的本机有停顿：在共 {time:span}的未饱和阶段中，所有流同时停止 {count} 次，平均 {length:time}"),
		"habit.fails-always": lang.Say("{share:percent} of the requests fail at every load, also {alone:percent} of those sent one at a time ({class})",
			"各种负载下都有 {share:percent} 的请求失败，逐个发送的请求也有 {alone:percent} 失败（{class}）"),
		"habit.batches": lang.Say("output comes in bursts: {tokens:tenths} tokens at a time, {gap:time} apart, in {share:percent} of the answers; a proxy may be buffering it, so that times between tokens are not the model's",
			"输出成批到达：{share:percent} 的回答每次 {tokens:tenths} 个 token，间隔 {gap:time}；可能有代理在缓冲，token 间隔不是模型的间隔"),
		"habit.caches": lang.Say("{share:percent} of the answers came in one piece after {time:time}, sooner than the first token of any other answer[ (which took up to {otherwise:time} at p95)]: they come from a cache, and the model did not compute them",
			"{share:percent} 的回答在 {time:time} 后整体到达，早于其他任何回答的首 token：它们来自缓存，而非由模型计算[，其他回答的首 token 至多 {otherwise:time}]"),
		"habit.drops": lang.Say("the server drops connections: {count:count request requests}, {share:percent} of those that ended, got no answer or only a part of one before the connection was closed",
			"服务会断开连接：{count} 个请求（占已结束请求的 {share:percent}）在得到完整回答前连接被关闭"),

		// Why a run ended as it did.
		"run.killed": lang.Say("llmsweep was killed, or could not write any more", "llmsweep 被强制终止，或无法继续写入"),
		"run.resumed": lang.Say("the run ended early after {stage} and was continued {time:span} later; kept from the first part: {stages:count stage stages}",
			"运行在 {stage} 之后提前结束，{time:span}后继续；保留第一部分的 {stages} 个阶段"),
		"run.in-progress":       lang.Say("the run is still in progress", "运行仍在进行"),
		"run.server-gone":       lang.Say("the server stopped answering during {stage}", "服务在 {stage} 期间停止响应"),
		"run.nothing-succeeded": lang.Say("no request succeeded", "没有任何请求成功"),
		"run.nothing-due":       lang.Say("no request was due in the time given: raise --rate, give a longer --duration, or give --requests", "在给定时间内没有到期的请求：请提高 --rate、延长 --duration 或给出 --requests"),
		"run.no-rates":          lang.Say("the first stages completed no request, so there are no rates to measure", "最初的阶段没有完成任何请求，因此没有可测的到达率"),
		"run.spent-up": lang.Say("the limit on cost (--max-cost) was reached in {stage}: the next request could have exceeded it, so the run ended there",
			"在 {stage} 阶段达到费用上限（--max-cost）：下一个请求可能超出上限，运行到此结束"),
		"run.budget-over":   lang.Say("the budget of {budget:span} was over before {stage} began", "{budget:span}的预算在 {stage} 开始前已用尽"),
		"run.failed":        lang.Say("{error}", "{error}"),
		"pair.other-failed": lang.Say("the other server failed", "另一个服务失败"),
		"pair.no-blocks": lang.Say("two blocks of stages, which a comparison needs, do not fit into the budget of {budget:span}: give --budget {needed:flag} or more, or a shorter --stage-time",
			"预算 {budget:span} 容不下比较所需的两组阶段：请用 --budget {needed:flag} 或更长，或缩短 --stage-time"),
		"pair.side":        lang.Say("{side}: {what:note}", "{side}：{what:note}"),
		"pair.invalid":     lang.Say("{side} {stage}: {why:note}", "{side} {stage}：{why:note}"),
		"pair.side-failed": lang.Say("{side}: {why:note}", "{side}：{why:note}"),

		// Of the SLO.
		"slo.wide":           lang.Say("it is met at {low:rate} req/s and missed at {high:rate}", "{low:rate} req/s 时满足，{high:rate} 时不满足"),
		"slo.none-broke":     lang.Say("{stage} met all terms, and no higher rate missed one", "{stage} 满足所有条件，更高的到达率也没有不满足的"),
		"slo.ends":           lang.Say("above this rate {term} is not met", "高于此到达率则不满足 {term}"),
		"slo.kept-then-ends": lang.Say("{stage} met all terms; above it {term} is not met", "{stage} 满足所有条件；更高则不满足 {term}"),
		"slo.too-few":        lang.Say("the requests of {stage} do not decide {term}; {needs} more would", "{stage} 的请求不足以判定 {term}，还需 {needs} 个"),
		"slo.none-judged":    lang.Say("no stage could be judged", "没有可判定的阶段"),
		"slo.no-sessions":    lang.Say("the requests are not turns of conversations", "请求不属于对话"),
		"slo.no-answers":     lang.Say("no answers were checked", "没有检查回答"),
		"slo.no-thinking":    lang.Say("no answer began with thinking, so that ttfa is not known", "没有回答以思考开始，故 ttfa 未知"),
		"slo.no-tokens":      lang.Say("the server does not count the tokens of its answers", "服务不统计回答的 token 数"),
		"slo.packed":         lang.Say("answers come in chunks of too many tokens for it to be seen", "回答的每个数据块含 token 过多，无法看出"),
		"slo.no-records":     lang.Say("it needs the records of the requests", "需要各请求的记录"),
		"slo.broken-at":      lang.Say("{stage} already misses it", "{stage} 已不满足"),

		// Why a row is left out of a comparison.
		"row.cut-short":         lang.Say("the stage was cut short", "该阶段提前结束"),
		"row.warm-up":           lang.Say("the document calls it a warm-up", "文档注明为预热"),
		"row.nothing-completed": lang.Say("its completed rate is not known", "完成速率未知"),

		// Of results of other tools.
		"published.read-from": lang.Say("read from {file}, line {line}; another tool measured it, and there are no records of its requests",
			"读自 {file} 第 {line} 行；由其他工具测得，没有各请求的记录"),
	}
}

// How many users a server carries.
var (
	sayCarries       = lang.Say("Carries %s", "可承载 %s")
	sayCarriesMost   = lang.Say("Carries at least %s, the most that were tried", "至少可承载 %s（测试的最大用户数）")
	sayCarriesNone   = lang.Say("Does not carry one user within %s.", "无法在 %s 内承载一个用户。")
	sayCarriesFew    = lang.Say("It was not decided how many users are carried within %s: between %s and %s (95 %%).", "未能确定在 %s 内可承载的用户数：在 %s 与 %s 之间（95 %% 区间）。")
	sayCarriesUnsure = lang.Say("The run does not show how many users the server carries.", "本次运行未能得出可承载的用户数。")
	sayUsers         = lang.Say("%s users", "%s 个用户")
	sayUser          = lang.Say("%s user", "%s 个用户")
	sayPerGPU        = lang.Say(", %s a GPU", "，每张 GPU %s 个")
	sayWithin        = lang.Say(" within %s", "，满足 %s")
	sayBeyondKV      = lang.Say("Beyond %s the KV cache no longer holds their contexts: ", "超过 %s 后 KV 缓存容不下各会话的上下文：")
	sayBeyondSlots   = lang.Say("Beyond %s requests wait for a place in the batch: ", "超过 %s 后请求须等待批处理空位：")
	sayBeyondCompute = lang.Say("Beyond %s computing is the limit: ", "超过 %s 后瓶颈是算力：")
	sayBeyondUnknown = lang.Say("Beyond %s, for a reason that the server does not tell: ", "超过 %s 后（服务未说明原因）：")
	sayHitsFall      = lang.Say("hits fall from %s to %s", "命中率从 %s 降至 %s")
	sayValueGrows    = lang.Say("%s goes from %s to %s", "%s 从 %s 变为 %s")
	sayWithUsers     = lang.Say("from %s to %s, ", "从 %s增至 %s，")
	sayScattered     = lang.Say("Single rows up to that number miss the limit by chance; the number is that of the curve through all rows.", "不超过该数的个别行因偶然超过限值；该数取自穿过所有行的曲线。")
	sayCacheFits     = lang.Say("The server states a KV cache of %s tokens: as much as the contexts of %s, at a mean of %s tokens.", "服务自报 KV 缓存为 %s 个 token，相当于 %s的上下文（平均 %s 个 token）。")

	headIdeal     = lang.Say("hits allowed", "可命中")
	headHits      = lang.Say("hits", "命中率")
	headAgain     = lang.Say("computed again", "重新计算")
	headGood      = lang.Say("sessions good", "达标会话")
	headTurnsGood = lang.Say("turns good", "达标轮次")
	headTurn      = lang.Say("turn", "轮次")
	headTurnCount = lang.Say("turns", "数量")
	headPrompt    = lang.Say("prompt", "提示")
	headCached    = lang.Say("cached", "已缓存")
	titleTurns    = lang.Say("Turns of %s", "%s 的各轮")
	turnFirst     = lang.Say("first", "首轮")
	turnWarm      = lang.Say("warm", "命中")
	turnAgain     = lang.Say("computed again", "重新计算")
)

var (
	sayNoRows   = lang.Say("No stage was measured.", "没有测量任何阶段。")
	sayRowsOnly = lang.Say("%d rows were measured, and no question was asked of them together.", "测量了 %d 行，没有提出须由各行共同回答的问题。")
)

// workloadWords are the words of the notes of package workload.
func workloadWords() lang.Words {
	return lang.Words{
		"dataset.built-in": lang.Say("the server decodes speculatively, so built-in texts are sent in place of random words, and answers end by themselves (at most {tokens:whole} tokens). --prompt-tokens and --output-tokens ask for random words",
			"服务使用推测解码，因此以内置文本代替随机词，回答自然结束（最多 {tokens:whole} 个 token）。用 --prompt-tokens 与 --output-tokens 可改用随机词"),
		"dataset.rows": lang.Say("{file}: {rows:count row rows} used[, drawn at random from {drawn_from}]",
			"{file}：使用 {rows} 行[，从 {drawn_from} 行中随机抽取]"),
		"dataset.token-estimate": lang.Say("{file}: token counts are estimated from {texts:count text texts} that the server counted ({source})",
			"{file}：token 数按服务计数的 {texts} 段文本（{source}）估算"),
		"dataset.token-guess": lang.Say("{file}: token counts are a guess: 4 letters per token[, because the server could not count them: {error}]",
			"{file}：token 数为猜测值，按每个 token 4 个字母计[，因为服务无法计数：{error}]"),
		"dataset.long-texts": lang.Say("{file}: the texts are long; {rows} of the {asked} rows asked for fit into memory",
			"{file}：文本较长，要求 {asked} 行，内存中只保留了 {rows} 行"),
		"trace.requests": lang.Say("{file}: {requests:count request requests} in {time:span}, {rate:rate} requests per second on average[, {speed:short} times as fast as recorded]",
			"{file}：{time:span}内 {requests} 个请求，平均每秒 {rate:rate} 个[，为原始速度的 {speed:short} 倍]"),
		"trace.sorted": lang.Say("{file}: {requests:count request requests} were not in order of time; they were sorted",
			"{file}：有 {requests} 个请求未按时间排列，已重新排序"),
		"file.skipped": lang.Say("{file}: {rows:count row rows} left out (lines {lines}): {why:note}",
			"{file}：跳过 {rows} 行（第 {lines} 行）：{why:note}"),
		"dataset.unusable": lang.Say("{file}:{line}: none of the {rows:count row rows} can be used. The first fault: {why:note}. A dataset is a JSON array or JSONL of objects with \"prompt\", \"messages\" or \"conversations\", or a CSV file with a column \"prompt\"",
			"{file}:{line}：{rows} 行均不可用。第一个问题：{why:note}。数据集应为 JSON 数组或 JSONL，其中每个对象含 \"prompt\"、\"messages\" 或 \"conversations\"；或为含 prompt 列的 CSV 文件"),
		"trace.unusable": lang.Say("{file}:{line}: none of the {rows:count row rows} can be used. The first fault: {why:note}. A trace is JSONL with timestamp (ms), input_length and output_length",
			"{file}:{line}：{rows} 行均不可用。第一个问题：{why:note}。trace 应为含 timestamp（毫秒）、input_length 和 output_length 的 JSONL"),
		"dataset.empty": lang.Say("{file} has no rows. A dataset is a JSON array or JSONL of objects with \"prompt\", \"messages\" or \"conversations\", or a CSV file with a column \"prompt\"",
			"{file} 没有数据行。数据集应为 JSON 数组或 JSONL，其中每个对象含 \"prompt\"、\"messages\" 或 \"conversations\"；或为含 prompt 列的 CSV 文件"),
		"trace.empty": lang.Say("{file} has no requests. A trace is JSONL with timestamp (ms), input_length and output_length",
			"{file} 没有请求。trace 应为含 timestamp（毫秒）、input_length 和 output_length 的 JSONL"),
		"prompts.length-guess": lang.Say("prompt lengths are a guess, one token per word, because the server could not count tokens: {error}",
			"提示词长度为猜测值，按每个单词一个 token 计，因为服务无法计数：{error}"),
		"prompts.not-checked": lang.Say("the length of prompts could not be checked: {error}",
			"无法核对提示词长度：{error}"),
		"prompts.length-differs": lang.Say("prompts of {asked} tokens were asked for; the server counts {counted}",
			"要求提示词长 {asked} 个 token，服务统计为 {counted} 个"),
		"skip.no-object": lang.Say("not a JSON object",
			"不是 JSON 对象"),
		"skip.no-json-line": lang.Say("not a complete JSON object on one line",
			"该行不是完整的 JSON 对象"),
		"skip.broken-off": lang.Say("[the file could not be read further: {error}|the file ends in the middle of a row; it was not read further]",
			"[文件无法继续读取：{error}|文件在一行中间结束，之后未再读取]"),
		"skip.row-too-long": lang.Say("the row is longer than {megabytes} MB (JSONL has one object per line)",
			"该行超过 {megabytes} MB（JSONL 每行一个对象）"),
		"skip.no-csv": lang.Say("not valid CSV: {error}",
			"不是有效的 CSV：{error}"),
		"skip.csv-fields": lang.Say("the number of fields differs from the header (texts with commas need quotes)",
			"字段数与表头不同（含逗号的文本须加引号）"),
		"skip.empty-prompt": lang.Say("the prompt is empty",
			"提示词为空"),
		"skip.no-prompt": lang.Say("no prompt, messages or conversations",
			"没有 prompt、messages 或 conversations"),
		"skip.output-tokens": lang.Say("{field} is not a whole number above 0",
			"{field} 不是大于 0 的整数"),
		"skip.unknown-speaker": lang.Say("a message is neither a human's nor a model's",
			"有消息既非用户也非模型所写"),
		"skip.one-turn": lang.Say("fewer than two messages",
			"少于两条消息"),
		"skip.no-answer": lang.Say("the first prompt has no answer",
			"第一条提示词没有回答"),
		"skip.unknown-role": lang.Say("a message's role is not system, user or assistant",
			"有消息的角色不是 system、user 或 assistant"),
		"skip.not-text": lang.Say("a message has parts other than text",
			"有消息含非文本内容"),
		"skip.no-user-message": lang.Say("no message from a user",
			"没有用户消息"),
		"skip.too-short": lang.Say("the prompt has fewer than {min_prompt} or the answer fewer than {min_output} tokens",
			"提示词少于 {min_prompt} 个 token，或回答少于 {min_output} 个 token"),
		"skip.grade": lang.Say("the answer cannot be graded: {error}",
			"答案无法用于计分：{error}"),
		"skip.graded-turns": lang.Say("a graded row has one message of a user",
			"计分的行只能有一条用户消息"),
		"skip.no-timestamp": lang.Say("the timestamp is missing or cannot be read",
			"时间戳缺失或无法读取"),
		"skip.far-timestamp": lang.Say("the timestamp is more than 20 years from the first",
			"时间戳与第一个相差超过 20 年"),
		"skip.no-prompt-tokens": lang.Say("the number of prompt tokens is missing or not above 0 (--prompt-tokens and --output-tokens replace those of a trace)",
			"提示词的 token 数缺失或不大于 0（可用 --prompt-tokens 和 --output-tokens 代替 trace 中的长度）"),
		"skip.no-output-tokens": lang.Say("the number of output tokens is missing or not above 0 (the request may have failed)",
			"输出 token 数缺失或不大于 0（该请求可能失败）"),
	}
}
