package published

import "llmsweep/report/lang"

// What stands beneath the formats that have no room for it.
var (
	saySummary       = lang.Say("Summary of %s stages", "%s 个阶段汇总")
	noteMaximum      = lang.Say("P99 Response Time is the largest response time here, in spite of its name: this is how it was printed.", "P99 Response Time 取的是最大响应时间，与其名称不符：原文如此。")
	noteInterpolated = lang.Say("P99 Response Time is interpolated between samples; other tools print the largest response time there.", "P99 Response Time 由样本插值得出；其他工具在此处给出的是最大响应时间。")
	noteTheoretical  = lang.Say("Theoretical Max Throughput is total requests / max response time. It is not a limit.", "Theoretical Max Throughput 等于总请求数除以最大响应时间，并不代表任何上限。")
	noteWindow       = lang.Say("%s is the window in which rates were measured, without start and drain; requests are those due in it.", "%s 为统计速率的时间窗，不含启动与收尾；请求数为窗内应发出的请求。") // the reader of such blocks knows them by their first words
	noteOpen         = lang.Say("Requests arrived at %s per second (open loop)%s.", "请求按每秒 %s 个到达（开环）%s。")
	noteCap          = lang.Say(", with at most %s in flight", "，并发上限 %s")
	noteUnsupported  = lang.Say("Too few requests to support: %s.", "请求太少，不足以支持：%s。")
	noteBound        = lang.Say("> some requests had not ended: the value is at least this.", "带 > 的数值：有请求尚未结束，实际值不小于此值。")
	noteLengths      = lang.Say("Answers end by themselves, after %s tokens: mean %s, p50 %s, p90 %s, max %s; %s were cut at the limit.", "回答自行结束，长度%s token：均值 %s，p50 %s，p90 %s，最大 %s；%s 达到上限。")
	noteFirstAnswer  = lang.Say("Answers begin with reasoning: the first token of the answer itself came after %s on average, the first token of all after %s.", "回答以思考开头：正式回答的首个 token 平均在 %s 后到达，首个 token（含思考）在 %s 后到达。")
	noteIncomplete   = lang.Say("%s requests had neither ended nor failed.", "%s 个请求既未完成也未失败。")
	noteRetokenized  = lang.Say("The text of all answers has %s tokens, but %s were reported: the stream repeats or loses text, or the text does not tokenize back to the same tokens.", "全部回答文本重新分词得到 %s 个 token，而报告为 %s 个：流式输出有重复或丢失，或文本重新分词后与原 token 不同。")
)

// What was promised.
var (
	noteGoodput = lang.Say("Requests that met %s: %s per second, %s %% of those due.", "满足 %s 的请求：每秒 %s 个，占应发出请求的 %s %%。")
)

var legendAbsent = lang.Say("n/a nothing was completed, or nothing could be measured", "n/a 没有请求完成，或该项无法测量")
