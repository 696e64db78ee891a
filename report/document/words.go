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
	docCount     = lang.Say("%d configurations. The sections of the comparison name the rows that the sentences here are based on.", "共 %d 个配置。以下各句所依据的行，见“比较”各节的“依据”一栏。")
	docLeftOut   = lang.Say("Rows that cannot be right, ended early or are warm-ups: %d. The tables show them as they were printed, and nothing else uses them; each is named at its table.", "有 %d 行数据不可能正确、不完整或为预热：表格中照原样保留，但不作为任何结论的依据，并在原处注明。")
	docClient    = lang.Say("The client was too slow in some of them. ", "其中部分行是因为客户端过慢。")
	docLabels    = lang.Say("Labels: %s", "标签：%s")
	docRead      = lang.Say("%s (line %d)", "%s（第 %d 行）")
	docInferred  = lang.Say("%s (inferred from line %d)", "%s（由第 %d 行推断）")
	docLaunch    = lang.Say("Launch command: %s", "启动命令：%s")
	docName      = lang.Say("Configuration: %s", "配置：%s")
	docSource    = lang.Say("Source: %s", "来源：%s")
	docFigures   = lang.Say("Not used of %s, the doubtful figures: %s", "%s 中存疑的数值未采用：%s")
	docFiguresOf = lang.Say("Rows of which only the doubtful figures are left out: %d. Each is named at its table.", "另有 %d 行只是其中存疑的数值未采用，并在原处注明。")
	docDoubt     = lang.Say("Not used: %s: %s", "未采用：%s：%s")
	docRemark    = lang.Say("%s: %s", "%s：%s")
	docRow       = lang.Say("%s (%s)", "%s（%s）")
	docNoGPU     = lang.Say("GPU not named", "未注明 GPU")
	docNoModel   = lang.Say("model not named", "未注明模型")
	docNoQuant   = lang.Say("not quantized", "未量化")
	docGPUs      = lang.Say("%s GPU", "%s 张 GPU")
	docNoEngine  = lang.Say("engine not named", "未注明引擎")
	docGroup     = lang.Say(", ", "，")
)
