package choose

import "llmsweep/report/lang"

var (
	priceUnused = lang.Say("warning: the price of %s is not used: %s", "警告：%s 的价格未被采用：%s")
	knownGPUs   = lang.Say("the results have %s", "结果中的 GPU 为 %s")
	knownNoGPU  = lang.Say("no result names its GPU; add it with llmsweep label DIR gpu=NAME",
		"没有结果注明 GPU；可用 llmsweep label DIR gpu=NAME 补上")
)

// Headings and columns.
var (
	titleChoice   = lang.Say("Choice for %s, %s", "选型：%s，%s")
	titleModels   = lang.Say("First for each model", "各模型的第一名")
	titleRefused  = lang.Say("Not shown to meet it", "未证明满足要求")
	titleChanging = lang.Say("What would change the order", "何种变化会改变排名")
	headRank      = lang.Say("rank", "名次")
	headSetup     = lang.Say("Configuration", "配置")
	headRate      = lang.Say("at the SLO", "满足 SLO 的负载")
	headAnswer    = lang.Say("answer", "回答")
	headReplicas  = lang.Say("replicas", "副本数")
	headGPUs      = lang.Say("GPUs", "GPU 数")
	headCarries   = lang.Say("capacity", "可承载")
	headCost      = lang.Say("cost", "费用")
	headMillion   = lang.Say("a million tokens", "每百万 token")
	headLimit     = lang.Say("Limited by", "限制因素")
	headRests     = lang.Say("Based on", "依据")
	headWhy       = lang.Say("Why", "原因")
	subHour       = lang.Say("hour", "每小时")
	subMonth      = lang.Say("month", "每月")
	wordUnnamed   = lang.Say("an unnamed model", "未注明的模型")
)

// Counted things.
var (
	unitUsers    = lang.Say("users", "用户")
	sayUsers     = lang.Say("%s users", "%s 个用户")
	oneGPU       = lang.Say("%d GPU", "%d 张 GPU")
	manyGPUs     = lang.Say("%d GPUs", "%d 张 GPU")
	oneReplica   = lang.Say("%d replica", "%d 个副本")
	manyReplicas = lang.Say("%d replicas", "%d 个副本")
)

// GPUs returns a number of GPUs in words.
func GPUs(n int) lang.Text { return counted(n, oneGPU, manyGPUs) }

// Replicas returns a number of replicas in words.
func Replicas(n int) lang.Text { return counted(n, oneReplica, manyReplicas) }

func counted(n int, one, many lang.Phrase) lang.Text {
	if n == 1 {
		return one.Text(n)
	}
	return many.Text(n)
}

// Sentences.
var (
	sayWish     = lang.Say("Wanted: %s at %s, %s %% of each replica kept free.", "要求：%s，需求 %s，每个副本预留 %s %% 余量。")
	sayMaxGPUs  = lang.Say(" At most %s.", "最多 %s。")
	sayUntold   = lang.Say("Not enough data to tell whether a configuration meets it. The reasons are below.", "数据不足以判断是否有配置满足要求，原因见下。")
	sayNone     = lang.Say("No configuration meets it.", "没有配置满足要求。")
	sayCheapest = lang.Say("Cheapest: %s, %s, %s: %s an hour.", "费用最低：%s，%s，共 %s：每小时 %s。")
	sayFewest   = lang.Say("Fewest GPUs: %s, %s, %s.", "GPU 数最少：%s，%s，共 %s。")
	sayRests    = lang.Say("One replica meets the SLO up to %s (%s). Limit: %s.", "单个副本在 %s 以内满足 SLO（%s）。限制因素：%s。")
	sayRuns     = lang.Say("%s (%d sweeps)", "%s（%d 次扫描）")
	sayBetween  = lang.Say("95 %% interval: %s-%s %s, so %d to %d replicas.", "95 %% 区间：%s-%s %s，即 %d 到 %d 个副本。")
	sayDoubted  = lang.Say("Doubtful rows leave %s-%s %s open, so %d to %d replicas.",
		"存疑的行使该负载介于 %s-%s %s，即 %d 到 %d 个副本。")
	sayTied      = lang.Say("Same cost, less capacity: %s.", "费用相同、可承载量较低：%s。")
	sayTiedGPUs  = lang.Say("As many GPUs, less capacity: %s.", "GPU 数相同、可承载量较低：%s。")
	sayOneLess   = lang.Say("Up to %s one replica fewer is enough.", "需求不超过 %s 时可少用一个副本。")
	sayQuantized = lang.Say("It is quantized (%s): check the quality of its answers.", "该配置经过量化（%s）：请另行确认其回答质量。")
	sayEvenPrice = lang.Say("The first costs as much as %s where an hour of %s costs %s, or of %s %s.",
		"当 %[2]s 每小时 %[3]s，或 %[4]s 每小时 %[5]s 时，第一名与 %[1]s 费用持平。")
	sayEvenAbove = lang.Say("%s is cheaper just above %s.", "需求刚超过 %[2]s 时，%[1]s 更便宜。")
	sayEvenBelow = lang.Say("%s is cheaper at or just below %s.", "需求等于或略低于 %[2]s 时，%[1]s 更便宜。")
	sayEvenNever = lang.Say("The first stays first from %s to %s.", "需求在 %s 到 %s 之间时，第一名不变。")
)

