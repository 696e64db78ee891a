package choose

import "llmsweep/report/lang"

// Prices that are not used.
var (
	priceUnused = lang.Say("warning: the price of %s is not used: %s", "警告：%s 的价格未被采用：%s")
	knownGPUs   = lang.Say("the results have %s", "结果中的 GPU 为 %s")
	knownNoGPU  = lang.Say("no result names its GPU; add it with llmsweep label DIR gpu=NAME", "没有结果注明 GPU；可用 llmsweep label DIR gpu=NAME 补上")
)

// Headings and columns.
var (
	titleChoice   = lang.Say("Choice for %s, %s", "选型：%s，%s")
	titleModels   = lang.Say("First for each model", "各模型的第一名")
	titleRefused  = lang.Say("Configurations that were not shown to meet it", "未证明满足要求的配置")
	titleChanging = lang.Say("What would change the order", "何种变化会改变排名")
	titleFront    = lang.Say("Pareto front: a user's speed against a GPU's output", "帕累托前沿：单用户速度与每 GPU 输出")
	titleMarked   = lang.Say("Rows used, with doubts and remarks", "采用但存疑或有备注的行")
	titleLeftOut  = lang.Say("Rows left out", "未采用的行")
	headRank      = lang.Say("rank", "名次")
	headSetup     = lang.Say("Configuration", "配置")
	headRate      = lang.Say("at the SLO", "满足 SLO 的负载")
	headOutput    = lang.Say("output", "输出")
	headAnswer    = lang.Say("answer", "回答")
	headReplicas  = lang.Say("replicas", "副本数")
	headGPUs      = lang.Say("GPUs", "GPU 数")
	headCarries   = lang.Say("capacity", "可承载")
	headCost      = lang.Say("cost", "费用")
	headMillion   = lang.Say("a million tokens", "每百万 token")
	headLimit     = lang.Say("Limited by", "限制因素")
	headRests     = lang.Say("Based on", "依据")
	headWhy       = lang.Say("Why", "原因")
	headPerUser   = lang.Say("per user", "单用户")
	headPerGPU    = lang.Say("per GPU", "每 GPU")
	subHour       = lang.Say("hour", "每小时")
	subMonth      = lang.Say("month", "每月")
	subDemand     = lang.Say("at the demand", "按需求")
	subSLO        = lang.Say("at the SLO", "满足 SLO 时")
	subSaturation = lang.Say("saturated", "饱和时")
	comma         = lang.Say(", ", "，")
	semicolon     = lang.Say("; ", "；")
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
	sayWish         = lang.Say("Wanted: %s at %s, %s %% of each replica kept free.", "要求：%s，需求 %s，每个副本预留 %s %% 余量。")
	sayMaxGPUs      = lang.Say(" At most %s.", "最多 %s。")
	sayUntold       = lang.Say("It cannot be told whether a configuration meets it: what is known of them does not decide.", "无法判断是否有配置满足要求：已有信息不足以判定。")
	sayNone         = lang.Say("None of the configurations meets it.", "没有任何配置满足要求。")
	sayCheapest     = lang.Say("Cheapest: %s, %s, %s: %s an hour, %s a month of 730 hours.", "费用最低：%s，%s，共 %s：每小时 %s，每月（730 小时）%s。")
	sayFewest       = lang.Say("Fewest GPUs: %s, %s, %s. No prices were given.", "GPU 数最少：%s，%s，共 %s。未给出价格。")
	sayRests        = lang.Say("One replica meets the SLO up to %s; the limit is %s (%s).", "单个副本在 %s 以内满足 SLO，限制因素：%s（%s）。")
	sayEach         = lang.Say("That is %s a GPU.", "即每张 GPU %s。")
	sayUsersBetween = lang.Say("The 95 %% interval of that number is %s-%s users: by it, the demand takes %d to %d replicas.", "该用户数的 95 %% 区间为 %s-%s：据此，满足需求需要 %d 到 %d 个副本。")
	sayRuns         = lang.Say("%s (%d sweeps)", "%s（%d 次扫描）")
	sayBetween      = lang.Say("That rate has a 95 %% interval of %s-%s req/s: by it, the demand takes %d to %d replicas.", "该速率的 95 %% 区间为 %s-%s req/s：据此，满足需求需要 %d 到 %d 个副本。")
	sayDoubted      = lang.Say("Doubtful rows leave that rate between %s and %s req/s: by it, the demand takes %d to %d replicas.", "因有存疑的行，该速率在 %s 与 %s req/s 之间：据此，满足需求需要 %d 到 %d 个副本。")
	sayTied         = lang.Say("The same number of GPUs at the same cost, but less capacity than its %s: %s.", "GPU 数与费用相同，但可承载量低于其 %s 的有：%s。")
	sayTiedGPUs     = lang.Say("The same number of GPUs, but less capacity than its %s: %s.", "GPU 数相同，但可承载量低于其 %s 的有：%s。")
	sayOneLess      = lang.Say("Up to a demand of %s one replica fewer is enough.", "需求不超过 %s 时可少用一个副本。")
	sayQuantized    = lang.Say("It is quantized (%s): these numbers do not tell whether its answers are as good.", "该配置经过量化（%s）：其回答质量是否相当，此处数据无法说明。")
	sayFrontCost    = lang.Say("Pareto front of cost against TTFT (no other configuration is both cheaper per million tokens and faster to the first token): %s.", "费用与 TTFT 的帕累托前沿（没有其他配置比它更便宜且首 token 更快）：%s。")
	sayFront        = lang.Say("No other row is better in both; each of the other rows is beaten by one of these.", "没有任何一行能在两项上同时优于下列各行；其余各行都至少不如其中一行。")
	sayEvenPrice    = lang.Say("The first costs as much as %s where an hour of %s costs %s, or of %s %s.", "当 %[2]s 每小时 %[3]s，或 %[4]s 每小时 %[5]s 时，第一名与 %[1]s 费用持平。")
	sayEvenAbove    = lang.Say("%s is cheaper just above a demand of %s.", "需求刚超过 %[2]s 时，%[1]s 更便宜。")
	sayEvenBelow    = lang.Say("%s is cheaper at or just below a demand of %s.", "需求等于或略低于 %[2]s 时，%[1]s 更便宜。")
	sayEvenNever    = lang.Say("From a tenth of the demand to ten times, no other is cheaper.", "在需求的十分之一到十倍之间，没有其他配置更便宜。")
	sayRow          = lang.Say("%s (%s, %s): %s", "%s（%s，%s）：%s")
)

