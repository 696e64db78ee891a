package document

import "llmsweep/report/lang"

// The document's own words.
var (
	docTitle     = lang.Say("LLM inference compared", "LLM 推理性能对比")
	docSummary   = lang.Say("Summary", "提要")
	docDetails   = lang.Say("Details", "细节")
	docHardware  = lang.Say("**Hardware** (%s): which GPU to choose", "对比**不同硬件**对 LLM 推理性能的影响（%s），便于选择 GPU")
	docEngines   = lang.Say("**Engines** (%s): which serving engine to choose", "对比**不同推理引擎**对 LLM 推理性能的影响（%s），便于选择推理引擎")
	docModels    = lang.Say("**Model sizes** (%s): which model to choose", "对比**不同参数规模**下的推理速度（%s），便于选择模型")
	docQuants    = lang.Say("**Quantization** (%s, and none): its effect on speed", "对比**不同量化算法**对 LLM 推理速度的影响（%s 与未量化），便于选择量化方式")
	docCount     = lang.Say("%d configurations. Each number below names the rows that it is based on.", "共 %d 个配置。以下每个数字都可追溯到所注明的行。")
	docLeftOut   = lang.Say("Rows that cannot be right, ended early or are warm-ups: %d. The tables show them as they were printed, and nothing else uses them; each is named at its table.", "有 %d 行数据不可能正确、不完整或为预热：表格中照原样保留，但不作为任何结论的依据，并在原处注明。")
	docLabels    = lang.Say("Labels: %s", "标签：%s")
	docRead      = lang.Say("%s (line %d)", "%s（第 %d 行）")
	docInferred  = lang.Say("%s (inferred from line %d)", "%s（由第 %d 行推断）")
	docLaunch    = lang.Say("Launch command: %s", "启动命令：%s")
	docClaims    = lang.Say("%s: its tables do not show %d of the %d statements of its text that were checked; each is named below with its line.", "%s：文中经核对的 %[3]d 处陈述有 %[2]d 处未由其表格支持，下文逐处注明所在行。")
	docSource    = lang.Say("Source: %s", "来源：%s")
	docFigures   = lang.Say("Not used of %s (%s), the doubtful figures: %s", "%s（%s）中存疑的数值未采用：%s")
	docFiguresOf = lang.Say("Rows of which only the doubtful figures are left out: %d. Each is named at its table.", "有 %d 行仅其中存疑的数值未采用，并在原处注明。")
	docDoubt     = lang.Say("Not used: %s (%s): %s", "未采用：%s（%s）：%s")
	docNoGPU     = lang.Say("GPU not named", "未注明 GPU")
	docNoEngine  = lang.Say("engine not named", "未注明引擎")
	docGroup     = lang.Say(", ", "，")
	docListComma = lang.Say(", ", "、")
)

// What stands in drawings.
var (
	drawTTFTs      = lang.Say("%s: TTFT", "%s：TTFT")
	drawITLs       = lang.Say("%s: ITL", "%s：ITL")
	drawTTFT       = lang.Say("TTFT mean, ms", "TTFT 均值，ms")
	drawITL        = lang.Say("ITL mean, ms", "ITL 均值，ms")
	drawOutput     = lang.Say("output, tok/s", "输出，tok/s")
	drawOffered    = lang.Say("offered, req/s", "到达率，req/s")
	drawThroughput = lang.Say("%s: throughput", "%s：吞吐")
	drawBrackets   = lang.Say("Saturation, req/s completed; whiskers: highest stable to lowest saturated rate; arrow: at least", "饱和点（完成 req/s）；横线：最高稳定至最低饱和到达率；箭头：不小于此值")
	drawFront      = lang.Say("%s: a user's speed against a GPU's output", "%s：单用户速度与每 GPU 输出")
	drawPerUser    = lang.Say("tok/s for a user (1 / ITL)", "单用户 tok/s（1 / ITL）")
	drawPerGPU     = lang.Say("tok/s from a GPU", "每 GPU tok/s")
	drawFrontLine  = lang.Say("Pareto front", "帕累托前沿")
	drawCost       = lang.Say("%s: cost against TTFT, at the SLO", "%s：费用与 TTFT（SLO 限值处）")
	drawMillion    = lang.Say("cost of a million output tokens", "每百万输出 token 费用")
)
