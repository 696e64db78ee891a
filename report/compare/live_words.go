package compare

import "llmsweep/report/lang"

// Two servers, measured against each other.
var (
	titleLive      = lang.Say("A against B, %s", "A 与 B 的比较，%s")
	titleLiveSays  = lang.Say("Conclusion", "结论")
	headFigure     = lang.Say("Metric", "指标")
	headDifference = lang.Say("B against A (95 %)", "B 相对于 A（95 %）")
	headSees       = lang.Say("smallest detectable", "可发现的最小差异")
	wordLatency    = lang.Say("latency", "总时延")
	liveShare      = lang.Say("%s %% load, %s req/s", "%s %% 负载，%s req/s")
	liveCeiling    = lang.Say("ceiling, %d in flight", "上限，并发 %d")
	liveTop        = lang.Say("ceiling", "上限")
	liveRate       = lang.Say("%s req/s", "%s req/s")
	liveWidth      = lang.Say("%d in flight", "并发 %d")
	liveAt         = lang.Say("%s (%s)", "%s（%s）")
	liveOf         = lang.Say("%s in %s", "%[2]s相差 %[1]s")
	liveOr         = lang.Say(" or of ", "，或")
)

// Course of the comparison.
var (
	liveBlocks      = lang.Say("%d blocks of four stages at each load (A B B A, then B A A B).", "共 %d 个区组，每个区组在每个负载下有四个阶段（A B B A，下一个 B A A B）。")
	livePlanned     = lang.Say("%d blocks of four stages at each load (A B B A, then B A A B). A pilot of %d blocks determined that %d are enough to show a difference of %s with a power of 80 %%.", "共 %d 个区组，每个区组在每个负载下有四个阶段（A B B A，下一个 B A A B）。试测 %d 个区组后确定：%d 个区组足以在五次比较中有四次发现 %s 的差异。")
	liveFailed      = lang.Say("The comparison failed; the blocks completed before are compared. %s", "比较失败，只采用此前完整的区组。%s")
	liveInterrupted = lang.Say("The comparison was interrupted; the blocks completed before are compared.", "比较被中断，只采用此前完整的区组。")
	liveAccuracy    = lang.Say("Right answers: A %s, B %s; difference %s.", "正确率：A %s，B %s；差异 %s。")
	liveErrors      = lang.Say("Failed requests: A %d of %d, B %d of %d. They are not in any metric.", "失败请求：A %d/%d，B %d/%d，均不计入任何指标。")
	liveUnknown     = lang.Say("n/a: some requests of a stage had not ended, and leaving the stage out would favour the server.", "n/a：某些阶段有请求未结束，剔除该阶段会使结果偏向该服务。")
	liveUneven      = lang.Say("The lengths of answers differ (A %s, B %s tokens), so latency and output are not comparable.", "回答长度不同（A %s，B %s token）：因此总时延与输出不可比较。")
	liveClient      = lang.Say("The client was the limit in %d of %d stages, such as %s. Blocks with such a stage are not compared at that load.", "%[2]d 个阶段中有 %[1]d 个受限于客户端，例如 %[3]s。含有这种阶段的组在该负载下不参与比较。")
)

// Legend of the marks.
var (
	legendPrimary   = lang.Say("* the metrics that the conclusion is mainly based on, and that determined the measuring time", "* 结论主要依据的指标，测量时长亦据此确定")
	legendLiveTilde = lang.Say("~ no difference is shown: the 95 % interval of this row alone includes 0", "~ 未显示出差异：该行自身的 95 % 置信区间包含 0")
	legendSees      = lang.Say("smallest detectable: a difference of this size is shown with a power of 80 % (in 4 of 5 comparisons) when all rows are tested together, as in the conclusion", "可发现的最小差异：若真有这么大的差异，与结论一样将各行一并检验时，五次测量中有四次会显示出来")
)

// Conclusions.
var (
	liveDiffers     = lang.Say("B differs from A: %s.", "B 与 A 不同：%s。")
	liveAlso        = lang.Say("Differences are also shown in %s.", "另有差异的指标：%s。")
	liveSame        = lang.Say("~ No difference between A and B is shown when all rows are tested together. In the main metrics, a difference of %s would have been, with a power of 80 %%.", "~ 将各行一并检验，未显示出 A 与 B 的差异。就主要指标而言，五次比较中有四次能发现的差异：%s。")
	liveNotIn       = lang.Say("No difference is shown in %s; with a power of 80 %%, a difference of %s would have been.", "%s未显示出差异；五次比较中有四次能发现的差异：%s。")
	liveSingle      = lang.Say("Shown alone, but not when all %d rows are tested together: %s. This can be chance, or a difference that so few blocks do not prove; more blocks (--budget) tell.", "单独检验时显示出差异，但将全部 %d 行一并检验时不成立：%s。可能出于偶然，也可能是区组太少而无法证实的差异；增加区组（--budget）即可判断。")
	liveClientLimit = lang.Say("The client was the limit in %d of %d stages, which do not describe the servers; fewer than two blocks are left for the main metrics: no conclusion. Measure from a machine that keeps up, or with less load (--rate, --concurrency).", "%[2]d 个阶段中有 %[1]d 个受限于客户端，不能说明服务的性能；主要指标剩余不足两组：无法得出任何结论。请在跟得上的机器上测量，或降低负载（--rate、--concurrency）。")
	liveClientLeft  = lang.Say("The client was the limit in %d of %d stages: blocks with such a stage are not compared, which leaves %d at one of the loads.", "%[2]d 个阶段中有 %[1]d 个受限于客户端：含有这种阶段的组不参与比较，某一负载下仅剩 %[3]d 组。")
	liveTooFew      = lang.Say("Fewer than two blocks are complete, or the main metrics are unknown: no conclusion.", "完整的区组不足两个，或主要指标未知：无法得出任何结论。")
)

// Time and blocks that are needed.
var (
	sayPilot      = lang.Say("pilot: %d blocks, about %s", "试测：%d 个区组，约 %s")
	sayTooShort   = lang.Say("; that exceeds the budget, but fewer blocks give no interval", "；超出预算，但更少则没有置信区间")
	sayNoPlan     = lang.Say("the main metrics are unknown, so the measurement cannot be planned", "主要指标未知，无法制定计划")
	sayPilotDoes  = lang.Say("the pilot is enough to show a difference of %s: it can show %s", "试测已足以发现 %s 的差异：可发现 %s")
	sayNeeds      = lang.Say("showing a difference of %s takes %d more blocks, about %s", "要发现 %s 的差异，还需 %d 个区组，约 %s")
	sayBudget     = lang.Say("showing a difference of %s would take %d more blocks, about %s; the budget is enough for %d, which can show %s", "要发现 %s 的差异，还需 %d 个区组，约 %s；预算仅够 %d 个区组，可发现 %s")
	pairedSaySame = lang.Say("A and B are the same server: their prompts differ in the first word, so that none is in its prefix cache", "A 与 B 是同一服务：两侧提示词的首词不同，以免命中前缀缓存")
	sayNoBudget   = lang.Say("showing a difference of %s would take %d more blocks, about %s; the budget is over, and the measured blocks can show %s", "要发现 %s 的差异，还需 %d 个区组，约 %s；预算已用完，已测的区组可发现 %s")
	lastsSeconds  = lang.Say("%.0f s", "%.0f 秒")
	lastsMinutes  = lang.Say("%.0f min", "%.0f 分钟")
	lastsHours    = lang.Say("%.1f h", "%.1f 小时")
)
