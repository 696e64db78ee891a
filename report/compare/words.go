package compare

import "llmsweep/report/lang"

// Headings and columns.
var (
	titleCompare   = lang.Say("Comparison", "比较")
	titleCompared  = lang.Say("Comparison, %s", "比较，%s")
	titleChanges   = lang.Say("Differences from %s", "相对于 %s 的差异")
	titleMore      = lang.Say("Further conclusions", "其他结论")
	titleDoubts    = lang.Say("Rows left out or doubtful", "未采用或存疑的行")
	titleScaling   = lang.Say("Scaling: %s", "多 GPU 扩展：%s")
	titleLevels    = lang.Say("At equal concurrency: %s", "同等并发：%s")
	headSetup      = lang.Say("Configuration", "配置")
	headSaturation = lang.Say("saturation", "饱和点")
	headUncached   = lang.Say("uncached", "未命中缓存")
	headPerGPU     = lang.Say("per GPU", "每 GPU 输出")
	headAnswer     = lang.Say("answer", "回答")
	headErrors     = lang.Say("errors", "错误率")
	headUsers      = lang.Say("users", "用户数")
	headEach       = lang.Say("users per GPU", "每 GPU 用户数")
	headSpeed      = lang.Say("speed", "单请求速度")
	headRight      = lang.Say("accuracy", "正确率")
	headStalls     = lang.Say("stalls", "卡顿")
	headSession    = lang.Say("sessions good", "达标会话")
	headGoodput    = lang.Say("good output", "达标输出")
	headRow        = lang.Say("Row", "行")
	headWhere      = lang.Say("Where", "出处")
	headNotUsed    = lang.Say("Not used", "未采用")
	headWhy        = lang.Say("Why", "原因")
	headLoad       = lang.Say("Load", "负载")
	headGPUs       = lang.Say("GPUs", "GPU 数")
	headSpeedUp    = lang.Say("speed-up", "加速比")
	headEfficiency = lang.Say("efficiency", "效率")
	headRests      = lang.Say("Based on", "依据")
	headFromTo     = lang.Say("From -> to", "从 -> 到")
	headInFlight   = lang.Say("in flight", "并发")
	headCompleted  = lang.Say("completed", "完成")
	headChange     = lang.Say("change", "变化")
	headChange95   = lang.Say("change (95 %)", "变化（95 %）")
	headVerdict    = lang.Say("verdict", "结论")
	headMeasured   = lang.Say("measurements", "测量次数")
	headFigure     = lang.Say("Metric", "指标")
	headDifference = lang.Say("B against A (95 %)", "B 相对于 A（95 %）")
	subAlone       = lang.Say("alone", "单并发")
	subPerToken    = lang.Say("ms a token", "ms/token")
)

// Words in cells and sentences.
var (
	atShare         = lang.Say("%s %% load", "%s %% 负载")
	gpuSteps        = lang.Say("%d to %d", "%d 到 %d")
	sayCount        = lang.Say("%d GPUs", "%d 张 GPU")
	sayOneGPU       = lang.Say("1 GPU", "1 张 GPU")
	wordWholeRow    = lang.Say("the row", "整行")
	wordNoneShown   = lang.Say("no difference shown", "未显示出差异")
	wordNoHeading   = lang.Say("the one without a heading", "无标题的结果")
	wordNoLabels    = lang.Say("no labels", "无标签")
	wordUnquantized = lang.Say("unquantized", "未量化")
	space           = lang.Say(" ", "")
	sayFactor       = lang.Say("%s x", "%s 倍")
	sayAtLeast      = lang.Say("at least %s x", "%s 倍以上")
	sayAtMost       = lang.Say("at most %s x", "%s 倍以下")
	sayTo           = lang.Say("%s to %s", "%s 至 %s")
	sayOrMore       = lang.Say("%s or more", "不低于 %s")
	sayInterval     = lang.Say(" (95 %%: %s-%s)", "（95 %% 区间：%s-%s）")
)

// What a difference means for users.
var (
	WordBetter = lang.Say("better", "更好")
	WordWorse  = lang.Say("worse", "更差")
)

// Workloads.
var (
	loadAnswers = lang.Say("answers of at most %s tokens", "输出至多 %s token")
	loadTokens  = lang.Say("%s/%s tokens", "%s/%s token")
	loadDataset = lang.Say("data set %s", "数据集 %s")
	loadPrompt  = lang.Say("a fixed prompt of %d bytes", "固定提示词（%d 字节）")
)

