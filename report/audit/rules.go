package audit

import "llmsweep/report/lang"

// rules returns all rules, in the order in which they are asked and in which findings of one line are shown: what
// misprints a figure is found before what such a figure would contradict. The reasons for the tolerances stand beside
// the constants of the checks.
func rules() []rule {
	return []rule{
		{"zeros", lang.Say("Nothing was completed, and it is printed as 0 instead of n/a.", "没有完成任何请求，却印成 0 而非 n/a。"), each(zeros)},
		{"unit", lang.Say("A unit contradicts the rest of its column, more than ten times.", "单位与该列其余各行矛盾，相差十倍以上。"), each(units)},
		{"grid", lang.Say("A rate is off the even grid of the other rates, by more than rounding.", "到达率不在其余到达率的等距网格上，超出舍入误差。"), perTable(offGrid)},
		{"copied", lang.Say("Numbers of four digits are those of the row above, which a steady server does not explain.",
			"四位以上的数字与上一行相同，服务稳定不足以解释。"), perTable(copied)},
		{"tokens", lang.Say("Tokens per request: 5 % more than asked for, fewer than half of that, or unlike the other rows.",
			"每个请求的 token 数：比要求多 5 %，或不足一半，或与其余各行不符。"), perTable(tokensPerRequest)},
		{"offered", lang.Say("More was completed than was offered, by three standard deviations.", "完成数多于到达数，超出三倍标准差。"), each(completedOverOffered)},
		{"backlog", lang.Say("TTFT is three times that at a higher rate: requests queued behind those of the stage before.",
			"TTFT 是更高到达率时的三倍：本阶段的请求排在上一阶段尚未完成的请求之后。"), perTable(backlogs)},
		{"retokenized", lang.Say("The text has 10 % more or fewer tokens than were reported.", "文本的 token 数与报告相差 10 % 以上。"), each(retokenized)},
		{"tpot", lang.Say("Mean time per output token is more than twice mean inter-token latency.", "每输出 token 时间均值超过 token 间时延均值的两倍。"), each(tpotAboveITL)},
		{"ttft", lang.Say("The first token came later than the last.", "首 token 晚于末 token。"), each(ttftAboveLatency)},
		{"latency", lang.Say("Latency is not TTFT + (n-1) x inter-token latency, by more than 5 %.", "总时延与 TTFT +（n-1）x token 间时延相差 5 % 以上。"), each(latencyIdentity)},
		{"order", lang.Say("Percentiles out of order, or a mean outside the extremes.", "百分位数次序颠倒，或均值超出极值。"), each(order)},
		{"arithmetic", lang.Say("A number does not follow from those it is made of, by more than 0.5 %.", "数字与其来源数字相差 0.5 % 以上。"), each(arithmetic)},
		{"ceiling", lang.Say("The row throughput is 25 % above what was completed of the same rate when it was offered.",
			"throughput 行比同一到达率下的完成速率高 25 % 以上。"), perTable(ceiling)},
		{"default-limit", lang.Say("The server stopped at a length of its own, not at Max Tokens.", "服务停在其自身的长度上限，而非 Max Tokens。"), stoppedByDefault},
		{"even", lang.Say("All requests took the same time (2.5 %), with 10 % fewer tokens than Max Tokens.",
			"所有请求用时相同（2.5 %），但 token 数比 Max Tokens 少 10 % 以上。"), each(evenLengths)},
		{"closed-loop", lang.Say("5 % fewer requests were in flight than the table says. The numbers are of that lower load.",
			"并发比表中所列少 5 % 以上。数字对应的是较低的负载。"), each(closedLoop)},
	}
}

// recordRules returns the rules of [Records].
func recordRules() []rule {
	return []rule{
		{Name: "instants", Says: lang.Say("The instants of a request are out of order, by more than 1 ms.", "请求的各时刻次序颠倒，超过 1 ms。")},
		{Name: "gaps", Says: lang.Say("Gaps between chunks do not add up to the time of the tokens, by more than 1 ms.", "块间隔之和与首末 token 之间的时间相差 1 ms 以上。")},
		{Name: "stopped", Says: lang.Say("A tenth of the answers stopped by length 5 % below the length asked for.", "十分之一的回答因长度停在要求长度的 95 % 以下。")},
		{Name: "empty", Says: lang.Say("Requests succeeded without an output token.", "成功的请求没有输出 token。")},
	}
}
