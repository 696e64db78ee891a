package audit

import (
	"sync"

	"llmsweep/report/lang"
)

// Words around findings.
var (
	sayHead    = lang.Say("%s: results %d, rows %d; %s", "%s：结果 %d 个，数据 %d 行；%s")
	sayNothing = lang.Say("nothing found", "未发现问题")
	sayUnread  = lang.Say("not read: %s", "未能读取：%s")
	sayLine    = lang.Say("line %d", "第 %d 行")
	sayCaution = lang.Say("%s (line %d), %s: %s", "%s（第 %d 行），%s：%s")
	sayAsked   = lang.Say("%s -> %s tokens", "%s -> %s token")
	sayAtMost  = lang.Say("<= %s tokens", "至多 %s token")
	sayBursts  = lang.Say("In %d tables the row throughput counts requests of a burst, not a sustained rate (lines %s).",
		"%d 个表的 throughput 行计的是突发请求，而非稳态速率（第 %s 行）。")
	sayFewer = lang.Say("In %d tables fewer requests were in flight than the table says: the numbers are of that lower load (lines %s).",
		"%d 个表的实际并发低于表中所列：数字对应的是较低的负载（第 %s 行）。")
)

// repeatedPhrases returns the phrases for rules whose findings in several tables differ in their numbers alone.
func repeatedPhrases() map[string]lang.Phrase {
	return map[string]lang.Phrase{"ceiling": sayBursts, "closed-loop": sayFewer}
}

