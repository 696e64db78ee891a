package audit

import "llmsweep/report/lang"

// rules returns all rules, in the order in which they are asked and in which findings of one line are shown: what misprints a figure is
// found before what such a figure would contradict.
func rules() []rule {
	return []rule{
		{"zeros", lang.Say("A row of zeros: nothing was completed, and it is printed as if no time had passed.", "整行为零：没有完成任何请求，用时却印成了 0。"),
			lang.Say("none: a request takes time.",
				"无（请求不可能不耗时）。"), each(zeros)},
		{"unit", lang.Say("A unit contradicts the rest of its column.", "单位与该列其余各行矛盾。"),
			lang.Say("ten times the range of the other rows, if the number fits in their unit: columns may span two powers of ten.",
				"超出其余各行范围十倍以上，且换成该列单位后相符，才判定：同一列可跨两个数量级。"), each(units)},
		{"grid", lang.Say("A rate is not on the grid that the other rates are on.", "到达率不在其余到达率的网格上。"),
			lang.Say("rounding of both ends and of the rate; no finding unless two thirds of the rates are on the grid.",
				"两端与该到达率的舍入；至少三分之二的到达率在网格上才判定。"), perTable(offGrid)},
		{"copied", lang.Say("Numbers are those of the row above.", "数字与上一行相同。"),
			lang.Say("numbers of fewer than four digits, unless the whole row is equal; and where chance or a steady server explains it: latency that differs by less than 2 % where TTFT and inter-token latency are both the same, latency less TTFT by less than 10 % where inter-token latency is.",
				"不足四位的数字（整行相同者除外）；以及可由偶然或服务稳定解释者：TTFT 与 token 间时延均相同而总时延相差不到 2 %，或 token 间时延相同而总时延减 TTFT 相差不到 10 %。"), perTable(copied)},
		{"tokens", lang.Say("More tokens per request than were asked for, or fewer than half.", "每个请求的 token 数多于要求，或不足一半。"),
			lang.Say("5 % above: an end token or two; and five times what the rows of the table differ by, for requests cut at the edges of a window. Half below: answers may end by themselves, and good tables go down to 55 %.",
				"上限 5 %：一两个结束 token；另加各行差异的五倍，因请求在时间窗边缘被截断。下限一半：回答可自行结束，正确的表低至 55 %。"), perTable(tokensPerRequest)},
		{"offered", lang.Say("More was completed than was offered.", "完成数多于到达数。"),
			lang.Say("three standard deviations of the number of arrivals, of 120 s where the duration is not told; up to four it is doubtful, and beyond impossible. Where the duration is not told, only beyond 40 %: three of them for 60 arrivals.",
				"到达数的三倍标准差，未注明时长时按 120 秒计；四倍以内为存疑，超出为不可能。未注明时长时，超出 40 %（60 个到达的三倍标准差）才为不可能。"), each(completedOverOffered)},
		{"backlog", lang.Say("Requests waited for those left over from an earlier stage: TTFT falls while the rate rises.", "请求在等待上一阶段遗留的请求：到达率升高而 TTFT 下降。"),
			lang.Say("a factor of three in TTFT, with latency falling too: means of a minute repeat within some per cent.",
				"TTFT 相差三倍且总时延也下降：一分钟的均值重复性在百分之几以内。"), perTable(backlogs)},
		{"retokenized", lang.Say("The text tokenizes to another number of tokens than was reported.", "文本分词所得 token 数与报告不同。"),
			lang.Say("10 %: tokenizing again loses special tokens and joins others, one or two per cent.",
				"10 %：重新分词会丢失特殊 token 并合并其他 token，约百分之一二。"), each(retokenized)},
		{"tpot", lang.Say("Mean time per output token is far above mean inter-token latency.", "每输出 token 时间均值远大于 token 间时延均值。"),
			lang.Say("a factor of two: both average the same gaps, one by request and the other by token, and agree within 2 % unless the stream repeats text or stalls at its end.",
				"两倍：二者对同样的间隔取均值，一按请求、一按 token，除非流式输出重复或末尾停顿，否则相差 2 % 以内。"), each(tpotAboveITL)},
		{"ttft", lang.Say("The first token came later than the last.", "首 token 晚于末 token。"),
			lang.Say("rounding only: it holds for each request, so also for the means.",
				"仅舍入：对每个请求成立，因此对均值也成立。"), each(ttftAboveLatency)},
		{"latency", lang.Say("Latency is not TTFT + (n-1) x inter-token latency.", "总时延不等于 TTFT +（n-1）x token 间时延。"),
			lang.Say("5 %: it is an identity of means; good rows agree within 2 %, one within 4 %; n is tokens/s over requests/s or what was asked for, whichever fits.",
				"5 %：均值之间的恒等式；正确的行相差 2 % 以内，有一行 4 %；n 取每秒 token 数除以每秒请求数，或所要求的长度，以相符者为准。"), each(latencyIdentity)},
		{"order", lang.Say("Percentiles out of order, or a mean outside the extremes.", "百分位数次序颠倒，或均值超出极值。"),
			lang.Say("rounding.",
				"舍入。"), each(order)},
		{"arithmetic", lang.Say("A number does not follow from the numbers it is made of.", "数字与其来源数字不符。"),
			lang.Say("rounding and 0.5 %: tools read the clock once for the duration and once for the rates.",
				"舍入与 0.5 %：工具为时长和速率各读一次时钟。"), each(arithmetic)},
		{"ceiling", lang.Say("The throughput row is above what the same rate completed when it was offered.", "throughput 行高于同一到达率下的完成速率。"),
			lang.Say("25 %: a stage of four latencies that begins empty leaves a quarter in flight at its end.",
				"25 %：长为四个时延、从空闲开始的阶段，结束时有四分之一仍在进行。"), perTable(ceiling)},
		{"default-limit", lang.Say("The server stopped at a length of its own, not at Max Tokens.", "服务停在其自身的长度上限，而非 Max Tokens。"),
			lang.Say("5 % of spread and of duration while Max Tokens differ by half or more, with a printed response that stopped at fewer tokens: all three are needed.",
				"Max Tokens 相差一半以上而离散与时长相差不到 5 %，且有回答停在更少的 token：三者须同时成立。"), stoppedByDefault},
		{"even", lang.Say("All requests took the same time, yet the counted tokens are fewer than Max Tokens.", "所有请求用时相同，但计得的 token 数少于 Max Tokens。"),
			lang.Say("2.5 % of spread and 10 % of tokens: answers that end by themselves do not end together, unless they are equal (temperature 0, or a whole number of tokens each where it is not told).",
				"离散 2.5 %，token 数 10 %：自行结束的回答不会同时结束，除非回答相同（温度为 0；未注明温度时，每个请求的 token 数为整数）。"), each(evenLengths)},
		{"closed-loop", lang.Say("Fewer requests were in flight on average than the table says. The numbers stand; they are of that lower load.", "平均并发少于表中所列。数字成立，但对应的是较低的负载。"),
			lang.Say("5 %: n requests kept at c in flight end within their sum / c + the longest (Graham 1966), in any order.",
				"5 %：保持并发 c 的 n 个请求，无论次序，都在总和 / c + 最长者之内结束（Graham 1966）。"), each(closedLoop)},
	}
}

