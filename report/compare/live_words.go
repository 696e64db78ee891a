package compare

import "llmsweep/report/lang"

// Two servers, measured against each other.
var (
	titleLive      = lang.Say("A against B, %s", "A 与 B 的比较，%s")
	titleLiveSays  = lang.Say("Conclusion", "结论")
	headFigure     = lang.Say("Metric", "指标")
	headDifference = lang.Say("B against A (95 %)", "B 相对于 A（95 %）")
	wordLatency    = lang.Say("latency", "总时延")
	liveShare      = lang.Say("%s %% load, %s req/s", "%s %% 负载，%s req/s")
	liveCeiling    = lang.Say("ceiling, %d in flight", "上限，并发 %d")
	liveRate       = lang.Say("%s req/s", "%s req/s")
	liveWidth      = lang.Say("%d in flight", "并发 %d")
	liveAt         = lang.Say("%s (%s)", "%s（%s）")
)

// Course of the comparison.
var (
	liveBlocks      = lang.Say("%d blocks of four stages at each load (A B B A, then B A A B).", "共 %d 个区组，每个区组在每个负载下有四个阶段（A B B A，下一个 B A A B）。")
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
	legendLiveTilde = lang.Say("~ no difference is shown: the 95 % interval of this row alone includes 0; the conclusion tests all rows together, since one of them may exclude it by chance", "~ 未显示出差异：该行自身的 95 % 置信区间包含 0；结论将各行一并检验，因为单独一行可能出于偶然而不含 0")
)

// Conclusions.
var (
	liveDiffers = lang.Say("B differs from A: %s.", "B 与 A 不同：%s。")
	liveSame    = lang.Say("~ No difference between A and B is shown when all rows are tested together. The intervals hold the differences that are still possible.",
		"~ 将各行一并检验，未显示出 A 与 B 的差异。各区间为仍可能存在的差异。")
	liveClientLimit = lang.Say("The client was the limit in %d of %d stages, which do not describe the servers; fewer than two blocks are left: no conclusion. Measure from a machine that keeps up, or with less load (--rate, --concurrency).", "%[2]d 个阶段中有 %[1]d 个受限于客户端，不能说明服务的性能；剩余不足两组：无法得出任何结论。请在跟得上的机器上测量，或降低负载（--rate、--concurrency）。")
	liveTooFew      = lang.Say("Fewer than two blocks are complete, or their metrics are unknown: no conclusion.", "完整的区组不足两个，或其指标未知：无法得出任何结论。")
)

// Ahead of the comparison.
var (
	sayBlocks     = lang.Say("about %d blocks, %s each", "约 %d 个区组，每个 %s")
	pairedSaySame = lang.Say("A and B are the same server: their prompts differ in the first word, so that none is in its prefix cache", "A 与 B 是同一服务：两侧提示词的首词不同，以免命中前缀缓存")
)