// Legends.
var (
	legendReplica  = lang.Say("TTFT and ITL are means at that load; the capacity is that of all replicas together, and %s %% of it is kept free.", "TTFT 与 ITL 为该负载下的均值；可承载量为全部副本之和，其中预留 %s %% 余量。")
	legendMillion  = lang.Say("The cost of a million output tokens at the demand is that of all replicas, with the room that they keep; at the SLO and saturated it is for replicas loaded to that point, without headroom. It is in the currency of the prices.", "“按需求”的每百万输出 token 费用为全部副本承载该需求时的费用，含预留的余量；“满足 SLO 时”与“饱和时”按副本满载至该点计算，不含余量。货币单位与价格相同。")
	legendRepeated = lang.Say("%s was measured more than once: its rows in this table differ by measurement, not by configuration. Measure it again with longer stages, or name one of the results.", "%s 被测量了多次：表中它的各行之差来自测量，而非配置。请用更长的阶段重测，或只给出其中一个结果。")
	legendUneven   = lang.Say("The lengths of answers differ between configurations, whatever was asked for: a request with a short answer is less work, and longer answers would take more replicas than shown here.", "各配置的回答长度不同，与要求无关：回答较短者单个请求的工作量更小，若回答更长，所需副本数将多于此处所列。")
	legendUnpriced = lang.Say("No prices were given (--price L20=1.2,A100=3.6 or --prices FILE), so the order is by GPUs.", "未给出价格（--price L20=1.2,A100=3.6 或 --prices FILE），因此按 GPU 数排序。")
	legendReplicas = lang.Say("Replicas are assumed to be equal and evenly loaded; the cost of a load balancer is not included.", "假定各副本相同且负载均匀，不含负载均衡的开销。")
)

// Reasons.
var (
	whyNoRows      = lang.Say("it has no usable row", "没有可采用的行")
	whyNoUsers     = lang.Say("it was not measured by users (llmsweep sweep --by users)", "未按用户数测量（llmsweep sweep --by users）")
	whyNoCount     = lang.Say("its number of GPUs is not known (--label gpus=N)", "未注明 GPU 数（--label gpus=N）")
	whyNoOutput    = lang.Say("its output in tokens per second is not known", "其每秒输出 token 数未知")
	whyNoPrice     = lang.Say("no price for the GPU %q (--price)", "缺少 GPU %q 的价格（--price）")
	whyTooMany     = lang.Say("takes %s, more than the %d allowed", "需要 %s，超过上限 %d 张 GPU")
	whySaturated   = lang.Say("already saturated at %s", "在 %s 即已饱和")
	whyAbsent      = lang.Say("%s was not measured", "未测量 %s")
	whyUnsupported = lang.Say("the requests of %[2]s do not decide %[1]s", "%[2]s 的请求不足以判定 %[1]s")
	whyUndecided   = lang.Say("no row decides the SLO", "没有任何一行能判定 SLO")
	whyBetween     = lang.Say("its limit is not known: it keeps %s at %s and misses it at %s (%s), and no row between them decides", "其上限未知：在 %[2]s 满足 %[1]s，在 %[3]s 不满足（%[4]s），其间没有可判定的行")
	whyBroken      = lang.Say("already misses %s at %s: %s", "在 %[2]s 即不满足 %[1]s：%[3]s")
	endWide        = lang.Say("%s; only the low end of its interval is counted on", "%s；只按其区间的下端计")
	endBetween     = lang.Say("%s (%s-%s, doubtful rows between)", "%s（%s-%s，其间的行存疑）")
	endAbove       = lang.Say("%s (doubtful rows above)", "%s（负载更高的行存疑）")
	whyDoubtful    = lang.Say("%[1]s of %[2]s is doubtful", "%[2]s 的 %[1]s 存疑")
	endUnknown     = lang.Say("%s, which is unknown above that", "%s（更高负载下未知）")
	endBacklog     = lang.Say("saturation", "饱和")
	endRows        = lang.Say("the highest load measured", "已测的最高负载")
)
