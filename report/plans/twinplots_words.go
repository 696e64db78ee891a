package plans

import "llmsweep/report/lang"

var (
	titleOutput   = lang.Say("Output", "输出")
	axisRate      = lang.Say("arrival rate, req/s", "到达率（req/s）")
	axisInFlight  = lang.Say("requests kept in flight", "保持的并发请求数")
	axisOutput    = lang.Say("output, tok/s", "输出（tok/s）")
	headPredicted = lang.Say("predicted", "预测")
	headMeasured  = lang.Say("measured", "实测")
	noteBeside    = lang.Say("Dashed line: predicted. Points: measured; hollow where the twin was fitted to the stage.", "虚线为预测值，点为实测值；空心点表示孪生模型由该阶段拟合而来。")

	plotTitlePlan  = lang.Say("Capacity plan (predicted)", "容量规划（预测）")
	titleDay       = lang.Say("%d. %s", "%d. %s")
	titleDemand    = lang.Say("Demand", "需求")
	titleReplicas  = lang.Say("Replicas", "副本数")
	plotTitleSizes = lang.Say("Other numbers of replicas", "其他副本数")
	axisDemand     = lang.Say("requests per second", "每秒请求数")
	axisReplicas   = lang.Say("replicas", "副本数")
	axisHeld       = lang.Say("minutes held, %", "达标分钟（%）")
	axisHours      = lang.Say("time, hours", "时间（小时）")
	axisMinutes    = lang.Say("time, minutes", "时间（分钟）")
	wordMost       = lang.Say("most", "最多")
	wordLost       = lang.Say("with loss", "有失效")
	markLost       = lang.Say("lost", "失效")
	ruleWanted     = lang.Say("wanted", "要求")
	noteWorst      = lang.Say("The worst minute of each span, predicted. A line is broken off where answers never came.", "每个时段中最差的一分钟（预测）。回答始终未到之处线条中断。")
)