// recordRules returns the rules of [Records].
func recordRules() []rule {
	return []rule{
		{Name: "instants", Says: lang.Say("The instants of a request are out of order: due, sent, headers, first_token, last_token, end.", "请求的各时刻次序颠倒：due、sent、headers、first_token、last_token、end。"),
			Tolerance: lang.Say("1 ms: instants come from two clocks of one machine, the kernel's and the program's.", "1 ms：时刻来自同一机器的两个时钟，内核的与程序的。")},
		{Name: "gaps", Says: lang.Say("Gaps between chunks do not add up to the time between the first and the last token.", "块间隔之和不等于首末 token 之间的时间。"),
			Tolerance: lang.Say("1 ms: gaps are rounded to microseconds cumulatively, so they do add up.", "1 ms：间隔按累计值舍入到微秒，因此总和应相符。")},
		{Name: "stopped", Says: lang.Say("Answers stopped by length below the length asked for: a limit of the server's own.", "回答因长度停在要求之下：服务自身的上限。"),
			Tolerance: lang.Say("5 %: an end token or two; and a tenth of the answers, for contexts that were full.", "5 %：一两个结束 token；以及十分之一的回答，可能因上下文已满。")},
		{Name: "empty", Says: lang.Say("Requests that succeeded with no output token counted.", "成功的请求却没有计得输出 token。"),
			Tolerance: lang.Say("none.", "无。")},
	}
}
