package twinplots

import "llmsweep/report/lang"

var (
	titleOutput   = lang.Say("Output", "输出")
	axisRate      = lang.Say("arrival rate, req/s", "到达率（req/s）")
	axisInFlight  = lang.Say("requests kept in flight", "保持的并发请求数")
	axisOutput    = lang.Say("output, tok/s", "输出（tok/s）")
	headPredicted = lang.Say("predicted", "预测")
	headMeasured  = lang.Say("measured", "实测")
	noteBeside    = lang.Say("Dashed line: predicted. Points: measured; hollow where the twin was fitted to the stage.", "虚线为预测值，点为实测值；空心点表示孪生模型由该阶段拟合而来。")
)