// Conclusions.
var (
	sayAgainst    = lang.Say("%s against %s: %s.", "%s 相对 %s：%s。")
	sayNoneOf     = lang.Say("no difference is shown in %s", "%s未显示出差异")
	sayUnjudgedOf = lang.Say("without an interval: %s", "没有置信区间：%s")
	sayScales     = lang.Say("%s: %d GPUs have %[4]s the output of %[3]d%[7]s (%[5]s against %[6]s)",
		"%s：%d 张 GPU 的输出是 %d 张的 %s%[7]s（%[5]s；%[3]d 张：%[6]s）")
	sayNoSpeedUp = lang.Say("%s: no speed-up from %[3]d to %[2]d GPUs is shown.", "%s：从 %[3]d 张 GPU 到 %[2]d 张未显示出加速。")
	sayAlone     = lang.Say(" One request at a time: ITL %s -> %s.", "单并发时 token 间时延 %s -> %s。")
	sayAnswers   = lang.Say(" Answers: %s -> %s tokens.", "回答长度 %s -> %s token。")
	sayMost      = lang.Say("%s: at saturation %s has the highest output, %s: %s", "%s：饱和时输出最高的是 %s，%s：%s")
	sayMayBeMost = lang.Say("%s: at saturation %s may have the highest output, %s: %s", "%s：饱和时输出最高的可能是 %s，%s：%s")
	sayBurst     = lang.Say(", throughput row %s", "，throughput 行 %s")
	sayBursts    = lang.Say("%s: not both reached saturation; by the rows throughput %d GPUs have %[4]s x the output of %[3]d (%[5]s against %[6]s)",
		"%s：双方未都达到饱和；按 throughput 行，%d 张 GPU 的输出为 %[3]d 张的 %[4]s 倍（%[5]s 对 %[6]s）")
	sayTimes        = lang.Say("%s %s (%s)%s", "为 %[2]s（%[3]s）的 %[1]s%[4]s")
	sayClose        = lang.Say("%s (%s) may be equal", "%s（%s）可能与其相同")
	sayTimesBurst   = lang.Say("by the rows throughput %s x %s (%s)", "按 throughput 行为 %[2]s（%[3]s）的 %[1]s 倍")
	sayTimesUnknown = lang.Say("%s (%s) may be higher", "%s（%s）可能更高")
	sayQuickest     = lang.Say(" One request at a time, %s has the shortest ITL: %s (%s).", "单并发时 %s 的 token 间时延最短：%s（%s）。")
	sayModels       = lang.Say("Two models (%s): the differences are also theirs.", "模型不同（%s）：差异也来自模型。")
	sayHitsApart    = lang.Say("Prefix cache hits differ (%s %s, %s %s): only uncached tokens per second are compared (--any-workload: all).",
		"前缀缓存命中率不同（%s %s，%s %s）：只比较每秒未命中缓存的 token（--any-workload：比较全部）。")
	sayUneven = lang.Say("Answers differ in length (%s to %s tokens): compare tok/s, not req/s or latency.",
		"实际回答长度不同（%s 至 %s token）：请比较 tok/s，而非 req/s 或总时延。")
	sayCarries      = lang.Say("%s: %s carries %s users; %s", "%s：%s 可承载用户 %s；%s")
	sayCarriesOther = lang.Say("%s carries %s", "%s 为 %s")
)

// Tails.
var (
	titleTails     = lang.Say("Tails", "尾部时延")
	titleTailsAt   = lang.Say("Tails, %s", "尾部时延，%s")
	headTime       = lang.Say("Time", "时间")
	legendFewEnded = lang.Say("? based on too few requests", "? 请求数不足")
	legendRepeats  = lang.Say("a-b: lowest and highest of the repeats", "a-b：各次重复的最小值与最大值")
)

// At equal concurrency.
var (
	sayPair         = lang.Say("%s, %[3]s against %[2]s", "%s，%[3]s 相对 %[2]s")
	sayGPUPair      = lang.Say("%s to %s x %s", "%s 到 %s 张 %s")
	sayLevel        = lang.Say("%s at %d in flight (%s to %s req/s)", "并发 %[2]d 时 %[1]s（%[3]s 到 %[4]s req/s）")
	sayNoneShown    = lang.Say("no difference shown (%s)", "未显示出差异（%s）")
	sayOneEach      = lang.Say(" (one measurement each)", "（各测一次）")
	sayLevelAnswers = lang.Say(", with answers of %s and %s tokens", "，回答长度为 %s 与 %s token")
	sayLevelDoubts  = lang.Say(", %d of %d measurements doubtful", "，%[2]d 次测量中 %[1]d 次存疑")
)

