package document

import "llmsweep/report"

// The document's own words.
var (
	docTitle     = report.Say("LLM inference compared", "LLM 推理性能对比")
	docSummary   = report.Say("Summary", "提要")
	docDetails   = report.Say("Details", "细节")
	docHardware  = report.Say("**Hardware** (%s): which GPU to choose", "对比**不同硬件**LLM的推理性能影响（%s），便于推理显卡选型")
	docEngines   = report.Say("**Engines** (%s): which serving engine to choose", "对比**不同推理引擎**对LLM的推理性能影响（%s），便于推理引擎选型")
	docModels    = report.Say("**Model sizes** (%s): which model to choose", "对比**不同参数**下的推理速度（%s），便于LLM参数选型")
	docQuants    = report.Say("**Quantization** (%s, and none): what it changes in speed", "对比**不同量化算法**对LLM推理速度的影响（%s 与未量化），便于量化选型")
	docCount     = report.Say("%d configurations. Every number below can be traced to the rows that are named with it.", "共 %d 个配置。以下每个数字都可追溯到所注明的行。")
	docLeftOut   = report.Say("%d rows cannot be right or were cut short. They stand in the tables as they were printed, and nothing else rests on them; each is named where it stands.", "有 %d 行数据不可能正确或不完整：表格中照原样保留，但不作为任何结论的依据，并在原处注明。")
	docSource    = report.Say("Source: %s", "来源：%s")
	docDoubt     = report.Say("Not relied on: %s (%s): %s", "未采用：%s（%s），审核原文：%s")
	docNoGPU     = report.Say("GPU not named", "未注明显卡")
	docNoEngine  = report.Say("engine not named", "未注明引擎")
	docGroup     = report.Say(", ", "，")
	docListComma = report.Say(", ", "、")
)

// What stands in drawings.
var (
	drawTTFT       = report.Say("TTFT mean, ms", "TTFT 均值，ms")
	drawITL        = report.Say("ITL mean, ms", "ITL 均值，ms")
	drawOutput     = report.Say("output, tok/s", "输出，tok/s")
	drawOffered    = report.Say("offered, req/s", "到达率，req/s")
	drawThroughput = report.Say("%s: throughput", "%s：吞吐")
	drawBrackets   = report.Say("Saturation, req/s completed; whiskers: highest stable to lowest saturated rate; arrow: at least", "饱和点（完成 req/s）；横线：最高稳定至最低饱和到达率；箭头：不小于此值")
	drawFront      = report.Say("%s: a user's speed against a GPU's output", "%s：单用户速度与每卡输出")
	drawPerUser    = report.Say("tok/s for a user (1 / ITL)", "单用户 tok/s（1 / ITL）")
	drawPerGPU     = report.Say("tok/s from a GPU", "每卡 tok/s")
	drawFrontLine  = report.Say("Pareto front", "帕累托前沿")
	drawCost       = report.Say("%s: cost against TTFT, at the SLO", "%s：费用与 TTFT（SLO 上限处）")
	drawMillion    = report.Say("cost of a million output tokens", "每百万输出 token 费用")
)
