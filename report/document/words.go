package document

import "llmsweep/report/lang"

var (
	docTitle    = lang.Say("LLM inference compared", "LLM 推理性能对比")
	docSummary  = lang.Say("Summary", "提要")
	docDetails  = lang.Say("Details", "细节")
	docHardware = lang.Say("**Hardware**: %s", "**硬件**：%s")
	docEngines  = lang.Say("**Engines**: %s", "**推理引擎**：%s")
	docModels   = lang.Say("**Models**: %s", "**模型**：%s")
	docQuants   = lang.Say("**Quantization**: %s, and none", "**量化**：%s 与未量化")
	docNotUsed  = lang.Say("Not used: %d rows, and the doubtful figures of %d others. Each is named at its table.",
		"未采用 %d 行；另有 %d 行只剔除了存疑的数值，其余数值照常使用。均已在原处注明。")
	docLabels   = lang.Say("Labels: %s", "标签：%s")
	docRead     = lang.Say("%s (line %d)", "%s（第 %d 行）")
	docInferred = lang.Say("%s (inferred from line %d)", "%s（由第 %d 行推断）")
	docName     = lang.Say("Configuration: %s", "配置：%s")
	docSource   = lang.Say("Source: %s", "来源：%s")
	docFigures  = lang.Say("Not used of %s: %s: %s", "%s 中未采用：%s：%s")
	docDoubt    = lang.Say("Not used: %s: %s", "未采用：%s：%s")
	docNoGPU    = lang.Say("GPU not named", "未注明 GPU")
	docNoModel  = lang.Say("model not named", "未注明模型")
	docNoQuant  = lang.Say("not quantized", "未量化")
	docNoEngine = lang.Say("engine not named", "未注明引擎")
)
