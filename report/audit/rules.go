package audit

import "llmsweep/report/lang"

// rules returns all rules, in the order in which they are applied and findings of one line are shown: a misprint comes
// before what the misprinted figure would contradict. The constants of the checks give the reasons for the tolerances.
func rules() []rule {
	return []rule{
		{"zeros", lang.Say("Nothing was completed, and it is printed as 0 instead of n/a.", "没有完成任何请求，却印成 0 而非 n/a。"),
			[]check{perRow(zeros)}},
		{"unit", lang.Say("A unit contradicts the rest of its column, more than ten times.", "单位与该列其余各行矛盾，相差十倍以上。"),
			[]check{perRow(units)}},
		{"grid", lang.Say("A rate is off the even grid of the other rates, by more than rounding.",
			"到达率不在其余到达率的等距网格上，超出舍入误差。"), []check{perTable(offGrid)}},
		{"copied", lang.Say("Numbers are those of another row or table, which chance does not explain.",
			"数字与另一行或另一张表相同，偶然不足以解释。"),
			[]check{perTable(copiedRows), reprintedTables}},
		{"tokens", lang.Say("Tokens per request: 5 % more than asked for, fewer than half of that, or unlike the other rows.",
			"每个请求的 token 数：比要求多 5 %，或不足一半，或与其余各行不符。"), []check{perTable(tokensPerRequest)}},
		{"offered", lang.Say("More was completed than was offered, or so few that requests would have waited, by three "+
			"standard deviations.",
			"完成数多于到达数，或少到请求必然排队，超出三倍标准差。"), []check{perRow(completedOverOffered), perTable(misprintedRates)}},
		{"backlog", lang.Say("TTFT is three times that at a higher rate: requests queued behind those of the stage before.",
			"TTFT 是更高到达率时的三倍：本阶段的请求排在上一阶段尚未完成的请求之后。"), []check{perTable(backlogs)}},
		{"stream", lang.Say("The text has 10 % more or fewer tokens than were reported, or time per output token is twice "+
			"inter-token latency.",
			"文本的 token 数与报告相差 10 % 以上，或每输出 token 时间超过 token 间时延的两倍。"), []check{perRow(retokenizedTokens), perRow(tpotAboveITL)}},
		{"latency", lang.Say("Latency is not TTFT + (n-1) x inter-token latency, by more than 5 %, or that of one at a "+
			"time not 1 / rate, by 15 %.",
			"总时延与 TTFT +（n-1）x token 间时延相差 5 % 以上，或逐个请求时与速率的倒数相差 15 % 以上。"),
			[]check{perRow(ttftAboveLatency), perRow(latencyIdentity), perRow(synchronousRate)}},
		{"arithmetic", lang.Say("A number does not follow from those it is made of, by more than 0.5 %, or percentiles "+
			"are out of order.",
			"数字与其来源数字相差 0.5 % 以上，或百分位数次序颠倒。"), []check{perRow(order), perRow(arithmetic)}},
		{"ceiling", lang.Say("The row throughput is 25 % above what was completed of the same rate when it was offered.",
			"throughput 行比同一到达率下的完成速率高 25 % 以上。"), []check{perTable(ceiling)}},
		{"limit", lang.Say("A limit other than Max Tokens ended all answers, or their count of tokens is not the server's.",
			"所有回答停在 Max Tokens 以外的上限，或 token 数不是服务给出的计数。"), []check{stoppedByDefault, perRow(evenLengths)}},
		{"closed-loop", lang.Say("5 % fewer requests were in flight than the table says. The numbers are of that lower load.",
			"并发比表中所列少 5 % 以上。数字对应的是较低的负载。"), []check{perRow(closedLoop)}},
		{"cold", lang.Say("As many requests as run at once took three times as long as the others: the first ones met a "+
			"cold server.",
			"与并发数相当的请求用时是其余的三倍：最先的请求遇到未预热的服务。"), []check{perRow(coldStart)}},
	}
}