// Legends.
var (
	legendRising = lang.Say("+ at least: saturation was not reached", "+ 下限：未达到饱和")
	// LegendDoubted explains MarkDoubted.
	LegendDoubted = lang.Say("! the audit doubts a figure of this row, or leaves one out: see Rows left out or doubtful (--all)",
		"! 审核对该行的数值存疑或未采用：见“未采用或存疑的行”（--all）")
	legendApart = lang.Say("? rows disagree: one fell behind at the lower rate, another completed the higher",
		"? 各行不一致：一行在较低速率时已跟不上，另一行完成了较高速率")
	legendNoInterval = lang.Say("Results of other tools have no intervals: a difference may be chance.", "其他工具的结果没有置信区间：差异可能出于偶然。")
	legendFew        = lang.Say("No interval: too few requests, or the rows on either side are too far apart.", "没有置信区间：请求太少，或两侧的行相距过远。")
	legendOwn        = lang.Say("An interval is that of one run: two runs of one server may differ by more. Compare several (A1 A2 -- B1 B2).",
		"区间只含单次运行内部的离散度：同一服务的两次运行可能相差更多。请比较多次运行（A1 A2 -- B1 B2）。")
	legendRuns     = lang.Say("Values are means of the runs of a side; intervals have the spread between runs.", "值为该侧各次运行的均值，区间包含运行之间的离散度。")
	legendNoSpread = lang.Say("No intervals: one run a side. Give several a side, or --history.", "没有区间：每侧只有一次运行。请每侧给出多次运行，或使用 --history。")
	legendBound    = lang.Say("> at least, < at most: one side is a lower bound (+)", "> 至少，< 至多：一侧为下限（+）")
	legendTilde    = lang.Say("~ no difference is shown: the 95 % interval includes 0", "~ 未显示出差异：95 % 置信区间包含 0")
	legendArrivals = lang.Say("The row throughput is a burst: what it completed is no rate that is sustained.", "throughput 行是突发请求：其完成速率并非可持续的速率。")
	legendLoads    = lang.Say("50 % and 80 % are shares of each configuration's own saturation rate.", "50 % 与 80 % 均相对于各自的饱和点。")
	legendLevels   = lang.Say("Change: smallest and largest ratio between a measurement of one side and one of the other. ~ the sides overlap",
		"变化：一侧的测量与另一侧的测量之比的最小值与最大值。~ 两侧有重叠")
	sayRests     = lang.Say("Based on %s and %s.", "依据：%s 与 %s。")
	legendUsers  = lang.Say("Users: within %s.", "用户数：在 %s 内。")
	legendStages = lang.Say("Stages lasted about %s s, as all rows of the document show: what was in flight at their end is no backlog.",
		"由文档各行推断，每个阶段约持续 %s 秒：阶段结束时仍在处理的请求不算积压。")
	legendGrowing = lang.Say("Users: up to how many throughput grows and hits do not fall.", "用户数：吞吐量仍增长且命中率未下降的最大用户数。")
	legendUnlike  = lang.Say("Users are within different terms (%s): not compared.", "各用户数的 SLO 条件不同（%s）：不作比较。")
)

// Two servers, measured against each other.
var (
	titleLive       = lang.Say("A against B, %s", "A 与 B 的比较，%s")
	liveShare       = lang.Say("%s %% load, %s req/s", "%s %% 负载，%s req/s")
	liveCeiling     = lang.Say("throughput, %d in flight", "throughput，并发 %d")
	liveWidth       = lang.Say("%d in flight", "并发 %d")
	liveFailed      = lang.Say("The comparison failed; the blocks completed before are compared. %s", "比较失败，只采用此前完整的区组。%s")
	liveInterrupted = lang.Say("The comparison was interrupted; the blocks completed before are compared.", "比较被中断，只采用此前完整的区组。")
	liveAccuracy    = lang.Say("Right answers: A %s, B %s; difference %s.", "正确率：A %s，B %s；差异 %s。")
	liveErrors      = lang.Say("Failed requests (in no metric): A %d of %d, B %d of %d.", "失败请求（不计入任何指标）：A %d/%d，B %d/%d。")
	liveUnknown     = lang.Say("n/a: some requests of a stage had not ended.", "n/a：某些阶段有请求未结束。")
	liveClient      = lang.Say("The client was the limit in %d of %d stages, such as %s: not compared. Use a faster machine, or less load (--rate).",
		"%[2]d 个阶段中有 %[1]d 个受限于客户端，例如 %[3]s：不参与比较。请换更快的机器，或降低负载（--rate）。")
	legendLiveTilde = lang.Say("~ no difference is shown: the interval of this row includes 0; the conclusion tests all rows together",
		"~ 未显示出差异：该行的区间包含 0；结论将各行一并检验")
	liveDiffers   = lang.Say("B differs from A: %s.", "B 与 A 不同：%s。")
	liveSame      = lang.Say("~ No difference between A and B is shown. What is still possible is in the intervals.", "~ 未显示出 A 与 B 的差异。仍可能存在的差异见各区间。")
	liveTooFew    = lang.Say("No conclusion: fewer than two blocks can be compared.", "无法得出结论：可比较的区组不足两个。")
	sayBlocks     = lang.Say("about %d blocks, %s each", "约 %d 个区组，每个 %s")
	pairedSaySame = lang.Say("A and B are the same server: their prompts differ in the first word, so that none is in its prefix cache",
		"A 与 B 是同一服务：两侧提示词的首词不同，以免命中前缀缓存")
)
