package progress

import "llmsweep/report/lang"

var (
	sayElapsed   = lang.Say("%s elapsed", "已用 %s")
	sayEnding    = lang.Say("Ending; what was measured is kept. q again ends at once.", "正在结束；已测得的数据会保留。再按 q 立即结束。")
	sayAsked     = lang.Say("Pauses before the next stage. p takes that back.", "将在下一阶段之前暂停。按 p 取消。")
	sayPaused    = lang.Say("Paused. p goes on. The pause is noted in the report, and is not part of a budget.", "已暂停，按 p 继续。暂停会写入报告，不计入预算。")
	sayPreparing = lang.Say("preparing", "准备中")
	sayInFlight  = lang.Say("in flight", "并发")
	sayTTFT      = lang.Say("TTFT", "TTFT")
	sayITL       = lang.Say("ITL", "ITL")
	sayOutput    = lang.Say("output", "输出")
	sayRequests  = lang.Say("requests", "请求")
	sayDone      = lang.Say("%s requests done in this stage", "本阶段已完成 %s 个请求")
	sayNoRoom    = lang.Say("A larger window shows the curve of output and TTFT against the rate.", "窗口更大时显示输出与 TTFT 随到达率的曲线。")
	sayNoErrors  = lang.Say("no failed requests", "没有失败的请求")
	sayErrors    = lang.Say("failed: ", "失败：")
	sayNext      = lang.Say("Next: ", "接下来：")
	sayNoCurve   = lang.Say("The curves appear here after two arrival rates.", "测得两个到达率后，此处显示曲线。")
	sayAxis      = lang.Say("x: requests per second", "横轴：每秒请求数")
	sayUsersAxis = lang.Say("x: number of users", "横轴：用户数")

	sayKeys       = lang.Say("q end and keep the results   p pause before the next stage   ? explain", "q 结束并保留结果   p 在下一阶段前暂停   ? 说明")
	sayKeysPaused = lang.Say("q end and keep the results   p go on   ? explain", "q 结束并保留结果   p 继续   ? 说明")
	sayBack       = lang.Say("? back to the run   q end and keep the results", "? 返回   q 结束并保留结果")
)

// explanation is a sentence about what is on the screen.
type explanation struct{ name, text lang.Phrase }

func explanations() []explanation {
	return []explanation{
		{sayInFlight, lang.Say("requests that were sent and are not yet answered completely.", "已发送、尚未完整回答的请求数。")},
		{sayOutput, lang.Say("tokens that all answers together received per second, in the last two seconds.", "最近两秒内，所有回答合计每秒收到的 token 数。")},
		{sayTTFT, lang.Say("time to first token, from sending a request to the first token of its answer; the median of the latest requests.", "首 token 时延：从发送请求到收到其回答的第一个 token；最近若干请求的中位数。")},
		{sayITL, lang.Say("inter-token latency, the time between two tokens of one answer; the median of the latest requests.", "token 间时延：同一回答相邻两个 token 之间的时间；最近若干请求的中位数。")},
		{sayRequests, lang.Say("those of this stage that were answered completely.", "本阶段已完整回答的请求数。")},
		{lang.Say("failed", "失败"), lang.Say("failed requests of the whole run, by class; llmsweep help errors explains the classes.", "整个运行中失败的请求，按类别；llmsweep help errors 说明各类别。")},
		{lang.Say("curves", "曲线"), lang.Say("each point is a stage: output and mean TTFT against the requests per second that arrived. Where output stops to grow and TTFT rises, the server saturates.", "每个点是一个阶段：输出与平均 TTFT 随每秒到达请求数的变化。输出不再增长、TTFT 上升之处，服务饱和。")},
		{lang.Say("small bars", "小柱"), lang.Say("the course of a number over the last two minutes at most, two bars a second, from its lowest to its highest value.", "该数值最近至多两分钟的变化，每秒两柱，从其最小值到最大值。")},
		{lang.Say("time left", "剩余时间"), lang.Say("an estimate with its bounds: how long stages take depends on how soon they decide.", "估计值及其范围：阶段时长取决于多快能作出判定。")},
		{lang.Say("lines at the bottom", "底部各行"), lang.Say("stages that have ended: requests completed per second, mean TTFT and ITL, output, and the verdict (llmsweep help verdicts).", "已结束的阶段：每秒完成的请求数、平均 TTFT 与 ITL、输出和判定（llmsweep help verdicts）。")},
	}
}
