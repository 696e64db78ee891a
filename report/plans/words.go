package plans

import (
	"llmsweep/report/lang"
	"llmsweep/sweep/plan"
)

var (
	titlePlan    = lang.Say("Capacity plan (predicted)", "容量规划（预测）")
	titleOver    = lang.Say("Replicas over time: %d. %s", "副本随时间的变化：%d. %s")
	titleSizes   = lang.Say("Sizes that were tried: %d. %s", "试过的规模：%d. %s")
	titleWhatIfs = lang.Say("What if: %d. %s", "假设：%d. %s")
	titleRefused = lang.Say("Twins without a plan", "没有规划的孪生模型")

	headRank     = lang.Say("rank", "名次")
	headTwin     = lang.Say("twin", "孪生模型")
	headReplicas = lang.Say("replicas", "副本数")
	headGPUs     = lang.Say("GPUs", "GPU 数")
	headHour     = lang.Say("cost/h", "费用/小时")
	headMonth    = lang.Say("cost/month", "费用/月")
	headHeld     = lang.Say("minutes held", "达标分钟")
	headHeldLost = lang.Say("with loss", "有副本失效时")
	headFirst    = lang.Say("breaks first", "最先不满足")
	headCheck    = lang.Say("check error", "检验误差")
	headFrom     = lang.Say("from", "时刻")
	headInFlight = lang.Say("in flight", "并发请求")
	headEnough   = lang.Say("enough", "足够")
	headChange   = lang.Say("change", "改变")
	headRemark   = lang.Say("remark", "备注")
	headWhy      = lang.Say("why", "原因")
	subRange     = lang.Say("range", "范围")
	subMean      = lang.Say("mean", "均值")
	subMin       = lang.Say("min", "最小")
	subMax       = lang.Say("max", "最大")

	wordYes          = lang.Say("yes", "是")
	wordNo           = lang.Say("no", "否")
	wordFailed       = lang.Say("FAILED", "未通过")
	wordUnchecked    = lang.Say("no check", "无检验")
	wordExtrapolated = lang.Say("extrapolation: nothing like it was measured", "外推：没有测过类似的情形")

	sayDemand       = lang.Say("%[1]d requests in %[2]s: %[3]s req/s on the mean, %[4]s in the busiest minute; prompts of %.0[5]f tokens on the mean (p99 %[6]d), answers of %.0[7]f (p99 %[8]d).", "%[2]s 内 %[1]d 个请求：平均 %[3]s req/s，最忙的一分钟 %[4]s；提示词平均 %.0[5]f 个 token（p99 %[6]d），回答平均 %.0[7]f 个（p99 %[8]d）。")
	sayWish         = lang.Say("Wanted: %[1]s in %[2]s of the minutes, %[3]s headroom; replicas that may be lost: %[4]d; router: %[5]s.", "要求：%[2]s 的分钟满足 %[1]s，余量 %[3]s，允许失去 %[4]d 个副本；路由：%[5]s。")
	sayNone         = lang.Say("No twin gives a plan; the reasons are below.", "没有孪生模型给出规划，原因见下。")
	sayFewest       = lang.Say("Fewest GPUs: %[1]s. Replicas: %[2]s; GPUs: %[3]d.", "GPU 最少：%[1]s，副本数 %[2]s，GPU 数 %[3]d。")
	sayCheapest     = lang.Say("Cheapest: %[1]s, %[3]s an hour, %[4]s a month. Replicas, at most: %[2]s.", "最便宜：%[1]s，副本最多 %[2]s，每小时 %[3]s，每月 %[4]s。")
	sayUnused       = lang.Say("The price of %s is not used: no twin is of that GPU. Label the runs with gpu=%s before the fit, or write it under labels in the twin.", "%s 的价格未被采用：没有孪生模型使用该 GPU。请在拟合前用 gpu=%s 标注运行，或写入孪生模型的 labels。")
	sayScale        = lang.Say("A replica is started when there are more than %[1]s requests in flight for each; %[2]s are paid for on the mean.", "平均每个副本的并发请求超过 %[1]s 时启动新副本；平均付费 %[2]s 个。")
	sayExtrapolated = lang.Say("Some requests are longer or shorter than what was measured: this part is an extrapolation.", "部分请求比实测的更长或更短：这一部分为外推。")
	sayFailed       = lang.Say("The twin failed its held-out check: the server does not behave like this.", "该孪生模型未通过留出检验：真实服务的行为与此不同。")
	sayRefusedShare = lang.Say("The server refuses %s of the requests: they are too long for it.", "服务拒绝 %s 的请求：它们太长。")
	sayLostAnswers  = lang.Say("%d answers are cut off when the replicas are lost.", "副本失效时有 %d 个回答被中断。")
	sayNothing      = lang.Say("nothing at 4 times the requests", "请求增至 4 倍时仍满足")
	sayBreaks       = lang.Say("%[1]s at %[2]s times the requests: %[3]s", "请求增至 %[2]s 倍时不满足 %[1]s：%[3]s")
	notePredicted   = lang.Say("All of it is predicted by simulation, not measured.", "全部由模拟预测，并非实测。")
	noteRange       = lang.Say("A range is the lowest and the highest of simulations with other servers that the measurement does not exclude.", "范围为若干次模拟的最低与最高值，每次换用实测不能排除的另一服务。")
	noteNoRange     = lang.Say("Without ranges: no other servers that the measurement does not exclude were simulated (--draws).", "没有范围：未模拟实测不能排除的其他服务（--draws）。")
	noteUnbounded   = lang.Say("> with some of these servers, not even --max-replicas are enough.", "> 其中有的服务即使用 --max-replicas 个副本也不够。")
	sayUnreliable   = lang.Say("Not to be relied on, since the twin FAILED its check. ", "不可依赖，孪生模型未通过检验。")
	noteFirst       = lang.Say("What breaks first: by how many times the busiest hour may grow until the objective breaks, and why.", "最先不满足：最忙的一小时增长到多少倍时不再满足目标，以及原因。")
	noteLost        = lang.Say("With loss (replicas: %d): minutes held when they are lost at the busiest hour and do not come back.", "有副本失效时：最忙的一小时失去 %d 个副本且不恢复时的达标分钟。")
	noteSizes       = lang.Say("Each size was simulated with the requests and the headroom, and all the time without the replicas that may be lost.", "每种规模都以请求量加余量模拟，并且始终不含允许失去的副本。")
	noteWhatIfs     = lang.Say("From the busiest hour, with a fixed number of replicas. Replicas without a change: %s.", "按最忙的一小时、固定副本数计算。无改变时：%s 个副本。")

	whyCheck = lang.Say("it failed its held-out check: fit it again on a quiet machine, or plan with it anyway with --unchecked", "未通过留出检验：请在安静的机器上重新测量，或用 --unchecked 强制使用")
	whyMost  = lang.Say("not even --max-replicas are enough: raise it, or loosen the objective", "--max-replicas 个副本仍不够：请提高上限，或放宽目标")
	whyPrice = lang.Say("it has no price: give one with --price GPU=N, or label the run with price=N before the fit", "没有价格：请用 --price GPU=N 给出，或在拟合前用 price=N 标注运行")
)