// Legends.
var (
	legendColumns = lang.Say("TTFT and ITL: means at the SLO. Capacity: of all replicas, loaded evenly. A million tokens: at the demand.",
		"TTFT 与 ITL：满足 SLO 的负载下的均值。可承载：全部副本负载均匀时之和。每百万 token：按需求计。")
	legendRepeated = lang.Say("%s was measured more than once: its rows show how much measurements differ.",
		"%s 被测量了多次：它的各行之差是测量之差。")
	legendUneven = lang.Say("Answers differ in length: the short ones are less work, so longer answers may take more replicas.",
		"各配置的实际回答长度不同：回答短则工作量小，若回答更长，所需副本可能更多。")
	legendUnpriced = lang.Say("Without prices the order is by GPUs (--price L20=1.2,A100=3.6).", "未给出价格，按 GPU 数排序（--price L20=1.2,A100=3.6）。")
)

// Answers that are shorter than asked for, repeats, and GPUs that were not counted.
var (
	sayConverted = lang.Say("%s req/s of %s tokens, measured as %s with %s tokens",
		"%s req/s（每个 %s token，实测为 %s，每个 %s token）")
	sayOf           = lang.Say("%s of %s", "%s/%s")
	legendConverted = lang.Say("Rates of shorter answers are converted by tokens to requests of the length asked for.",
		"回答比要求短的速率已按 token 数折算为要求长度的请求。")
	legendWorst = lang.Say("%s: %d repeats completed %s-%s req/s; the worst counts.",
		"%s：%d 次重复完成 %s-%s req/s，按最差的一次计。")
	legendMissed      = lang.Say("%s: misses %s at a lower load, %s: %s.", "%s：在较低负载 %[3]s 不满足 %[2]s：%[4]s。")
	sayFewestReplicas = lang.Say("Fewest replicas: %s, %s.", "副本数最少：%s，%s。")
	sayTiedReplicas   = lang.Say("As many replicas, less capacity: %s.", "副本数相同、可承载量较低：%s。")
	legendUncounted   = lang.Say("Without the number of GPUs the order is by replicas (llmsweep label DIR gpus=N).",
		"GPU 数未知，按副本数排序（llmsweep label DIR gpus=N）。")
)

// Reasons.
var (
	whyNoRows      = lang.Say("no usable row", "没有可采用的行")
	whyNoUsers     = lang.Say("not measured by users (llmsweep sweep --by users)", "未按用户数测量（llmsweep sweep --by users）")
	whyNoCount     = lang.Say("number of GPUs unknown (llmsweep label DIR gpus=N)", "GPU 数未知（llmsweep label DIR gpus=N）")
	whyNoOutput    = lang.Say("output in tok/s unknown", "每秒输出 token 数未知")
	whyNoPrice     = lang.Say("no price for the GPU %q (--price)", "缺少 GPU %q 的价格（--price）")
	whyTooMany     = lang.Say("takes %s, more than the %d allowed", "需要 %s，超过上限 %d 张 GPU")
	whySaturated   = lang.Say("saturated at %s", "在 %s 已饱和")
	whyAbsent      = lang.Say("%s was not measured", "未测量 %s")
	whyUnsupported = lang.Say("%[2]s does not decide %[1]s", "%[2]s 不足以判定 %[1]s")
	whyUndecided   = lang.Say("no row decides the SLO", "没有任何一行能判定 SLO")
	whyBetween     = lang.Say("%s: met at %s, missed at %s (%s), unknown between", "%s：在 %s 满足，在 %s 不满足（%s），其间未知")
	whyBroken      = lang.Say("misses %s at %s: %s", "在 %[2]s 不满足 %[1]s：%[3]s")
	whyDoubtful    = lang.Say("%[1]s of %[2]s is doubtful", "%[2]s 的 %[1]s 存疑")
	endMissed      = lang.Say("%s, missed at %s", "%s，在 %s 不满足")
	endDoubted     = lang.Say("%s (doubtful rows beyond)", "%s（更高负载的行存疑）")
	endUnknown     = lang.Say("%s, unknown above", "%s，更高负载下未知")
	endBacklog     = lang.Say("saturation", "饱和")
	endFull        = lang.Say("higher rates completed no more", "更高到达率下完成数不再增加")
	endRows        = lang.Say("not measured higher, may carry more", "未测更高负载，或可承载更多")
)