// Words returns the words of findings.
var Words = sync.OnceValue(func() lang.Words {
	tokens := lang.Say("[{output} over {completed} is ]{tokens} tokens per request, {asked} were asked for",
		"[{output} 除以 {completed} 得]每个请求 {tokens} 个 token，而要求为 {asked} 个")
	return lang.Words{
		"audit.zeros": lang.Say("{completed} completed, latency {latency}: nothing was measured, which is n/a and not 0",
			"完成 {completed}，总时延 {latency}：没有测到任何数据，应为 n/a 而非 0"),
		"audit.unit": lang.Say("{metric:metric} {printed}: in {unit}, as the rest of the column, it would be {would_be}",
			"{metric:metric} {printed}：若以该列其余单位 {unit} 计，则为 {would_be}"),
		"audit.ttft": lang.Say("mean time to first token {ttft} is above mean latency {latency}",
			"首 token 时延均值 {ttft} 大于总时延均值 {latency}"),
		"audit.latency": lang.Say("latency {latency}, but TTFT {ttft} + {gaps:tenths} gaps x {gap} = {sum}",
			"总时延 {latency}，但 TTFT {ttft} + {gaps:tenths} 个间隔 x {gap} = {sum}"),
		"audit.tokens-above": tokens,
		"audit.tokens-below": tokens,
		"audit.tokens-apart": lang.Say("{output} over {completed} is {tokens} tokens per request, {typical} in the other rows",
			"{output} 除以 {completed} 得每个请求 {tokens} 个 token，而其余各行为 {typical} 个"),
		"audit.offered": lang.Say("{completed} req/s completed of {offered} offered: some were left over from the stage before",
			"到达 {offered} req/s，却完成 {completed} req/s：其中有上一阶段遗留的请求"),
		"audit.offered-doubtful": lang.Say("{completed} req/s completed, {more} above the {offered} offered: more than chance in a stage of {window:whole} s",
			"完成 {completed} req/s，比到达的 {offered} 高 {more}：在 {window:whole} 秒的阶段内超出偶然范围"),
		"audit.backlog": lang.Say("TTFT {ttft}, but {later_ttft} at a higher rate (line {line}): requests queued behind those of the stage before",
			"TTFT {ttft}，而到达率更高时为 {later_ttft}（第 {line} 行）：本阶段的请求排在上一阶段尚未完成的请求之后"),
		"audit.order": lang.Say("{metric:metric} {higher} {value} is below {lower} {lower_value}",
			"{metric:metric} {higher} {value} 小于 {lower} {lower_value}"),
		"audit.mean-outside": lang.Say("{metric:metric}: the mean {mean} is outside {min} to {max}",
			"{metric:metric}：均值 {mean} 不在 {min} 至 {max} 之间"),
		"audit.printed": lang.Say("{metric:metric} {printed}", "{metric:metric} {printed}"),
		"audit.copied": lang.Say("{same:note}, as in line {line} ({row}), but latency {latency} and {other_latency}",
			"{same:note}，与第 {line} 行（{row}）相同，但总时延分别为 {latency} 和 {other_latency}"),
		"audit.reprint": lang.Say("the table of line {line}, printed again", "第 {line} 行的表格重复出现"),
		"audit.reprinted": lang.Say("{metric:metric} {here}, but {there} where the same measurement is printed in line {line}",
			"{metric:metric} {here}，而同一次测量在第 {line} 行印为 {there}"),
		"audit.misprinted-rate": lang.Say("{offered} offered and {completed} completed leaves {missing:whole} requests after {window:whole} s, but at {latency} at most {most:whole} are in flight, and {served} were completed in line {line}",
			"到达 {offered}、完成 {completed}，{window:whole} 秒后应剩 {missing:whole} 个请求；但时延 {latency} 时并发最多 {most:whole}，且第 {line} 行完成了 {served}"),
		"audit.alone": lang.Say("one at a time, but {completed} req/s x {latency} = {in_flight} in flight", "逐个请求，但 {completed} req/s x {latency} = 并发 {in_flight}"),
		"audit.cold": lang.Say("about {slow:whole} of {requests} requests took up to {longest}, most of the others {median}: the first ones met a cold server",
			"约 {slow:whole} 个请求（共 {requests} 个）用时达 {longest}，其余多为 {median}：最先的请求遇到未预热的服务"),
		"audit.grid": lang.Say("{rate} req/s is off the even grid[: probably {grid_rate}]", "{rate} req/s 不在等距网格上[：可能是 {grid_rate}]"),
		"audit.arithmetic": lang.Say("{metric:metric} {printed}, but {made_of} = {is}",
			"{metric:metric} {printed}，但 {made_of} = {is}"),
		"audit.retokenized": lang.Say("{again:whole} tokens by the text, {reported:whole} reported ({factor}): the stream repeats or loses text",
			"按文本计为 {again:whole} 个 token，报告为 {reported:whole} 个（{factor}）：流式输出有重复或丢失"),
		"audit.tpot": lang.Say("mean time per output token {tpot} is {factor:tenths} x mean inter-token latency {itl}",
			"每输出 token 时间均值 {tpot} 是 token 间时延均值 {itl} 的 {factor:tenths} 倍"),
		"audit.default-limit": lang.Say("Max Tokens {asked} and {other_asked} (line {line}) both took {time}, and the response in line {response_line} stopped at {stopped_at} tokens: the server ignored Max Tokens[, and {counted:rate} tokens per request is not its count]",
			"Max Tokens 为 {asked} 和 {other_asked}（第 {line} 行）时均用时 {time}，且第 {response_line} 行的回答停在 {stopped_at} 个 token：服务忽略了 Max Tokens[，每个请求 {counted:rate} 个 token 也不是服务给出的计数]"),
		"audit.closed-loop": lang.Say("{in_flight:whole} of {concurrency} in flight on average: {requests} requests of {latency} took {took}, and would take {at_most} at most with {concurrency} always in flight",
			"平均并发 {in_flight:whole}（设定为 {concurrency}）：{requests} 个用时 {latency} 的请求共用 {took}；始终保持 {concurrency} 个并发时不超过 {at_most}"),
		"audit.even": lang.Say("{tokens} tokens per request of Max Tokens {asked}, but the standard deviation of latency is {spread:percent} of its mean: one limit ended all requests, so the count is not the server's",
			"每个请求计得 {tokens} 个 token，Max Tokens 为 {asked}，但总时延的标准差仅为均值的 {spread:percent}：所有请求停在同一上限，该 token 数不是服务给出的计数"),
		"audit.ceiling": lang.Say("{ceiling} req/s counts a burst: offered {offered}, the server completed {completed} (line {line}), {less} less",
			"{ceiling} req/s 是突发请求的计数：到达 {offered} 时只完成 {completed}（第 {line} 行），少 {less}"),
		"audit.instants": lang.Say("{later} at {at}, but {earlier} at {earlier_at}", "{later} 在 {at}，而 {earlier} 在 {earlier_at}"),
		"audit.gaps": lang.Say("{gaps} gaps add up to {sum}, but first and last token are {passed} apart",
			"{gaps} 个间隔合计 {sum}，而首末 token 相隔 {passed}"),
		"audit.stopped": lang.Say("stopped by length at {tokens:whole} tokens, {asked} were asked for",
			"因长度停在 {tokens:whole} 个 token，而要求为 {asked} 个"),
		"audit.empty":   lang.Say("succeeded with 0 output tokens", "成功，但输出为 0 个 token"),
		"audit.several": lang.Say("{requests} requests, the first: {first:note}", "{requests} 个请求，第一个：{first:note}"),
	}
})

// Words of the grades.
var (
	gradeImpossible = lang.Say("impossible", "不可能")
	gradeDoubtful   = lang.Say("doubtful", "存疑")
	gradeRemark     = lang.Say("remark", "备注")
)

// In returns the grade in words.
func (g Grade) In(l lang.Lang) string {
	switch g {
	case Doubtful:
		return gradeDoubtful.In(l)
	case Remark:
		return gradeRemark.In(l)
	}
	return gradeImpossible.In(l)
}