// cause is why an objective breaks.
func cause(code string, l lang.Lang) string {
	switch code {
	case plan.CauseSlots:
		return lang.Say("all slots are taken", "槽位占满").In(l)
	case plan.CauseCache:
		return lang.Say("the KV cache is full", "KV 缓存已满").In(l)
	case plan.CauseSteps:
		return lang.Say("the token budget of a step is used up by prompts", "步的 token 预算被提示词用尽").In(l)
	}
	return lang.Say("steps take too long", "步时间过长").In(l)
}

// router names a router.
func router(code string, l lang.Lang) string {
	switch plan.Router(code) {
	case plan.LeastLoaded:
		return lang.Say("least loaded", "并发最少").In(l)
	case plan.PrefixAware:
		return lang.Say("prefix-aware", "前缀感知").In(l)
	}
	return lang.Say("round robin", "轮询").In(l)
}

// Progress is the line that tells how far a plan is.
func Progress(name, what string, done, total int, l lang.Lang) string {
	for _, p := range []lang.Phrase{doingHour, doingWhole, doingLost, doingScaling, doingDraws, doingBreak, doingSizes} {
		if p.In(lang.English) == what {
			what = p.In(l)
		}
	}
	return sayProgress.In(l, name, done, total, what)
}

var (
	sayProgress  = lang.Say("plan  %[1]s  %[2]d of %[3]d  %[4]s", "规划  %[1]s  第 %[2]d 步，共 %[3]d 步  %[4]s")
	doingHour    = lang.Say("busiest hour", "最忙的一小时")
	doingWhole   = lang.Say("whole time", "全部时间")
	doingLost    = lang.Say("with lost replicas", "有副本失效")
	doingScaling = lang.Say("scaling", "伸缩")
	doingDraws   = lang.Say("uncertainty of the fit", "拟合的不确定性")
	doingSizes   = lang.Say("sizes", "各种规模")
	doingBreak   = lang.Say("what breaks first", "最先不满足")
)
